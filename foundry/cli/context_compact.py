"""`foundry context compact`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from foundry.store.transcripts import Transcript


@click.command()
@click.argument("transcript", type=click.Path(path_type=Path))
@click.option("--target", type=click.FloatRange(0, 1, min_open=True), default=0.3,
              show_default=True, help="The share of the tokens that may be left.")  # fmt: skip
@click.option("--keep-recent", type=click.IntRange(min=1), default=None,
              help="This many of the newest messages stay as they are. Default: as many as there "
              "is room for.")  # fmt: skip
def command(transcript: Path, target: float, keep_recent: int | None) -> None:
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
