# SPDX-License-Identifier: BSD-3-Clause
"""What users hand over, recognised: models of either kind, sequences, estimators, paths."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _lib, interop
from ._run import session
from .data import Sequences, is_path
from .errors import InputError
from .model import H3M, Model, Models, one_model
from .texture import Texture, Textures


def opened(X: Any) -> Any:
    """What is in a file, when this is its path: models, or sequences; of clusters the centres."""
    if not is_path(X):
        return X
    if str(X).endswith(".mat"):
        return H3M.load(X)
    with session() as s:
        kind, handle = _lib.load(s, X, {})
        if kind == "data":
            return Sequences._from_handle(handle)
        if kind == "tree":
            return Models._of(_lib.level_parts(handle, 0)["centers"])
        if kind == "models":
            return Models._of(handle)
    raise InputError(f"{X}: models of classes, must be models or sequences")


def holds_models(X: Any) -> bool:
    """Are these models rather than sequences?  A path is opened before."""
    if isinstance(X, (Models, Model, Texture)) or hasattr(X, "centers_") or interop.is_hmmlearn(X):
        return True
    return isinstance(X, (list, tuple)) and bool(X) and _is_model(X[0])


def _is_model(x: Any) -> bool:
    return (isinstance(x, (Model, Texture)) or isinstance(getattr(x, "model_", None), Model)
            or interop.is_hmmlearn(x))


def as_models(X: Any) -> Any:
    """The set of whatever holds models: H3M or Textures, a list of models, a path, an estimator with centres."""
    if is_path(X):
        return H3M.load(X) if str(X).endswith(".mat") else Models.load(X)
    if isinstance(getattr(X, "centers_", None), Models):
        return X.centers_
    if isinstance(X, Models):
        return X
    listed = list(X) if isinstance(X, (list, tuple, np.ndarray)) else [X]
    if listed and isinstance(listed[0], Texture):
        return Textures(listed)
    return H3M([one_model(hmm, i) for i, hmm in enumerate(listed)])
