"""The reviewer: its word decides nothing, a command that fails does, and only reproduced."""

from pathlib import Path

import pytest

from foundry.engine.counts import counts
from foundry.engine.evidence.diffs import bounded, path_of
from foundry.engine.findings import findings, reviewed
from foundry.model.rehearsal.script import Turn, call, turn
from foundry.schema.events import Event, Note
from foundry.schema.journal import StepRecord
from foundry.schema.run import Status
from tests.support.asked import requests_of, results, words
from tests.support.builds import EVERYTHING, Built, git, tree
from tests.support.rehearsals import SmallBuild, check, run, submit, write

REVIEW, REPRODUCE = "test[1]/review", "test[1]/reproduce"
ASKED = [{"what": "it greets the world", "missing": "the world"}]
WORLD = {
    "title": "It does not greet the world",
    "explanation": "The first greeting names nobody.",
    "command": "grep -q world hello-1.txt",
}
CHECK = "finding: It does not greet the world"


def review(*found: dict[str, str], **more: object) -> Turn:
    return submit(asked=ASKED, findings=list(found), **more)


def tried(*, real: bool = True, title: str = WORLD["title"]) -> Turn:
    return submit(findings=[{"title": title, "reproduced": real, "words": "I looked."}])


def small(**scenes: list[Turn]) -> SmallBuild:
    """One task; the scenes by the last word of their step in the first iteration."""
    names = {name: f"test[1]/{name}" for name in ("review", "reproduce", "plan", "fix")}
    return SmallBuild(
        tasks=1, scenes={names.get(name, name): turns for name, turns in scenes.items()}
    )


def record(built: Built, step: str) -> StepRecord:
    return next(e for e in built.journal if isinstance(e, StepRecord) and e.step == step)


def records(built: Built) -> list[StepRecord]:
    return [entry for entry in built.journal if isinstance(entry, StepRecord)]


def artifact(built: Built, name: str) -> str:
    return built.project.artifact(name).read_text()


def places(built: Built) -> list[str]:
    """Branches and work trees of the repository beyond the run's own."""
    branches = git(built.project.root, "branch", "--format=%(refname:short)").split()
    beside = git(built.project.root, "worktree", "list", "--porcelain").count("worktree ")
    return [*branches, *["beside"] * (beside - 1)]


HEAL = [write("hello-1.txt", "hello 1, world\n"), submit(summary="Greets it.", change="fix")]


def test_who_finds_nothing_lets_the_build_be_verified(build):
    built = build(small())
    assert built.ended.status is Status.VERIFIED
    assert built.steps[3:] == ["test[1]/checks", REVIEW, "docs", "docs-review", "proof", "feedback"]
    assert "it greets" not in artifact(built, "review-iteration-1.md")
    assert "greetings" in artifact(built, "review-iteration-1.md")
    assert reviewed(records(built)).found == ()
    assert places(built) == ["main"]


def test_it_is_told_spec_and_change_and_no_author_s_word(build):
    scenes = {"scout": [submit(
        summary="SCOUT SAYS", project_type="cli", tech_stack=["sh"], size="small",
        commands={"test": [check("greetings", "sh test.sh")]},
    )]}  # fmt: skip
    builder = [*SmallBuild(tasks=1).builder(1)[:-1], submit(summary="DONE WELL", notes=["NOTED"])]
    built = build(SmallBuild(tasks=1, scenes={**scenes, "builder[1]/task": builder}))
    told = words(requests_of(built.server, REVIEW)[0])
    assert "a test checks them all" in told
    assert "+hello again" in told
    assert f"git diff {built.commits[0].sha}" in told
    for said in ("SCOUT SAYS", "DONE WELL", "NOTED", "One file per greeting"):
        assert said not in told
    assert "+cat hello-1.txt" in words(requests_of(built.server, "docs-review")[0])
    assert "+hello again" not in words(requests_of(built.server, "docs-review")[0])


