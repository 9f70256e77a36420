"""`foundry context`: what conversations are given to read, and how full they are."""

import gc
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from foundry.cli.main import SectionedGroup

if TYPE_CHECKING:
    from foundry.store.project import Project
    from foundry.store.transcripts import Transcript

COMMANDS: Mapping[str, Mapping[str, str]] = {
    "Look": {
        "usage": "How full each conversation of a run is; needs not be named.",
        "find": "The files that matter for the task on stdin, best first.",
    },
    "Change": {
        "compact": "Make a conversation smaller, without a model.",
    },
}


@click.group(cls=SectionedGroup, sections=COMMANDS, default="usage", no_args_is_help=False)
def command() -> None:
    """What conversations are given to read, and how full they are."""


@command.command("usage")
@click.argument("where", metavar="[RUN|DIR]", required=False, default=".")
@click.option("--json", "as_json", is_flag=True, help="One JSON array, for programs.")
def usage(where: str, as_json: bool) -> None:
    """How full each conversation of a run is: of the one with this id, or of the newest in DIR.

    The bar is the window: `#` is used now, `-` was used at its fullest. Counted by the model's
    server, estimated since. `foundry log --conversation ID` shows what was said.
    """
    from foundry.errors import InputError
    from foundry.report.context_usage import usages

    project, run = _project_and_run(where)
    found = usages(project, run)
    if not found:
        raise InputError(
            f"no log in {project.logs} tells of a conversation",
            hint="It is kept on the machine that ran the build, and never committed",
        )
    if as_json:
        import json

        click.echo(json.dumps([each.as_json() for each in found], indent=2))
        return
    from foundry.cli.output import show
    from foundry.report.context_usage import context_view

    show(context_view(found))


def _project_and_run(where: str) -> "tuple[Project, str]":
    """The project, and the run where one was named."""
    from foundry.engine.workspace import find
    from foundry.errors import InputError
    from foundry.store import runs
    from foundry.store.project import Project

    if Path(where).expanduser().is_dir():
        return find(Path(where)), ""
    options = runs.load(where) if where.replace("-", "").isalnum() else None
    if options is None:
        raise InputError(
            f"{where!r} is neither a folder nor a run of yours",
            hint="`foundry context --help` has the commands",
        )
    return Project(Path(options.root)), where


@command.command("find")
@click.option("--limit", type=click.IntRange(min=1), default=10, show_default=True,
              help="At most so many files.")  # fmt: skip
@click.option("--min-score", type=click.FloatRange(0, 1), default=0.0, show_default=True,
              help="Only files that are at least so sure.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def find_files(limit: int, min_score: float, as_json: bool) -> None:
    """Print the files of this project that matter for the task on stdin, best first.

    A line is a path, a tab, and a score in [0, 1]: how likely the task changes that file. Nothing
    is printed when nothing speaks for any file. Neither a model nor the network is asked.
    """
    from foundry.context.retrieval.ranker import find

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


@command.command("compact")
@click.argument("transcript", type=click.Path(path_type=Path))
@click.option("--target", type=click.FloatRange(0, 1, min_open=True), default=0.3,
              show_default=True, help="The share of the tokens that may be left.")  # fmt: skip
@click.option("--keep-recent", type=click.IntRange(min=1), default=None,
              help="This many of the newest messages stay as they are. Default: as many as there "
              "is room for.")  # fmt: skip
def compact_transcript(transcript: Path, target: float, keep_recent: int | None) -> None:
    """Make a conversation smaller, without a model.

    TRANSCRIPT is what a request of the Messages API holds: an array of messages, or an object with
    `messages` and perhaps `system` and `tools`, or one message a line. Stage after stage takes
    out what is cheapest to lose, until not more than the target is left of the tokens that there
    were: old tool results, results that later ones say again, and then older messages, of which a
    ledger stays. What the person said, every path and every error stay findable, also where that
    means missing the target. Printed are the tokens before and after (estimated), the stages, and
    the messages, which are a valid request again.
    """
    import json

    from foundry.store.transcripts import read_transcript

    click.echo(json.dumps(_compacted(read_transcript(transcript), target, keep_recent)))


def _compacted(given: "Transcript", target: float, keep_recent: int | None) -> dict[str, Any]:
    from foundry.conversation.compaction.pipeline import Goal, compact, held
    from foundry.model.tokens import CHARACTERS_PER_TOKEN, characters

    fixed = characters(given.system) + characters(given.tools)
    most = int((fixed + held(given.messages)) * target) - fixed
    done = compact(given.messages, Goal(max(0, most), keep_recent=keep_recent))

    def tokens(length: int) -> int:
        return round((fixed + length) / CHARACTERS_PER_TOKEN)

    return {
        "tokens_before": tokens(done.before),
        "tokens_after": tokens(done.after),
        "stages": [
            {
                "stage": stage.name,
                "count": stage.count,
                "tokens_before": tokens(stage.before),
                "tokens_after": tokens(stage.after),
            }
            for stage in done.stages
        ],
        "messages": list(done.messages),
    }
