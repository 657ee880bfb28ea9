"""One module a command: a function of the module's name, read by typer.

Modules are imported for every ``--help``, so anything heavy is imported inside the function.
"""
