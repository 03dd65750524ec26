"""Training on several machines: ``gtgbm.distributed.dask``, ``.ray`` and ``.spark``.

Workers that hold rows of a table train one model together, which has the same bytes as that of one machine.
"""

from gtgbm.exact import WorkerError

__all__ = ["WorkerError"]
