# SPDX-License-Identifier: BSD-3-Clause
"""The library opened with cffi, and the ways between C and Python: arrays, texts, structs of options.

No function of the library is named here but its version and the ones that fill in options.
"""
from __future__ import annotations

import ctypes
import operator
import os
import re
import sys
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import cffi
import numpy as np

from . import _header
from .errors import Error, InputError

_text = _header.header_text()
ffi: Any = cffi.FFI()
ffi.cdef(_header.declarations(_text))
# Never unloaded: at exit, objects of the library may be freed after the module that opened it.  On Windows ctypes,
# which never unloads, looks for what the library needs in its own folder.
if sys.platform == "win32":
    ctypes.CDLL(str(_header.library_path()))
lib: Any = ffi.dlopen(str(_header.library_path()), ffi.RTLD_NOW | getattr(ffi, "RTLD_NODELETE", 0))


AUTO = _header.number(_text, "VHEM_AUTO")     # of an option that can follow from the input


def text(pointer: Any) -> str:
    """The text at a char pointer; empty for NULL."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else ""


def version() -> str:
    return text(lib.vhem_version())


if version() != _header.version(_text):
    raise ImportError(
        f"vhem: {_header.library_path()} is version {version()}, but this package needs version "
        f"{_header.version(_text)}; reinstall the package"
    )


def function(name: str) -> Any:
    try:
        return getattr(lib, name)
    except AttributeError:
        raise Error(f"this build of the library has no {name}") from None


class Handle:
    """An object of the library, freed with the last reference, and what must live as long as it does."""

    __slots__ = ("pointer", "keep", "__weakref__")

    def __init__(self, pointer: Any, free: Any, *keep: Any):
        self.pointer = ffi.gc(pointer, free) if free is not None else pointer
        self.keep = keep


class _Memory:
    """Memory of the library as NumPy wants to see it; keeps its owner alive."""

    def __init__(self, pointer: Any, shape: Tuple[int, ...], dtype: np.dtype[Any], owner: Any):
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": dtype.str if dtype.names is None else "|V%d" % dtype.itemsize,
            "descr": dtype.descr,
            "data": (int(ffi.cast("uintptr_t", pointer)), True),
        }


def array(pointer: Any, shape: Tuple[int, ...], owner: Any, dtype: Any = np.float64) -> Any:
    """A read-only view without a copy; None for NULL."""
    if not pointer:
        return None
    return np.asarray(_Memory(pointer, shape, np.dtype(dtype), owner))


def record(name: str) -> np.dtype[Any]:
    """The NumPy type of a struct of numbers, such as vhem_choice."""
    kinds = {"int": "i4", "double": "f8", "int64_t": "i8", "uint64_t": "u8"}
    ctype = ffi.typeof(name)
    fields = [(key, field) for key, field in ctype.fields if field.type.cname in kinds]
    return np.dtype({"names": [key for key, _ in fields], "formats": [kinds[f.type.cname] for _, f in fields],
                     "offsets": [f.offset for _, f in fields], "itemsize": ffi.sizeof(ctype)})


_Shape = Optional[Tuple[Optional[int], ...]]     # None is any length


def numbers_at(values: Any, kind: str, shape: _Shape = None, what: str = "an array") -> Any:
    """A pointer to the numbers of an array: of this kind, one after the other, in this shape where one is given.
    The library reads as many as the shape says."""
    dtype = _KINDS[kind]
    if not isinstance(values, np.ndarray) or values.dtype != dtype or not values.flags.c_contiguous:
        raise InputError(f"{what} must be a C-ordered array of {np.dtype(dtype)}, "
                         f"is {getattr(values, 'dtype', type(values).__name__)}")
    if shape is not None and (len(shape) != values.ndim or
                              any(want is not None and n != want for n, want in zip(values.shape, shape))):
        raise InputError(f"{what} has shape {values.shape}, must be "
                         f"({', '.join('any' if n is None else str(n) for n in shape)})")
    return ffi.from_buffer(f"{kind}[]", values)


_KINDS = {"double": np.float64, "int": np.int32, "int64_t": np.int64, "unsigned char": np.uint8}


def doubles(values: Any, shape: _Shape = None, what: str = "an array") -> Any:
    return numbers_at(values, "double", shape, what)


def whole_numbers(values: Sequence[Any], what: str, kind: str = "int64_t") -> Any:
    """An array of whole numbers."""
    try:
        return ffi.new(f"{kind}[]", [operator.index(value) for value in values])
    except (TypeError, OverflowError):
        raise InputError(f"{what} is {values!r}, must be whole numbers that fit into "
                         f"{8 * ffi.sizeof(kind)} bits") from None


def out_array(shape: Tuple[int, ...], dtype: Any = np.float64) -> Tuple[Any, Any]:
    values = np.empty(shape, dtype)
    kind = "double[]" if values.dtype == np.float64 else "int[]"
    return values, ffi.from_buffer(kind, values, require_writable=True)


def c_text(value: Any) -> bytes:
    """A text as C has it, which ends at the first NUL: one inside would cut it off unseen."""
    coded = os.fsencode(value) if isinstance(value, os.PathLike) else str(value).encode()
    if b"\0" in coded:
        raise InputError(f"{value!r} contains a NUL character; remove it")
    return coded


def path_bytes(path: Any) -> bytes:
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise InputError(f"the path is {path!r}, must be a str or a pathlib.Path")
    coded = os.fsencode(path)
    if b"\0" in coded:
        raise InputError(f"the path {path!r} contains a NUL character; remove it")
    return coded


def _can_be_auto(struct: Any, key: str) -> bool:
    """Is there an "auto" for this option?"""
    record = ffi.typeof(struct).cname
    return (key == "tau" and "cluster" in record) or (key == "S" and "fit" in record)


def _set(struct: Any, key: str, field: Any, value: Any, keep: List[Any]) -> None:
    """One option; a text or an array is kept alive by keep."""
    kind = field.type.cname
    if isinstance(value, Mapping) and field.type.kind == "pointer":
        inner, kept = options_of(re.sub(r"^vhem_(\w+?)( const)? \*$", r"\1", kind.replace("const ", "")), value)
        keep += [inner, kept]
        setattr(struct, key, inner)
        return
    if isinstance(value, Handle):
        value = value.pointer
    elif isinstance(value, str) and value == "auto" and _can_be_auto(struct, key):
        value = AUTO
    elif kind == "char *" and not isinstance(value, (str, os.PathLike)):
        raise InputError(f"{key} is {value!r}, must be text")
    elif kind == "char *":
        keep.append(ffi.new("char[]", c_text(value)))
        value = keep[-1]
    elif isinstance(value, np.ndarray) and kind == "double *":
        keep.append(np.ascontiguousarray(value, np.float64))
        value = doubles(keep[-1])
    elif kind in ("int", "int64_t") and not isinstance(value, (bool, int, np.integer, np.bool_)):
        raise InputError(f"{key} is {value!r}, must be a whole number")
    elif kind in ("int", "int64_t"):
        value = int(value)
        if value == AUTO and _can_be_auto(struct, key):      # the number stands for the word
            raise InputError(f"{key} is {value}, which is too large")
    if isinstance(value, (int, float, np.number)) and value < 0:        # to the library this means: the default
        raise InputError(f"{key} is {value!r}, must not be negative; leave it out for the default")
    try:
        setattr(struct, key, value)
    except TypeError:
        raise InputError(f"{key} is {value!r}, must be a number") from None
    except OverflowError:
        raise InputError(f"{key} is {value!r}, which is too large") from None


def fill(struct: Any, values: Mapping[str, Any], keep: List[Any]) -> None:
    """Writes the values that are not None into a struct; a mapping becomes a struct that it points to."""
    if not isinstance(values, Mapping):
        raise InputError(f"the options are {values!r}, must be a dict")
    ctype = ffi.typeof(struct)
    fields = dict((ctype.item if ctype.kind == "pointer" else ctype).fields)
    fields.pop("size", None)                                 # of the struct
    for key, value in values.items():
        if key not in fields:
            raise InputError(f"there is no option {key!r}; the options are {', '.join(sorted(fields))}")
        if value is not None:
            _set(struct, key, fields[key], value, keep)
    if "fixed_A" in fields:
        _check_fixed(struct, values)


def _check_fixed(struct: Any, values: Mapping[str, Any]) -> None:
    """Probabilities that stay have a number for each state: the library reads as many."""
    S = struct.S
    if struct.start != ffi.NULL:
        facts = ffi.new("vhem_models_facts *")
        function("vhem_models_info")(struct.start, facts)
        S = facts.S
    elif S < 0:
        S = 3                                                # the default
    for key, shape in ("fixed_pi", (S,)), ("fixed_A", (S, S)):
        value = values.get(key)
        if value is not None and S != AUTO and struct.S_max <= 0 and np.shape(value) != shape:
            raise InputError(f"{key} has shape {np.shape(value)}, must be {shape}")


def texts(values: Optional[Sequence[str]], keep: List[Any]) -> Any:
    """An array of texts, kept alive by keep; NULL for None."""
    if values is None:
        return ffi.NULL
    each = [ffi.new("char[]", c_text(value)) for value in values]
    keep.extend(each)
    keep.append(ffi.new("char *[]", each))
    return keep[-1]


def options_of(kind: str, values: Mapping[str, Any]) -> Tuple[Any, List[Any]]:
    """A struct of options with its defaults and the values that are not None, and what it points to."""
    struct = ffi.new(f"vhem_{kind} *")
    function("vhem_options_init")(function(f"VHEM_{kind.upper()}"), struct, ffi.sizeof(struct[0]))
    keep: List[Any] = []
    fill(struct, values, keep)
    return struct, keep


def plain(struct: Any) -> Dict[str, Any]:
    """The numbers and texts of a struct of options, and of those it points to."""
    values: Dict[str, Any] = {}
    for key, field in ffi.typeof(struct).fields:
        if key == "size":
            continue
        if field.type.kind in ("primitive", "enum"):
            values[key] = getattr(struct, key)
        elif field.type.cname == "char *":
            values[key] = text(getattr(struct, key)) or None
        elif re.search(r"_options( const)? \*$", field.type.cname) and getattr(struct, key) != ffi.NULL:
            values[key] = plain(getattr(struct, key)[0])
    return values


def prediction_struct(said: Any, keep: List[Any]) -> Any:
    """A prediction as the library takes it; what it points to is added to keep."""
    n, C = len(said.names), len(said.classes)
    if len(said.labels) != n:
        raise InputError(f"there are {len(said.labels)} labels of {n} items")
    p = ffi.new("vhem_prediction *", {"n": n, "C": C, "scored": said.scored})
    p.name, p.label, p.class_name = (texts(part, keep) for part in (said.names, said.labels, said.classes))
    for key, kind, shape in (("sequences", "int64_t", (n,)), ("fold", "int", (n,)), ("loglik", "double", (n, C)),
                             ("log_posterior", "double", (n, C))):
        values = getattr(said, key)
        if values is not None:
            keep.append(numbers_at(np.ascontiguousarray(values, _KINDS[kind]), kind, shape, key))
            setattr(p, key, keep[-1])
    return p


def emission_params(emission: str) -> List[str]:
    """Names of the parameters of a family, in the order of theta; none when there is no such family."""
    names = (lib.vhem_emission_param(c_text(emission), p) for p in range(8))
    return [text(name) for name in names if name != ffi.NULL]


def stats(session: Any, parts: Mapping[str, Any]) -> Tuple[Any, Dict[str, Any]]:
    """The record, which a report takes, and what is in it; tests are dictionaries."""
    struct, keep = options_of("stats_input", parts)
    made = session.made("vhem_stats", "statistics", struct)
    s = made.pointer
    found: Dict[str, Any] = {
        "names": [text(s.name[i]) for i in range(s.n)], "labels": [text(s.label[i]) for i in range(s.n)],
        "groups": [text(s.group[g]) for g in range(s.n_group)], "left_out": bool(s.left_out),
        "tests": [plain(s.test[k]) for k in range(s.n_test)],
    }
    for key, kind in (("sequences", np.int64), ("frames", np.int64), ("cluster", np.int32), ("clustered", np.int32),
                      ("group_of", np.int32), ("uncertainty", np.float64), ("entropy", np.float64),
                      ("share", np.float64)):
        found[key] = array(getattr(s, key), (s.n,), made, kind)
    return made, {**found, "loglik": array(s.loglik, (s.n, s.K), made), "scale": array(s.scale, (s.n, s.K), made)}