def test_what_two_of_them_see_fail_is_healed(build):
    built = build(small(review=[review(WORLD)], reproduce=[tried()], fix=HEAL))
    assert built.ended.status is Status.VERIFIED
    assert built.steps[3:9] == [
        "test[1]/checks", REVIEW, REPRODUCE, "test[1]/plan", "test[1]/fix", "test[2]/checks",
    ]  # fmt: skip
    found = record(built, REVIEW)
    assert [(c.name, c.kind, c.status) for c in found.checks] == [(CHECK, "finding", "failed")]
    assert found.patch["review"]["candidates"] is True
    counted = record(built, REPRODUCE)
    assert [(c.name, c.kind, c.status) for c in counted.checks] == [(CHECK, "finding", "failed")]
    assert counted.patch["tests"] == {"passed": False, "settled": False, "iterations": 1}
    assert counted.patch["review"]["candidates"] is False
    assert counted.patch["review"]["open"] == 1
    planned = words(requests_of(built.server, "test[1]/plan")[0])
    assert "Findings of the reviewer" in planned
    assert "$ grep -q world hello-1.txt" in planned
    joined = findings(records(built))
    assert [(each.name, each.command) for each in joined] == [(CHECK, WORLD["command"])]
    for step in ("test[2]/checks", "proof"):
        [again] = [each for each in record(built, step).checks if each.kind == "finding"]
        assert (again.name, again.status) == (CHECK, "passed")
    assert reviewed(records(built)).open == 0
    assert "reviewer: 1 finding, 1 reproduced" in [
        each.text for each in built.events if isinstance(each, Note)
    ]


def test_who_reproduces_knows_only_the_finding(build):
    built = build(small(review=[review(WORLD)], reproduce=[tried()], fix=HEAL))
    told = words(requests_of(built.server, REPRODUCE)[0])
    assert WORLD["explanation"] in told
    for said in ("a test checks them all", "+hello again", ASKED[0]["what"]):
        assert said not in told


def test_what_nobody_else_sees_is_counted_and_no_fault(build):
    built = build(small(review=[review(WORLD)], reproduce=[tried(real=False)]))
    assert built.ended.status is Status.VERIFIED
    assert "test[1]/plan" not in built.steps
    said = reviewed(records(built))
    assert (said.open, said.unreproduced, said.found) == (0, 1, ())
    assert findings(records(built)) == ()


def test_a_word_without_a_second_failure_is_none(build, tmp_path: Path):
    once = {**WORLD, "command": f"test -e {tmp_path}/once || {{ touch {tmp_path}/once; exit 1; }}"}
    built = build(small(review=[review(once)], reproduce=[tried()]), rules=EVERYTHING)
    assert built.ended.status is Status.VERIFIED
    assert reviewed(records(built)).unreproduced == 1


def test_what_does_not_fail_goes_back_and_may_be_a_remark(build):
    holds = {**WORLD, "command": "grep -q hello hello-1.txt"}
    built = build(small(review=[review(holds), review({**WORLD, "command": ""})]))
    [(told, is_error)] = results(requests_of(built.server, REVIEW)[1])
    assert is_error
    assert "`grep -q hello hello-1.txt` ended with exit code 0" in told
    assert built.ended.status is Status.VERIFIED
    assert REPRODUCE not in built.steps
    assert reviewed(records(built)).remarks == (
        "It does not greet the world: The first greeting names nobody.",
    )


def test_every_finding_has_to_be_answered(build):
    turns = [tried(title="Something else"), tried(real=False)]
    built = build(small(review=[review(WORLD)], reproduce=turns))
    [(told, _)] = results(requests_of(built.server, REPRODUCE)[1])
    assert WORLD["title"] in told
    assert built.ended.status is Status.VERIFIED


