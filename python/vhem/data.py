# SPDX-License-Identifier: BSD-3-Clause
"""Sequences: what data may look like, and the one form it takes.

**A sequence is (time, channels)**: one row per frame, one column per dimension.  Accepted are

=============================================  ==============================================================
list of arrays (T_i, d) or (T_i,)              one sequence each
array (sum T, d) and ``lengths``               stacked sequences, as in hmmlearn
array (n, d, T)                                as in aeon: channels before time; frames at the end that are NaN
                                               in all channels are padding; (n, T, d), as in tslearn, by
                                               :meth:`Sequences.from_array`
array (n, T)                                   n sequences of one dimension; for :class:`vhem.HMM` one
                                               sequence (T, d), as in hmmlearn
pandas.DataFrame with a column ``id`` or       one row per frame; with other names of columns
``seq``                                        by :meth:`Sequences.from_frame`; also tables of polars and pyarrow
list of pandas.DataFrame                       one sequence each; columns are found by name
a path                                         any file the command reads
:class:`Sequences`                             itself
=============================================  ==============================================================

Cells of text are symbols, for the emission "categorical": lists and arrays of texts, columns of a DataFrame, and
columns of a table that an emission or models take as symbols.  Cells that are "", "NA", "nan" or "?" are missing.

Frames that already are 64-bit floats in that order are not copied.
"""
from __future__ import annotations

import os
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np

from . import _lib, _mat, _symbols
from ._frames import (TABLES, all_text, as_text, dimensions, frame_cells, has_numbers, id_columns, in_order, listed,
                      pandas_of, read_table, sequence_of_each, symbol_columns, warn_of_counters, warn_of_labels,
                      warn_of_order)
from ._types import Array, Names
from ._parameters import where_to_say
from .errors import InputError, warn


