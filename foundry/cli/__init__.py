"""The command line: a file per command or group of commands. They parse, call and print.

`main` finds the commands, `options` has what several share, `work` starts and resumes a run;
`view` and `live` show it while it works, `output` is how anything is printed.
"""
