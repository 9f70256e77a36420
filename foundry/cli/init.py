"""`foundry init`."""

from pathlib import Path

import click


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False),
                default=".")  # fmt: skip
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 when it is stale.")
@click.option("--json", "as_json", is_flag=True, help="The result as one JSON object.")
def command(folder: Path, check: bool, as_json: bool) -> int:
    """Describe the project in FOLDER for every conversation to begin with.

    Writes .context-foundry/CONTEXT.md from the code alone, in at most 3,000 tokens. What a person
    wrote or changed in it stays.
    """
    import json

    from foundry.context.overview.document import is_stale, refresh
    from foundry.errors import ProjectError

    if check:
        stale = is_stale(folder)
        said = "stale: `foundry init` describes the project as it is now" if stale else "current"
        click.echo(json.dumps({"stale": stale}) if as_json else said)
        return int(stale)
    done = refresh(folder)
    if done is None:
        raise ProjectError(
            f"{folder} holds nothing to describe: no source, no text",
            hint="Name the project's own folder",
        )
    if as_json:
        about = {"path": str(done.path), "change": done.change, "tokens": done.tokens,
                 "persons": list(done.persons)}  # fmt: skip
        click.echo(json.dumps(about))
        return 0
    kept = f"; kept as a person left them: {', '.join(done.persons)}" if done.persons else ""
    click.echo(f"{done.path}: {done.change}, {done.tokens:,} tokens{kept}")
    return 0
