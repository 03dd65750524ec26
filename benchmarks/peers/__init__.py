"""One adapter per library, each with ``run(job, data) -> Record``; only an adapter imports its library.

A fit is what a user of the library would have to do from a table in memory: building the library's own table
is part of it. ``common`` holds what adapters share.
"""
