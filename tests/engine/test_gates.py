"""Gates: what a model hands in holds only when the project itself shows it."""

import pytest

from foundry.engine.steps.docs import shell_blocks
from foundry.model.rehearsal.script import Turn, call, turn
from foundry.schema.run import Status
from tests.support.asked import requests_of, results
from tests.support.builds import EVERYTHING, Built
from tests.support.rehearsals import SmallBuild, run, submit, write

TASK = "builder[1]/task"
REST = ("test", "docs", "feedback")


def answer(built: Built, step: str, after: int) -> str:
    """What the step's turn number `after` was told, which must be an error."""
    [*_, (content, is_error)] = results(requests_of(built.server, step)[after])
    assert is_error
    return content


def task(*turns: Turn, **more: object) -> SmallBuild:
    return SmallBuild(tasks=1, scenes={TASK: turns}, **more)  # type: ignore[arg-type]


HAND_IN = submit(summary="done")
GOOD = SmallBuild(tasks=1).builder(1)


def test_a_task_that_changed_nothing_goes_back(build):
    built = build(task(HAND_IN, *GOOD), skip=REST)
    assert "nothing in the project has changed" in answer(built, TASK, 1)
    assert built.steps[-1] == TASK


def test_a_task_whose_verify_fails_goes_back_with_the_output(build):
    wrong = write("hello-1.txt", "nothing of the kind\n")
    built = build(task(wrong, HAND_IN, *GOOD), skip=REST)
    told = answer(built, TASK, 2)
    assert "`grep -q hello hello-1.txt` ended with exit code 1" in told
    assert built.steps.count(TASK) == 1


def test_changing_only_the_run_s_own_files_is_no_work(build):
    built = build(
        task(run("echo x >> .context-foundry/scout-report.md"), HAND_IN, *GOOD),
        skip=REST,
        rules=EVERYTHING,
    )
    assert "nothing in the project has changed" in answer(built, TASK, 2)


@pytest.mark.parametrize(
    "tampering",
    [
        "echo garbage >> .context-foundry/journal.jsonl",
        "rm .context-foundry/journal.jsonl",
        "echo '{' > .context-foundry/tasks.json",
        "rm -rf .context-foundry",
        "sed -i.bak 's/grep/true/' .context-foundry/tasks.json",
        "git add -A && git commit -qm x && git rm -rqf .context-foundry && git commit -qm y",
    ],
)
def test_the_artifacts_are_not_the_model_s_to_change(build, tampering):
    built = build(task(GOOD[0], run(tampering), HAND_IN), skip=REST, rules=EVERYTHING)
    assert built.ended.status is Status.UNVERIFIED
    assert built.steps == ["scout", "architect", TASK]
    assert len(built.commits) == len(built.journal)
    record = built.journal[-2]
    assert [check.command for check in record.checks] == ["grep -q hello hello-1.txt"]


def test_commits_of_the_model_are_folded_into_the_one_of_the_step(build):
    commit = run("git add -A && git -c user.name=M -c user.email=m@x commit -qm mine && git log -1")
    built = build(task(GOOD[0], commit, HAND_IN), skip=REST)
    subjects = built.repository.run("log", "--format=%s").splitlines()
    assert "mine" not in subjects
    assert subjects.count("feat: add greeting 1") == 1
    assert built.repository.show("hello-1.txt") is not None


def test_a_verify_command_can_not_take_the_work_away(build):
    """A stash or a reset in it empties index and tree: the snapshot before it counts."""
    small = SmallBuild(tasks=1)
    payload = dict(small.architect()[0].content[0]["input"])
    hiding = {**small.task(1), "verify": "grep -q hello hello-1.txt && git stash -qu"}
    plan = submit(**{**payload, "plan": {**payload["plan"], "tasks": [hiding]}})
    built = build(SmallBuild(tasks=1, scenes={"architect": [plan]}), skip=REST)
    assert built.repository.show("hello-1.txt") == "hello 1\nhello again\n"


def test_a_step_that_only_looks_can_change_nothing(build):
    scout = [run("echo made by scout > sneaked.txt"), *SmallBuild().scout()[1:]]
    built = build(SmallBuild(tasks=1, scenes={"scout": scout}), skip=REST)
    assert built.repository.show("sneaked.txt") is None
    assert not (built.folder / "sneaked.txt").exists()


def test_scout_has_to_name_a_test(build):
    good = SmallBuild().scout()[1]
    payload = dict(good.content[0]["input"])
    bad = submit(**{**payload, "commands": {"run": [{"name": "x", "command": "true"}]}})
    built = build(SmallBuild(tasks=1, scenes={"scout": [bad, good]}), pause_after=("scout",))
    assert "commands.test is empty" in answer(built, "scout", 1)
    assert built.steps == ["scout"]


def architect(**changes: object) -> Turn:
    payload = dict(SmallBuild(tasks=2).architect()[0].content[0]["input"])
    return submit(**{**payload, "plan": {**payload["plan"], **changes}})


