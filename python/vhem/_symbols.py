# SPDX-License-Identifier: BSD-3-Clause
"""Symbols: which columns hold them, and arrays of text as numbers and the names of what these stand for."""
from __future__ import annotations

import re
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ._types import Array
from .errors import InputError

MISSING = frozenset(["", "nan", "na", "n/a", "null", ".", "?"])   # as in a table
_NUMBER = re.compile(r"[-+]?(?!0\d)(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")   # and no code such as 007,
_LONG = re.compile(r"[-+]?\d{16,}")                                           # or of more digits than a number holds
_FAMILY = "categorical"


class Reading(NamedTuple):
    """The columns that an emission or models look at, and which of these hold symbols; None: all, none."""

    columns: Optional[List[str]] = None
    symbols: Optional[List[str]] = None                      # ["*"]: every column

    def options(self, table: bool) -> Dict[str, Any]:
        """As the library takes them; columns of an array may have no names to find them by."""
        named = self.columns is not None and table and not any("," in name for name in self.columns)
        return {"columns": ",".join(self.columns or []) if named else None,
                "symbols": ",".join(self.symbols) if self.symbols else None}


def of_emission(emission: Any) -> Reading:
    """Of the name of a family, or of names by column, "x+y:gaussian-full,place:categorical"."""
    if emission == _FAMILY:
        return Reading(None, ["*"])
    if not isinstance(emission, str) or ":" not in emission or emission.split(":")[0] in ("tied", "gaussian-tied"):
        return Reading()
    parts = [part.rpartition(":") for part in emission.split(",")]
    columns = [name for names, _, _ in parts for name in names.split("+")]
    return Reading(columns, [name for names, _, family in parts for name in names.split("+") if family == _FAMILY])


def of_models(models: Any) -> Reading:
    """Of HMMs that are there; of anything else, nothing."""
    columns = getattr(models, "columns", None) or []
    names = [column["name"] for column in columns]
    symbols = [column["name"] or "*" for column in columns if column["emission"] == _FAMILY]
    return Reading(names if names and all(names) else None, symbols or None)


def is_text(values: Any) -> bool:
    """Does an array hold text that is not just numbers?"""
    kind = getattr(getattr(values, "dtype", None), "kind", "")
    if kind not in "USOT" or kind == "":
        return False
    cells = np.asarray(values, object).ravel()
    return any(isinstance(cell, (str, bytes)) and not _is_number(_text(cell)) and _text(cell).lower() not in MISSING
               for cell in cells)


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None and not _LONG.fullmatch(cell)


def _text(cell: Any) -> str:
    return (cell.decode(errors="replace") if isinstance(cell, bytes) else str(cell)).strip()


def _name(cell: Any) -> Optional[str]:
    """What a cell is called as a symbol, None where it is missing: 1.0 is 1, but 007 is 007."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return None                                          # pandas.NA answers no question
    if not isinstance(cell, (str, bytes)) and cell != cell:
        return None
    text = _text(cell)
    if text.lower() in MISSING:
        return None
    if _is_number(text):
        number = float(text)
        return str(int(number)) if number.is_integer() else repr(number)
    return text


def _number(cell: Any, column: str) -> float:
    """A cell of a column without text, NaN where it is missing."""
    if _name(cell) is None:
        return np.nan
    if isinstance(cell, (str, bytes)):
        return float(_text(cell))
    try:
        if not isinstance(cell, np.generic) or cell.dtype.kind in "biuf":     # a date of numpy is a float to Python
            return float(cell)
    except (TypeError, ValueError):
        pass
    raise InputError(f"column {column!r} holds {type(cell).__name__} values such as {str(cell)!r}, must be numbers or "
                     "text; leave the column out, or convert it first")


def _codes(cells: Any) -> Tuple[List[float], List[str]]:
    """Cells as the numbers of symbols, and the names of these."""
    code: Dict[str, int] = {}
    names = [_name(cell) for cell in cells]
    return [np.nan if name is None else code.setdefault(name, len(code)) for name in names], list(code)


def encoded(values: Any, columns: Sequence[str], symbols: Sequence[str] = ()) -> Tuple[Array, Dict[int, List[str]]]:
    """Cells (T, d) as numbers, and by column the names of its symbols, for columns that hold any text or are among
    symbols."""
    cells = np.asarray(values, object)
    out = np.empty(cells.shape)
    found: Dict[int, List[str]] = {}
    for k, name in enumerate(columns):
        if name in symbols or is_text(cells[:, k]):
            out[:, k], found[k] = _codes(cells[:, k])
        else:
            out[:, k] = [_number(cell, name) for cell in cells[:, k]]
    return out, found


def holds_text(X: Sequence[Any]) -> bool:
    """A list of sequences of text, each a list or a tuple of texts, which are read as one column each."""
    return bool(X) and all(isinstance(x, (list, tuple)) and any(isinstance(cell, str) for cell in x) for x in X)
