# SPDX-License-Identifier: BSD-3-Clause
"""Tables of pandas: which columns name sequences, which hold numbers, and what they are as arrays."""
from __future__ import annotations

import re
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _symbols
from ._types import Array, Names
from .errors import InputError, warn

TABLES = (".parquet", ".pq", ".xls", ".ods")      # files that pandas reads


# A column called like this, perhaps with a unit behind it, may say the order of rows; as in src/data/formats/table.c.
_TIME = re.compile(r"t|(time|timestamp|frames?|fixation|fixation_index|index|order|sample)(_s|_ms|_us|[ (\[].*)?", re.I)


def pandas_of(X: Any) -> Any:
    """A table of polars or pyarrow as one of pandas; anything else as it is."""
    if not (hasattr(X, "to_pandas") and hasattr(X, "schema") and hasattr(X, "columns")):
        return X
    try:
        return X.to_pandas()
    except ImportError as error:                             # polars wants pandas and pyarrow for it
        raise InputError(f"X is of type {type(X).__module__.split('.')[0]}.{type(X).__name__}; to read it, "
                         f"{str(error).rstrip('.')}: pip install pandas pyarrow") from None


def sequence_of_each(frames: Sequence[Any]) -> Dict[str, Any]:
    """Frames of which each is a sequence, as keywords of Sequences.from_arrays: the columns of the first one, found by
    name in the others; a column id or seq, and label, says what a sequence is called."""
    about = [name for name in ("id", "seq", "label") if name in frames[0].columns]
    columns = dimensions(frames[0], about, None)
    if not columns or not all(len(frame) for frame in frames):
        raise InputError("every frame needs rows, and the first one columns of numbers")
    for n, frame in enumerate(frames):
        for name in [*columns, *about]:
            if list(frame.columns).count(name) != 1:
                raise InputError(f"frame {n} has no column {name!r}, or several; frame 0 has one")
    told = {name: [frame[name].iloc[0] for frame in frames] for name in about}
    named = all(isinstance(name, str) for name in columns)
    return {"arrays": [_numbers(frame, columns) for frame in frames], "columns": columns if named else None,
            "names": told.get("id", told.get("seq")), "labels": told.get("label")}


def warn_of_labels(frame: Any, rows: List[Array], label: str) -> None:
    """A sequence has one label, that of its first row."""
    column = frame[label]
    for at in rows:
        other = column.iloc[at][column.iloc[at].notna()]
        if other.nunique() > 1:
            warn(f"column {label!r} changes within a sequence, from {other.iloc[0]!r} in its first row; its label is "
                 "that of the first row")
            return


def as_text(options: Mapping[str, Any]) -> Dict[str, Any]:
    """Options of reading as the library takes them: lists as texts with commas."""
    found = dict(options)
    for key, value in found.items():
        if isinstance(value, (list, tuple)):
            split = [name for name in value if "," in str(name)]
            if split:
                raise InputError(f"{key} has the name {split[0]!r}, must be without a comma; rename the column")
            found[key] = ",".join(map(str, value))
    return found


def listed(frame: Any, names: Names) -> List[str]:
    """Columns of a frame by name; a text with commas, which is not a name itself, has several."""
    if isinstance(names, str):
        return [names] if names in frame.columns else names.split(",")
    return [] if names is None else list(names)


def id_columns(frame: Any, id: Names) -> List[str]:
    if id is not None:
        return listed(frame, id)
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
               about: Mapping[str, Any]) -> Any:
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
    if missing is not None:
        table = _without(table, missing, [order, *id_columns(table, about["id"]), about["label"], about["group"],
                                          about["weight"]])
    return table


def in_order(frame: Any, rows: List[Array], order: str) -> List[Array]:
    """The rows of each sequence, sorted by a column."""
    column = frame[order]
    if getattr(column.dtype, "kind", "O") not in "iufmM" or column.isna().any():
        raise InputError(f"order= sorts by column {order!r}, must be numbers or times, and none missing")
    place = column.to_numpy()
    found = [at[np.argsort(place[at], kind="stable")] for at in rows]
    for at in found:
        same = np.flatnonzero(place[at[1:]] == place[at[:-1]])
        if len(same):
            first, second = at[same[0]], at[same[0] + 1]
            raise InputError(f"rows {first} and {second} are of one sequence and both have {place[first]} in column "
                             f"{order!r}, so order= cannot tell which comes first")
    return found


