"""The command line: one module a command, errors as one plain line, exit statuses 0 to 3."""
