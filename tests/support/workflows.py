"""Workflows of a user's own: documents on disk, and models that play their steps."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from foundry.model.rehearsal.script import Scene, SceneScript, Turn
from tests.support.rehearsals import submit, write


def step(name: str, prompt: str = "Do it.", **more: Any) -> dict[str, Any]:
    return {"id": name, "title": f"The step {name}", "prompt": prompt, **more}


def loop(name: str, body: list[dict[str, Any]], **config: Any) -> dict[str, Any]:
    most = {"maxIterations": 5, **config}
    return {"id": name, "type": "loop", "title": f"Loop {name}", "loop": most, "body": body}


def document(*steps: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    head = {"id": "mine", "name": "My way", "description": "How I do it.", "version": "0.1.0"}
    return {**head, **more, "steps": list(steps)}


def saved(folder: Path, *steps: Mapping[str, Any], name: str = "mine.json", **more: Any) -> Path:
    """A workflow file in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(json.dumps(document(*steps, **more)))
    return path


def plays(scenes: Mapping[str, Sequence[Turn]]) -> SceneScript:
    """A model that has turns for each step, by the step's id."""
    return SceneScript(
        tuple(
            Scene(
                name,
                (f"# Step: {name}\n",),
                tuple(replace(each, id=f"{name}-{n}") for n, each in enumerate(turns, 1)),
            )
            for name, turns in scenes.items()
        )
    )


FRUITS = (
    step("plan", "Choose fruits.", agentRole="A greengrocer of many years."),
    loop("each", [step("make", "Write {{fruit}}.txt.")], type="forEach", items="fruits",
         itemVar="fruit"),
    loop("look", [step("search", "Search.")], type="while",
         condition={"var": "found", "equals": False}),
    step("report", "Tell of it."),
)  # fmt: skip
"""A plain document: a forEach over what a model chose, and a while that a model ends."""

FRUIT_STEPS = ["plan", "each[1]/make", "each[2]/make", "look[1]/search", "look[2]/search", "report"]


def fruits() -> SceneScript:
    """A model that plays FRUITS."""
    chosen = {"fruits": ["apple", "pear"], "found": False}
    return plays(
        {
            "plan": [submit(summary="Two fruits.", output="apple, pear", context=chosen)],
            "each[1]/make": [write("apple.txt", "apple\n"), submit(summary="The apple.")],
            "each[2]/make": [write("pear.txt", "pear\n"), submit(summary="The pear.")],
            "look[1]/search": [submit(summary="Not yet.")],
            "look[2]/search": [submit(summary="Found it.", context={"found": True})],
            "report": [submit(summary="All is told.")],
        }
    )
