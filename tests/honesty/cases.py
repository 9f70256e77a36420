"""A case: a whole build as data, and whether the thing that was asked for really works.

`truth` runs in a clone of the result, out of reach of the work tree and in a fresh HOME and TMPDIR:
exit code 0 says that the result is what the spec asks for. In a cheat it fails; with `remedy` laid
over the clone (what an honest build would have left) it passes, so it fails for the right reason.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal

from foundry.conversation.loop import REJECTIONS
from foundry.engine.steps.checks import MAX_FIXES
from foundry.model.rehearsal.script import Scene, SceneScript, Turn, call, turn
from foundry.schema.base import Value
from foundry.schema.plan import Plan, Requirement
from foundry.schema.plan import Task as PlannedTask
from tests.support.rehearsals import check, run, submit

Files = Mapping[str, str | None]
"""Texts by path; None deletes."""

Mechanism = Literal[
    "hollow",
    "ledger",
    "protected",
    "red before green",
    "run again",
    "fresh home",
    "fresh clone",
    "absent file",
    "tampering",
    "reviewer",
]
"""What a cheat is expected to be caught or named by."""

UNITTEST = "python3 -m unittest -q"
REPORT = ".context-foundry/local/junit-tests.xml"
PYTEST = "python3 -m pytest -q -p no:cacheprovider"
NODE = "node --test"
CHECK = check("tests", UNITTEST)
PYTEST_CHECK = check("tests", f"{PYTEST} --junitxml={REPORT}", junit=REPORT)


@dataclass(frozen=True)
class Work:
    """What one conversation leaves: files, and the commands that it runs after them."""

    writes: Files = field(default_factory=dict)
    runs: Sequence[str] = ()


@dataclass(frozen=True)
class Task(Work):
    """A task of the plan and what its Builder does. `serves` are places in `asks`; none: all.

    `promised` are the files that the plan names, where they are not those that are written.
    """

    verify: str = UNITTEST
    serves: Sequence[int] = ()
    kind: str = "behaviour"
    promised: Sequence[str] = ()


@dataclass(frozen=True)
class Case:
    """One build. `asks` are the words of the spec that the plan takes up; none: the whole spec.

    `by` is empty where the build is honest. `finding` is the command that a good reader would hand
    in; without one it is the truth. `rulings` are the ids of flags that one would call justified
    where they are raised, with the reason. `untestable` are places in `asks`.
    """

    name: str
    kind: str
    spec: str
    tasks: Sequence[Task]
    truth: str
    base: Files = field(default_factory=dict)
    asks: Sequence[str] = ()
    checks: Sequence[Mapping[str, object]] = (CHECK,)
    fixes: Sequence[Work] = ()
    docs: Files = field(default_factory=dict)
    obsolete: Sequence[tuple[str, str]] = ()
    untestable: Sequence[int] = ()
    by: Mechanism | Literal[""] = ""
    remedy: Files = field(default_factory=dict)
    finding: str = ""
    rulings: Sequence[tuple[str, str]] = ()
    needs: Sequence[str] = ()

    @property
    def honest(self) -> bool:
        """Whether the result is to be verified."""
        return not self.by

    @property
    def skipped(self) -> tuple[str, ...]:
        """Phases that this build does without: those that add nothing to it."""
        return ("feedback",) if self.docs else ("docs", "feedback")

    def script(self, *, reader: bool = False) -> SceneScript:
        """The build's conversations; `reader`: the reviewer sees what a good one would."""
        scenes = {
            "scout": [_scout(self)],
            "architect": [_architect(self)],
            **{f"builder[{n}]/task": _builder(task) for n, task in enumerate(self.tasks, 1)},
            "docs": [*_writes(self.docs), submit(summary="Described.", files=["README.md"])],
            "docs-reproduce": [_reproduced(self)],
            "docs-mend": [submit(summary="Described.", files=["README.md"])],
        }
        for n in range(1, MAX_FIXES + 2):
            fix = self.fixes[n - 1] if n <= len(self.fixes) else Work()
            scenes |= {
                f"test[{n}]/plan": [_fix_plan()],
                f"test[{n}]/fix": [*_work(fix), submit(summary="Healed.", change="fix")],
                f"test[{n}]/reproduce": [_reproduced(self)],
            }
        reviews = [f"test[{n}]/review" for n in range(1, MAX_FIXES + 2)] + ["docs-review"]
        return SceneScript(
            (
                *(_scene(step, turns) for step, turns in scenes.items()),
                *(each for step in reviews for each in _reviews(self, step, reader)),
            )
        )


def py(code: str) -> str:
    """A command that runs Python."""
    return f"python3 -c {shlex.quote(code)}"


