"""The same prompt in fresh threads until it is done (seed 000, Circular Prompting).

An iteration: a thread works and hands in a verdict (steps), the harness measures what it came to
(measure), and a claim that nothing measured speaks against has to withstand further threads.

    session, patches            a run begins, goes on, is handed over, an iteration is taken back
    assignment, schema          what a person gives, and every value that is stored
    steps, prompt_values        the step kinds, and what their threads are told
    measure, verdicts           what an iteration came to, and whether a claim is worth a doubt
    failures, diff_stats,       what checks and diffs say, what was gained by it,
      metrics, breaker            and when iterations get nowhere
    adaptation,                 how the next thread is set up, which wording of the prompt it has,
      prompt_versions,            and which parts of the task
      partitions
    parallel, merge             several threads side by side, and their work put together
    history, report             the iterations as the journal tells them; state.json and report.md

All but session, patches, measure, parallel and merge is pure: values in, values out.
"""
