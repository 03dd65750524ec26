"""One adapter per library, the only file that imports it, each with ``run(job, data) -> Record``.

A fit is what a user of the library would have to do from a table in memory: building the library's own table
is part of it. ``common`` holds what adapters share. Those of LightGBM and of our own models have a few more
functions, for experiments that follow a fit more closely.
"""
