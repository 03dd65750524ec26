"""A report of a fitted model as one HTML file (``pip install "gtgbm[report]"``)."""

from gtgbm.report.writing import write_report

__all__ = ["write_report"]
