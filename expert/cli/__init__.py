"""The command line: a thin face over `consult`. One module per group of commands, imported when it runs."""
