"""Methods of fitted estimators that hand the model over to other tools."""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import Any

from sklearn.utils.validation import check_is_fitted


class ExportMethods:
    """Methods that convert a fitted model; ``gtgbm.export`` has them as functions, and documents them."""

    def to_lightgbm(self, *, task: Any = None) -> Any:
        """Return the model as a ``lightgbm.Booster``, whose scores are equal bit for bit.

        Parameters
        ----------
        task : object, optional
            One task of a multitask model.

        Returns
        -------
        lightgbm.Booster, or dict of them by task for multitask models
        """
        return self._exporter("to_lightgbm")(self, task=task)

    def export_lightgbm(self, path: str | PathLike[str], *, task: Any = None) -> None:
        """Write the model in LightGBM's text format, which other tools read too.

        Parameters
        ----------
        path : str or path
            The file to write. For multitask models it contains ``{task}``: there is one file for each task.
        task : object, optional
            The only task to write.
        """
        self._exporter("export_lightgbm")(self, path, task=task)

    def export_onnx(self, path: str | PathLike[str], *, task: Any = None) -> None:
        """Write the model as an ONNX file, for rows of type float32.

        Parameters
        ----------
        path : str or path
            The file to write. For multitask models it contains ``{task}``: there is one file for each task.
        task : object, optional
            The only task to write.
        """
        self._exporter("export_onnx")(self, path, task=task)

    def export_c(self, path: str | PathLike[str], *, task: Any = None) -> None:
        """Write the model as a C file without dependencies, whose scores are equal bit for bit.

        Parameters
        ----------
        path : str or path
            The file to write. For multitask models it contains ``{task}``: there is one file for each task.
        task : object, optional
            The only task to write.
        """
        self._exporter("export_c")(self, path, task=task)

    def to_treelite(self, *, task: Any = None) -> Any:
        """Return the model as a ``treelite.Model``, whose scores are equal bit for bit.

        Parameters
        ----------
        task : object, optional
            One task of a multitask model.

        Returns
        -------
        treelite.Model, or dict of them by task for multitask models
        """
        return self._exporter("to_treelite")(self, task=task)

    def _exporter(self, name: str) -> Any:
        check_is_fitted(self, "trees_")
        # By name and when needed: exports stand above the estimators, and know what tools they need.
        return getattr(import_module("gtgbm.export"), name)
