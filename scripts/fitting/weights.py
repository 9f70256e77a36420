"""The model's weights as the file that retrieval/model.py reads."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from scripts.fitting.samples import Samples
from scripts.fitting.softmax import Floats

DIGITS = 4


def as_json(samples: Samples, weights: Floats, calibration: tuple[float, float]) -> str:
    """The file's text: for each signal the weight of its share, and of the share's square root."""
    count = len(samples.signals)
    plain, root, own = weights[:count], weights[count : 2 * count], weights[2 * count :]
    pairs = {
        str(name): [round(float(a), DIGITS), round(float(b), DIGITS)]
        for name, a, b in zip(samples.signals, plain, root, strict=True)
    }
    traits = {
        str(name): round(float(weight), DIGITS)
        for name, weight in zip(samples.traits, own, strict=True)
    }
    return (
        "{\n"
        f' "signals": {_lines(pairs)},\n'
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
    pairs = [model["signals"].get(str(name), (0.0, 0.0)) for name in samples.signals]
    traits = [model["traits"].get(str(name), 0.0) for name in samples.traits]
    plain, root = zip(*pairs, strict=True)
    return np.array([*plain, *root, *traits]), tuple(model["calibration"])