def warn_of_order(frame: Any, rows: List[Array]) -> None:
    """A column that is called time or the like should not fall within a sequence."""
    name = next((name for name in frame.columns if isinstance(name, str) and _TIME.fullmatch(name)), None)
    column: Any = None if name is None else frame[name]
    if getattr(column, "ndim", 2) != 1 or getattr(column.dtype, "kind", "O") not in "iufmM":
        return
    if column.isna().any() and not isinstance(column.dtype, np.dtype):       # pandas.NA is neither more nor less
        return
    place = column.to_numpy()
    for at in rows:
        fell = np.flatnonzero(place[at[1:]] < place[at[:-1]])
        if len(fell):
            first, second = at[fell[0]], at[fell[0] + 1]
            warn(f"row {second}: column {name!r} falls from {place[first]} to {place[second]} within a sequence; if it "
                 f"says the order of the rows, read them with order={name!r}")
            return


def has_numbers(column: Any) -> bool:
    """Is this column of a frame one of numbers?  One of objects is when it holds any: a text among them then
    is an error rather than a reason to pass the column by."""
    if getattr(column, "ndim", 1) != 1:
        raise InputError(f"several columns are called {column.columns[0]!r}; rename them")
    if column.dtype != object:
        return getattr(column.dtype, "kind", "O") in "iuf"
    return any(isinstance(value, (int, float, np.number)) and value == value for value in column)


def _tell_left_out(frame: Any, columns: List[Any]) -> None:
    text = [name for name in columns if getattr(frame[name].dtype, "kind", "O") == "O"]   # strings and categories too
    others = [name for name in columns if name not in text]
    for what, names in ("text columns left out", text), ("non-numeric columns left out", others):
        if names:
            warn(f"{what}: {', '.join(map(str, names))}")


def all_text(symbols: Names) -> bool:
    """Are all columns of text symbols, whatever they are called?"""
    return isinstance(symbols, str) and symbols in ("*", "?")


def symbol_columns(frame: Any, symbols: Names) -> List[str]:
    """The columns that are named as symbols, "place,state"."""
    return [] if all_text(symbols) else listed(frame, symbols)


def dimensions(frame: Any, others: Sequence[str], symbols: Names) -> List[str]:
    """The columns of a frame where none are named: all but those that describe sequences, or hold neither numbers nor
    symbols."""
    free = [name for name in dict.fromkeys(frame.columns) if name not in others]
    named = symbol_columns(frame, symbols)
    chosen = [name for name in free if has_numbers(frame[name]) or name in named or all_text(symbols)]
    _tell_left_out(frame, [name for name in free if name not in chosen])
    return chosen


def frame_cells(frame: Any, columns: Sequence[str], symbols: Sequence[str], text: bool) -> Tuple[Any, Dict[int, Any]]:
    """Numbers (T, d), and by column the names of what they stand for, in columns of symbols and, where text may be, of
    text."""
    coded = [name for name in columns if name in symbols or (text and _holds_text(frame[name]))]
    if not coded:
        return _numbers(frame, columns), {}
    cells = frame[columns].to_numpy(object, copy=True)  # pandas 3 hands out what cannot be written
    for k, name in enumerate(columns):
        if name not in coded:
            cells[:, k] = _numbers(frame, [name])[:, 0]
    return _symbols.encoded(cells, columns, coded)


def _holds_text(column: Any) -> bool:
    return getattr(column.dtype, "kind", "O") == "O" and _symbols.is_text(column.to_numpy(object))


def _numbers(frame: Any, columns: Sequence[str]) -> Any:
    for name in columns:
        if getattr(frame[name].dtype, "kind", "O") in "mM":
            raise InputError(f"column {name!r} holds dates or times, must be numbers or text; leave it out, or convert "
                             "it first")
    chosen = frame[columns]
    plain = all(isinstance(kind, np.dtype) for kind in chosen.dtypes)        # pandas.NA is in others only
    try:
        return np.asarray(chosen.to_numpy(np.float64, copy=False, **({} if plain else {"na_value": np.nan})))
    except (TypeError, ValueError) as error:
        if len(columns) > 1:
            return np.concatenate([_numbers(frame, [name]) for name in columns], axis=1)     # one of them is to blame
        raise InputError(f"column {columns[0]!r} must be numbers: {error}; symbols={columns[0]!r} takes it as "
                         "symbols") from None
