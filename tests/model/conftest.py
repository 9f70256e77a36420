"""Fixtures of the model's tests."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from rehearsal_stage import Stage


@pytest.fixture
def stage() -> Iterator[Stage]:
    with ExitStack() as stack:
        yield Stage(stack)
