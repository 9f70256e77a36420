"""Threshold, model, context and prompt follow what the iterations achieve; each with its reason."""

import json
from pathlib import Path
from typing import Any

import pytest

from foundry.circular.prompt_versions import prompts_of
from foundry.errors import ArtifactError
from foundry.model.rehearsal.script import call, say, turn
from foundry.schema.events import IterationStarted, Note
from foundry.schema.messages import Usage
from foundry.schema.run import Limits, Status
from tests.support.circular import TASK, Circular, done, doubt, more, repository, work
from tests.support.rehearsals import write
from tests.support.workflows import plays

OLD, NEW = "print(old())\n", "print(new())\n"
COUNT = "! grep -rn 'old()' --include='*.py' . "
"""Prints a line for each place that is left."""

FULL = Usage(input_tokens=150_000, output_tokens=500)
PARTS = """\
project: {name: Greeter, description: greets people}
objective: {primary: Finish the migration, secondary: Leave it tidy}
history: {from: old, to: new, notes: [it was done by hand]}
parts:
  - {id: first, title: The first module, paths: [a.py], details: It has a trap.}
  - {id: second, title: The second module, paths: [b.py], details: It has none.}
"""


@pytest.fixture
def circular(rehearsal: Any, tmp_path: Path) -> Any:
    def start(script: Any, files: str = "ab", **options: Any) -> Circular:
        texts = {f"{name}_py": OLD for name in files}
        place = tmp_path / f"project-{len(list(tmp_path.iterdir()))}"
        folder = repository(place, **texts)
        options = {"checks": tuple(f"! grep old {name}.py" for name in files), **options}
        return Circular.run(rehearsal(script), folder, **options)

    return start


def filled(path: str) -> Any:
    """A turn that writes a file and leaves the window three quarters full."""
    return turn(say("Go on."), call("write_file", path=path, content=NEW), usage=FULL)


def reasons(run: Circular, name: str) -> list[str]:
    return [each.reasons[name] for each in run.states if name in each.reasons]


def begun(run: Circular) -> list[IterationStarted]:
    return [each for each in run.events if isinstance(each, IterationStarted)]


def status(run: Circular) -> Any:
    from foundry.report.circular import circular_report

    return json.loads(circular_report(run.project).model_dump_json())


def test_threshold_and_model_follow_progress_and_say_why(circular: Any) -> None:
    run: Circular = circular(
        plays(
            {
                work(1): [filled("a.py")],
                work(2): [filled("notes.txt")],
                work(3): [write("b.py", NEW), done()],
                doubt(3): [done()],
            }
        ),
        adaptive=True,
        several=("small", "large"),
        prompt="Call new().\n\n- [ ] the calls in `a.py`\n- [ ] the names in `a.py`\n",
        parallel=2,
        limits=Limits(max_usd=50),
    )
    assert run.ended.status is Status.VERIFIED, run.ended
    assert [each.threshold for each in run.states] == [0.6, 0.55, 0.6, 0.6]
    assert [each.threshold for each in begun(run)] == [0.6, 0.55, 0.6, 0.6]
    assert "a first step down" in run.states[1].reasons["threshold"]
    assert begun(run)[1].reasons == run.states[1].reasons
    assert status(run)["iterations"][1]["reasons"] == run.states[1].reasons
    assert "a first step down" in run.artifact("circular/report.md")
    assert [each.model for each in run.states] == ["small", "small", "large", "large"]
    assert reasons(run, "model")[2:] == [
        "large: small gained nothing in an iteration",
        "large: the strongest one doubts",
    ]
    asked = [each.body["model"] for each in run.server.requests if each.path == "/v1/messages"]
    assert asked == ["small", "small", "large", "large", "large"]
    assert [each.text for each in run.events if isinstance(each, Note)][-1] == (
        "nothing is worked on side by side: the 2 parts in the checklist share files: "
        "nothing to split"
    )


def test_a_progressive_context_shrinks_as_parts_are_done_and_states_its_rule(
    circular: Any, tmp_path: Path
) -> None:
    context = tmp_path / "base.yaml"
    context.write_text(PARTS)
    run: Circular = circular(
        plays(
            {
                work(1): [write("a.py", NEW), more("the second part", parts_done=["first"])],
                work(2): [write("c.txt", "1\n"), more("b.py")],
                work(3): [write("b.py", NEW), done(parts_done=["second"])],
                doubt(3): [done()],
            }
        ),
        context=context,
        progressive=True,
    )
    assert run.ended.status is Status.VERIFIED, run.ended
    one, two, three = (run.told(work(number)) for number in (1, 2, 3))
    assert "It has a trap" in one and "it was done by hand" in one and "left out" not in one
    assert "The first module (done)" in two and "It has a trap" not in two
    assert "it was done by hand" not in two  # half of the known issues are resolved
    assert "left out here: parts.first, history.notes. A part that is done" in two
    assert "It has a trap" in three and "left out" not in three  # iteration 2 resolved nothing
    assert "It has a trap" in run.told(doubt(3))
    assert "It has a trap" in run.artifact("circular/base-context.md")
    assert reasons(run, "context") == [
        "0% of the known issues are resolved: all of it",
        "50% of the known issues are resolved; left out: parts.first, history.notes",
        "the last iteration gained nothing: the whole context again",
    ]
    assert run.state["base_context_hash"]