FIRST, SECOND = SmallBuild().task(1), SmallBuild().task(2)
REQUIREMENT = {"id": "R1", "text": "greetings", "quote": "files that say hello"}
TESTED = {"id": "R2", "text": "tests", "quote": "a test checks them all"}


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ({"requirements": [REQUIREMENT, {**TESTED, "quote": "a web server"}]}, "'a web server'"),
        ({"requirements": [REQUIREMENT, REQUIREMENT, TESTED]}, "'R1' is used twice"),
        ({"requirements": [REQUIREMENT, TESTED, {**TESTED, "id": "R3"}]}, "R3 is served by no"),
        ({"tasks": [FIRST, FIRST]}, "the task id 'hello-1' is used twice"),
        ({"tasks": [FIRST, {**SECOND, "depends_on": ["nope"]}]}, "depends on 'nope'"),
        ({"tasks": [{**FIRST, "depends_on": ["hello-2"]}, SECOND]}, "in a circle"),
        ({"tasks": [FIRST, {**SECOND, "id": "Not An Id"}]}, "tasks.1.id"),
        ({"tasks": [FIRST, {**SECOND, "acceptance": []}]}, "tasks.1.acceptance"),
        ({"tasks": [FIRST, {**SECOND, "verify": ""}]}, "tasks.1.verify"),
        (
            {"tasks": [{**FIRST, "acceptance": [{"criterion": "x", "requirement": "R9"}]}]},
            "unknown requirement 'R9'",
        ),
        (
            {"tasks": [{**FIRST, "id": f"t{n}"} for n in range(7)]},
            "7 tasks are too many for a small project: at most 6",
        ),
    ],
)
def test_plans_that_do_not_hang_together_go_back(build, plan, told):
    good = SmallBuild(tasks=2).architect()[0]
    scenes = {"architect": [architect(**plan), good]}
    built = build(SmallBuild(scenes=scenes), pause_after=("architect",))
    assert told in answer(built, "architect", 1)
    assert built.steps == ["scout", "architect"]


README = "# It\n\n```sh\n{command}\n```\n"


def docs(*turns: Turn) -> SmallBuild:
    return SmallBuild(tasks=1, scenes={"docs": turns})


DONE = submit(summary="README.", files=["README.md"])


def test_a_readme_command_that_fails_goes_back(build):
    wrong = write("README.md", README.format(command="echo look here\n./nope --help"))
    good = write("README.md", README.format(command="cat hello-1.txt"))
    built = build(docs(wrong, DONE, good, DONE), skip=("feedback",))
    told = answer(built, "docs", 2)
    assert "README.md block 1: `echo look here\n./nope --help` ended with exit code 127" in told
    assert "look here" in told
    assert built.ended.status is Status.VERIFIED


def test_docs_commands_run_in_a_copy(build):
    text = README.format(command="echo x > made-by-readme.txt\nrm test.sh")
    built = build(docs(write("README.md", text), DONE), skip=("feedback",))
    assert built.ended.status is Status.VERIFIED
    assert not (built.folder / "made-by-readme.txt").exists()
    assert (built.folder / "test.sh").exists()


@pytest.mark.parametrize("path", ["test.sh", "requirements.txt", "src/app.py", "Makefile"])
def test_docs_may_not_change_the_project(build, path):
    readme = write("README.md", README.format(command="cat hello-1.txt"))
    turns = (readme, write(path, "exit 0\n"), DONE, run(f"git checkout -q -- {path} || rm {path}"))
    built = build(docs(*turns, DONE), skip=("feedback",))
    assert f"{path} is not documentation" in answer(built, "docs", 3)
    assert built.ended.status is Status.VERIFIED


@pytest.mark.parametrize("named", ["docs/guide.md", "../outside.md", "/etc/hostname", "a\0b.md"])
def test_docs_have_to_be_there(build, named):
    readme = write("README.md", README.format(command="cat hello-1.txt"))
    built = build(
        docs(readme, submit(summary="s", files=["README.md", named]), DONE), skip=("feedback",)
    )
    assert f"{named} is missing" in answer(built, "docs", 2)


def test_readme_is_always_wanted(build):
    readme = write("README.md", README.format(command="cat hello-1.txt"))
    guide = turn(call("write_file", path="docs/guide.md", content="# Guide\n"))
    early = submit(summary="s", files=["docs/guide.md"])
    built = build(docs(guide, early, readme, early), skip=("feedback",))
    assert "README.md is missing" in answer(built, "docs", 2)


@pytest.mark.parametrize(
    ("markdown", "blocks"),
    [
        ("```sh\na\n```\n\ntext\n\n```bash title=x\nb\nc\n```", ["a\n", "b\nc\n"]),
        ("```console\n$ a\noutput\n$ b | c\n```", ["a\nb | c"]),
        ("```python\nprint()\n```\n\n    indented\n\n```\nplain\n```", []),
        ("- item\n\n  ```shell\n  nested\n  ```", ["nested\n"]),
        ("```sh\n\n```", []),
        ("````md\n```sh\nshown, not run\n```\n````", []),
        ("```console\nonly output\n```", []),
        ("~~~sh\ntilde\n~~~\n", ["tilde\n"]),
        ("```sh\nno end", ["no end"]),
    ],
)
def test_shell_blocks(markdown, blocks):
    assert shell_blocks(markdown) == blocks
