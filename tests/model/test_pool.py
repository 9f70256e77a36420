"""From a model's name to its provider: ours, a package's, and names that look like neither."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from foundry import plugins
from foundry.errors import InputError, ModelRejected, PluginError
from foundry.model.pool import ModelPool, split, usable
from foundry.model.rehearsal.provider import REHEARSED_MODEL, SCRIPTS
from foundry.schema.messages import Message, ModelRequest

PACKAGE = """
from foundry.errors import InputError

class Echo:
    def __init__(self, name, connection):
        self.name = name
        connection.closing.callback(ended.append, name)

ended = []

class Provider:
    def __call__(self, name, connection):
        return Echo(name, connection)

    def usable(self, name, base_url):
        if name != "twice":
            raise InputError(f"there is no echo {name!r}")
        return name.upper()

checked = Provider()
plain = Echo
broken = "no callable"
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package that brings three providers."""
    info = tmp_path / "echo_models-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: echo-models\nVersion: 1.2\n")
    names = "\n".join(
        f"model.{name} = echo_models:{name}" for name in ("checked", "plain", "broken")
    )
    (info / "entry_points.txt").write_text(f"[{plugins.GROUP}]\n{names}\n")
    (tmp_path / "echo_models.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(tmp_path)
    plugins.installed.cache_clear()
    yield
    plugins.installed.cache_clear()


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("claude-sonnet-5", ("anthropic", "claude-sonnet-5")),
        ("llama3:8b", ("anthropic", "llama3:8b")),
        ("anthropic:claude-sonnet-5", ("anthropic", "claude-sonnet-5")),
        ("rehearsal:todo", ("rehearsal", "todo")),
        ("rehearsal:C:/script.yaml", ("rehearsal", "C:/script.yaml")),
        ("rehearsal", ("anthropic", "rehearsal")),
        ("", ("anthropic", "")),
    ],
)
def test_whose_a_name_is(name: str, parts: tuple[str, str]) -> None:
    assert split(name) == parts


def test_a_name_without_a_key_needs_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(key, raising=False)
    with pytest.raises(InputError, match="there is no model to talk to"):
        usable("llama3:8b", "")
    assert usable("llama3:8b", "http://localhost:11434") == "llama3:8b"


def test_a_rehearsal_is_kept_by_its_name_or_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own.yaml").write_text((SCRIPTS / "todo.yaml").read_text())
    monkeypatch.chdir(tmp_path)
    assert usable("rehearsal:todo", "") == "rehearsal:todo"
    assert usable("rehearsal:own.yaml", "") == f"rehearsal:{tmp_path / 'own.yaml'}"
    (tmp_path / "own.yaml").write_text("scenes: []")
    with pytest.raises(InputError, match="scenes"):
        usable("rehearsal:own.yaml", "")


def test_a_rehearsal_answers_for_as_long_as_the_pool_is_open() -> None:
    with ModelPool() as pool:
        model = pool.model("rehearsal:todo")
        assert model is pool.model("rehearsal:todo")
        assert model.name == REHEARSED_MODEL
        message: Message = {"role": "user", "content": [{"type": "text", "text": "Hm"}]}
        with pytest.raises(ModelRejected, match="no scene matches"):
            model.complete(ModelRequest((), (), (message,), max_tokens=100))


@pytest.mark.usefixtures("package")
def test_a_package_brings_models_under_its_name() -> None:
    assert usable("checked:twice", "") == "checked:TWICE"
    assert usable("plain:anything", "") == "plain:anything"
    with pytest.raises(InputError, match="no echo 'once'"):
        usable("checked:once", "")
    with pytest.raises(PluginError, match=r"'broken' of echo-models 1\.2 can't be used"):
        usable("broken:it", "")
    with ModelPool() as pool:
        assert pool.model("plain:llama3:8b").name == "llama3:8b"
        import echo_models  # type: ignore[import-not-found]

        assert echo_models.ended == []
    assert echo_models.ended == ["llama3:8b"]
