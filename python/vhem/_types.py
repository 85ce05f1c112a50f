# SPDX-License-Identifier: BSD-3-Clause
"""Names for types that come up everywhere, and the records that go in and out of the binding."""
from __future__ import annotations

from typing import Any, List, NamedTuple, Sequence, Union

import numpy.typing as npt

Array = npt.NDArray[Any]
Names = Union[str, Sequence[str], None]      # of columns: a list, or a text with commas


class Tags(NamedTuple):
    """Which items have which tags: has [items][tags] of 0 and 1."""

    items: List[str]
    tags: List[str]
    has: Any


class Prediction(NamedTuple):
    """What models say of n items: names, labels and, of a cross-validation, fold [n]; sequences of each [n];
    classes [C]; loglik, log_posterior [n][C]."""

    names: List[str]
    labels: List[str]
    classes: List[str]
    sequences: Any
    fold: Any
    loglik: Any
    log_posterior: Any
    scored: float
