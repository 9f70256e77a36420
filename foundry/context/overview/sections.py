"""The sections of CONTEXT.md from a survey, within a budget of tokens. Pure.

Every section has more to say than there is room for. Its lines stand in the order of what they are
worth; the budget goes to the sections line by line, to whichever has used the least of its share.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from foundry.context.overview.survey import SourceFile, Survey, by_folder
from foundry.model.tokens import estimate
from foundry.schema.messages import text_block

BUDGET = 3_000
"""Tokens of the whole document, what a person wrote in it included."""

SHARES = {
    "Overview": 10,
    "Structure": 28,
    "Key files": 32,
    "Patterns": 10,
    "Dependencies": 5,
    "Commands": 9,
    "State": 6,
}
"""What part of the budget a section may take while others still want some, in percent."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a section; `order` is its place in the text, its place in the list its worth."""

    text: str
    order: str = ""


def sections(survey: Survey, budget: int = BUDGET) -> dict[str, str]:
    """The text of every section that has something to say, `budget` tokens together at most."""
    waiting = {name: list(lines) for name, lines in _all(survey).items()}
    chosen: dict[str, list[Line]] = {name: [] for name in waiting}
    used = dict.fromkeys(waiting, 0)
    left = budget
    while any(waiting.values()):
        name = min((each for each in waiting if waiting[each]),
                   key=lambda each: used[each] / SHARES[each])  # fmt: skip
        line = waiting[name].pop(0)
        heading = 0 if chosen[name] else tokens(f"## {name}\n\n")
        cost = tokens(line.text + "\n") + 1 + heading
        if cost > left:
            waiting[name].clear()
            continue
        chosen[name].append(line)
        used[name] += cost
        left -= cost
    return {name: _text(lines) for name, lines in chosen.items() if lines}


def tokens(text: str) -> int:
    """Tokens of a text, estimated."""
    return estimate([text_block(text)])


def _text(lines: Sequence[Line]) -> str:
    return "\n".join(line.text for line in sorted(lines, key=lambda line: line.order))


def _all(survey: Survey) -> Mapping[str, Iterator[Line]]:
    return {
        "Overview": _overview(survey),
        "Structure": _structure(survey),
        "Key files": _key_files(survey),
        "Patterns": _patterns(survey),
        "Dependencies": _dependencies(survey),
        "Commands": _commands(survey),
        "State": _state(survey),
    }


def _overview(survey: Survey) -> Iterator[Line]:
    if survey.about:
        yield Line(survey.about, "0")
    languages = ", ".join(f"{name} ({count} files)" for name, count in survey.languages)
    counted = f"{len(survey.sources)} source files, {len(survey.tests)} test files"
    yield Line(f"\n{counted}{': ' + languages if languages else ''}.", "1")


def _structure(survey: Survey) -> Iterator[Line]:
    """Folders, those that most depends on first, in the order of their names."""
    folders = by_folder(survey.sources)
    worth = {name: sum(1 + each.used_by for each in files) for name, files in folders.items()}
    for name in sorted(folders, key=lambda each: (-worth[each], each)):
        files = sorted(folders[name], key=lambda each: (-each.used_by, each.path))
        names = [each.path.rpartition("/")[2] for each in files]
        more = f", … ({len(names)} files)" if len(names) > 10 else ""
        yield Line(f"- `{name or './'}`: {', '.join(names[:10])}{more}", name)
    tests = sorted({path.rpartition("/")[0] for path in survey.tests})
    if tests:
        more = f" and {len(tests) - 6} more" if len(tests) > 6 else ""
        yield Line(f"- tests: {', '.join(f'`{each}/`' for each in tests[:6])}{more}", "~")


def _key_files(survey: Survey) -> Iterator[Line]:
    """What programs begin in, then what most files use."""
    begins = {where for each in survey.manifests for _, where in each.entries}
    ranked = sorted(
        survey.sources,
        key=lambda each: (not _begins(each.path, begins), -each.used_by, each.path.count("/")),
    )
    for number, source in enumerate(ranked):
        yield Line(_described(source), f"{number:06}")


def _begins(path: str, begins: set[str]) -> bool:
    module = path.removeprefix("src/").rpartition(".")[0].replace("/", ".")
    return any(each.partition(":")[0] in (module, path, f"./{path}") for each in begins)


def _described(source: SourceFile) -> str:
    names = ", ".join(each for each in source.defines if not each.startswith("_"))
    defines = f" ({names[:120]})" if names else ""
    used = f", used by {source.used_by}" if source.used_by else ""
    said = f": {source.note}" if source.note else ""
    return f"- `{source.path}`{said}{defines}{used}"


def _patterns(survey: Survey) -> Iterator[Line]:
    names = [path.rpartition("/")[2] for path in survey.tests]
    for form, count in (("test_*", sum(n.startswith("test_") for n in names)),
                        ("*_test.*", sum("_test." in n for n in names)),
                        ("*.test.*", sum(".test." in n for n in names)),
                        ("*.spec.*", sum(".spec." in n for n in names))):  # fmt: skip
        if count:
            yield Line(f"- Tests are named `{form}` ({count} files)", "0")
    tools = dict.fromkeys(tool for each in survey.manifests for tool in each.tools)
    if tools:
        yield Line(f"- Configured tools: {', '.join(tools)}", "1")
    continuous = [path for path in survey.others if path.startswith((".github/workflows/", ".ci/"))]
    if continuous:
        yield Line(f"- Continuous integration: {', '.join(continuous[:5])}", "2")
    for source in sorted(survey.sources, key=lambda each: -each.used_by):
        errors = [name for name in source.defines if name.endswith(("Error", "Exception"))]
        if errors:
            yield Line(f"- Errors: `{source.path}` ({', '.join(errors[:6])})", "3")
            break


def _dependencies(survey: Survey) -> Iterator[Line]:
    names = list(dict.fromkeys(name for each in survey.manifests for name in each.dependencies))
    for start in range(0, len(names), 12):
        yield Line(f"- {', '.join(names[start : start + 12])}", f"{start:06}")


def _commands(survey: Survey) -> Iterator[Line]:
    entries = dict(pair for each in survey.manifests for pair in each.entries)
    commands = dict(pair for each in survey.manifests for pair in each.commands)
    shown = [*entries.items(), *((path, "") for path in survey.scripts), *commands.items()]
    for number, (command, meaning) in enumerate(shown):
        yield Line(f"- `{command}`{': ' + meaning[:100] if meaning else ''}", f"{number:06}")


def _state(survey: Survey) -> Iterator[Line]:
    for number, line in enumerate(survey.state):
        yield Line(f"- {line[:120]}", f"{number:06}")
