"""Which scene answers, and what a script in YAML may say."""

from pathlib import Path
from typing import Any

import anthropic
import pytest
from rehearsal_stage import Stage, request, streamed

from foundry.errors import InputError
from foundry.model.rehearsal.script import Turn, load, parse

SCRIPT = """
shared:
  content: &program |
    import sys

    print(sys.argv)
scenes:
  - name: build two
    match: ["Step: build", "task 2"]
    turns:
      - say: First.
        call: write_file
        with: {path: main.py, content: *program}
      - - say: Two calls.
        - {call: read_file, with: {path: a}}
        - call: run_command
      - {say: Over., stop: refusal, usage: {output_tokens: 77}}
  - match: "Step: build"
    unless: again
    turns: [{say: Other., fault: {kind: status, status: 429, retry_after: 7200, times: -1}}]
"""


def conversation(number: int) -> dict[str, Any]:
    """A conversation of `number` replies so far, without tool calls."""
    return request("Step: build, task 2", *(["Reply.", "Go on."] * number))


def test_scenes_are_chosen_by_text_and_turns_by_number(stage: Stage) -> None:
    client = stage.play(parse(SCRIPT))
    first, second, third = (streamed(client, **conversation(n)) for n in range(3))
    assert first.content[1].input["content"] == "import sys\n\nprint(sys.argv)\n"
    assert first.content[1].id == "toolu_build-two_1_1"
    assert [block.type for block in second.content] == ["text", "tool_use", "tool_use"]
    assert [block.id for block in second.content[1:]] == [
        "toolu_build-two_2_1",
        "toolu_build-two_2_2",
    ]
    assert second.content[2].input == {}
    assert (third.stop_reason, third.usage.output_tokens) == ("refusal", 77)


def test_only_the_first_user_message_chooses_the_scene(stage: Stage) -> None:
    client = stage.play(parse(SCRIPT))
    message = streamed(client, **request("Step: build, task 2", "ok", "Step: build again"))
    assert message.content[0].text == "Two calls."


def test_past_the_last_turn_is_an_error(stage: Stage) -> None:
    with pytest.raises(anthropic.BadRequestError, match="no turn 4 for scene 'build two'"):
        streamed(stage.play(parse(SCRIPT)), **conversation(3))


@pytest.mark.parametrize("text", ["Step: scout", "Step: build it again"])
def test_no_scene_is_an_error_that_quotes_the_request(stage: Stage, text: str) -> None:
    with pytest.raises(anthropic.BadRequestError, match=f"no scene matches: {text}"):
        streamed(stage.play(parse(SCRIPT)), **request(text))


def test_a_fault_in_yaml_strikes(stage: Stage) -> None:
    with pytest.raises(anthropic.RateLimitError) as caught:
        streamed(stage.play(parse(SCRIPT)), **request("Step: build, task 1"))
    assert caught.value.response.headers["retry-after"] == "7200"


def test_a_script_that_fails_tells_its_client(stage: Stage) -> None:
    def broken(_: Any) -> Turn:
        raise KeyError("nothing here")

    with pytest.raises(anthropic.BadRequestError, match="KeyError: 'nothing here'"):
        streamed(stage.play(broken))


ONE = "scenes: [{match: a, turns: [%s]}]"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("scenes: [", "not valid YAML.*line 2"),
        ("", r"\(whole\): "),
        ("scenes: []", "scenes: "),
        ("scenes: [{turns: [{say: x}]}]", r"scenes\.0\.match: Field required"),
        ("scenes: [{match: [], turns: [{say: x}]}]", r"scenes\.0\.match: "),
        ("scenes: [{match: a, turns: []}]", r"scenes\.0\.turns: "),
        (ONE % "{say: x}, {sya: y}", r"scenes\.0\.turns\.1\.0\.sya: Extra inputs"),
        (ONE % "[]", r"scenes\.0\.turns\.0: "),
        (ONE % "{}", r"scenes\.0\.turns\.0\.0: .*a turn needs"),
        (ONE % "{say: x, with: {a: 1}}", r"scenes\.0\.turns\.0\.0: .*`with` needs a `call`"),
        (ONE % "{call: x, with: text}", r"scenes\.0\.turns\.0\.0\.with: "),
        (ONE % "{call: x, call: y}", "'call' occurs twice.*line 1"),
        (ONE % "{fault: {kind: fire}}", r"scenes\.0\.turns\.0\.0\.fault\.kind: "),
        ("scenes: [{match: a, turns: [{say: x}]}, {match: a, turns: [{say: y}]}]", "two scenes"),
    ],
)
def test_an_invalid_script_names_file_and_field(tmp_path: Path, text: str, problem: str) -> None:
    file = tmp_path / "demo.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=problem) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}: ")


def test_a_script_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read the rehearsal script .*none\.yaml"):
        load(tmp_path / "none.yaml")
