"""The Test phase: exit codes and JUnit ids decide; three fixes at most; checks leave no trace."""

import json

import pytest

from foundry.engine.evidence.test_reports.junit import MAX_BYTES, read_junit, report_file
from foundry.schema.command import TestCounts
from foundry.schema.journal import StepRecord
from foundry.schema.run import Status
from tests.support.asked import requests_of, words
from tests.support.builds import Built
from tests.support.rehearsals import SmallBuild, check, run

REPORT = ".context-foundry/local/junit-unit.xml"


def checks_of(built: Built, step: str) -> dict[str, str]:
    """Name and status of every check of a test run."""
    record = next(e for e in built.journal if isinstance(e, StepRecord) and e.step == step)
    return {result.name: result.status for result in record.checks}


def artifact(built: Built, name: str) -> str:
    return built.project.artifact(name).read_text()


def test_first_failure_is_healed(build):
    built = build(SmallBuild(tasks=1, broken=True))
    assert built.ended.status is Status.VERIFIED
    loop = ["test[1]/checks", "test[1]/plan", "test[1]/fix", "test[2]/checks", "test[2]/review"]
    assert [step for step in built.steps if step.startswith("test")] == loop
    assert checks_of(built, "test[1]/checks") == {"greetings": "failed", "show": "passed"}
    assert "hello-1.txt does not greet" in artifact(built, "test-results-iteration-1.md")
    assert "All checks hold" in artifact(built, "test-results-iteration-2.md")
    assert "misspelt" in artifact(built, "fixes-iteration-1.md")
    assert artifact(built, "test-iteration-count.txt") == "2\n"
    assert "**Passed** after 2 test runs" in artifact(built, "test-final-report.md")
    planned = words(requests_of(built.server, "test[1]/plan")[0])
    assert "hello-1.txt does not greet" in planned


def test_three_fixes_that_do_not_help_leave_it_unverified(build):
    built = build(SmallBuild(tasks=1, broken=True, heals=9))
    assert built.ended.status is Status.UNVERIFIED
    assert built.ended.status.exit_code == 3
    assert built.ended.reason == "checks are still failing: greetings"
    runs = [step for step in built.steps if step.endswith("/checks")]
    assert runs == [f"test[{n}]/checks" for n in (1, 2, 3, 4)]
    names = sorted(path.name for path in built.project.folder.glob("*-iteration-*.md"))
    assert names == [
        *(f"fixes-iteration-{n}.md" for n in (1, 2, 3)),
        *(f"test-results-iteration-{n}.md" for n in (1, 2, 3, 4)),
    ]
    assert artifact(built, "test-iteration-count.txt") == "4\n"
    assert "**Failed**: still failing after 4 test runs" in artifact(built, "test-final-report.md")
    evidence = json.loads(artifact(built, "evidence.json"))
    assert {each["state"] for each in evidence["requirements"]} == {"proven"}
    assert [each["status"] for each in evidence["documentation"]] == ["failed"]


def test_failing_set_up_runs_no_check(build):
    checks = {
        "setup": [check("install", "echo no such package; exit 9")],
        "test": [check("unit", "touch ran-anyway")],
        "lint": [check("style", "true")],
        "run": [check("start", "true")],
    }
    built = build(SmallBuild(tasks=1, checks=checks, broken=True, heals=9))
    assert built.ended.status is Status.UNVERIFIED
    assert checks_of(built, "test[1]/checks") == {
        "install": "failed", "unit": "not_run", "style": "not_run", "start": "not_run",
    }  # fmt: skip
    assert "no such package" in artifact(built, "test-results-iteration-1.md")


def test_without_checks_nothing_is_verified(build):
    built = build(SmallBuild(tasks=1), pause_after=("architect",))
    built.project.artifact("checks.json").write_text('{"version": 1}')
    assert built.resume().status is Status.UNVERIFIED
    assert built.ended.reason == "there is no check to run"
    assert "**Unverified**: there is no check" in artifact(built, "test-final-report.md")
    assert "test[1]/plan" not in built.starts


