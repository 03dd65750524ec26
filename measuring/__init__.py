"""How things are measured, shared by the benchmarks and the experiments of the paper.

``processes`` runs one measurement in a process of its own, ``peers`` holds one adapter per library, ``data``
all data sets, ``markdown`` and ``figures`` the tables and plots. What is measured is decided in
``benchmarks`` and ``experiments``, which import from here and not from each other.
"""
