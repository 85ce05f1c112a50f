# SPDX-License-Identifier: BSD-3-Clause
"""MATLAB files, which SciPy reads, and the sequences in them.

A cell array of matrices (time, channels) is one sequence for each cell; a cell array of such cell arrays,
data{person}{trial}, has a group for each of the outer cells.  A matrix X and a vector lengths are stacked sequences.
"""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

import numpy as np

from .errors import Error, FileError, InputError, warn


def is_mat(path: Any) -> bool:
    return str(path).lower().endswith(".mat")


def contents(path: Any) -> Dict[str, Any]:
    """The variables of a file by name."""
    try:
        from scipy.io import loadmat
    except ImportError:
        raise Error("SciPy is needed to read .mat files: pip install scipy") from None
    try:
        found = loadmat(path)
    except NotImplementedError:
        raise InputError(f"{path}: a MATLAB 7.3 file, which SciPy cannot read; load it in MATLAB and save it again "
                         "with save('new.mat', '-v7')") from None
    except FileNotFoundError:
        raise FileError(f"{path}: cannot read: No such file or directory") from None
    except Exception as error:               # SciPy raises many kinds for files it cannot read
        raise InputError(f"{path}: SciPy cannot read it as a .mat file: {error}") from None
    return {name: value for name, value in found.items() if not name.startswith("__")}


def _leaves(x: Any, at: Tuple[int, ...] = ()) -> Iterator[Tuple[Tuple[int, ...], Any]]:
    """What lies in a cell array, and where, counted from 1 as in MATLAB."""
    if isinstance(x, np.ndarray) and x.dtype == object:
        for k, inner in enumerate(x.ravel(order="F"), 1):
            yield from _leaves(inner, (*at, k))
    else:
        yield at, x


def _is_frames(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.ndim == 2 and x.dtype.kind in "iufb"


def _is_sequences(x: Any) -> bool:
    """A cell array, perhaps of cell arrays, with nothing but matrices in it."""
    if not isinstance(x, np.ndarray) or x.dtype != object:
        return False
    leaves = list(_leaves(x))
    return bool(leaves) and all(_is_frames(leaf) for _, leaf in leaves) and len({len(at) for at, _ in leaves}) == 1


def _of_cells(path: Any, cells: Any) -> Dict[str, Any]:
    leaves = list(_leaves(cells))
    full: List[Tuple[Tuple[int, ...], Any]] = [(at, leaf) for at, leaf in leaves if leaf.size]
    if not full:
        raise InputError(f"{path}: all cells are empty")
    if len(full) < len(leaves):
        warn(f"{path}: empty cells left out: {len(leaves) - len(full)} of {len(leaves)}")
    grouped = len(full[0][0]) > 1
    return {"arrays": [leaf for _, leaf in full], "names": ["/".join(map(str, at)) for at, _ in full],
            "groups": ["/".join(map(str, at[:-1])) for at, _ in full] if grouped else None}


def sequences(path: Any, options: Mapping[str, Any], found: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
    """Arrays, names and groups, or X and lengths, of the sequences in a file, whose contents may be there already;
    options for reading do not apply."""
    for option, value in options.items():
        if value is not None:
            raise InputError(f"{path}: {option}= does not apply to a .mat file; leave it out")
    found = contents(path) if found is None else found
    cells = [name for name, value in found.items() if _is_sequences(value)]
    if len(cells) == 1:
        return _of_cells(path, found[cells[0]])
    if not cells and all(_is_frames(found.get(name)) for name in ("X", "lengths")):
        return {"X": found["X"], "lengths": found["lengths"].ravel()}
    if cells:
        raise InputError(f"{path}: several variables are cell arrays of matrices: {', '.join(cells)}; save the one "
                         "with the sequences in a file of its own")
    raise InputError(f"{path}: no variable is a cell array of matrices (time, channels), one for each sequence; the "
                     f"file holds {', '.join(found) or 'nothing'}")
