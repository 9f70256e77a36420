"""Just-in-time retrieval: the files and regions that matter for a task, without a model.

`ranker.find` gives files, `excerpts` their regions. What is behind them, from the disk up:

- `files`: which files count, of what kind they are, whether they changed, what is in them.
- `languages`: what a source file defines and imports; `analysis`: what is remembered of each file;
  `history`: what the commits say.
- `index`: all of that, inverted; `cache` keeps it between calls and brings it up to date.
- `query`: what the task's text says.
- `features`: how much each file has to do with it, in some twenty ways, from the index, the history
  and the text of the foremost.
- `ranker`: the features weighed (`weights.json`, fitted by `scripts/fit-retrieval`).
"""
