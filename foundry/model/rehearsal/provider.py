"""`rehearsal:NAME`: a scripted model, whose server runs in this process.

What speaks to it can't tell it from any other server with the Messages API.
"""

from dataclasses import replace
from pathlib import Path

from foundry.errors import InputError
from foundry.model.anthropic import AnthropicModel, connect
from foundry.model.base import Connection
from foundry.model.rehearsal.script import load
from foundry.model.rehearsal.server import RehearsalServer

KEY = "sk-for-the-rehearsal-only"
REHEARSED_MODEL = "claude-sonnet-5-5"
"""The model whose prices and window a rehearsal has, so that its figures mean something."""

SCRIPTS = Path(__file__).parent / "scripts"


class RehearsalProvider:
    """Scripted models by the name of a shipped script, or by the path of another."""

    def __call__(self, name: str, connection: Connection) -> AnthropicModel:
        """The model, with its server started; raises InputError for a script that is none."""
        server = RehearsalServer(load(script_path(name)), keep=0)
        url = connection.closing.enter_context(server).url
        return connect(REHEARSED_MODEL, replace(connection, base_url=url), KEY)

    def usable(self, name: str, _base_url: str) -> str:
        """The script's name, or its whole path; raises InputError for a script that is none."""
        path = script_path(name)
        load(path)
        return name if path.parent == SCRIPTS else str(path.resolve())


PROVIDER = RehearsalProvider()


def script_path(name: str) -> Path:
    """A shipped script by its name, or any other by its path; raises InputError for neither."""
    shipped = SCRIPTS / f"{name}.yaml"
    path = shipped if shipped.is_file() else Path(name)
    if not path.is_file():
        known = ", ".join(sorted(each.stem for each in SCRIPTS.glob("*.yaml")))
        raise InputError(f"there is no rehearsal {name!r}", hint=f"Shipped ones: {known}")
    return path