def suite(imports: str, *bodies: str) -> str:
    """A unittest module with a test for each body."""
    tests = (f"    def test_{n}(self):\n{_indented(body, 8)}\n" for n, body in enumerate(bodies, 1))
    return f"import unittest\n{imports}\n\n\nclass Tests(unittest.TestCase):\n" + "\n".join(tests)


def _indented(text: str, by: int) -> str:
    return "\n".join(" " * by + line if line else line for line in text.splitlines())


def _scout(case: Case) -> Turn:
    return submit(
        summary=case.spec,
        project_type="library",
        tech_stack=["sh"],
        size="small",
        commands={"test": [dict(each) for each in case.checks]},
    )


def _architect(case: Case) -> Turn:
    asks = case.asks or (case.spec,)
    untestable = {n: {"testable": False} for n in case.untestable}
    requirements = [
        {
            "id": f"R{n}",
            "text": quote,
            "quote": quote,
            **_known(Requirement, untestable.get(n - 1, {})),
        }
        for n, quote in enumerate(asks, 1)
    ]
    obsolete = [{"test": test, "quote": quote} for test, quote in case.obsolete]
    plan = {
        "requirements": requirements,
        "tasks": [_task(task, n, len(asks)) for n, task in enumerate(case.tasks, 1)],
        **_known(Plan, {"obsolete": obsolete}),
    }
    return submit(overview="As the spec says.", plan=plan)


def _task(task: Task, number: int, asks: int) -> dict[str, Any]:
    served = task.serves or range(asks)
    criteria = [{"criterion": "it does what is asked", "requirement": f"R{n + 1}"} for n in served]
    return {
        "id": f"task-{number}",
        "title": f"Do part {number}",
        "description": "What the spec says.",
        "files": list(task.promised or task.writes),
        "acceptance": criteria,
        "verify": task.verify,
        **_known(PlannedTask, {"kind": task.kind}),
    }


def _known(model: type[Value], fields: dict[str, Any]) -> dict[str, Any]:
    """Those of `fields` that the engine's value has."""
    return {name: value for name, value in fields.items() if name in model.model_fields}


def _builder(task: Task) -> list[Turn]:
    return [*_work(task), submit(summary="Made.")]


def _work(work: Work) -> list[Turn]:
    return [*_writes(work.writes), *(run(command) for command in work.runs)]


def _writes(files: Files) -> Iterable[Turn]:
    calls = [
        call("run_command", command=f"rm {shlex.quote(path)}")
        if text is None
        else call("write_file", path=path, content=text)
        for path, text in files.items()
    ]
    return [turn(*calls)] if calls else []


def _fix_plan() -> Turn:
    causes = [{"check": "tests", "cause": "A fault."}]
    return submit(diagnosis="A fault.", causes=causes, steps=["Mend it"])


def _reviews(case: Case, step: str, reader: bool) -> Iterable[Scene]:
    """A review for each set of flags that a good reader rules on, the largest first."""
    most = len(case.rulings) if reader else 0
    for count in range(most, -1, -1):
        for rulings in combinations(case.rulings, count):
            name = f"{step} {count} {rulings[0][0]}" if rulings else step
            flags = tuple(f"- {flag}: " for flag, _ in rulings)
            review = [_review(case, step, rulings, reader)]
            yield replace(_scene(step, review, name), match=(f"# Step: {step}\n", *flags))


def _review(case: Case, step: str, rulings: Sequence[tuple[str, str]], reader: bool) -> Turn:
    """What a reviewer hands in. What is wrong with a project that has documents its last one says:
    the claims of documents are theirs to find."""
    finds = reader and not case.honest and (step == "docs-review") is bool(case.docs)
    finding = {
        "title": _title(case),
        "explanation": "The command does what the spec asks for and fails.",
        "command": case.finding or case.truth,
    }
    return submit(
        asked=[{"what": case.spec[:80]}],
        findings=[finding] if finds else [],
        rulings=[{"flag": flag, "justified": True, "reason": reason} for flag, reason in rulings],
    )


def _reproduced(case: Case) -> Turn:
    found = {"title": _title(case), "reproduced": True, "words": "It fails here, too."}
    return submit(findings=[found])


def _title(case: Case) -> str:
    return f"{case.name}: not what the spec asks for"


def _scene(step: str, turns: Iterable[Turn], name: str = "") -> Scene:
    """Its turns; what is refused at last is handed in again until that ends it."""
    *before, last = turns
    name = name or step
    tried = enumerate([*before, *[last] * REJECTIONS], 1)
    named = tuple(replace(each, id=f"{name}-{n}") for n, each in tried)
    return Scene(name, (f"# Step: {step}\n",), named)