class _Texts:
    """A list of texts, one for each sequence or each column.  A new one is checked, and the library told of it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, of: None, owner: type) -> "_Texts": ...
    @overload
    def __get__(self, of: "Sequences", owner: type) -> Optional[List[str]]: ...

    def __get__(self, of: Any, owner: type) -> Any:
        return self if of is None else of._told[self.name]

    def __set__(self, of: "Sequences", values: Optional[Sequence[Any]]) -> None:
        n = of.d if self.name == "columns" else len(of)
        if values is not None and len(values) != n:
            raise InputError(f"there are {len(values)} {self.name}, must be {n}")
        of._told[self.name] = None if values is None else [str(value) for value in values]
        of._handle = None


class Sequences:
    """N sequences of frames, of unequal lengths, with optional names, labels, groups and weights.

    Parameters
    ----------
    y : array (sum of lengths, d)
        Frames of all sequences, one after the other; not copied when it is C-ordered float64.  Columns of text
        become numbers, and :attr:`symbols` has the texts.
    lengths : array (N,), optional
        Frames of each sequence; without it there is one sequence.
    names, labels, groups : lists of N texts, optional
        A group is what belongs together, such as the trials of one person.
    weights : array (N,), optional
        How much each sequence counts; 1 by default.
    columns : list of d texts, optional
        Names of the dimensions.

    Attributes
    ----------
    y, lengths : arrays
        As above; read-only views.
    symbols : dict
        For each column of text the names of its symbols; a cell of it holds the index of one.

    Examples
    --------
    >>> import numpy as np, vhem
    >>> seqs = vhem.Sequences(np.arange(10.0).reshape(5, 2), lengths=[3, 2], names=["a", "b"])
    >>> len(seqs), seqs.d, seqs[1].tolist()
    (2, 2, [[6.0, 7.0], [8.0, 9.0]])
    """

    def __init__(self, y: Any, lengths: Any = None, *, names: Optional[Sequence[Any]] = None,
                 labels: Optional[Sequence[Any]] = None, groups: Optional[Sequence[Any]] = None,
                 weights: Any = None, columns: Optional[Sequence[Any]] = None):
        frames, codes = _coded(y, "the frames", columns)
        self._y = _read_only(frames)
        self._lengths = _read_only(_lengths(lengths, len(frames)))
        self._start = np.concatenate([[0], np.cumsum(self._lengths)])
        self._told: Dict[str, Optional[List[str]]] = {}
        self.names, self.labels, self.groups, self.columns = names, labels, groups, columns
        self.weights = weights
        self.symbols = {self._column(k): names for k, names in codes.items()}
        self.table: Optional[int] = None         # columns, when it came as a table (n, T) of numbers

    names, labels, groups, columns = _Texts(), _Texts(), _Texts(), _Texts()

    @property
    def y(self) -> Array:
        return self._y

    @property
    def lengths(self) -> Array:
        return self._lengths

    @property
    def weights(self) -> Optional[Array]:
        return self._weights

    @weights.setter
    def weights(self, values: Any) -> None:
        weights = None if values is None else np.array(values, np.float64)
        if weights is not None and weights.shape != (len(self),):
            raise InputError(f"the weights have shape {weights.shape}, must be ({len(self)},), one for each sequence")
        self._weights: Optional[Array] = None if weights is None else _read_only(weights)
        self._handle: Optional[_lib.Handle] = None

    @property
    def symbols(self) -> Dict[str, List[str]]:
        return self._symbols

    @symbols.setter
    def symbols(self, symbols: Dict[str, List[str]]) -> None:
        self._symbols = symbols
        self._handle = None

    @property
    def d(self) -> int:
        """Dimension of a frame."""
        return int(self.y.shape[1])

    def _column(self, k: int) -> str:
        return f"y{k}" if self.columns is None else self.columns[k]

    def cells(self, n: int) -> Any:
        """Frames of sequence n with texts for symbols and None where these are missing, (T, d)."""
        out = self[n].astype(object)
        for k in range(self.d):
            names = self.symbols.get(self._column(k))
            if names is not None:
                out[:, k] = [None if y != y else names[int(y)] for y in self[n][:, k]]
        return out

    def handle(self, session: _lib.Session) -> _lib.Handle:
        """The data set of the library on these frames."""
        if self._handle is None:
            self._handle = _lib.data_wrap(session, self.y, self.lengths, {
                "name": self.names, "label": self.labels, "group": self.groups, "weight": self.weights,
                "column": self.columns,
                "symbols": [self.symbols.get(self._column(k), []) for k in range(self.d)] if self.symbols else None})
        return self._handle

    @property
    def group_names(self) -> List[str]:
        """The groups in the order in which they come; a sequence without a group is one by itself."""
        with _lib.Session() as session:
            return list(_lib.items(session, _lib.source(data=self.handle(session), by_group=True))["names"])

    @property
    def group_of(self) -> Array:
        """For each sequence the index of its group in :attr:`group_names`, (N,)."""
        with _lib.Session() as session:
            return np.asarray(_lib.items(session, _lib.source(data=self.handle(session), by_group=True))["item"])

    def _with(self, **other: Any) -> "Sequences":
        """The same sequences with something else known about them; the frames are shared."""
        about = {"names": self.names, "labels": self.labels, "groups": self.groups, "weights": self.weights,
                 "columns": self.columns}
        made = Sequences(self.y, self.lengths, **{**about, **other})
        made.symbols = self.symbols
        return made

    def with_groups(self, groups: Optional[Sequence[Any]], weights: Any = None) -> "Sequences":
        """The same sequences in other groups, or none; the frames are shared."""
        return self._with(groups=groups, weights=self.weights if weights is None else weights)

    def with_labels(self, labels: Optional[Sequence[Any]]) -> "Sequences":
        """The same sequences with other labels, or none; the frames are shared."""
        return self._with(labels=labels)

    def with_names(self, names: Optional[Sequence[Any]]) -> "Sequences":
        """The same sequences under other names; the frames are shared."""
        return self._with(names=names)

    # ---- as a list

    def __len__(self) -> int:
        return len(self.lengths)

    @overload
    def __getitem__(self, key: int) -> Array: ...
    @overload
    def __getitem__(self, key: Union[slice, Sequence[int], Array]) -> "Sequences": ...

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (int, np.integer)):
            n = range(len(self))[int(key)]
            return self.y[self._start[n]:self._start[n + 1]]
        rows = np.arange(len(self))[key]

        def pick(values: Optional[List[str]]) -> Optional[List[str]]:
            return None if values is None else [values[n] for n in rows]

        made = Sequences(_stack([self[int(n)] for n in rows]), self.lengths[rows], names=pick(self.names),
                         labels=pick(self.labels), groups=pick(self.groups), columns=self.columns,
                         weights=None if self.weights is None else self.weights[rows])
        made.symbols = self.symbols
        return made

    def __iter__(self) -> Iterator[Array]:
        return (self[n] for n in range(len(self)))

    def __repr__(self) -> str:
        T = self.lengths
        frames = f"{T.min()} to {T.max()}" if T.min() < T.max() else str(T[0])
        return f"<Sequences: {len(self)} of {frames} frames, d = {self.d}>"

    def __getstate__(self) -> Any:
        return {"y": self.y, "lengths": self.lengths, **self._told, "weights": self.weights, "symbols": self.symbols,
                "table": self.table}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        about = {key: state[key] for key in ("names", "labels", "groups", "columns", "weights")}
        Sequences.__init__(self, state["y"], state["lengths"], **about)
        self.symbols, self.table = state["symbols"], state["table"]

    # ---- files and frames of data

    @classmethod
    def load(cls, path: Any, *, format: Optional[str] = None, id: Names = None,
             label: Optional[str] = None, group: Optional[str] = None, weight: Optional[str] = None,
             columns: Names = None, where: Optional[str] = None, order: Optional[str] = None,
             symbols: Names = None, missing: Optional[str] = None,
             sheet: Optional[str] = None, memory: Optional[int] = None) -> "Sequences":
        """Sequences of a file: long CSV or TSV, a folder of them, .npy, .npz, .ts, HDF5 or .xlsx; tables in .parquet,
        .xls and .ods through pandas; .mat through SciPy: a cell array of matrices (time, channels), or
        data{person}{trial}, in which each person is a group.

        The options are those of the command: ``id="subject,trial"``, ``columns="x,y"``, ``where="set=A"``,
        ``order="time"``; several columns may also be a list, ``id=["subject", "trial"]``.
        Cells of the columns in ``symbols="place,state"`` may be text; their names are in the attribute ``symbols``.
        The words and numbers of ``missing="-999,lost"`` stand for a missing value in a text.
        ``sheet="Trials"`` is the sheet of a workbook.
        Frames that need more than ``memory`` bytes (1 GiB unless told, 0 for no limit) live in a file in
        ``TMPDIR``, or else ``/var/tmp``; ``y`` is then a view of it that comes into memory where it is used.
        """
        options = {"format": format, "id": id, "label": label, "group": group, "weight": weight, "columns": columns,
                   "where": where, "order": order, "symbols": symbols, "missing": missing, "sheet": sheet,
                   "memory": memory}
        if _mat.is_mat(path):
            return cls._from_mat(path, as_text(options))
        if str(path).lower().endswith(TABLES):
            for option, value in ("format", format), ("memory", memory):
                if value is not None:
                    raise InputError(f"{path}: {option}= does not work for a file that pandas reads; leave it out, or "
                                     "save the table as CSV")
            about: Dict[str, Any] = {"id": id, "label": label, "group": group, "weight": weight}
            return cls.from_frame(read_table(path, where, order, missing, sheet, about), **about, columns=columns,
                                  symbols=symbols, order=order)
        with _lib.Session() as session:
            handle = _lib.data_load(session, path, as_text(options))
        return cls._from_handle(handle)

    @classmethod
    def _from_mat(cls, path: Any, options: Mapping[str, Any], content: Optional[Dict[str, Any]] = None) -> "Sequences":
        found = _mat.sequences(path, options, content)
        return cls(found["X"], found["lengths"]) if "X" in found else cls.from_arrays(**found)

    @classmethod
    def _from_handle(cls, handle: _lib.Handle) -> "Sequences":
        parts = _lib.data_parts(handle)

        def some(values: List[str]) -> Optional[List[str]]:
            return values if any(values) else None

        weights = parts["weights"] if any(w != 1 for w in parts["weights"]) else None
        made = cls(parts["y"], parts["lengths"], names=some(parts["names"]), labels=some(parts["labels"]),
                   groups=some(parts["groups"]), weights=weights, columns=parts["columns"])
        made.symbols = parts["symbols"]
        made._handle = handle
        return made

    def save(self, path: Any) -> None:
        """Writes .csv .tsv .npy .npz .ts or .h5, by the ending."""
        with _lib.Session() as session:
            _lib.data_save(session, self.handle(session), path)

    @classmethod
    def from_arrays(cls, arrays: Sequence[Any], *, channels_first: bool = False, **about: Any) -> "Sequences":
        """Sequences of a list of arrays (T_i, d), or (d, T_i) with channels_first, as aeon holds them."""
        items = [np.asarray(a).T if channels_first else a for a in arrays]
        if any(_symbols.is_text(_cells(a)) for a in items):
            return cls(_stack_cells([_cells(a) for a in items]), [len(a) for a in items], **about)
        return cls(_stack(_items(items)), [len(a) for a in items], **about)

    @classmethod
    def from_array(cls, X: Any, *, layout: str = "ndt", **about: Any) -> "Sequences":
        """Sequences of an array of three dimensions, of equal lengths or padded with NaN at the end.

        Parameters
        ----------
        X : array
        layout : {"ndt", "ntd"}
            What its dimensions are: sequences, channels, time, as in aeon; or sequences, time, channels, as in tslearn.
        **about
            names, labels, groups, weights, columns as of :class:`Sequences`.

        Examples
        --------
        >>> import numpy as np, vhem
        >>> X = np.arange(12.0).reshape(2, 3, 2)             # two sequences of three frames
        >>> X[1, 2] = np.nan                                 # the second has only two
        >>> vhem.Sequences.from_array(X, layout="ntd").lengths.tolist()
        [3, 2]
        """
        if layout not in ("ndt", "ntd"):
            raise InputError(f"layout is {layout!r}, must be 'ndt' or 'ntd'")
        values = np.asarray(X, np.float64)
        if values.ndim != 3 or 0 in values.shape:
            raise InputError(f"X has shape {values.shape}, must have three axes, none of them empty")
        values = values.transpose(0, 2, 1) if layout == "ndt" else values
        there: Array = np.logical_not(np.isnan(values).all(axis=2))
        lengths = values.shape[1] - np.argmax(there[:, ::-1], axis=1)
        lengths[~there.any(axis=1)] = 0
        if (lengths == 0).any():
            raise InputError(f"sequence {int(np.argmin(lengths))} is all NaN; leave it out")
        if (lengths == values.shape[1]).all():
            return cls(values.reshape(-1, values.shape[2]), lengths, **about)
        return cls(np.concatenate([y[:T] for y, T in zip(values, lengths)]), lengths, **about)

    @classmethod
    def from_frame(cls, frame: Any, *, id: Names = None,
                   label: Optional[str] = None, group: Optional[str] = None, weight: Optional[str] = None,
                   columns: Names = None, symbols: Names = None, order: Optional[str] = None) -> "Sequences":
        """Sequences of a long pandas.DataFrame, or a table of polars or pyarrow: one row per frame, ``id`` names the
        sequence.

        By default ``id`` is a column of that name, or ``seq``; ``label`` a column of that name; the
        dimensions are all other columns of numbers, and those that ``symbols="place,state"`` names, whose cells are
        symbols, numbers too; with ``symbols="*"`` all others, and those of text are symbols.  Columns of text that
        ``columns`` names are symbols.  Several columns are a list or a text, ``columns="x,y"``.  Rows of a sequence
        need not be adjacent; their order is kept, or is that of the column ``order="time"``, which is no dimension.
        """
        frame = pandas_of(frame)
        keys = id_columns(frame, id)
        label = "label" if label is None and "label" in frame.columns else label
        about = [name for name in (label, group, weight, order) if name is not None]
        wanted = listed(frame, columns)
        taken = symbol_columns(frame, symbols)
        for name in [*keys, *about, *wanted, *taken]:
            if name not in frame.columns:
                raise InputError(
                    f"there is no column {name!r}; the columns are {', '.join(map(str, frame.columns))}")
            if list(frame.columns).count(name) > 1:
                raise InputError(f"several columns are called {name!r}; rename them")
        for name in keys:
            if frame[name].isna().any():
                raise InputError(f"row {int(frame[name].isna().to_numpy().argmax())} has no value in column {name!r}, "
                                 "so it belongs to no sequence")
        text = columns is not None or all_text(symbols)
        chosen = dimensions(frame, [*keys, *about], symbols) if columns is None else wanted
        where = frame.groupby(keys if len(keys) > 1 else keys[0], sort=False).indices
        rows = sorted(where.values(), key=lambda at: at[0])
        if not rows or not len(chosen):
            raise InputError(f"the frame has {len(rows)} sequences and {len(chosen)} columns of numbers; it needs at "
                             "least one of each")
        if order is None:
            warn_of_order(frame, rows)
        if label is not None:
            warn_of_labels(frame, rows, label)
        placed = np.concatenate(rows if order is None else in_order(frame, rows, order))
        y, codes = frame_cells(frame, chosen, taken, text)
        if not np.array_equal(placed, np.arange(len(frame))):
            y = y[placed]
        if columns is None:
            warn_of_counters(y, rows, chosen, [chosen[k] for k in codes])

        def of(name: Optional[str]) -> Optional[List[Any]]:
            return None if name is None else [frame[name].iloc[at[0]] for at in rows]

        names = ["/".join(str(frame[key].iloc[at[0]]) for key in keys) for at in rows]
        made = cls(y, [len(at) for at in rows], names=names, labels=of(label), groups=of(group),
                   weights=of(weight), columns=chosen)
        made.symbols = {made._column(k): found for k, found in codes.items()}
        return made


def is_frame(X: Any) -> bool:
    """Is this a pandas.DataFrame (or one that behaves so)?"""
    return hasattr(X, "columns") and hasattr(X, "groupby") and hasattr(X, "iloc")


def is_path(X: Any) -> bool:
    return isinstance(X, (str, os.PathLike))


def is_table(path: Any) -> bool:
    """Has a file, or those of a folder, names of columns in its first line?"""
    return str(path).lower().endswith((".csv", ".tsv", ".txt", ".xlsx", *TABLES)) or os.path.isdir(path)


_DLPACK_CUDA = 2  # kDLCUDA of dlpack.h


def _in_memory(y: Any, what: str) -> None:
    """Refuses arrays of CuPy, PyTorch and others that are on a GPU: frames are laid out by the CPU."""
    on_gpu = hasattr(y, "__cuda_array_interface__") if not hasattr(y, "is_cuda") else bool(y.is_cuda)
    if not on_gpu and hasattr(y, "__dlpack_device__"):       # JAX and others that have DLPack alone
        on_gpu = int(y.__dlpack_device__()[0]) == _DLPACK_CUDA
    if on_gpu:
        raise InputError(f"{what} are on a GPU, must be in main memory: copy them with x.get() in CuPy or x.cpu() in "
                         "PyTorch; vhem moves them to the GPU itself")


def _cells(a: Any) -> Any:
    """An array, of objects where a list has texts: numpy makes texts of the numbers beside them."""
    if isinstance(a, (list, tuple)):
        as_it_is = np.asarray(a, object) if len({np.ndim(x) for x in a}) == 1 else None
        return as_it_is if as_it_is is not None and _symbols.is_text(as_it_is) else np.asarray(a)
    return np.asarray(a) if hasattr(a, "__array__") else a


def _stack_cells(items: List[Any]) -> Any:
    """All frames of arrays of text in one array of objects (frames, d)."""
    tables = [np.asarray(a, object).reshape(len(a), -1) for a in items]
    for n, a in enumerate(tables):
        if a.shape[1] != tables[0].shape[1] or len(a) == 0:
            raise InputError(f"sequence {n} has shape {a.shape}, sequence 0 has {tables[0].shape}; each must "
                             "be (time, channels), with at least one of each")
    return np.concatenate(tables)


def _coded(y: Any, what: str, columns: Optional[Sequence[Any]]) -> Tuple[Array, Dict[int, List[str]]]:
    """Frames as numbers, and the symbols of columns of text."""
    cells = _cells(y) if not isinstance(y, np.ma.MaskedArray) else y
    if not _symbols.is_text(cells) or getattr(cells, "ndim", 0) not in (1, 2):
        return _frames(y, what), {}
    table = np.asarray(cells, object).reshape(len(cells), -1)
    named = columns is not None and len(columns) == table.shape[1]
    return _symbols.encoded(table, list(columns or []) if named else [f"y{k}" for k in range(table.shape[1])])


def _frames(y: Any, what: str) -> Array:
    _in_memory(y, what)
    values = np.asarray(y)
    if np.iscomplexobj(values):
        raise InputError(f"Complex data not supported: {what} are {values.dtype}")
    if values.dtype.kind in "mM":
        raise InputError(f"{what} are {values.dtype}, must be numbers")
    if isinstance(y, np.ma.MaskedArray):                     # what is masked is missing
        values = np.where(np.ma.getmaskarray(y), np.nan, np.asarray(y.data, np.float64))  # type: ignore
    try:
        values = np.ascontiguousarray(values, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} are {values.dtype}, must be numbers") from None
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or 0 in values.shape:
        raise InputError(
            f"{what} have shape {values.shape}, must be (time, channels) with at least one of each")
    return values


def _lengths(lengths: Any, total: int) -> Array:
    given = np.asarray([total] if lengths is None else lengths).ravel()
    try:
        whole = given.dtype.kind in "iufO" and bool((given == given.astype(np.int64)).all())
    except (TypeError, ValueError):
        whole = False
    if not whole:
        raise InputError(f"lengths is {lengths!r}, must be whole numbers")
    T = given.astype(np.int64)
    if (T > total).any() or T.sum(dtype=np.float64) != total or (T < 1).any():     # whole numbers could wrap around
        raise InputError(f"the lengths sum to {T.sum(dtype=np.float64):.0f} and the smallest is "
                         f"{T.min() if T.size else 0}; each must be at least 1, and they must sum to {total}, the "
                         "number of frames")
    return T


def _read_only(values: Array) -> Array:
    """A view that cannot be written to: the library works on this memory, and has read its size."""
    view = values.view()
    view.flags.writeable = False
    return view


def _items(arrays: Sequence[Any]) -> List[Array]:
    items = [_frames(a, f"the frames of sequence {n}") for n, a in enumerate(arrays)]
    for n, a in enumerate(items):
        if a.shape[1] != items[0].shape[1]:
            raise InputError(f"sequence {n} has {a.shape[1]} column{'s' * (a.shape[1] != 1)}, but sequence 0 has "
                             f"{items[0].shape[1]}; each array is (time, channels)")
    return items


def _stack(items: List[Array]) -> Array:
    """All frames in one array: a view where the arrays already lie one behind the other, else a copy."""
    if not items:
        raise InputError("there are no sequences; give at least one")
    first = items[0]
    at = first.__array_interface__["data"][0]
    for a in items:
        if a.base is None or a.base is not first.base or a.__array_interface__["data"][0] != at:
            return first if len(items) == 1 else np.concatenate(items)
        at += a.nbytes
    total = sum(len(a) for a in items)
    return np.lib.stride_tricks.as_strided(first, (total, first.shape[1]), writeable=False)


def _checked_2d(X: Any, estimator: Any) -> Array:
    """A plain table of numbers, with the words scikit-learn has for what is wrong with one."""
    from sklearn.utils import check_array
    try:
        checked: Array = check_array(X, dtype=np.float64, estimator=estimator)
    except ValueError as error:
        if getattr(X, "ndim", 2) != 1:
            raise
        raise InputError(f"{error} Give one sequence with a single channel as a list, [X].") from None
    return checked


def _from_array(X: Any, lengths: Any, single: bool, estimator: Any, layout: Optional[str]) -> Sequences:
    _in_memory(X, "the frames")
    if not hasattr(X, "ndim") and hasattr(X, "__array__"):
        X = np.asarray(X)
    if getattr(X, "ndim", 2) == 3 and lengths is None:
        n, d, T = X.shape
        if d >= T > 1 and layout is None:
            warn(f"X of shape {X.shape} is read as (sequences, channels, time): {d} channels and {T} frames; if it is "
                 "(sequences, time, channels), pass layout='ntd'; layout='ndt' silences this")
        return Sequences.from_array(X, layout=layout or "ndt")
    if getattr(X, "ndim", 2) > 2:
        raise InputError(f"X has shape {X.shape}, must have at most three axes, (sequences, channels, time), or with "
                         "lengths two, (time, channels)")
    named = is_frame(X) and all(isinstance(name, str) for name in X.columns) and X.columns.is_unique
    columns = list(X.columns) if named else None             # as in scikit-learn: numbers are no names
    if named and lengths is None and not single and len({has_numbers(X[name]) for name in X.columns}) > 1:
        raise InputError("the frame has columns of numbers and of text, but no column 'id' or 'seq' that names the "
                         "sequence of each row; use vhem.Sequences.from_frame(X, id=...); the columns are "
                         f"{', '.join(map(str, X.columns))}")
    if _symbols.is_text(_cells(X)):
        return _from_text(_cells(X), lengths, single, columns)
    hint = ("if its rows are the frames of sequences, say which column names the sequence, "
            "vhem.Sequences.from_frame(X, id=...)" if is_frame(X) else
            "if it is one sequence (time, channels), give a list, [X]; list(X) silences this")
    X = _checked_2d(X, estimator)
    if lengths is not None or single:
        return Sequences(X, lengths, columns=columns)
    n, T = X.shape
    if n >= 2 * T and 1 < T <= 8:                        # few channels and many frames?
        warn(f"X of shape {X.shape} is read as {n} sequences of {T} frames with one channel; {hint}")
    made = Sequences(np.ascontiguousarray(X).reshape(-1, 1), np.full(len(X), X.shape[1]))
    made.table = X.shape[1]
    return made


def _from_text(X: Any, lengths: Any, single: bool, columns: Optional[List[str]]) -> Sequences:
    """An array of texts: stacked frames, or a row for each sequence."""
    if lengths is not None or single:
        return Sequences(X, lengths, columns=columns)
    if X.ndim != 2:
        raise InputError("X is one list of texts; give several sequences as a list of lists, one sequence as [X]")
    return Sequences(X.reshape(-1, 1), np.full(len(X), X.shape[1]))


def layout_of(X: Any, d: Optional[int]) -> Optional[str]:
    """The layout in which an array with three axes has d channels; None when that does not tell."""
    shape: Tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) != 3 or d not in shape[1:] or shape[1] == shape[2]:
        return None
    return "ntd" if shape[2] == d else "ndt"


def _of_path(path: Any, reading: _symbols.Reading) -> Sequences:
    if _mat.is_mat(path):                                    # has neither names of columns nor text
        return Sequences.load(path)
    try:
        return Sequences.load(path, **reading.options(is_table(path)))
    except InputError as error:
        raise InputError(where_to_say(str(error))) from None


def as_sequences(X: Any, lengths: Any = None, *, groups: Any = None, weights: Any = None,
                 single: bool = False, estimator: Any = None, layout: Optional[str] = None,
                 reading: _symbols.Reading = _symbols.Reading()) -> Sequences:
    """Sequences of anything that holds some; see the table at the top of this module.

    ``single`` says that an array (T, d) without lengths is one sequence; ``layout`` is the order of an array with
    three axes, "ndt" or "ntd"; ``reading`` says which columns of a file or a frame are wanted, and which are symbols.
    """
    X = pandas_of(X)
    if layout not in (None, "ndt", "ntd"):
        raise InputError(f"layout is {layout!r}, must be 'ndt' or 'ntd'")
    _check_kind(X)
    if isinstance(X, Sequences):
        made = X
    elif is_path(X):
        made = _of_path(X, reading)
    elif is_frame(X) and ("id" in X.columns or "seq" in X.columns):
        made = Sequences.from_frame(X, columns=reading.columns, symbols="*" if reading.symbols == ["*"] else None)
    elif isinstance(X, (list, tuple)) and lengths is None and X and all(is_frame(pandas_of(x)) for x in X):
        made = Sequences.from_arrays(**sequence_of_each([pandas_of(x) for x in X]))
    elif isinstance(X, (list, tuple)) and lengths is None and _symbols.holds_text(X):
        made = Sequences.from_arrays(X)
    elif lengths is None and holds_arrays(X):
        made = Sequences.from_arrays(list(X))
    elif isinstance(X, (list, tuple)) and lengths is None and _holds_sequences(X, single):
        made = Sequences.from_arrays(X)
    elif not isinstance(X, (list, tuple)) and not hasattr(X, "__array__") and not hasattr(X, "shape"):
        raise InputError(f"X is of type {type(X).__name__}, must be a list of arrays (time, channels), or another form "
                         "listed in help(vhem.data)")
    else:
        made = _from_array(X, lengths, single, estimator, layout)
    if groups is not None or weights is not None:
        made = made.with_groups(made.groups if groups is None else groups, weights)
    return made


def _check_kind(X: Any) -> None:
    """Refuses what NumPy would only stumble over: datasets of xarray, and lists of other objects, as of HMMs that were
    not fitted."""
    if hasattr(X, "data_vars"):
        raise InputError(f"X is of type {type(X).__name__}, must be a list of arrays (time, channels), or another form "
                         "listed in help(vhem.data); give its variables as arrays")
    for i, x in enumerate(X if isinstance(X, (list, tuple)) else ()):
        if hasattr(x, "fit") or hasattr(x, "emissions"):
            raise InputError(f"item {i} is of type {type(x).__name__}, which is neither a sequence nor a fitted HMM "
                             "that vhem can read; fit it first, or give arrays to vhem.Model")


def lengths_of(X: Any, y: Any, lengths: Any) -> Any:
    """The lengths, which hmmlearn has as the second argument, where scikit-learn has the classes y.  An array of
    stacked frames has a y for each row, or none; so that a shorter one can only be its lengths."""
    shape = getattr(X, "shape", None)
    names = getattr(X, "column_names", getattr(X, "columns", ()))    # of a frame: some say what belongs together
    if y is None or lengths is not None or shape is None or len(shape) != 2 or "id" in names or "seq" in names:
        return lengths
    given = np.asarray(y)
    if given.ndim != 1 or len(given) == shape[0]:
        return None
    if given.dtype.kind in "iu" and (given >= 1).all() and given.sum(dtype=np.float64) == shape[0]:
        return given
    raise InputError(f"the second argument has {len(given)} values, but X has {shape[0]} rows; if they are the lengths "
                     "of sequences, they must be whole numbers that sum to the rows")


def grouped(data: Sequences, groups: Any) -> Tuple[Sequences, bool]:
    """The sequences in the groups that are given, True for those they have; and whether there are any."""
    if groups is None or groups is False:
        return data, False
    if groups is not True:
        return data.with_groups(groups), True
    if data.groups is None:
        raise InputError("groups is True, but the sequences have no groups")
    return data, True


def holds_arrays(X: Any) -> bool:
    """An object array, or a pandas.Series, of arrays."""
    return getattr(X, "dtype", None) == object and getattr(X, "ndim", 0) == 1 and len(X) > 0 and all(
        getattr(x, "ndim", 0) for x in X)


def _holds_sequences(X: Sequence[Any], single: bool) -> bool:
    """A list of arrays, or of lists where rows are sequences; not a table written as nested lists."""
    if not X or any(getattr(x, "ndim", 0) for x in X):
        return True
    nested = all(isinstance(x, (list, tuple)) and x and isinstance(x[0], (list, tuple)) for x in X)
    ragged = all(isinstance(x, (list, tuple)) for x in X) and len({len(x) for x in X}) > 1
    return nested or (ragged and not single)
