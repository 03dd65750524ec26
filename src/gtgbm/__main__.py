"""``python -m gtgbm``: the command line."""

from gtgbm.cli import app

if __name__ == "__main__":
    app(prog_name="gtgbm")
