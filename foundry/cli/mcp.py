"""`foundry mcp`."""

from importlib.util import find_spec

import click

DEFAULT_PORT = 8717


@click.command()
@click.option("--transport", type=click.Choice(["stdio", "http"]), default="stdio",
              help="stdio: for the client that starts this command. Default: stdio.")  # fmt: skip
@click.option("--host", default="127.0.0.1", help="Loopback address of http.")
@click.option("--port", default=DEFAULT_PORT, type=click.IntRange(0, 65535), show_default=True,
              help="Port of http; 0 takes a free one.")  # fmt: skip
def command(transport: str, host: str, port: int) -> None:
    """Serve workflows, builds and phase prompts to any MCP client.

    Tools walk workflows step by step (workflow_next and others) and show how builds stand;
    artifacts of builds are resources, the phase prompts are prompts. With stdio, stdout belongs to
    the protocol alone. http is for this machine alone and asks for no password.
    """
    if find_spec("mcp") is None:
        from foundry.config import install_command
        from foundry.errors import InputError

        raise InputError(
            "foundry mcp needs the extra `mcp`, which is not installed",
            hint=f"Install it with: {install_command('mcp')}",
        )
    from foundry.mcp.server import make_server
    from foundry.mcp.transport import serve_http, serve_stdio

    server = make_server()
    if transport == "stdio":
        serve_stdio(server)
    else:
        serve_http(server, host, port, lambda url: click.echo(f"foundry mcp: {url}", err=True))