def test_two_findings_of_one_title_and_rulings_on_nothing_go_back(build):
    ruling = {"flag": "tests: none", "justified": True, "reason": "because"}
    built = build(small(review=[review(WORLD, WORLD, rulings=[ruling]), review()]))
    [(told, _)] = results(requests_of(built.server, REVIEW)[1])
    assert "is used twice" in told
    assert "there is no flag 'tests: none'" in told


def test_what_no_fix_mends_keeps_failing_as_a_check(build):
    scenes = {f"test[{n}]/fix": [write("hello-1.txt", f"hello {n}{n}\n"), submit(summary="Tried.")]
              for n in range(1, 4)}  # fmt: skip
    built = build(
        SmallBuild(tasks=1, scenes={**scenes, REVIEW: [review(WORLD)], REPRODUCE: [tried()]})
    )
    assert built.ended.status is Status.UNVERIFIED
    assert [step for step in built.steps if step.endswith("/review")] == [REVIEW]
    assert CHECK in artifact(built, "test-results-iteration-4.md")
    assert CHECK in artifact(built, "test-final-report.md")
    assert counts(records(built), ()).open == 1


def test_what_is_found_after_the_last_fix_stays_open(build):
    scenes: dict[str, list[Turn]] = {}
    for number in range(1, 5):
        found = {"title": f"No {number}", "explanation": "It counts.",
                 "command": f"grep -q {number}{number} hello-1.txt"}  # fmt: skip
        scenes[f"test[{number}]/review"] = [review(found)]
        scenes[f"test[{number}]/reproduce"] = [tried(title=f"No {number}")]
        counted = " ".join(f"{each}{each}" for each in range(1, number + 1))
        scenes[f"test[{number}]/fix"] = [
            write("hello-1.txt", f"hello 1 {counted}\n"), submit(summary="Counts."),
        ]  # fmt: skip
    built = build(SmallBuild(tasks=1, scenes=scenes))
    assert built.ended.status is Status.UNVERIFIED
    assert "test[4]/plan" not in built.steps
    assert record(built, "test[4]/reproduce").patch["tests"] == {
        "passed": False, "settled": True, "iterations": 4,
    }  # fmt: skip
    report = artifact(built, "test-final-report.md")
    assert "**Failed**: still failing after 4 test runs" in report
    assert "finding: No 4" in report
    assert (counts(records(built), ()).findings, counts(records(built), ()).open) == (4, 1)


def test_it_works_in_a_clean_copy_that_was_set_up(build):
    checks = {
        "setup": [check("tools", "echo yes > tools")],
        "test": [check("greetings", "sh test.sh")],
    }
    mess = run(
        "cat tools && rm -r hello-1.txt .context-foundry && touch left && git add -A && "
        "git commit -qm mine"
    )
    told = {**WORLD, "command": "test -e left || test ! -e tools || test ! -e hello-1.txt"}
    built = build(
        SmallBuild(
            tasks=1,
            checks=checks,
            scenes={REVIEW: [mess, review(told)], REPRODUCE: [run("cat tools"), tried(real=False)]},
        ),
        rules=EVERYTHING,
    )
    assert built.ended.status is Status.VERIFIED
    [(said, is_error)] = results(requests_of(built.server, REVIEW)[1])
    assert "yes" in said
    assert not is_error
    assert set(tree(built.project.root)) == {"README.md", "hello-1.txt", "test.sh"}
    assert not [flag for each in records(built) for flag in each.flags if flag.kind == "tampering"]
    assert "mine" not in git(built.project.root, "log", "--format=%s").split("\n")
    assert places(built) == ["main"]


def test_a_reviewer_can_have_a_model_of_its_own(build):
    built = build(small(), models={"reviewer": "claude-haiku-4-5"})
    models = {step: {body["model"] for body in requests_of(built.server, step)}
              for step in (REVIEW, "docs-review", "docs")}  # fmt: skip
    assert models[REVIEW] == models["docs-review"] == {"claude-haiku-4-5"}
    assert models["docs"] != models[REVIEW]


