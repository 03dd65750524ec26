"""The command line tool ``gtgbm``.

One module for each command, and modules that read and write table files.
"""

from gtgbm.cli.commands import app

__all__ = ["app"]
