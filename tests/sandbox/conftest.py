from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_actors import Beacon


@pytest.fixture
def beacon(tmp_path: Path) -> Iterator[Beacon]:
    found = Beacon(tmp_path)
    yield found
    found.close()