def test_what_checks_leave_behind_is_undone(build):
    command = "echo junk > junk.txt; mkdir -p out/deep; echo x > out/deep/x; echo '#' >> test.sh; "
    checks = {"test": [check("unit", command + "rm hello-1.txt; ls")]}
    built = build(SmallBuild(tasks=1, checks=checks))
    assert built.ended.status is Status.VERIFIED
    assert built.repository.changes() == ()
    assert sorted(path.name for path in built.folder.iterdir() if path.name[0] != ".") == [
        "README.md", "hello-1.txt", "test.sh",
    ]  # fmt: skip
    report = artifact(built, "test-results-iteration-1.md")
    for path in ("junk.txt", "out/deep/x", "test.sh", "hello-1.txt"):
        assert f"- `{path}`" in report


@pytest.mark.parametrize(
    "command",
    [
        "git commit -qam sneaky --allow-empty",
        "git checkout -qb elsewhere",
        "git reset -q HEAD~1",
        "git reset -q --hard HEAD~1",
        "rm -f .git/index",
    ],
)
def test_a_check_can_not_move_the_branch(build, command):
    built = build(SmallBuild(tasks=1, checks={"test": [check("unit", command)]}))
    assert built.ended.status is Status.VERIFIED
    assert built.repository.branch() == "main"
    commits = built.repository.run("log", "--format=%s").splitlines()
    assert len(commits) == len(built.commits) == len(built.journal)
    assert "sneaky" not in commits
    assert built.repository.show("hello-1.txt") == "hello 1\nhello again\n"


def test_check_that_takes_too_long_is_stopped_and_failed(build):
    checks = {"test": [check("unit", "echo begun; sleep 600", timeout_seconds=0.5)]}
    built = build(SmallBuild(tasks=1, checks=checks, broken=True, heals=9))
    assert built.ended.status is Status.UNVERIFIED
    assert checks_of(built, "test[1]/checks") == {"unit": "failed"}
    results = artifact(built, "test-results-iteration-1.md")
    assert "stopped after" in results
    assert "begun" in results


def test_junit_counts_and_ids_are_read(build):
    xml = (
        '<testsuite><testcase classname="t" name="a"/><testcase classname="t" name="b">'
        "<failure/></testcase><testcase name='c'><skipped/></testcase></testsuite>"
    )
    fine = xml.replace("<failure/>", "").replace("'", '"')
    write = f"""printf '%s' '{fine}' > {REPORT}"""
    fail = f"""printf '%s' '{xml.replace("'", '"')}' > {REPORT}; false"""
    command = f"if sh test.sh; then {write}; else {fail}; fi"
    checks = {"test": [check("unit", command, junit=REPORT)]}
    built = build(SmallBuild(tasks=1, checks=checks, broken=True))
    assert built.ended.status is Status.VERIFIED
    results = artifact(built, "test-results-iteration-1.md")
    assert "| 1/3 |" in results
    assert "- failing: `t::b`" in results
    summary = json.loads(artifact(built, "session-summary.json"))
    counts = TestCounts.model_validate(summary["tests"]["tests"])
    assert counts == TestCounts(total=3, skipped=1)


@pytest.mark.parametrize("cases", ["<testcase name='a'><failure/></testcase>", ""])
def test_a_report_outweighs_an_exit_code_of_zero(build, cases):
    xml = f"<testsuite>{cases}</testsuite>"
    checks = {"test": [check("unit", f'echo "{xml}" > {REPORT}', junit=REPORT)]}
    built = build(SmallBuild(tasks=1, checks=checks, broken=True, heals=9))
    assert built.ended.status is Status.UNVERIFIED
    assert "but " in artifact(built, "test-results-iteration-1.md")


HIDDEN = {
    "ignored by git": "mkdir lib && echo 1 > lib/core && echo lib/ > .gitignore",
    "in a repository of its own": "mkdir lib && cd lib && git init -q && echo 1 > core && "
    "git add -A && git commit -qm core",
    "skipped by the index": "mkdir lib && echo > lib/core && git add lib && "
    "git update-index --skip-worktree lib/core && echo 1 > lib/core",
}


@pytest.mark.parametrize("hide", HIDDEN.values(), ids=HIDDEN)
def test_what_is_not_committed_does_not_verify(build, hide):
    small = SmallBuild(tasks=1)
    turns = [*small.builder(1)[:-1], run(f"({hide}); test -e lib/core"), small.builder(1)[-1]]
    steps = {"builder[1]/task": [*turns, turns[-1], turns[-1], turns[-1], turns[-1], turns[-1]]}
    checks = {"test": [check("core", "grep -q 1 lib/core")]}
    built = build(SmallBuild(tasks=1, checks=checks, scenes=steps))
    assert built.ended.status in (Status.UNVERIFIED, Status.FAILED)


