"""Git: every command that runs, what is asked of a repository, what is changed in one."""
