"""One process works on a project, whatever a command in it removes; who looks disturbs nobody."""

import fcntl
import os
import shutil
import threading
from pathlib import Path

import pytest

from foundry.errors import ProjectError
from foundry.store.lock import holder, is_locked, lock_path, locked
from foundry.store.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder = tmp_path / "project"
    folder.mkdir()
    return Project(folder)


def test_a_command_can_not_remove_it(project: Project) -> None:
    project.local.mkdir(parents=True)
    with locked(project):
        shutil.rmtree(project.root)
        project.root.mkdir()
        assert is_locked(project)
        with pytest.raises(ProjectError, match="another foundry process"), locked(project):
            pass
    assert not is_locked(project)


def test_it_knows_a_project_by_every_name(project: Project, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(project.root)
    assert lock_path(Project(tmp_path / "link")) == lock_path(project)
    assert lock_path(Project(tmp_path)) != lock_path(project)


def test_who_holds_it(project: Project) -> None:
    assert (is_locked(project), lock_path(project).exists()) == (False, False)
    with locked(project):
        assert holder(project) == os.getpid()
    assert holder(project) is None


def test_a_build_waits_for_somebody_who_looks(project: Project) -> None:
    with locked(project):
        pass
    with lock_path(project).open() as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        leaves = threading.Timer(0.1, fcntl.flock, (looking, fcntl.LOCK_UN))
        leaves.start()
        with locked(project):
            assert leaves.finished.wait(10)
        leaves.join()
