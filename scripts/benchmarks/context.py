"""The fullest that any conversation gets, also with tools that return megabytes."""

from foundry.model.rehearsal.script import Turn, call, turn
from scripts.benchmarks.builds import WorkingBuild, run_build
from scripts.benchmarks.figure import Figure
from tests.support.rehearsals import SmallBuild, submit

GOAL = 40.0
LOUD_TURNS = 40


class LoudBuild(SmallBuild):
    """A task whose commands print megabytes, three at a time, over and over."""

    def builder(self, number: int) -> list[Turn]:
        write = super().builder(number)[0]
        noise = [
            turn(
                call("run_command", command="yes 'a line of noise' | head -c 5000000"),
                call("run_command", command=f"seq {n} 400000"),
                call("search_text", pattern="hello"),
            )
            for n in range(LOUD_TURNS)
        ]
        return [write, *noise, submit(summary="It was loud.")]


def measure() -> list[Figure]:
    quiet = run_build(WorkingBuild(tasks=20, size="medium"))
    loud = run_build(LoudBuild(tasks=1))
    figures = []
    for name, built in (("20 ordinary tasks", quiet), ("tools that return megabytes", loud)):
        assert built.summary.status == "verified", built.ended
        share = 100 * built.summary.peak_context_share
        peak = max(each.peak_tokens for each in built.summary.conversations)
        detail = f"{peak:,} of 200,000 tokens"
        figures.append(Figure(f"peak context, {name}", share, "%", GOAL, detail=detail))
    return figures
