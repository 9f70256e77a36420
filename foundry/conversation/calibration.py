"""What estimates of tokens are multiplied with, learnt from what replies report.

Texts differ in how many characters a token has: code, prose and logs by a quarter, tokenizers by
half. A running median forgives the single reply that counts something else (an image, thinking
that the server dropped).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock

KEPT = 31
"""Samples of a family: enough to be calm, few enough to follow when the text changes."""

WORTH = 50
"""Estimated tokens below which a sample says more about rounding than about the model."""

BELIEVABLE = (0.3, 3.0)
"""A ratio outside has another cause than the tokenizer."""

Sample = tuple[int, int]
"""Estimated and reported tokens of the same text."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The newest samples of each family."""

    samples: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict)

    def ratio(self, family: str) -> float:
        """Reported over estimated: the median, long texts weighing more; 1 before any sample."""
        known = sorted(self.samples.get(family, ()), key=lambda each: each[1] / each[0])
        half, passed = sum(estimated for estimated, _ in known) / 2, 0
        for estimated, reported in known:
            passed += estimated
            if passed >= half:
                return reported / estimated
        return 1.0

    def learned(self, family: str, sample: Sample | None) -> "Calibration":
        """With one more sample, unless that is none worth learning from."""
        if sample is None or sample[0] < WORTH:
            return self
        least, most = BELIEVABLE
        if not least <= sample[1] / sample[0] <= most:
            return self
        kept = (*self.samples.get(family, ()), sample)[-KEPT:]
        return replace(self, samples={**self.samples, family: kept})


class Meter:
    """The calibration that the conversations of a process share: added text and whole first
    requests apart, for those hold tools, which cost more than their text."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._added, self._opening = Calibration(), Calibration()

    def ratios(self, model: str) -> tuple[float, float]:
        """Of text that is added, and of a first request."""
        name = family(model)
        return self._added.ratio(name), self._opening.ratio(name)

    def learn(self, model: str, sample: Sample | None, opening: bool) -> None:
        """Take in a sample of either kind."""
        name = family(model)
        with self._lock:
            if opening:
                self._opening = self._opening.learned(name, sample)
            else:
                self._added = self._added.learned(name, sample)


METER = Meter()
"""What this process has learnt: estimates get better from conversation to conversation."""


def family(model: str) -> str:
    """The model without vendor, date and tag: releases of one family count alike."""
    name = model.lower().rsplit("/", 1)[-1].split(":", 1)[0].split("anthropic.")[-1]
    return re.sub(r"[-@]\d{8}.*$|-latest$", "", name)
