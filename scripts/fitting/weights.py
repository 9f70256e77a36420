"""The model's weights as the file that retrieval/model.py reads."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from scripts.fitting.samples import Samples
from scripts.fitting.softmax import Floats

DIGITS = 4
WAYS = 4
"""In so many ways a signal counts, see retrieval/model.py."""


def as_json(samples: Samples, weights: Floats, calibration: tuple[float, float]) -> str:
    """The file's text: for each signal the weights of its share, root, longer and amount."""
    count = WAYS * len(samples.signals)
    ways = weights[:count].reshape(WAYS, -1).T
    signals = {
        str(name): [round(float(each), DIGITS) for each in of_signal]
        for name, of_signal in zip(samples.signals, ways, strict=True)
    }
    traits = {
        str(name): round(float(weight), DIGITS)
        for name, weight in zip(samples.trait_names, weights[count:], strict=True)
    }
    return (
        "{\n"
        f' "signals": {_lines(signals)},\n'
        f' "traits": {_lines(traits)},\n'
        f' "calibration": {json.dumps([round(each, DIGITS) for each in calibration])}\n'
        "}\n"
    )


def _lines(values: Mapping[str, Any]) -> str:
    rows = (f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in values.items())
    return "{\n" + ",\n".join(rows) + "\n }"


def load(path: Path, samples: Samples) -> tuple[Floats, tuple[float, float]]:
    """The weights in a file, in the order of the design's columns; others weigh nothing."""
    model = json.loads(path.read_text())
    ways = [model["signals"].get(str(name), (0.0,) * WAYS) for name in samples.signals]
    traits = [model["traits"].get(str(name), 0.0) for name in samples.trait_names]
    slope, shift = model["calibration"]
    return np.array([*np.array(ways).T.ravel(), *traits]), (slope, shift)
