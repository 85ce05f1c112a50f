"""The binding: the only file that names functions of the C library.

1. opening the library          4. models and estimation
2. sessions: one context        5. clusterings and trees
3. sequences                    6. numbers: agreement, distances, choices

Every function here takes and returns NumPy arrays, plain values and handles; what they mean to a user is
decided in the other files.
"""
from __future__ import annotations

import json
import os
import warnings
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import cffi
import numpy as np

from . import _call, _header
from .errors import Error, FileError, InputError, VhemWarning

# ---- 1. opening the library ---------------------------------------------------------------------------------

_text = _header.header_path().read_text()
ffi: Any = cffi.FFI()
ffi.cdef(_header.declarations(_text))
ffi.cdef("char *strdup(const char *text);")
lib: Any = ffi.dlopen(str(_header.library_path()))
_libc: Any = ffi.dlopen(None)


def text(pointer: Any) -> str:
    """The text at a char pointer; empty for NULL."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else ""


def version() -> str:
    return text(lib.vhem_version())


if version() != _header.version(_text):
    raise ImportError(
        f"vhem: {_header.library_path()} is version {version()}, the package is made for "
        f"{_header.version(_text)}; install the package again"
    )


def backends() -> List[str]:
    return text(lib.vhem_backends()).split()


def methods() -> List[str]:
    return text(_function("vhem_methods")()).split()


def _function(name: str) -> Any:
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
            "version": 3, "shape": shape, "typestr": dtype.str if dtype.names is None else "|V%d" % dtype.itemsize,
            "descr": dtype.descr, "data": (int(ffi.cast("uintptr_t", pointer)), True),
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


def _doubles(values: Any) -> Any:
    return ffi.from_buffer("double[]", values)


def _out(shape: Tuple[int, ...], dtype: Any = np.float64) -> Tuple[Any, Any]:
    values = np.empty(shape, dtype)
    kind = "double[]" if values.dtype == np.float64 else "int[]"
    return values, ffi.from_buffer(kind, values, require_writable=True)


def _path(path: Any) -> bytes:
    return os.fsencode(path)


def _set(struct: Any, key: str, field: Any, value: Any, keep: List[Any]) -> None:
    """One option; a text is kept alive by keep."""
    kind = field.type.cname
    if isinstance(value, Handle):
        value = value.pointer
    elif kind == "char *":
        keep.append(ffi.new("char[]", str(value).encode()))
        value = keep[-1]
    elif isinstance(value, np.ndarray):
        keep.append(np.ascontiguousarray(value, np.float64))
        value = _doubles(keep[-1])
    elif kind == "int" and not isinstance(value, (bool, int, np.integer, np.bool_)):
        raise InputError(f"{key} is {value!r}, must be a whole number")
    elif kind == "int":
        value = int(value)
    try:
        setattr(struct, key, value)
    except (TypeError, OverflowError):
        raise InputError(f"{key} is {value!r}, must be a number") from None


def _options(kind: str, values: Mapping[str, Any]) -> Tuple[Any, List[Any]]:
    """A struct of options with its defaults and the values that are not None, and what it points to."""
    struct = ffi.new(f"vhem_{kind}_options *")
    _function(f"vhem_{kind}_options_init")(struct)
    keep: List[Any] = []
    fields = dict(ffi.typeof(struct).item.fields)
    for key, value in values.items():
        if key not in fields:
            raise InputError(f"there is no option {key!r}, there are {', '.join(sorted(fields))}")
        if value is not None:
            _set(struct, key, fields[key], value, keep)
    return struct, keep


def _plain(struct: Any) -> Dict[str, Any]:
    """The numbers and texts of a struct."""
    values = {}
    for key, field in ffi.typeof(struct).fields:
        if field.type.kind == "primitive":
            values[key] = getattr(struct, key)
        elif field.type.cname == "char *":
            values[key] = text(getattr(struct, key)) or None
    return values


# ---- 2. sessions: one context -------------------------------------------------------------------------------

@ffi.callback("void(void *, int, const char *)")
def _log(handle: Any, level: int, line: Any) -> None:
    ffi.from_handle(handle).log(level, text(line))


@ffi.callback("void(void *, const char *, int64_t, int64_t)")
def _progress(handle: Any, what: Any, done: int, total: int) -> None:
    ffi.from_handle(handle).step(text(what), done, total)


class Session:
    """A context of the library for one piece of work; an interrupt is raised when the block ends.

    ``progress(what, done, total)`` is called now and then, from any thread, one call at a time; an exception
    in it ends the work.  Warnings of the library become Python warnings.
    """

    def __init__(self, seed: int = 0, threads: int = 0, backend: Optional[str] = None,
                 progress: Optional[Callable[[str, int, int], Any]] = None,
                 tell: Optional[Callable[[str], Any]] = None):
        self.progress, self.tell = progress, tell
        self.interrupt: Optional[BaseException] = None
        self._warnings: List[str] = []
        self._handle = ffi.new_handle(self)
        options, self._keep = _options("ctx", {"backend": backend, "threads": threads, "seed": seed})
        options.log, options.log_arg = _log, self._handle
        if progress is not None:
            options.progress, options.progress_arg = _progress, self._handle
        out = ffi.new("vhem_ctx **")
        if lib.vhem_ctx_new(options, out) != lib.VHEM_OK:
            raise InputError(f"the backend is {backend!r}, must be one of {', '.join(backends())}")
        self.ctx = ffi.gc(out[0], lib.vhem_ctx_free)

    def log(self, level: int, line: str) -> None:
        if level == lib.VHEM_LOG_WARN:
            self._warnings.append(line)
        elif self.tell is not None and level == lib.VHEM_LOG_INFO:
            self.tell(line)

    def step(self, what: str, done: int, total: int) -> None:
        try:
            if self.progress is not None and self.interrupt is None:
                self.progress(what, done, total)
        except BaseException as error:
            self.interrupt = error
            self.stop()

    def stop(self) -> None:
        lib.vhem_ctx_stop(self.ctx)

    def call(self, name: str, *args: Any) -> None:
        """Calls a function; raises its sentence, except when it was stopped and hands over what it has."""
        function = _function(name)
        status, interrupt = _call.run(lambda: function(self.ctx, *args), self.stop)
        self.interrupt = self.interrupt or interrupt
        lines, self._warnings = self._warnings, []
        for line in lines:
            warnings.warn(line, VhemWarning, stacklevel=5)
        if status not in (lib.VHEM_OK, lib.VHEM_ESTOPPED):
            raise _error(status, text(lib.vhem_ctx_error(self.ctx)))

    def made(self, name: str, kind: str, *args: Any, keep: Any = ()) -> Handle:
        """Calls a function that makes an object through its last argument."""
        out = ffi.new(f"vhem_{kind} **")
        self.call(name, *args, out)
        if not out[0]:
            raise self.interrupt or Error(f"{name} was stopped before it had a result")
        return Handle(out[0], getattr(lib, f"vhem_{kind}_free"), *keep)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is None and self.interrupt is not None:
            raise self.interrupt


def _error(status: int, sentence: str) -> Error:
    sentence = sentence or text(lib.vhem_status_text(status))
    if status in (lib.VHEM_EINVAL, lib.VHEM_EFORMAT):
        return InputError(sentence)
    return FileError(sentence) if status == lib.VHEM_EIO else Error(sentence)


# ---- 3. sequences -------------------------------------------------------------------------------------------

def _texts(values: Optional[Sequence[str]], keep: List[Any]) -> Any:
    if values is None:
        return ffi.NULL
    each = [ffi.new("char[]", str(value).encode()) for value in values]
    keep.extend(each)
    keep.append(ffi.new("char *[]", each))
    return keep[-1]


def data_wrap(session: Session, y: Any, lengths: Any, names: Optional[Sequence[str]],
              labels: Optional[Sequence[str]], groups: Optional[Sequence[str]], weights: Any,
              columns: Optional[Sequence[str]]) -> Handle:
    """Sequences on the frames y [sum T][d], which are not copied."""
    keep: List[Any] = [y]
    if lengths.size and lengths.max() > np.iinfo(np.int32).max:
        raise InputError(f"a sequence has {lengths.max()} frames, at most {np.iinfo(np.int32).max} are possible")
    T = np.ascontiguousarray(lengths, np.int32)
    data = session.made("vhem_data_wrap", "data", len(T), ffi.from_buffer("int[]", T), y.shape[1], _doubles(y),
                        keep=keep)
    if any(value is not None for value in (names, labels, groups, weights, columns)):
        w = ffi.NULL if weights is None else _doubles(np.ascontiguousarray(weights, np.float64))
        hold: List[Any] = []
        session.call("vhem_data_describe", data.pointer, _texts(names, hold), _texts(labels, hold),
                     _texts(groups, hold), w, _texts(columns, hold))
    return data


def data_load(session: Session, path: Any, options: Mapping[str, Any]) -> Handle:
    struct, keep = _options("data", options)
    return session.made("vhem_data_load", "data", _path(path), struct)


def data_save(session: Session, data: Handle, path: Any) -> None:
    session.call("vhem_data_save", data.pointer, _path(path))


def data_parts(data: Handle) -> Dict[str, Any]:
    """Everything that is in a data set; frames are a view."""
    N, d, view = lib.vhem_data_size(data.pointer), lib.vhem_data_dim(data.pointer), ffi.new("vhem_seq_view *")
    parts: Dict[str, Any] = {"names": [], "labels": [], "groups": [], "weights": [], "lengths": []}
    first = None
    for n in range(N):
        lib.vhem_data_view(data.pointer, n, view)
        first = view.y if n == 0 else first
        for key in ("name", "label", "group"):
            parts[key + "s"].append(text(getattr(view, key)))
        parts["weights"].append(view.weight)
        parts["lengths"].append(view.T)
    parts["columns"] = [text(lib.vhem_data_column(data.pointer, k)) for k in range(d)]
    parts["y"] = array(first, (sum(parts["lengths"]), d), data)
    return parts


# ---- 4. models and estimation -------------------------------------------------------------------------------

def h3m_new(session: Session, emission: str, d: int, hmms: Sequence[Mapping[str, Any]]) -> Handle:
    """A set of HMMs; each mapping has M omega name label, and pi A and either c mu cov or theta as arrays."""
    views, keep = ffi.new("vhem_hmm_view[]", len(hmms)), []
    name = emission.encode()
    keep.append(ffi.new("char[]", name))
    for view, hmm in zip(views, hmms):
        view.S, view.M, view.d, view.omega, view.emission = len(hmm["pi"]), hmm["M"], d, hmm["omega"], keep[0]
        for key in ("pi", "A", *(("c", "mu", "cov") if hmm["c"] is not None else ("theta",))):
            setattr(view, key, _doubles(hmm[key]))
        if hmm["c"] is None:
            view.n_theta = len(hmm["theta"])
        for key in ("name", "label"):
            keep.append(ffi.new("char[]", hmm[key].encode()))
            setattr(view, key, keep[-1])
    return session.made("vhem_h3m_new", "h3m", name, d, len(hmms), views)


def h3m_load(session: Session, path: Any) -> Handle:
    return session.made("vhem_h3m_load", "h3m", _path(path))


def h3m_save(session: Session, h3m: Handle, path: Any) -> None:
    session.call("vhem_h3m_save", h3m.pointer, _path(path))


def h3m_size(h3m: Handle) -> int:
    return int(lib.vhem_h3m_size(h3m.pointer))


def h3m_parts(h3m: Handle, i: int) -> Dict[str, Any]:
    """What is in HMM i; arrays are views that keep the set alive."""
    view = ffi.new("vhem_hmm_view *")
    lib.vhem_h3m_view(h3m.pointer, i, view)
    S, M, d, emission = view.S, view.M, view.d, text(view.emission)
    cov = (S, M, d, d) if emission == "gaussian-full" else (S, M, d)
    return {
        "emission": emission, "name": text(view.name), "label": text(view.label), "omega": view.omega, "d": d, "M": M,
        "pi": array(view.pi, (S,), h3m), "A": array(view.A, (S, S), h3m), "c": array(view.c, (S, M), h3m),
        "mu": array(view.mu, (S, M, d), h3m), "cov": array(view.cov, cov, h3m),
        "theta": array(view.theta, (view.n_theta,), h3m),
    }


def h3m_compare(a: Handle, b: Handle) -> float:
    return float(lib.vhem_h3m_compare(a.pointer, b.pointer))


def h3m_provenance(h3m: Handle) -> Any:
    found = lib.vhem_h3m_provenance(h3m.pointer)
    return json.loads(text(found)) if found else None


def h3m_set_provenance(session: Session, h3m: Handle, made: Any) -> None:
    session.call("vhem_h3m_set_provenance", h3m.pointer, json.dumps(made).encode())


def fit(session: Session, data: Handle, options: Mapping[str, Any], mixture: bool) -> Tuple[Handle, Dict[str, Any]]:
    """Models of sequences, and what every restart came to: run [K][R], best [K], frames [K]."""
    struct, keep = _options("fit", options)
    h3m, report = ffi.new("vhem_h3m **"), ffi.new("vhem_fit_report **")
    session.call("vhem_fit_mixture" if mixture else "vhem_fit_each", data.pointer, struct, h3m, report)
    if not h3m[0]:
        raise session.interrupt or Error("the fit was stopped before it had a result")
    owner = Handle(report[0], lib.vhem_fit_report_free)
    K, R = report[0].K, report[0].R
    return Handle(h3m[0], lib.vhem_h3m_free), {
        "run": array(report[0].run, (K * R,), owner, record("vhem_fit_run")).reshape(K, R),
        "best": array(report[0].best, (K,), owner, np.int32),
        "frames": array(report[0].frames, (K,), owner, np.int64),
    }


def score(session: Session, h3m: Handle, data: Handle) -> Any:
    loglik, out = _out((lib.vhem_data_size(data.pointer), h3m_size(h3m)))
    session.call("vhem_score", h3m.pointer, data.pointer, out)
    return loglik


def viterbi(session: Session, h3m: Handle, i: int, data: Handle, n: int, T: int) -> Tuple[Any, float]:
    path, out = _out((T,), np.int32)
    logprob = ffi.new("double *")
    session.call("vhem_viterbi", h3m.pointer, i, data.pointer, n, out, logprob)
    return path, logprob[0]


def posterior(session: Session, h3m: Handle, i: int, data: Handle, n: int, T: int, S: int) -> Any:
    gamma, out = _out((T, S))
    session.call("vhem_posterior", h3m.pointer, i, data.pointer, n, out, ffi.NULL, ffi.NULL)
    return gamma


def sample(session: Session, h3m: Handle, N: int, T: int) -> Handle:
    return session.made("vhem_sample", "data", h3m.pointer, N, T)


# ---- 5. clusterings and trees -------------------------------------------------------------------------------

def tree_build(session: Session, source: Handle, from_data: bool, K: Sequence[int],
               options: Mapping[str, Any]) -> Handle:
    """Levels of clusters; with one level it is what vhem_cluster and vhem_cluster_data give."""
    struct, keep = _options("cluster", options)
    name = "vhem_tree_build_data" if from_data else "vhem_tree_build"
    try:
        sizes = ffi.new("int[]", [int(k) for k in K])
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"n_clusters is {K!r}, must be whole numbers") from None
    return session.made(name, "tree", source.pointer, len(K), sizes, struct)


def tree_load(session: Session, path: Any) -> Handle:
    return session.made("vhem_tree_load", "tree", _path(path))


def tree_save(session: Session, tree: Handle, path: Any) -> None:
    session.call("vhem_tree_save", tree.pointer, _path(path))


def tree_size(tree: Handle) -> int:
    return int(lib.vhem_tree_levels(tree.pointer))


def tree_provenance(tree: Handle) -> Any:
    found = lib.vhem_tree_provenance(tree.pointer) or lib.vhem_tree_level(tree.pointer, 0).provenance
    return json.loads(text(found)) if found else None


def tree_set_provenance(session: Session, tree: Handle, made: Any) -> None:
    """Of the tree, or of the clustering when it has one level."""
    said = json.dumps(made).encode()
    if tree_size(tree) > 1:
        session.call("vhem_tree_set_provenance", tree.pointer, said)
        return
    level = ffi.cast("vhem_clustering *", lib.vhem_tree_level(tree.pointer, 0))
    if not level.provenance:
        level.provenance = _libc.strdup(said)


def level_save(session: Session, tree: Handle, level: int, path: Any) -> None:
    session.call("vhem_clustering_save", lib.vhem_tree_level(tree.pointer, level), _path(path))


def level_parts(tree: Handle, level: int) -> Dict[str, Any]:
    """Everything a level holds; arrays are views, and what a method does not have is None."""
    c = lib.vhem_tree_level(tree.pointer, level)
    Kb, Kr = c.Kb, c.Kr
    n_base = lib.vhem_tree_level(tree.pointer, 0).Kb
    at = array(c.state_map_at, (Kb + 1,), tree, np.int64)
    states = None if at is None else array(c.state_map, (int(at[-1]),), tree, np.int32)
    parts = _plain(c[0])
    parts.update(
        label=array(c.label, (Kb,), tree, np.int32), z=array(c.z, (Kb, Kr), tree),
        L_hmm=array(c.L_hmm, (Kb, Kr), tree), bound=array(c.bound, (c.n_iter + 1,), tree),
        base_label=array(lib.vhem_tree_base_labels(tree.pointer, level), (n_base,), tree, np.int32),
        state_map=None if states is None else np.split(states, at[1:-1]),
        names=[text(c.name[i]) for i in range(Kb)] if c.name else [""] * Kb,
        runs=[_plain(c.run[r]) for r in range(c.n_run)], options=_plain(c.options),
        centers=Handle(c.centers, None, tree) if c.centers else None,
    )
    return parts


def assign(session: Session, tree: Handle, source: Handle, from_data: bool) -> Tuple[Any, Any, Any]:
    """label [n][levels], posterior [n][Kr of the lowest level], score [n]."""
    n = lib.vhem_data_size(source.pointer) if from_data else h3m_size(source)
    label, out_label = _out((n, tree_size(tree)), np.int32)
    z, out_z = _out((n, lib.vhem_tree_level(tree.pointer, 0).Kr))
    best, out_best = _out((n,))
    session.call("vhem_assign_data" if from_data else "vhem_assign_models", tree.pointer, source.pointer,
                 out_label, out_z, out_best)
    return label, z, best


# ---- 6. numbers: agreement, distances, choices --------------------------------------------------------------

def choose(session: Session, models: Handle, K: Sequence[int], S: Sequence[int], n_splits: int,
           options: Mapping[str, Any]) -> Any:
    struct, keep = _options("cluster", options)
    rows = np.zeros(len(K) * len(S), record("vhem_choice"))
    session.call("vhem_choose", models.pointer, len(K), ffi.new("int[]", list(K)), len(S),
                 ffi.new("int[]", list(S)), n_splits, struct, ffi.from_buffer("vhem_choice[]", rows))
    return rows


def agreement(a: Any, b: Any) -> Dict[str, float]:
    out = ffi.new("vhem_agreement *")
    lib.vhem_partition_compare(len(a), ffi.from_buffer("int[]", a), ffi.from_buffer("int[]", b), out)
    return _plain(out[0])


def measure(session: Session, tree: Handle, level: int, models: Optional[Handle], data: Optional[Handle],
            options: Mapping[str, Any]) -> Dict[str, float]:
    struct, keep = _options("cluster", options)
    out = ffi.new("vhem_measures *")
    session.call("vhem_measure", tree.pointer, level, models.pointer if models else ffi.NULL,
                 data.pointer if data else ffi.NULL, struct, out)
    return _plain(out[0])


def paired_t(a: Any, b: Any) -> Tuple[float, float]:
    t, p = ffi.new("double *"), ffi.new("double *")
    _function("vhem_paired_t")(len(a), _doubles(a), _doubles(b), t, p)
    return t[0], p[0]


def distance(session: Session, a: Handle, b: Handle, options: Mapping[str, Any]) -> Tuple[Any, Any]:
    struct, keep = _options("distance", options)
    (D, out), (error, out_error) = _out((h3m_size(a), h3m_size(b))), _out((h3m_size(a), h3m_size(b)))
    session.call("vhem_distance", a.pointer, b.pointer, struct, out, out_error)
    return D, error
