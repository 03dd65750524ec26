"""The command line, ``gtgbm``.

One module for each command, and the reading and writing of tables in files.
"""

from gtgbm.cli.commands import app

__all__ = ["app"]
