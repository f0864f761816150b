"""The keys that each kind of entry takes, and the closed sets of words that they hold."""

from __future__ import annotations

FACT_KEYS = (
    "type", "unit", "combine", "else", "default", "covers", "choices", "from", "ask", "help", "example", "say", "title", "topic", "cite",
    "whole", "protected",
)  # fmt: skip
CONSTANT_KEYS = ("value", "unit", "basis", "cite", "title", "protected")
EFFECTS = ("conclude", "require", "prefer", "warn", "test", "risk")
RULE_KEYS = (
    "id", "topic", "title", "for", "when", *EFFECTS, "weight", "law", "fix", "because", "cite", "dissent", "basis", "examples", "protected",
)  # fmt: skip
DECISION_KEYS = ("id", "title", "topic", "assigns", "needs", "cost", "within", "order", "shortlist", "after", "protected")
WARN_KEYS = ("severity", "message", "costs", "fix", "fact")
TEST_KEYS = ("metric", "at_least", "at_most", "stage", "tool", "command", "rerun", "confirm", "message")
RISK_KEYS = ("likelihood", "impact", "trigger", "mitigation", "basis")
SOURCE_KEYS = ("title", "address", "read", "licence", "review_by")
CLAIM_KEYS = ("source", "where", "says", "refutes")
CELL_KEYS = ("value", "basis", "source", "note")
SCENARIO_KEYS = ("name", "given", "expect", "without", "why")

FIELDS: dict[str, tuple[str, ...]] = {
    "topics": ("en", "zh"),
    "units": ("en", "zh", "counts", "plural"),
    "facts": FACT_KEYS,
    "constants": CONSTANT_KEYS,
    "rules": RULE_KEYS,
    "decisions": DECISION_KEYS,
}
"""The keys of an entry, by heading."""

CHANGEABLE: dict[str, tuple[str, ...]] = {
    "topics": ("en", "zh"),
    "units": ("en", "zh", "plural"),
    "facts": ("default", "covers", "choices", "combine", "else", "ask", "help", "example", "say", "title", "topic", "cite"),
    "constants": ("value", "basis", "cite", "title"),
    "rules": tuple(key for key in RULE_KEYS if key not in ("id", "for", "examples", "protected")),
    "decisions": tuple(key for key in DECISION_KEYS if key not in ("id", "protected")),
    "tables": (),
}
"""What a change may set, by heading; of a table it is the cells. The rest is what expressions of other entries are checked against."""

TYPES = {"yes-no": "bool", "choice": "word", "list": "list", "number": "number", "money": "text", "text": "text"}
"""Each type of the vocabulary with its term kind. A money fact is read through NAME_rate and NAME_total only."""

COMBINES = ("one", "max", "min", "sum", "all")
BASES = ("published", "measured", "vendor", "judgement")
SEVERITIES = ("error", "warning", "info")
STAGES = ("before-purchase", "acceptance", "running")
LIKELIHOODS = ("low", "medium", "high")
OUTCOMES = ("fires", "silent", "violated", "satisfied", "not-checked")
NAMESPACES = ("workload", "site", "design", "need", "estimate", "observed")
