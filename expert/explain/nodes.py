"""What a proof is made of: numbered nodes with lines, in both languages. Printing comes last, elsewhere."""

from __future__ import annotations

from expert.errors import Text
from expert.records import dataclass

DECISION, FACT, STATED, ASSUMPTION, RULE, MISSING = "decision", "fact", "stated", "assumption", "rule", "missing"


@dataclass(frozen=True, slots=True)
class Line:
    """One line below a node. `label` is its kind: because, but, formula, numbers, margin, source, basis, dissent …

    at: the place of what it says (file:line), "" where there is none. see: the number of the node that explains it.
    cites: the claims and sources that it quotes.
    """

    label: str
    text: Text
    at: str = ""
    see: int = 0
    cites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """One explained thing. `id` is its trace id; `number` counts from 1 over the whole explanation; 0 for leaves stated once."""

    id: str
    kind: str
    title: Text
    number: int = 0
    at: str = ""
    lines: tuple[Line, ...] = ()
    children: tuple[Node, ...] = ()
    harm: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """Proofs in the order of reading, what could not be checked, and the claims that were quoted."""

    nodes: tuple[Node, ...]
    silent: tuple[Line, ...] = ()
    told: frozenset[str] = frozenset()