# -- reports are a project's output: they are read as if an enemy had written them ---------------

LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {name} "{f"&{before};" * 50}">'
        for before, name in zip("abcdefghij", "bcdefghijk", strict=True)
    )
    + "]><testsuite><testcase name='&k;'/></testsuite>"
)
OUTSIDE = (
    '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    '<testsuite><testcase name="x">&e;</testcase></testsuite>'
)


@pytest.mark.parametrize(
    "text",
    [
        "", "no tests ran", "<html/>", "<testsuites>", "<testcase name='x'/>", LAUGHS, OUTSIDE,
        "<testsuites>\0</testsuites>", '<?xml version="1.0" encoding="nonsense"?><testsuite/>',
    ],
    ids=["empty", "words", "html", "cut", "case", "laughs", "outside", "nul", "encoding"],
)  # fmt: skip
def test_what_is_no_report_is_none(tmp_path, text):
    (tmp_path / "r.xml").write_text(text)
    assert read_junit(tmp_path, "r.xml") is None


def test_a_huge_report_is_not_read(tmp_path):
    with (tmp_path / "r.xml").open("wb") as file:
        file.write(b"<testsuite/>")
        file.truncate(MAX_BYTES + 1)
    assert read_junit(tmp_path, "r.xml") is None


def test_suites_in_suites_are_read_however_deep(tmp_path):
    deep = 20_000
    case = '<testcase name="x"><error/></testcase>'
    (tmp_path / "r.xml").write_text("<testsuite>" * deep + case + "</testsuite>" * deep)
    report = read_junit(tmp_path, "r.xml")
    assert report is not None
    assert (report.counts, report.failing) == (TestCounts(total=1, failed=1, errors=1), ("x",))


def test_numbers_that_are_none_do_not_matter(tmp_path):
    (tmp_path / "r.xml").write_text(
        "<testsuites tests='many'><testsuite time='long'><testcase time='!'/></testsuite>"
        "</testsuites>"
    )
    report = read_junit(tmp_path, "r.xml")
    assert report is not None
    assert report.counts == TestCounts(total=1)


@pytest.mark.parametrize(
    "path", ["", ".", "../out.xml", "/etc/hosts", "a\0.xml", "x" * 5000, ".git/config", "in.txt",
             ".git/x.xml", "folder.xml", "link.xml"],
)  # fmt: skip
def test_a_report_is_an_xml_file_of_the_project(tmp_path, path):
    root = tmp_path / "root"
    (root / ".git").mkdir(parents=True)
    (root / "folder.xml").mkdir()
    (root / "link.xml").symlink_to(tmp_path / "out.xml")
    for name in (".git/config", ".git/x.xml", "in.txt", "../out.xml"):
        (root / name).write_text("<testsuite/>")
    assert report_file(root, path) is None
    assert read_junit(root, path) is None


def test_a_stale_report_does_not_speak_for_this_run(build):
    """The first test run writes a report with a failing id, the second writes none."""
    xml = '<testsuite><testcase name="old"><failure/></testcase></testsuite>'
    command = f"grep -q '^helo 1' hello-1.txt && echo '{xml}' > {REPORT}; true"
    built = build(SmallBuild(tasks=1, broken=True, heals=9,
                             checks={"test": [check("unit", command, junit=REPORT)]}))  # fmt: skip
    assert built.ended.status is Status.UNVERIFIED
    assert "`old`" in artifact(built, "test-results-iteration-1.md")
    assert "the promised test report is missing" in artifact(built, "test-results-iteration-2.md")


def test_a_report_path_of_git_or_of_the_run_is_left_alone(build):
    paths = (".git/HEAD", ".git", ".context-foundry/journal.jsonl", "test.sh", "\0")
    checks = {"test": [check(f"t{n}", "sh test.sh", junit=p) for n, p in enumerate(paths)]}
    built = build(SmallBuild(tasks=1, broken=True, heals=9, checks=checks))
    assert built.ended.status is Status.UNVERIFIED
