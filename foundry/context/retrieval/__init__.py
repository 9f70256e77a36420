"""Just-in-time retrieval: the files and regions that matter for a task, without a model.

`find` gives files, `excerpts` their regions. What is behind them, from the disk up:

- `files` (and `ignored`, `kinds`): which files count, whether they changed, what is in them.
- `facts` (`words`, `definitions`, `imports`): what one file is remembered by; `analysis`: of many
  files at once. `history`: what the commits say.
- `index`: all of that, inverted; `upkeep` brings it up to date, `cache` keeps it between calls.
- `query`: what the task's text says.
- `signals`: how much each file has to do with it, in some fifty ways, from the index
  (`index_signals`), the history (`history_signals`) and the text of the foremost (`passages`).
- `model`: the signals weighed (`weights.json`, fitted by `scripts/fit-retrieval`) into a ranking.
"""
