"""What is allowed and yet can't be meant: warnings."""

from collections.abc import Iterator

from foundry.workflow.problem import Finding
from foundry.workflow.traverse import Document, Place, places, texts

LINE = 256
"""Characters of a rule or a question in the public format; ours may be longer."""

_FIELDS = {
    "condition": ("while", "until"),
    "items": ("forEach",),
    "itemVar": ("forEach",),
    "indexVar": ("forEach",),
    "onMissing": ("forEach",),
    "count": ("for",),
}
"""Fields of a loop, and the types that look at them."""


def oddities(document: Document) -> Iterator[Finding]:
    """Warnings about a document that may be valid."""
    for key in ("preconditions", "clarificationPrompts", "metaGuidance"):
        for loc, line in texts(document.get(key), (key,)):
            if len(line) > LINE:
                yield _warning(
                    loc, f"is {len(line)} characters long: WorkRail itself refuses more than {LINE}"
                )
    for place in places(document):
        if place.is_loop:
            yield from _loop(place)
        elif place.data.get("hasValidation") is True and not place.data.get("validationCriteria"):
            yield _warning(
                (*place.loc, "hasValidation"),
                "there are no validationCriteria: any output that is not blank will do",
            )


def _loop(loop: Place) -> Iterator[Finding]:
    settings, loc = loop.settings, (*loop.loc, "loop")
    kind = settings.get("type")
    known = isinstance(kind, str) and any(kind in kinds for kinds in _FIELDS.values())
    for field, kinds in _FIELDS.items():
        if field in settings and known and kind not in kinds:
            yield _warning(
                (*loc, field), f"means nothing to a {kind} loop, only to {' and '.join(kinds)}"
            )
    count, most = settings.get("count"), settings.get("maxIterations")
    if kind == "for" and count == 0 and count is not False:
        yield _warning((*loc, "count"), "is 0: the loop's steps never run")
    if kind == "for" and isinstance(count, int) and isinstance(most, int) and count > most > 0:
        yield _warning((*loc, "count"), f"is {count}, but the loop ends at maxIterations: {most}")


def _warning(loc: tuple[str | int, ...], message: str) -> Finding:
    return Finding(loc, message, "warning")
