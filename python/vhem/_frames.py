# SPDX-License-Identifier: BSD-3-Clause
"""Tables of pandas: which columns name sequences, which hold numbers, and what they are as arrays."""
from __future__ import annotations

from typing import Any, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _symbols
from .errors import InputError, warn

TABLES = (".parquet", ".pq", ".xls", ".ods")      # files that pandas reads


def id_columns(frame: Any, id: Union[str, Sequence[str], None]) -> List[str]:
    if id is not None:
        return id.split(",") if isinstance(id, str) and id not in frame.columns else \
            [id] if isinstance(id, str) else list(id)
    keys = [name for name in ("id", "seq") if name in frame.columns][:1]
    if not keys:
        raise InputError("the frame has no column 'id' or 'seq'; say with id= which column names the sequence")
    return keys


def _sheet_of(sheet: Optional[str]) -> Union[int, str]:
    """As pandas takes it: a name, or a number from 0."""
    if sheet is None:
        return 0
    return int(sheet) - 1 if sheet.isdigit() else sheet


def _without(table: Any, missing: str, others: List[Optional[str]]) -> Any:
    """The table with NaN for the words and numbers of ``missing``, but in the columns that describe sequences."""
    words: List[Any] = [word.strip() for word in missing.split(",")]
    for word in list(words):
        try:
            words.append(float(word))
        except ValueError:
            pass
    table = table.copy()
    for name in table.columns:
        found = table[name].isin(words)
        if name in others or not found.any():
            continue
        column = table[name].mask(found)
        table[name] = column if column.map(lambda cell: isinstance(cell, str)).any() else column.astype(float)
    return table


def _opened(path: Any, sheet: Optional[str]) -> Any:
    """The table of a file, by pandas, which says itself what it lacks to do so."""
    has_none = str(path).lower().endswith(TABLES[:2])
    if sheet is not None and has_none:
        raise InputError(f"{path}: sheet= names a sheet of a workbook, but this file has no sheets")
    try:
        import pandas as pd
        return pd.read_parquet(path) if has_none else pd.read_excel(path, sheet_name=_sheet_of(sheet))
    except ImportError as error:
        why = str(error).splitlines()[0].rstrip(".")         # what pandas goes on to say is for its developers
        why = ("pandas is needed to read it: pip install pandas" if error.name == "pandas" else
               "pandas needs pyarrow to read it: pip install pyarrow" if "usable engine" in why else why)
        raise InputError(f"{path}: {why}; or save it as CSV") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot read: {error}") from None


def read_table(path: Any, where: Optional[str], order: Optional[str], missing: Optional[str], sheet: Optional[str],
               about: Mapping[str, Optional[str]]) -> Any:
    """The rows of a file that pandas reads, as these options ask for them; about has the columns that describe
    sequences."""
    table = _opened(path, sheet)
    name, _, value = (where or "").partition("=")
    for column, option in ((name, "where"), (order, "order")):
        if column and column not in table.columns:
            raise InputError(f"{path}: {option}= names column {column!r}, but the columns are "
                             f"{', '.join(map(str, table.columns))}")
    if where is not None:
        table = table[table[name].astype(str) == value]
    if order is not None:
        number = table.groupby(id_columns(table, about["id"]), sort=False).ngroup()
        table = table.iloc[np.lexsort((table[order], number))]
    if missing is not None:
        table = _without(table, missing, [order, *id_columns(table, about["id"]), about["label"], about["group"],
                                          about["weight"]])
    return table


def has_numbers(column: Any) -> bool:
    """Is this column of a frame one of numbers?  One of objects is when it holds any: a text among them then
    is an error rather than a reason to pass the column by."""
    if getattr(column, "ndim", 1) != 1:
        raise InputError(f"several columns are called {column.columns[0]!r}; rename them")
    if column.dtype != object:
        return getattr(column.dtype, "kind", "O") in "iuf"
    return any(isinstance(value, (int, float, np.number)) and value == value for value in column)


def tell_of_text(columns: List[Any]) -> None:
    if columns:
        warn(f"left out, as {'they are' if len(columns) > 1 else 'it is'} not numbers: {', '.join(map(str, columns))}")


def frame_numbers(frame: Any, columns: List[str], text: bool) -> Any:
    """An array of numbers; of objects where there is text, and may be."""
    chosen = frame[columns]
    if text and any(_symbols.is_text(chosen[name].to_numpy(object)) for name in columns if not _is_plain(chosen[name])):
        return chosen.to_numpy(object)
    plain = all(isinstance(kind, np.dtype) for kind in chosen.dtypes)        # pandas.NA is in others only
    try:
        return np.asarray(chosen.to_numpy(np.float64, copy=False, **({} if plain else {"na_value": np.nan})))
    except (TypeError, ValueError) as error:
        raise InputError(f"the columns {', '.join(map(str, columns))} must be numbers: {error}") from None


def _is_plain(column: Any) -> bool:
    return getattr(column.dtype, "kind", "O") in "iufb"
