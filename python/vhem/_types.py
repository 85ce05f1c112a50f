# SPDX-License-Identifier: BSD-3-Clause
"""Names for types that come up everywhere, and the records that go in and out of the binding."""
from __future__ import annotations

from typing import Any, Generic, List, NamedTuple, Sequence, TypeVar, Union, overload

import numpy.typing as npt

Array = npt.NDArray[Any]
Names = Union[str, Sequence[str], None]      # of columns: a list, or a text with commas


_Kind = TypeVar("_Kind")


class Part(Generic[_Kind]):
    """A part of a model of the library: to be looked at, as the model is what it was made with."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, of: None, owner: type) -> "Part[_Kind]": ...
    @overload
    def __get__(self, of: Any, owner: type) -> _Kind: ...

    def __get__(self, of: Any, owner: type) -> Any:
        return self if of is None else of._shown[self.name]

    def __set__(self, of: Any, value: Any) -> None:
        raise AttributeError(f"{self.name} of a {type(of).__name__} cannot be replaced; make a new one with it")


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
