"""Fixtures of all tests.

Every test runs as a stranger on this machine: `environment` (automatic) gives it a FOUNDRY_HOME
and a git identity in its own tmp_path, no key, no proxy, and a switch that keeps requests here.

- `rehearsal(script, **options)` starts a RehearsalServer (stopped at the end) and returns it.
- `build(script, **options)` runs a whole build in this process against such a server and returns
  a `Built`: how it ended, its project, server and events, and `resume()`, which goes on with it.
  `script` is a SmallBuild, a script, or a running server; the options are those of `Built.start`.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from foundry.model.rehearsal.server import RehearsalServer
from tests.support.builds import Built, environment_of, serve
from tests.support.ordinary import are_closed, give_up_overrides

give_up_overrides()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-schemas", action="store_true", help="write docs/*.schema.json")


Rehearse = Callable[..., RehearsalServer]
Build = Callable[..., Built]


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of this test and of the processes that it starts."""
    wanted = environment_of(tmp_path)
    for name in set(os.environ) - set(wanted):
        monkeypatch.delenv(name)
    for name, value in wanted.items():
        monkeypatch.setenv(name, value)
    return wanted


@pytest.fixture
def permissions(tmp_path: Path) -> None:
    """Only where files can be closed to the one who runs the tests."""
    if not are_closed(tmp_path):
        pytest.skip("no file is closed to this user")


@pytest.fixture
def rehearsal() -> Iterator[Rehearse]:
    with ExitStack() as stack:

        def start(script: Any, **options: Any) -> RehearsalServer:
            return stack.enter_context(serve(script, **options))

        yield start


@pytest.fixture
def build(rehearsal: Rehearse, tmp_path: Path) -> Build:
    def run(script: Any, **options: Any) -> Built:
        server = script if isinstance(script, RehearsalServer) else rehearsal(script)
        return Built.start(server, options.pop("folder", tmp_path / "project"), **options)

    return run
