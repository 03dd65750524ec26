"""Models in ONNX, as a file or as the converter of skl2onnx."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from gtgbm import estimators
from gtgbm.export.files import export_files
from gtgbm.export.onnx_steps import ML, ML_OPSET, NUMBER, OPSET, Steps, onnx_steps
from gtgbm.export.optional import needed
from gtgbm.export.plain_model import PlainModel, plain_model

_INPUT = "X"
_IR_VERSION = 8
"""Version of ONNX files; runtimes of 2022 and later read it."""
_KINDS = {
    "GTGBMClassifier": True,
    "AGBMClassifier": True,
    "GBFSClassifier": True,
    "GTGBMRegressor": False,
    "AGBMRegressor": False,
    "GBFSRegressor": False,
    "GTGBMRanker": False,
}
"""Estimators that skl2onnx can convert, and whether they are classifiers."""
_OPTIONS = {"zipmap": [True, False, "columns"], "nocl": [True, False], "raw_scores": [True, False]}
"""Options of the converters of classifiers, and their values."""


def export_onnx(estimator: Any, path: str | PathLike[str], *, task: Any = None) -> list[str]:
    """Write a fitted model as an ONNX file.

    Its input ``X`` has type float32 and shape (n, d). Classifiers have the outputs ``label`` and
    ``probabilities``, others ``variable``, as scikit-learn's converters name them.

    Parameters
    ----------
    estimator : any fitted estimator of this package
    path : str or path
        The file to write; for several tasks with ``{task}`` in it, which becomes the name of each.
    task : object, optional
        The only task to write.

    Returns
    -------
    list of str
        The files written.
    """
    return export_files(estimator, path, task, lambda model: onnx_model(model).SerializeToString())


def onnx_model(model: PlainModel) -> Any:
    """Return a model as an ``onnx.ModelProto``."""
    onnx = needed("onnx", "export_onnx")
    helper, numpy_helper = onnx.helper, needed("onnx.numpy_helper", "export_onnx")
    steps = onnx_steps(model, _INPUT)
    nodes = [
        helper.make_node(
            step.operator, step.inputs, [step.output], name=step.output, domain=step.domain, **step.attributes
        )
        for step in steps.steps
    ]
    constants = [numpy_helper.from_array(values, name) for name, values in steps.constants.items()]
    table = helper.make_tensor_value_info(_INPUT, onnx.TensorProto.FLOAT, [None, model.n_features])
    outputs = [
        helper.make_tensor_value_info(name, *_type(onnx, model, steps, name)) for name in steps.outputs
    ]
    graph = helper.make_graph(nodes, "gtgbm", [table], outputs, constants)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(ML, ML_OPSET)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="gtgbm")
    onnx.checker.check_model(made)
    return made


def _type(onnx: Any, model: PlainModel, steps: Steps, name: str) -> tuple[int, list[int | None]]:
    """Return the type and shape of an output."""
    if name == "label":
        return onnx.helper.np_dtype_to_tensor_dtype(steps.constants["classes"].dtype), [None]
    return onnx.TensorProto.FLOAT, [None, 1 if name == NUMBER else max(model.n_scores, 2)]


def register_onnx_converters() -> None:
    """Make skl2onnx convert the single-task estimators, alone or in a Pipeline.

    Call it once before ``skl2onnx.to_onnx``. Options of classifiers, as of scikit-learn's: ``zipmap``;
    ``raw_scores``, scores instead of probabilities, which the converter of CalibratedClassifierCV asks for.
    """
    skl2onnx = needed("skl2onnx", "register_onnx_converters")
    shapes = needed("skl2onnx.common.shape_calculator", "register_onnx_converters")
    for name, is_classifier in _KINDS.items():
        of_classes = shapes.calculate_linear_classifier_output_shapes
        of_numbers = shapes.calculate_linear_regressor_output_shapes
        skl2onnx.update_registered_converter(
            getattr(estimators, name),
            f"Gtgbm{name}",
            of_classes if is_classifier else of_numbers,
            _convert,
            options=_OPTIONS if is_classifier else None,
        )


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the operators of a model to a graph of skl2onnx."""
    onnx = needed("onnx", "register_onnx_converters")
    estimator = operator.raw_operator
    model = plain_model(estimator)
    if model.classes is not None and model.link == "custom":
        raise ValueError(
            f"loss={model.loss!r} has a predict method of its own, which skl2onnx cannot convert to "
            "probabilities: convert it with export_onnx, which writes scores, and apply the method to them"
        )
    options = container.get_options(estimator, {"raw_scores": False}) if model.classes is not None else {}
    table = scope.get_unique_variable_name("floats")
    container.add_node(
        "Cast", operator.inputs[0].full_name, table, name=table, to=onnx.TensorProto.FLOAT, op_version=13
    )
    steps = onnx_steps(model, table, raw_scores=bool(options.get("raw_scores", False)))
    names = {table: table}
    names |= {name: output.full_name for name, output in zip(steps.outputs, operator.outputs, strict=True)}
    for constant, values in steps.constants.items():
        names[constant] = scope.get_unique_variable_name(constant)
        kind = onnx.helper.np_dtype_to_tensor_dtype(np.asarray(values).dtype)
        flat = [label.encode() if isinstance(label, str) else label for label in values.ravel().tolist()]
        container.add_initializer(names[constant], kind, list(values.shape), flat)
    for step in steps.steps:
        output = names.setdefault(step.output, scope.get_unique_variable_name(step.output))
        container.add_node(
            step.operator,
            [names[name] for name in step.inputs],
            output,
            name=scope.get_unique_operator_name(step.operator),
            op_domain=step.domain,
            op_version=ML_OPSET if step.domain else None,
            **step.attributes,
        )