def test_a_review_that_never_ends_leaves_it_unverified_and_nothing_behind(build):
    talk = [turn(call("list_files")) for _ in range(60)]
    built = build(small(review=talk), skip=("docs", "feedback"))
    assert built.ended.status is Status.UNVERIFIED
    assert f"{REVIEW} failed 2 times" in built.ended.reason
    assert places(built) == ["main"]


def test_one_that_was_cut_off_is_done_again_from_a_fresh_copy(build):
    struck: list[bool] = []

    def interrupt(event: Event) -> None:
        if event.kind == "tool_execution" and event.step == REVIEW and not struck:
            struck.append(True)
            raise KeyboardInterrupt

    scene = [run("touch left"), run("test ! -e left"), review()]
    built = build(small(review=scene), skip=("docs", "feedback"), observe=interrupt)
    assert built.ended.status is Status.INTERRUPTED
    assert not list(built.folder.parent.glob("*.foundry"))
    built.resume()
    assert built.ended.status is Status.VERIFIED
    assert built.starts.count(REVIEW) == 2
    assert not list(built.folder.parent.glob("*.foundry"))


# -- the documentation -----------------------------------------------------------------------------

BYE = {
    "title": "No farewell",
    "explanation": "README.md promises bye.txt, which is not there.",
    "command": "! grep -q bye.txt README.md || test -f bye.txt",
}
PROMISES = [write("README.md", "# Greetings\n\nAnd bye.txt.\n"), submit(summary="README.")]
KEPT = [write("README.md", "# Greetings\n"), submit(summary="Mended.")]


def test_what_the_documentation_makes_up_is_mended(build):
    unmended = submit(summary="It is fine.")
    built = build(small(**{
        "docs": PROMISES, "docs-review": [review(BYE)], "docs-mend": [unmended, *KEPT],
        "docs-reproduce": [tried(title=BYE["title"])],
    }))  # fmt: skip
    assert built.ended.status is Status.VERIFIED
    assert "docs-mend" in built.steps
    assert BYE["explanation"] in words(requests_of(built.server, "docs-mend")[0])
    [(told, _)] = results(requests_of(built.server, "docs-mend")[1])
    assert "finding: No farewell" in told
    assert (built.project.root / "README.md").read_text() == "# Greetings\n"
    assert record(built, "docs-reproduce").patch["docs_review"]["open"] == 1
    assert "tests" not in record(built, "docs-reproduce").patch
    assert reviewed(records(built)).open == 0
    assert [each.name for each in findings(records(built))] == ["finding: No farewell"]


# -- a diff that can be read -----------------------------------------------------------------------


def part(path: str, lines: int) -> str:
    body = "".join(f"+line {number} of {path}\n" for number in range(lines))
    return (
        f"diff --git a/{path} b/{path}\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{lines} @@\n{body}"
    )


def test_a_long_diff_keeps_small_files_and_code_and_cuts_the_biggest():
    small_part, big, data = part("a.py", 20), part("b.py", 4000), part("data.json", 300)
    shown = bounded(data + big + small_part, 6_000)
    assert small_part in shown
    assert shown.index("a/b.py") < shown.index("a.py")
    assert "+line 9 of b.py" in shown
    assert "more lines)" in shown
    assert "+line 1 of data.json" not in shown
    assert "(not shown: data.json)" in shown
    assert len(shown) < 6_300


def test_a_short_diff_stays_as_it_is():
    whole = part("data.json", 3) + part("a.py", 3)
    assert bounded(whole) == whole


def test_very_many_files_are_named_within_bounds():
    shown = bounded("".join(part(f"m{number}.py", 9) for number in range(2_000)))
    assert "and 1900 more" in shown
    assert len(shown) < 26_000


@pytest.mark.parametrize("path", ["a.py", "with space.txt", "dir/b/x.py"])
def test_the_path_of_a_part(path: str) -> None:
    assert path_of(part(path, 1)) == path
