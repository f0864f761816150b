"""Which change broke what stands below it.

A change can be well formed and still leave a rule of a lower layer wrong: a message names a fact that its shortened `when` no
longer asks for. The mistakes then point into a pack whose author made none. Here the packs are compiled again with fewer
changes until the first that brings such a mistake about is found, and that one is reported in their stead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from expert.errors import Diagnostic, ExpertError, Span, Text
from expert.language.packs import RawPack
from expert.yamldoc import Mapping, Node
from expert.yamldoc import Sequence as Listing
from expert.yamlnodes import mapping_of

Check = Callable[[Sequence[RawPack]], tuple[Diagnostic, ...]]
Found = frozenset[Diagnostic]

_CULPRITS = 3
"""So many changes are looked for; each search compiles the packs again about six times."""


@dataclass(frozen=True)
class _Trial:
    """The packs, their changes in order, and the files that lie below the last pack with changes."""

    packs: Sequence[RawPack]
    changes: tuple[Node, ...]
    below: frozenset[str]
    check: Check

    def wrong(self, kept: Sequence[Node]) -> Found:
        """Mistakes in the text of lower packs when only these changes are made."""
        return self.in_lower_text(self.check([_with_changes(pack, frozenset(map(id, kept))) for pack in self.packs]))

    def in_lower_text(self, mistakes: Sequence[Diagnostic]) -> Found:
        """Those that point into a lower pack, and not at a change there."""
        return frozenset(
            one for one in mistakes if one.span is not None and one.span.file in self.below and not one.span.path.startswith("changes.")
        )


def blamed(error: ExpertError, packs: Sequence[RawPack], check: Check) -> ExpertError:
    """The error with mistakes below a change reported at the change that causes them; the same error where there are none.

    check: the mistakes of such packs, () where they are sound.
    """
    trial = _trial(packs, check)
    suspects = trial.in_lower_text(error.diagnostics)
    if not trial.changes or not suspects:
        return error
    suspects -= trial.wrong(())
    kept, explained, found = list(trial.changes), set[Diagnostic](), list[Diagnostic]()
    while suspects and len(found) < _CULPRITS:
        count, caused = _first_wrong(trial, kept, suspects)
        found.append(_breaks(kept.pop(count - 1), sorted(caused, key=Diagnostic.sort_key)))
        explained |= caused
        suspects = (suspects - caused) & trial.wrong(kept)
    if not found:
        return error
    left = [one for one in error.diagnostics if one not in explained]
    return ExpertError(tuple(sorted({*left, *found}, key=Diagnostic.sort_key)), error.exit_code)


def _trial(packs: Sequence[RawPack], check: Check) -> _Trial:
    changes = [_changes_of(document) for pack in packs for document in pack.documents]
    last = max((place for place, pack in enumerate(packs) if any(map(_changes_of, pack.documents))), default=0)
    below = frozenset(document.span.file for pack in packs[:last] for document in pack.documents)
    return _Trial(packs, tuple(member for members in changes for member in members), below, check)


def _changes_of(document: Mapping) -> tuple[Node, ...]:
    node = document.get("changes")
    return tuple(member for member in node.items if isinstance(member, Mapping)) if isinstance(node, Listing) else ()


def _with_changes(pack: RawPack, kept: frozenset[int]) -> RawPack:
    return replace(pack, documents=tuple(_document_with(document, kept) for document in pack.documents))


def _document_with(document: Mapping, kept: frozenset[int]) -> Mapping:
    listed = document.get("changes")
    if not isinstance(listed, Listing):
        return document
    fewer = replace(listed, items=tuple(member for member in listed.items if id(member) in kept))
    return mapping_of(document.span, tuple((key, fewer if value is listed else value) for key, value in document.entries))


def _first_wrong(trial: _Trial, kept: Sequence[Node], suspects: Found) -> tuple[int, Found]:
    """How many of the changes, in order, it takes for one of the suspects to appear; and those that then appear."""
    sound, broken, caused = 0, len(kept), suspects
    while broken - sound > 1:
        middle = (sound + broken) // 2
        appearing = trial.wrong(kept[:middle]) & suspects
        if appearing:
            broken, caused = middle, appearing
        else:
            sound = middle
    return broken, caused


def _breaks(change: Node, caused: Sequence[Diagnostic]) -> Diagnostic:
    first, count = caused[0], len(caused)
    more_en, more_zh = (f", and {count - 1} more", f"（另有 {count - 1} 处）") if count > 1 else ("", "")
    message = Text(f"with this change the layer below is wrong at {first.span}: {first.message.en}{more_en}",
                   f"作此修改后，下层 {first.span} 处有误：{first.message.of('zh')}{more_zh}")  # fmt: skip
    help = Text("change that place as well, or disable the rule that rests on it", "请一并修改该处，或停用以此为依据的规则")
    return Diagnostic("change-breaks", message, _place_of(change), help)


def _place_of(change: Node) -> Span:
    named = [change.get(key) for key in ("at", "disable")] if isinstance(change, Mapping) else []
    return next((node.span for node in named if node is not None), change.span)
