"""What tools may reach. Every refusal here is an attack that has worked somewhere."""

import errno
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from foundry.errors import ProjectError, ToolError
from foundry.tools.paths import ProjectFolder, explained, hidden

SECRET = b"not for tools"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(SECRET)
    root = tmp_path / "project"
    for folder in ("src", ".git", "sub/.git", ".context-foundry/local"):
        (root / folder).mkdir(parents=True)
        (root / folder / "file").write_bytes(SECRET)
    (root / "src/app.py").write_bytes(b"code")
    (root / ".context-foundry/tasks.json").write_bytes(b"{}")
    return root


@pytest.fixture
def project(root: Path) -> ProjectFolder:
    return ProjectFolder(root)


def read(project: ProjectFolder, path: str) -> bytes:
    return project.read(path, limit=1000)


def write(project: ProjectFolder, path: str) -> int | None:
    return project.replace(path, b"pwned")


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def assert_refused(project: ProjectFolder, path: str, reason: str) -> None:
    everything = project.root.parent
    before = snapshot(everything)
    for act in (read, write):
        with pytest.raises(ToolError, match=reason):
            act(project, path)
    assert snapshot(everything) == before


@pytest.mark.parametrize("path", ["src/app.py", "./src/app.py", "src/../src/app.py"])
def test_paths_inside(project: ProjectFolder, path: str):
    assert project.locate(path) == "src/app.py"
    assert read(project, path) == b"code"


def test_an_absolute_path_inside(project: ProjectFolder, root: Path):
    assert read(project, str(root / "src/app.py")) == b"code"
    assert project.locate(str(root)) == "."


def test_a_root_that_is_reached_through_a_link(root: Path, tmp_path: Path):
    (tmp_path / "alias").symlink_to(root)
    project = ProjectFolder(tmp_path / "alias")
    assert read(project, str(tmp_path / "alias/src/app.py")) == b"code"


@pytest.mark.parametrize(
    "path",
    ["..", "../outside/secret", "src/../../outside/secret", "/etc/passwd", "/", "//etc/passwd"],
)
def test_paths_outside(project: ProjectFolder, path: str):
    assert_refused(project, path, "outside the project")


def test_a_neighbour_whose_name_starts_alike(project: ProjectFolder, root: Path):
    neighbour = root.with_name("project-two")
    neighbour.mkdir()
    (neighbour / "file").touch()
    assert_refused(project, "../project-two/file", "outside the project")


@pytest.mark.parametrize(
    "path",
    [
        ".git/file",
        ".GIT/file",
        ".Git",
        "sub/.git/file",
        ".g\u200cit/file",
        ".context-foundry/local/file",
        ".Context-Foundry/LOCAL/file",
        "src/../.git/file",
    ],
)
def test_protected_places(project: ProjectFolder, path: str):
    assert_refused(project, path, "closed to tools|can't be seen")


def test_names_that_only_resemble_protected_ones(project: ProjectFolder):
    for path in (".gitignore", ".github/ci.yml", "git/x", "src/.context-foundry/local/x"):
        assert write(project, path) is None
        assert read(project, path) == b"pwned"


def test_harness_files_are_read_only(project: ProjectFolder, root: Path):
    assert read(project, ".context-foundry/tasks.json") == b"{}"
    for path in (".context-foundry/tasks.json", ".CONTEXT-FOUNDRY/x", ".context-foundry/new/x"):
        with pytest.raises(ToolError, match="written by the harness"):
            write(project, path)
    (root / "link").symlink_to(".context-foundry/tasks.json")
    with pytest.raises(ToolError, match="written by the harness"):
        write(project, "link")
    assert (root / ".context-foundry/tasks.json").read_bytes() == b"{}"


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("../outside/secret", "outside"),
        ("../outside/not-there", "outside"),
        ("/dev/zero", "outside"),
        ("/etc/passwd", "outside"),
        (".git/file", "closed"),
        (".context-foundry/local/file", "closed"),
    ],
)
def test_links_to_forbidden_files(project: ProjectFolder, root: Path, target: str, reason: str):
    (root / "link").symlink_to(target)
    assert_refused(project, "link", reason)
    (root / "second").symlink_to("link")
    assert_refused(project, "second", reason)


