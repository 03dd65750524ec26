"""``python -m gtgbm``: the command line."""

from gtgbm.cli import app

app(prog_name="gtgbm")
