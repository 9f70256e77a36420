"""Scripts for whole builds: a small shell project whose tasks each make one file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from foundry.model.rehearsal.script import Scene, SceneScript, Turn, call, say, turn

SPEC = "Make files that say hello. Each file holds one greeting, and a test checks them all."


def submit(**payload: object) -> Turn:
    return turn(call("submit", **payload))


def write(path: str, content: str) -> Turn:
    return turn(call("write_file", path=path, content=content))


def run(command: str) -> Turn:
    return turn(call("run_command", command=command))


def check(name: str, command: str, **more: object) -> dict[str, object]:
    return {"name": name, "command": command, **more}


@dataclass(frozen=True)
class SmallBuild:
    """A build of `tasks` tasks; `broken` lets the first test run fail until fix `heals`.

    `scenes` replaces the turns of the scenes whose step it names.
    """

    tasks: int = 2
    broken: bool = False
    heals: int = 1
    size: str = "small"
    scenes: Mapping[str, Sequence[Turn]] = field(default_factory=dict)
    checks: Mapping[str, object] | None = None

    def __call__(self) -> SceneScript:
        names = {
            "scout": self.scout(),
            "architect": self.architect(),
            **{f"builder[{n}]/task": self.builder(n) for n in range(1, self.tasks + 1)},
            **{f"test[{n}]/plan": self.plan() for n in range(1, 4)},
            **{f"test[{n}]/fix": self.fix(n) for n in range(1, 4)},
            **{f"test[{n}]/review": self.review() for n in range(1, 5)},
            "docs": self.docs(),
            "docs-review": self.review(),
            "describe": [submit(name="hello", description="Greetings in files")],
            "feedback": self.feedback(),
            **self.scenes,
        }
        return SceneScript(
            tuple(
                Scene(name, (f"# Step: {name}\n",), tuple(_numbered(name, turns)))
                for name, turns in names.items()
            )
        )

    def scout(self) -> list[Turn]:
        commands = self.checks or {
            "test": [check("greetings", "sh test.sh")],
            "run": [check("show", "cat hello-1.txt")],
        }
        return [
            turn(say("Looking around."), call("list_files")),
            submit(
                summary="Files with greetings.",
                project_type="cli",
                tech_stack=["sh"],
                size=self.size,
                findings=["sh is there"],
                commands=commands,
            ),
        ]

    def architect(self) -> list[Turn]:
        return [
            submit(
                overview="One file per greeting.",
                decisions=["Plain text, because nothing more is asked for."],
                plan={
                    "requirements": [
                        {"id": "R1", "text": "greetings", "quote": "files that say hello"},
                        {"id": "R2", "text": "tests", "quote": "a test checks them all"},
                    ],
                    "components": [
                        {"name": "greetings", "design": "One line each.", "files": ["hello-1.txt"]}
                    ],
                    "tasks": [self.task(n) for n in range(1, self.tasks + 1)],
                },
            )
        ]

    def task(self, number: int) -> dict[str, object]:
        return {
            "id": f"hello-{number}",
            "title": f"Add greeting {number}",
            "description": f"Write hello-{number}.txt with a greeting and extend test.sh.",
            "files": [f"hello-{number}.txt", "test.sh"],
            "acceptance": [
                {"criterion": f"hello-{number}.txt greets", "requirement": "R1"},
                {"criterion": "test.sh checks it", "requirement": "R2"},
            ],
            "depends_on": [f"hello-{number - 1}"] if number > 1 else [],
            "verify": f"grep -q hello hello-{number}.txt",
        }

    def builder(self, number: int) -> list[Turn]:
        greeting = "helo" if self.broken and number == 1 else "hello"
        text = f"{greeting} {number}\nhello again\n"
        return [
            turn(
                say("Writing the file."),
                call("write_file", path=f"hello-{number}.txt", content=text),
                call("write_file", path="test.sh", content=_TEST),
            ),
            run(f"cat hello-{number}.txt"),
            submit(summary=f"hello-{number}.txt greets.", notes=["one line"]),
        ]

    def plan(self) -> list[Turn]:
        return [
            turn(call("read_file", path="hello-1.txt")),
            submit(
                diagnosis="The first line is misspelt.",
                causes=[{"check": "greetings", "cause": "helo instead of hello"}],
                steps=["Correct hello-1.txt"],
                files=["hello-1.txt"],
            ),
        ]

    def fix(self, number: int) -> list[Turn]:
        word = "hello" if number >= self.heals else f"helo{number}"
        return [
            write("hello-1.txt", f"{word} 1\nhello again\n"),
            submit(summary="Corrected the spelling.", change="fix"),
        ]

    def review(self) -> list[Turn]:
        return [submit(asked=[{"what": "greetings", "test": "test.sh"}])]

    def docs(self) -> list[Turn]:
        readme = "# Greetings\n\n```sh\ncat hello-1.txt\nsh test.sh\n```\n"
        return [write("README.md", readme), submit(summary="README.", files=["README.md"])]

    def feedback(self) -> list[Turn]:
        issue = {
            "title": "A misspelt word passes a check that looks for it anywhere",
            "description": "grep found the word on another line.",
            "root_cause": "The check was too weak.",
            "solution": "Check the first line.",
            "detected_in_phase": "test",
            "should_detect_in_phase": "architect",
            "severity": "low",
            "prevention": "Let verify commands check exact lines.",
        }
        return [submit(issues=[issue], worked=[], recommendations=[])]


_TEST = """\
for file in hello-*.txt; do
  head -n 1 "$file" | grep -q '^hello' || { echo "$file does not greet"; exit 1; }
done
"""


def _numbered(name: str, turns: Sequence[Turn]) -> list[Turn]:
    from dataclasses import replace

    return [replace(each, id=each.id or f"{name}-{n}") for n, each in enumerate(turns, 1)]


Script = Callable[[Mapping[str, object]], Turn]
