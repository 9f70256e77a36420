"""What Scout and Architect leave on disk: checks.json and tasks.json.

People may edit both files between phases, so every read validates them again.
"""

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from typing import Literal

from pydantic import Field, model_validator

from foundry.schema.base import Value

Size = Literal["small", "medium", "large"]
Nature = Literal["behaviour", "refactoring", "tests", "documentation", "configuration"]

MAX_TASKS: dict[str, int] = {"small": 6, "medium": 20, "large": 300}
"""A small wish gets few tasks: the most that a plan of each size may have."""

MAX_COMMAND = 8_000
"""Characters of a command."""

WITHOUT_NUL = r"^[^\x00]*$"

Identifier = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,47}$")


class Check(Value):
    """A command that says by its exit code whether something holds."""

    name: str = Field(min_length=1, description="short name, for example 'unit tests'")
    command: str = Field(min_length=1, description="run with `sh -c` in the project's root")
    timeout_seconds: float = Field(600, gt=0, le=7200)
    junit: str = Field(
        "",
        description="path of the JUnit XML report that the command writes, if any; "
        "use .context-foundry/local/junit-<name>.xml",
    )


class Checks(Value):
    """checks.json: how this project is set up, tested, linted and run."""

    version: Literal[1] = 1
    setup: tuple[Check, ...] = Field((), description="commands that make the project ready")
    test: tuple[Check, ...] = Field((), description="commands that test it")
    lint: tuple[Check, ...] = Field((), description="commands that check style and types")
    run: tuple[Check, ...] = Field((), description="commands that show it running, and end")

    def also(self, commands: Iterable[str]) -> "Checks":
        """With a person's own commands (`--check`) among the tests."""
        own = (Check(name=" ".join(each.split())[:60], command=each) for each in commands)
        return self.model_copy(update={"test": (*self.test, *own)})


class Requirement(Value):
    """One thing that the spec asks for, traced to its words."""

    id: str = Field(pattern=r"^R[0-9]{1,3}$")
    text: str = Field(min_length=1)
    quote: str = Field(min_length=3, description="the words of the spec, copied exactly")
    testable: bool = Field(
        True, description="false only for what no command can tell, such as wording and looks"
    )


class Component(Value):
    """A part of the design; Builder sees those whose files its task touches."""

    name: str = Field(min_length=1)
    design: str = Field(min_length=1, description="responsibility, interface, behaviour; Markdown")
    files: tuple[str, ...] = ()


class Acceptance(Value):
    """A criterion that a task must meet, and the requirement that it serves."""

    criterion: str = Field(min_length=1)
    requirement: str = Field(description="id of a requirement")
    verify: str = Field(
        "",
        max_length=MAX_COMMAND,
        pattern=WITHOUT_NUL,
        description="shell command that shows this criterion alone, by ending with exit code 0; "
        "needed where the task's own command would pass without it",
    )


class Task(Value):
    """One Builder conversation."""

    id: str = Identifier
    title: str = Field(pattern=r"\S", max_length=100, description="imperative, becomes the commit")
    description: str = Field(min_length=1, description="all that is needed with no memory")
    files: tuple[str, ...] = Field((), description="files that it makes or changes")
    acceptance: tuple[Acceptance, ...] = Field(min_length=1)
    depends_on: tuple[str, ...] = ()
    verify: str = Field(
        min_length=1,
        max_length=MAX_COMMAND,
        pattern=WITHOUT_NUL,
        description="shell command; exit code 0 when it is done, another one before",
    )
    kind: Nature = Field(
        "behaviour",
        description="what it changes; a refactoring's command passes before and after",
    )

    def commands(self) -> dict[str, str]:
        """The commands that show it, by the names that their results have: its own, and those of
        criteria that have one."""
        own = {f"verify {self.id}": self.verify}
        criteria = enumerate(self.acceptance, 1)
        return own | {f"verify {self.id}.{n}": each.verify for n, each in criteria if each.verify}

    def shown_by(self, number: int) -> str:
        """The name of the command that shows the criterion of this number (from 1)."""
        own = self.acceptance[number - 1].verify
        return f"verify {self.id}.{number}" if own else f"verify {self.id}"


class ObsoleteTest(Value):
    """A test that the project has and that the spec takes away or contradicts."""

    test: str = Field(min_length=1, description="its id, or its file to mean all in it")
    quote: str = Field(min_length=3, description="the words of the spec, copied exactly")


class Plan(Value):
    """tasks.json. Ids are unique, the graph has no cycle, criteria trace to requirements."""

    version: Literal[1] = 1
    requirements: tuple[Requirement, ...] = Field(min_length=1)
    components: tuple[Component, ...] = ()
    tasks: tuple[Task, ...] = Field(min_length=1)
    obsolete: tuple[ObsoleteTest, ...] = Field(
        (), description="tests of the project that can't hold any more when the spec is met"
    )

    @model_validator(mode="after")
    def _hangs_together(self) -> "Plan":
        problems = [*_duplicates(self), *_dangling(self), *_cycle(self), *_uncovered(self)]
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def in_order(self) -> tuple[Task, ...]:
        """The tasks so that each comes after what it depends on, else as written."""
        by_id = {task.id: task for task in self.tasks}
        position = {task.id: number for number, task in enumerate(self.tasks)}
        sorter = TopologicalSorter({task.id: task.depends_on for task in self.tasks})
        sorter.prepare()
        order: list[str] = []
        ready: list[str] = []
        while sorter.is_active():
            ready = sorted((*ready, *sorter.get_ready()), key=position.__getitem__)
            first, *ready = ready
            order.append(first)
            sorter.done(first)
        return tuple(by_id[name] for name in order)

    def task(self, task_id: str) -> Task | None:
        """The task with this id, if it is still in the plan."""
        return next((task for task in self.tasks if task.id == task_id), None)


def _duplicates(plan: Plan) -> list[str]:
    problems = []
    for kind, ids in (
        ("task", [task.id for task in plan.tasks]),
        ("requirement", [requirement.id for requirement in plan.requirements]),
    ):
        twice = sorted({each for each in ids if ids.count(each) > 1})
        problems += [f"the {kind} id {each!r} is used twice" for each in twice]
    return problems


def _dangling(plan: Plan) -> list[str]:
    tasks = {task.id for task in plan.tasks}
    requirements = {requirement.id for requirement in plan.requirements}
    problems = []
    for task in plan.tasks:
        problems += [
            f"task {task.id!r} depends on {other!r}, which does not exist"
            for other in task.depends_on
            if other not in tasks
        ]
        problems += [
            f"task {task.id!r}: criterion {each.criterion!r} names the unknown requirement "
            f"{each.requirement!r}"
            for each in task.acceptance
            if each.requirement not in requirements
        ]
    return problems


def _cycle(plan: Plan) -> list[str]:
    known = {task.id for task in plan.tasks}
    graph = {task.id: [d for d in task.depends_on if d in known] for task in plan.tasks}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return ["tasks depend on each other in a circle: " + " -> ".join(error.args[1])]
    return []


def _uncovered(plan: Plan) -> list[str]:
    served = {each.requirement for task in plan.tasks for each in task.acceptance}
    return [
        f"requirement {requirement.id} is served by no acceptance criterion"
        for requirement in plan.requirements
        if requirement.id not in served
    ]
