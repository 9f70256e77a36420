"""Stateless: a conversation knows what is on disk, and nothing of any other conversation."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foundry.model.rehearsal.script import Turn, assistant_turns, call, say, turn
from foundry.schema.run import Status
from foundry.store import journal
from tests.support.builds import Built, git, step_of, steps, tree
from tests.support.crash import ONE_STEP, Child, one_step
from tests.support.rehearsals import SPEC, SmallBuild

TASK = "builder[2]/task"
WHOLE = SmallBuild(tasks=3, broken=True, heals=2)
NONCE = re.compile(r"nonce-(\d+)-(\d+)-\w+")


class Planted:
    """A script whose every reply says something unique, in text, arguments, results and ids.

    The first conversation of TASK ends without a result, so that one step has two conversations.
    """

    def __init__(self) -> None:
        self._script = WHOLE()
        self.conversations = 0
        self._failed = 0

    def __call__(self, request: Mapping[str, Any]) -> Turn:
        number = assistant_turns(request)
        self.conversations += number == 0
        if step_of(request) == TASK and self._failed in (0, self.conversations):
            self._failed = self.conversations
            return turn(say(self._nonce(number, "said")))
        if number == 0:  # all tools that read can be called by every step that has any
            return self._marked(turn(call("read_file", path="no-such-file")), number)
        return self._marked(self._script(_without_first_reply(request)), number)

    def _marked(self, reply: Turn, number: int) -> Turn:
        blocks = []
        for place, block in enumerate(reply.content):
            given = {**block, "id": self._nonce(number, f"id{place}")}
            if block.get("name") == "read_file":
                given["input"] = {"path": self._nonce(number, f"path{place}")}
            blocks.append(given if block["type"] == "tool_use" else block)
        return turn(say(self._nonce(number, "said")), *blocks)

    def _nonce(self, number: int, what: str) -> str:
        return f"nonce-{self.conversations}-{number}-{what}"


def _without_first_reply(request: Mapping[str, Any]) -> Mapping[str, Any]:
    first, _, _, *rest = request["messages"]
    return {**request, "messages": [first, *rest]}


def test_no_request_holds_a_message_of_another_conversation(build: Any) -> None:
    script = Planted()
    built: Built = build(script)
    assert built.ended.status is Status.VERIFIED
    assert built.starts == [
        *("scout", "architect", "builder[1]/task", TASK, TASK, "builder[3]/task"),
        *("test[1]/plan", "test[1]/fix", "test[2]/plan", "test[2]/fix"),
        *("test[3]/review", "docs", "docs-review", "feedback"),
    ]
    conversation = 0
    for recorded in built.server.requests:
        body = recorded.body
        turns = assistant_turns(body)
        conversation += turns == 0
        found = {(int(each[1]), int(each[2])) for each in NONCE.finditer(json.dumps(body))}
        assert found == {(conversation, number) for number in range(turns)}
        assert len(body["messages"]) == 2 * turns + 1
    assert conversation == script.conversations


def test_no_conversation_begins_with_more_than_its_opening(build: Any) -> None:
    built: Built = build(SmallBuild())
    firsts = [each.body for each in built.server.requests if assistant_turns(each.body) == 0]
    assert len(firsts) == len({json.dumps(body["messages"]) for body in firsts}) == 8
    assert len({json.dumps(body["system"]) for body in firsts}) == 1
    for body in firsts:
        (only,) = body["messages"]
        assert only["role"] == "user"
        assert {block["type"] for block in only["content"]} == {"text"}


CHANGES = (
    (re.compile(r"\bctx_(\d+)_[0-9a-f]{16}"), r"MEMORY-\1"),
    (re.compile(r"\d{8}-\d{6}-[0-9a-f]{4}"), "RUN"),
    (re.compile(r"\d{8}T\d{6}Z"), "TIME"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "COMMIT"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|\+00:00)?"), "TIME"),
    (re.compile(r"\b\d+(\.\d+)? s\b"), "SECONDS"),
    (re.compile(r"\| \d+\.\d \|"), "| SECONDS |"),
)
"""What differs between any two runs of the same build."""


def timeless(text: str) -> str:
    for pattern, word in CHANGES:
        text = pattern.sub(word, text)
    return text


def traces(folder: Path, requests: Any) -> dict[str, Any]:
    """What a build leaves: its files, its steps, its commits, and what it asked."""
    bodies = (json.dumps(each.body, sort_keys=True) for each in requests)
    return {
        "files": tree(folder),
        "steps": steps(journal.read(folder / ".context-foundry" / "journal.jsonl")),
        "commits": git(folder, "log", "--format=%s").splitlines(),
        "artifacts": sorted(timeless(each) for each in git(folder, "ls-files").splitlines()),
        "requests": [timeless(body.replace(str(folder), "PLACE")) for body in bodies],
    }


def test_a_new_process_for_every_step_gives_the_same_build(rehearsal: Any, tmp_path: Path) -> None:
    def build(name: str, **how: Any) -> dict[str, Any]:
        folder = tmp_path / name / "project"
        server = rehearsal(WHOLE)
        words = ["build", SPEC, "--dir", str(folder), "--base-url", server.url]
        home = {"FOUNDRY_HOME": str(tmp_path / name / "home")}
        code, processes = ONE_STEP, 0
        while code == ONE_STEP:
            child = Child([*words, "--quiet"], log=tmp_path / "log", env=home, **how)
            code = child.wait()
            processes += 1
            words = ["resume", str(folder)]
        assert code == 0, child.output
        return {**traces(folder, server.requests), "processes": processes}

    one, many = build("one"), build("many", program=one_step)
    assert one.pop("processes") == 1
    assert many.pop("processes") == len(many["steps"]) + 1
    assert many.pop("requests") == one.pop("requests")
    assert many == one
