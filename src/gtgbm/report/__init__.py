"""A report of a fitted model as one HTML file.

It needs jinja2 and matplotlib (``pip install "gtgbm[report]"``), which are imported when a report is written.
"""

from gtgbm.report.sample import held_out_part
from gtgbm.report.selection_path import write_path_page
from gtgbm.report.source import RowSource
from gtgbm.report.writing import write_report

__all__ = ["RowSource", "held_out_part", "write_path_page", "write_report"]