@pytest.mark.parametrize(("target", "reason"), [("../outside", "outside"), (".git", "closed")])
def test_linked_folders(project: ProjectFolder, root: Path, target: str, reason: str):
    (root / "folder").symlink_to(target)
    assert_refused(project, "folder/secret", reason)
    assert_refused(project, "folder/new", reason)


def test_links_that_stay_inside_are_followed(project: ProjectFolder, root: Path):
    (root / "link").symlink_to("src/app.py")
    (root / "folder").symlink_to("src")
    assert read(project, "link") == read(project, "folder/app.py") == b"code"
    assert write(project, "link") == 4
    assert (root / "link").is_symlink()
    assert (root / "src/app.py").read_bytes() == b"pwned"


def test_a_link_to_what_is_not_there_yet(project: ProjectFolder, root: Path):
    (root / "link").symlink_to("src/new.py")
    assert write(project, "link") is None
    assert (root / "src/new.py").read_bytes() == b"pwned"


def test_links_in_a_circle(project: ProjectFolder, root: Path):
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    with pytest.raises(ToolError, match="symbolic link"):
        read(project, "a")
    with pytest.raises(ToolError):
        write(project, "a")


def test_a_very_long_chain_of_links(project: ProjectFolder, root: Path):
    (root / "0").symlink_to("src/app.py")
    for number in range(1, 1500):
        (root / str(number)).symlink_to(str(number - 1))
    try:
        assert read(project, "1499") == b"code"
    except ToolError as error:
        assert "can't be resolved" in str(error)


def test_a_link_created_between_two_calls(project: ProjectFolder, root: Path):
    assert read(project, "src/app.py") == b"code"
    (root / "src").rename(root / "was-src")
    (root / "src").symlink_to("../outside")
    assert_refused(project, "src/secret", "outside")
    (root / "src").unlink()
    assert read(project, "was-src/app.py") == b"code"