EDIT = f"{TASK}\nLook at the imports first."


def test_a_prompt_is_refined_only_by_what_was_measured(circular: Any, tmp_path: Path) -> None:
    """Kept when it brought more, rejected when it did not; the person's own file stays."""
    prompt = tmp_path / "task.md"
    prompt.write_text(TASK + "\n")
    worse, best = f"{EDIT}\nBe slow.", f"{EDIT}\nBe quick."
    run: Circular = circular(
        plays(
            {
                work(1): [write("a.py", NEW), more("b", better_prompt="Do something else.")],
                work(2): [
                    write("b.py", NEW),
                    more("c", better_prompt=EDIT, better_because="imports hide it"),
                ],
                work(3): [write("c.py", NEW), write("d.py", NEW), more("e", better_prompt=worse)],
                work(4): [write("n.txt", "4\n"), more("e")],
                work(5): [write("e.py", NEW), done(better_prompt=best)],
                doubt(5): [more("say it in the README")],
                work(6): [write("README.md", "new()\n"), done()],
                doubt(6): [done()],
            }
        ),
        files="abcde",
        prompt=str(prompt),
        refine=True,
        adaptive=True,
        several=("small", "large"),
        models_by="rotate",
        max_iterations=9,
        limits=Limits(max_usd=50),
    )
    assert run.ended.status is Status.VERIFIED, run.ended
    worked = [each for each in run.states if each.kind == "work"]
    assert [each.prompt_version for each in worked] == [1, 1, 2, 3, 2, 4]
    told = [each.reasons["prompt"] for each in worked]
    assert "not tried: it changes what the task is" in told[1]
    assert told[2] == "version 2 is tried (imports hide it)"
    assert told[3].startswith("version 2 kept: ") and told[3].endswith("; version 3 is tried")
    assert told[4].startswith("version 3 rejected: ")
    assert "Look at the imports first." in run.told(work(3))
    assert "Be slow." in run.told(work(4)) and "Be slow." not in run.told(work(5))
    assert "Look at the imports" not in run.told(doubt(5))  # who doubts is given the person's own
    assert worked[2].reasons["model"].endswith("while version 2 of the prompt is on trial")
    assert [each.model for each in worked] == ["small", "large", "large", "large", "small", "small"]

    assert prompt.read_text() == TASK + "\n" == run.artifact("circular/prompt.md")
    versions = json.loads(run.git("show", "HEAD:.context-foundry/circular/prompts.json"))
    decisions = [each["decision"] for each in versions["versions"]]
    assert decisions == ["original", "kept", "rejected", "rejected"]
    assert run.state["circular_prompt_hash"] == versions["versions"][1]["sha256"]
    entries = run.journal
    line = next(each for each in entries if getattr(each, "step", "") == work(2))
    line.patch["circular"]["report"]["proposal"]["text"] += " Or leave it."
    with pytest.raises(ArtifactError, match="proposal"):
        prompts_of(entries)


def test_what_iteration_after_iteration_did_is_summed_up_from_the_memory(circular: Any) -> None:
    recall = turn(call("recall_context", keywords=["quince"]))
    scenes: dict[str, Any] = {
        work(n): [write(f"n{n}.txt", f"{n}\n"), write(f"{'abcde'[n - 1]}.py", NEW),
                  more("rest")]
        for n in range(1, 5)
    }  # fmt: skip
    scenes[work(1)][-1] = more("rest", resolved=["quince marmalade is spelt right"])
    scenes[work(5)] = [recall, write("e.py", NEW), done()]
    scenes[doubt(5)] = [recall, done()]
    run: Circular = circular(plays(scenes), files="abcde", max_iterations=9)
    assert run.ended.status is Status.VERIFIED, run.ended
    told = run.told(work(5))
    memory = told.split("What was done and found out before this conversation")[1]
    assert "iterations[1]/work" in memory
    answers = [
        block["content"]
        for each in run.server.requests
        if each.path == "/v1/messages"
        for block in each.body["messages"][-1]["content"]
        if block.get("type") == "tool_result" and "quince" in str(block["content"])
    ]
    assert len(answers) == 2
