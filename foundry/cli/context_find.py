"""`foundry context find`."""

import gc
import sys
from pathlib import Path

import click


@click.command("find")
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True,
              help="At most so many files.")  # fmt: skip
@click.option("--min-score", type=click.FloatRange(0, 1), default=0.0, show_default=True,
              help="Only files that are at least so sure.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def command(limit: int, min_score: float, as_json: bool) -> None:
    """Print the files of this project that matter for the task on stdin, best first.

    A line is a path, a tab, and a score in [0, 1]: how likely the task changes that file. Nothing
    is printed when nothing speaks for any file. Neither a model nor the network is asked.
    """
    from foundry.context.retrieval.find import find

    if sys.stdin.isatty():
        raise click.UsageError("the task comes from stdin: foundry context find < task.txt")
    text = sys.stdin.buffer.read().decode("utf-8", "replace")
    gc.disable()  # nearly all that is made is kept to the end, which is near
    try:
        found = find(Path.cwd(), text, limit)
    finally:
        gc.enable()
    for each in found:
        if each.score >= min_score:
            click.echo(_as_json(*each) if as_json else f"{each.path}\t{each.score:.3f}")


def _as_json(path: str, score: float) -> str:
    import json

    return json.dumps({"path": path, "score": score})