SWAP = """
import ctypes, os, sys
libc, here, exchange = ctypes.CDLL(None), -100, 2
flip, evil = map(os.fsencode, sys.argv[1:])
print(libc.renameat2(here, flip, here, evil, exchange), flush=True)
while True:
    libc.renameat2(here, flip, here, evil, exchange)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="swaps names with renameat2")
def test_a_link_swapped_in_during_calls(project: ProjectFolder, root: Path):
    """A command that swaps a folder for a link, as fast as it can, never leads us outside."""
    (root / "flip").mkdir()
    (root / "flip/secret").write_bytes(b"inside")
    (root / "evil").symlink_to("../outside")
    seen = set()
    command = [sys.executable, "-c", SWAP, str(root / "flip"), str(root / "evil")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as attacker:
        try:
            assert attacker.stdout is not None
            assert attacker.stdout.readline() == b"0\n"
            for _ in range(2000):
                for act in (read, write):
                    with suppress(ToolError):
                        seen.add(act(project, "flip/secret"))
            assert attacker.poll() is None
        finally:
            attacker.kill()
    assert seen
    assert not seen & {SECRET, len(SECRET)}
    assert snapshot(root.parent / "outside") == {"secret": SECRET}


def fifo(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def unix_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the names of sockets have to be short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


def device(path: Path) -> None:
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("making a device needs root")
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("no devices in this container")


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (fifo, "a named pipe"),
        (unix_socket, "a socket"),
        (device, "a device"),
        (folder, "a folder"),
    ],
)
def test_only_regular_files(
    project: ProjectFolder, root: Path, make: Callable[[Path], None], kind: str
):
    make(root / "thing")
    assert_refused(project, "thing", f"thing is {kind}")


def test_hard_links_are_not_written(project: ProjectFolder, root: Path):
    os.link(root.parent / "outside/secret", root / "hard")
    with pytest.raises(ToolError, match="2 hard links"):
        write(project, "hard")
    assert (root.parent / "outside/secret").read_bytes() == SECRET
    assert read(project, "hard") == SECRET


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("a\0b", "can't be seen"),
        ("a\nb", "can't be seen"),
        ("a\x1b[31m", "can't be seen"),
        ("\udcff", "can't be seen"),
        ("app.py ", "blanks around"),
        (" app.py", "blanks around"),
        ("app.py\n", "blanks around"),
        ("~", "means nothing"),
        ("~/x", "means nothing"),
        ("~root/x", "means nothing"),
        ("x" * 300, "name too long"),
        ("x/" * 3000, "path is too long"),
        ("src/app.py/x", "not a folder"),
    ],
)
def test_odd_paths(project: ProjectFolder, path: str, reason: str):
    everything = snapshot(project.root)
    for act in (read, write):
        with pytest.raises(ToolError, match=f"(?i){reason}") as caught:
            act(project, path)
        str(caught.value).encode()
        assert caught.value.hint
    assert snapshot(project.root) == everything


@pytest.mark.parametrize("path", [".", "src", "src/", "new/"])
def test_folders_are_not_written(project: ProjectFolder, path: str):
    with pytest.raises(ToolError, match="folder"):
        write(project, path)


def test_a_missing_file(project: ProjectFolder):
    with pytest.raises(ToolError, match=r"there is no src/nope\.py\. list_files shows"):
        read(project, "src/nope.py")


def test_a_file_of_exactly_the_limit(project: ProjectFolder, root: Path):
    (root / "file").write_bytes(b"x" * 1000)
    assert len(read(project, "file")) == 1000
    (root / "file").write_bytes(b"x" * 1001)
    with pytest.raises(ToolError, match="1,001 bytes"):
        read(project, "file")


def test_an_immense_file_is_not_read(project: ProjectFolder, root: Path):
    with (root / "immense").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ToolError, match="run_command"):
        read(project, "immense")


def test_mode_bits_stay(project: ProjectFolder, root: Path):
    (root / "script").write_bytes(b"x")
    (root / "script").chmod(0o640)
    write(project, "script")
    assert stat.S_IMODE((root / "script").stat().st_mode) == 0o640
    project.replace("script", b"x", executable=True)
    assert stat.S_IMODE((root / "script").stat().st_mode) == 0o750
    write(project, "script")
    assert stat.S_IMODE((root / "script").stat().st_mode) == 0o750


def test_new_files_follow_the_umask(project: ProjectFolder, root: Path):
    old = os.umask(0o027)
    try:
        write(project, "deep/down/plain")
        project.replace("script", b"x", executable=True)
    finally:
        os.umask(old)
    assert stat.S_IMODE((root / "deep/down/plain").stat().st_mode) == 0o640
    assert stat.S_IMODE((root / "script").stat().st_mode) == 0o750


def test_writing_leaves_nothing_else(project: ProjectFolder, root: Path):
    before = set(snapshot(root))
    write(project, "new")
    write(project, "new")
    assert set(snapshot(root)) == before | {"new"}


def test_a_write_that_fails_leaves_nothing(project: ProjectFolder, root: Path):
    before = snapshot(root)
    with pytest.raises(TypeError):
        project.replace("new", None)  # type: ignore[arg-type]
    assert snapshot(root) == before


def test_no_descriptor_leaks(project: ProjectFolder, root: Path):
    (root / "link").symlink_to("../outside/secret")
    count = len(list(Path("/dev/fd").iterdir()))
    for path in ("src/app.py", "link", "src/nope", "src/app.py/x", "src", "a/b/c"):
        for act in (read, write):
            with suppress(ToolError):
                act(project, path)
    assert len(list(Path("/dev/fd").iterdir())) == count


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(project: ProjectFolder, root: Path):
    (root / "closed").touch(mode=0o000)
    with pytest.raises(ToolError, match="Permission denied"):
        read(project, "closed")


def test_a_root_that_vanished(project: ProjectFolder, root: Path):
    root.rename(root.with_name("moved"))
    for act in (read, write):
        with pytest.raises(ProjectError, match="can't be opened"):
            act(project, "src/app.py")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_not_the_models_fault():
    with (
        pytest.raises(ProjectError, match="No space left"),
        explained("app.py"),
        Path("/dev/full").open("wb", buffering=0) as full,
    ):
        full.write(b"x")


def test_a_spent_quota_is_not_the_models_fault():
    with pytest.raises(ProjectError, match=r"app\.py"), explained("app.py"):
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))


def test_hidden():
    assert hidden(".git") and hidden("a/.GIT/b") and hidden(".context-foundry/local")
    assert not hidden(".context-foundry/tasks.json") and not hidden("local") and not hidden(".")
