# SPDX-License-Identifier: BSD-3-Clause
"""What users hand over, recognised: models of either kind, sequences, estimators, paths."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _lib, interop
from ._mat import contents, is_mat
from ._run import session
from ._symbols import Reading
from ._parameters import where_to_say
from .data import TABLES, Sequences, as_sequences, is_path, is_table
from .errors import InputError
from .model import H3M, Model, Models, one_model
from .texture import Texture, Textures


def opened(X: Any, reading: Reading = Reading()) -> Any:
    """What is in a file, when this is its path: models, or sequences, of which reading says which columns are wanted;
    of clusters the centres."""
    if not is_path(X):
        return X
    if is_mat(X):
        return of_mat(X)
    if str(X).lower().endswith(TABLES):
        return as_sequences(X, reading=reading)
    with session() as s:
        kind, handle = _load(s, X, reading.options(is_table(X)))
        if kind == "data":
            return Sequences._from_handle(handle)
        if kind == "tree":
            lowest = _lib.level_parts(handle, 0)
            if lowest["centers"] is None:
                raise InputError(f"{X} has clusters without centres; give the models that were clustered")
            return Models._of(lowest["centers"])
        if kind == "models":
            return Models._of(handle)
    raise InputError(f"{X} holds models of classes; give models or sequences")


def of_mat(path: Any, **options: Any) -> Any:
    """The models in a .mat file, or else its sequences; the file is read once."""
    content = contents(path)
    models = interop.models_in(content)
    return H3M(models) if models else Sequences._from_mat(path, options, content)


def _load(s: _lib.Session, path: Any, options: Any) -> Any:
    try:
        return _lib.load(s, path, options)
    except InputError as error:
        raise InputError(where_to_say(str(error))) from None


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
        return H3M.load(X) if is_mat(X) else Models.load(X)
    if isinstance(getattr(X, "centers_", None), Models):
        return X.centers_
    if isinstance(X, Models):
        return X
    listed = list(X) if isinstance(X, (list, tuple, np.ndarray)) else [X]
    if listed and isinstance(listed[0], Texture):
        return Textures(listed)
    return H3M([one_model(hmm, i) for i, hmm in enumerate(listed)])
