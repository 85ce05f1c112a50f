# SPDX-License-Identifier: BSD-3-Clause
"""The binding: the only file that names functions of the C library.

1. sessions: one context        4. clusterings and trees
2. sequences                    5. numbers: agreement, distances, choices
3. models and estimation        6. classes and tags, 7. dynamic textures

Every function here takes and returns NumPy arrays, plain values and handles; what they mean to a user is
decided in the other files.
"""
from __future__ import annotations

import functools
import json
import warnings
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _call
from ._ffi import (Handle, array, c_text, doubles, ffi, function, lib, libc, options_of, out_array, path_bytes, plain,
                   record, text, texts, whole_numbers)
from .errors import Error, FileError, InputError, VhemWarning


def backends() -> List[str]:
    """The sets of kernels usable here, best first."""
    return text(lib.vhem_backends()).split()


def methods() -> List[str]:
    """The methods of clustering by name, the default first."""
    return text(lib.vhem_methods()).split()


def takes_data(method: str) -> bool:
    """Does the method start from sequences?"""
    return bool(lib.vhem_method_takes_data(c_text(method)))


@functools.lru_cache(maxsize=None)
def takes_textures(method: str) -> bool:
    """Does the method cluster dynamic textures?  Found out by giving it one of each kind to cluster: HMMs,
    the default, come first."""
    one = np.ones((1, 1))
    same = {"omega": 1.0, "name": "", "label": "", "mu": one, "A": one}
    with Session(threads=1) as session:
        hmm = h3m_new(session, "gaussian-diag", 1, [{**same, "M": 1, "pi": one, "c": one, "cov": one}])
        texture = dtm_new(session, 1, [{**same, "n": 1, "A": one / 2, "Q": one, "Sigma": one, "C": one,
                                        "ybar": one, "R": one}])
        for source, kind in ((hmm, "h3m"), (texture, "dtm")):
            try:
                tree_build(session, source, kind, [1], {"method": method, "restarts": 1})
                return kind == "dtm"
            except Error:
                pass
    return False


# ---- 1. sessions: one context ------------------------------------------------------------------------------

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
        options, self._keep = options_of("ctx_options",
                                         {"backend": backend, "threads": threads, "seed": seed})
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
        called = function(name)
        try:
            status, interrupt = _call.run(lambda: called(self.ctx, *args), self.stop)
        except (OverflowError, TypeError) as error:          # of cffi, before anything is called
            raise InputError(f"a number is not what {name} takes: {error}") from None
        self.interrupt = self.interrupt or interrupt
        lines, self._warnings = self._warnings, []
        for line in lines:
            warnings.warn(line, VhemWarning, stacklevel=5)
        if status not in (lib.VHEM_OK, lib.VHEM_ESTOPPED):
            raise _error(status, text(lib.vhem_ctx_error(self.ctx)))

    def made(self, name: str, kind: str, *args: Any, last: Any = (), keep: Any = ()) -> Handle:
        """Calls a function that makes an object through its last argument, or the one before ``last``."""
        out = ffi.new(f"vhem_{kind} **")
        self.call(name, *args, out, *last)
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


def size(of: Handle, kind: str) -> int:
    """How many there are in an h3m, a dtm or data."""
    return int(getattr(lib, f"vhem_{kind}_size")(of.pointer))


# ---- 2. sequences ------------------------------------------------------------------------------------------

def data_wrap(session: Session, y: Any, lengths: Any, names: Optional[Sequence[str]],
              labels: Optional[Sequence[str]], groups: Optional[Sequence[str]], weights: Any,
              columns: Optional[Sequence[str]]) -> Handle:
    """Sequences on the frames y [sum T][d], which are not copied."""
    keep: List[Any] = [y]
    if lengths.size and lengths.max() > np.iinfo(np.int32).max:
        raise InputError(
            f"a sequence has {lengths.max()} frames, at most {np.iinfo(np.int32).max} are possible")
    T = np.ascontiguousarray(lengths, np.int32)
    data = session.made("vhem_data_wrap", "data", len(T), ffi.from_buffer("int[]", T), y.shape[1], doubles(y),
                        keep=keep)
    if any(value is not None for value in (names, labels, groups, weights, columns)):
        w = ffi.NULL if weights is None else doubles(np.ascontiguousarray(weights, np.float64))
        hold: List[Any] = []
        session.call("vhem_data_describe", data.pointer, texts(names, hold), texts(labels, hold),
                     texts(groups, hold), w, texts(columns, hold))
    return data


def data_load(session: Session, path: Any, options: Mapping[str, Any]) -> Handle:
    struct, keep = options_of("data_options", options)
    return session.made("vhem_data_load", "data", path_bytes(path), struct)


def data_save(session: Session, data: Handle, path: Any) -> None:
    session.call("vhem_data_save", data.pointer, path_bytes(path))


def data_parts(data: Handle) -> Dict[str, Any]:
    """Everything that is in a data set; frames are a view."""
    N, d, view = size(data, "data"), lib.vhem_data_dim(data.pointer), ffi.new("vhem_seq_view *")
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


# ---- 3. models and estimation ------------------------------------------------------------------------------

def h3m_new(session: Session, emission: str, d: int, hmms: Sequence[Mapping[str, Any]]) -> Handle:
    """A set of HMMs; each mapping has M omega name label, and pi A and either c mu cov or theta as arrays."""
    views, keep = ffi.new("vhem_hmm_view[]", len(hmms)), []
    name = emission.encode()
    keep.append(ffi.new("char[]", name))
    for view, hmm in zip(views, hmms):
        view.S, view.M, view.d, view.omega, view.emission = len(hmm["pi"]), hmm["M"], d, hmm["omega"], keep[0]
        for key in ("pi", "A", *(("c", "mu", "cov") if hmm["c"] is not None else ("theta",))):
            setattr(view, key, doubles(hmm[key]))
        if hmm["c"] is None:
            view.n_theta = len(hmm["theta"])
        for key in ("name", "label"):
            keep.append(ffi.new("char[]", c_text(hmm[key])))
            setattr(view, key, keep[-1])
    return session.made("vhem_h3m_new", "h3m", name, d, len(hmms), views)


def h3m_load(session: Session, path: Any) -> Handle:
    return session.made("vhem_h3m_load", "h3m", path_bytes(path))


def h3m_save(session: Session, h3m: Handle, path: Any) -> None:
    session.call("vhem_h3m_save", h3m.pointer, path_bytes(path))


def h3m_parts(h3m: Handle, i: int) -> Dict[str, Any]:
    """What is in HMM i; arrays are views that keep the set alive."""
    view = ffi.new("vhem_hmm_view *")
    lib.vhem_h3m_view(h3m.pointer, i, view)
    S, M, d, emission = view.S, view.M, view.d, text(view.emission)
    cov = (S, M, d, d) if emission == "gaussian-full" else (S, M, d)
    return {
        "emission": emission,
        "name": text(view.name),
        "label": text(view.label),
        "omega": view.omega,
        "d": d,
        "M": M,
        "pi": array(view.pi, (S,), h3m),
        "A": array(view.A, (S, S), h3m),
        "c": array(view.c, (S, M), h3m),
        "mu": array(view.mu, (S, M, d), h3m),
        "cov": array(view.cov, cov, h3m),
        "theta": array(view.theta, (view.n_theta,), h3m),
    }


def compare(a: Handle, b: Handle, kind: str) -> float:
    """Largest difference of two sets of models, h3m or dtm."""
    return float(getattr(lib, f"vhem_{kind}_compare")(a.pointer, b.pointer))


def provenance(models: Handle, kind: str) -> Any:
    """What made a set of models, h3m or dtm; or the prior of HMMs; None when there is none."""
    get = lib.vhem_h3m_prior if kind == "prior" else getattr(lib, f"vhem_{kind}_provenance")
    return json.loads(text(get(models.pointer)) or "null")


def h3m_set_provenance(session: Session, h3m: Handle, made: Any) -> None:
    session.call("vhem_h3m_set_provenance", h3m.pointer, json.dumps(made).encode())


def fit(session: Session, data: Handle, options: Mapping[str, Any],
        mixture: bool) -> Tuple[Handle, Dict[str, Any]]:
    """Models of sequences, and what every restart came to: run [K][R], best [K], frames [K]."""
    struct, keep = options_of("fit_options", options)
    report = ffi.new("vhem_fit_report **")
    h3m = session.made("vhem_fit_mixture" if mixture else "vhem_fit_each", "h3m", data.pointer, struct,
                       last=(report,))
    return h3m, _fit_report(report[0])


def _fit_report(pointer: Any) -> Dict[str, Any]:
    owner, K, R = Handle(pointer, lib.vhem_fit_report_free), pointer.K, pointer.R
    return {"run": array(pointer.run, (K * R,), owner, record("vhem_fit_run")).reshape(K, R),
            "best": array(pointer.best, (K,), owner, np.int32),
            "frames": array(pointer.frames, (K,), owner, np.int64)}


def fit_pieces(session: Session, data: Handle, options: Mapping[str, Any], store: Any) -> Handle:
    """The HMMs of all sequences or groups, K each, in one set; each is in the store once it is fitted."""
    struct, keep = options_of("fit_options", options)
    return session.made("vhem_fit_pieces", "h3m", data.pointer, struct,
                        ffi.NULL if store is None else path_bytes(store))


def score(session: Session, h3m: Handle, data: Handle) -> Any:
    loglik, out = out_array((size(data, "data"), size(h3m, "h3m")))
    session.call("vhem_score", h3m.pointer, data.pointer, out)
    return loglik


def viterbi(session: Session, h3m: Handle, i: int, data: Handle, n: int, T: int) -> Tuple[Any, float]:
    path, out = out_array((T,), np.int32)
    logprob = ffi.new("double *")
    session.call("vhem_viterbi", h3m.pointer, i, data.pointer, n, out, logprob)
    return path, logprob[0]


def posterior(session: Session, h3m: Handle, i: int, data: Handle, n: int, T: int, S: int) -> Tuple[Any, Any]:
    """gamma [T][S] and xi [S][S]."""
    (gamma, out), (xi, out_xi) = out_array((T, S)), out_array((S, S))
    session.call("vhem_posterior", h3m.pointer, i, data.pointer, n, out, out_xi, ffi.NULL)
    return gamma, xi


def sample(session: Session, h3m: Handle, N: int, T: int) -> Handle:
    return session.made("vhem_sample", "data", h3m.pointer, N, T)


# ---- 4. clusterings and trees ------------------------------------------------------------------------------

_build = {"h3m": "vhem_tree_build", "dtm": "vhem_tree_build_dtm", "data": "vhem_tree_build_data"}
_assign = {"h3m": "vhem_assign_models", "dtm": "vhem_assign_dtm", "data": "vhem_assign_data"}


def tree_build(session: Session, source: Handle, kind: str, K: Sequence[int],
               options: Mapping[str, Any]) -> Handle:
    """Levels of clusters of an h3m, a dtm or data; one level is what vhem_cluster gives."""
    struct, keep = options_of("cluster_options", options)
    return session.made(_build[kind], "tree", source.pointer, len(K), whole_numbers(K, "n_clusters"), struct)


def tree_load(session: Session, path: Any) -> Handle:
    return session.made("vhem_tree_load", "tree", path_bytes(path))


def tree_save(session: Session, tree: Handle, path: Any) -> None:
    session.call("vhem_tree_save", tree.pointer, path_bytes(path))


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
        level.provenance = libc.strdup(said)


def level_save(session: Session, tree: Handle, level: int, path: Any) -> None:
    session.call("vhem_clustering_save", lib.vhem_tree_level(tree.pointer, level), path_bytes(path))


def level_parts(tree: Handle, level: int) -> Dict[str, Any]:
    """Everything a level holds; arrays are views, and what a method does not have is None."""
    c = lib.vhem_tree_level(tree.pointer, level)
    Kb, Kr = c.Kb, c.Kr
    n_base = lib.vhem_tree_level(tree.pointer, 0).Kb
    at = array(c.state_map_at, (Kb + 1,), tree, np.int64)
    states = None if at is None else array(c.state_map, (int(at[-1]),), tree, np.int32)
    parts = plain(c[0])
    parts.update(
        label=array(c.label, (Kb,), tree, np.int32), z=array(c.z, (Kb, Kr), tree),
        L_hmm=array(c.L_hmm, (Kb, Kr), tree), bound=array(c.bound, (c.n_iter + 1,), tree),
        base_label=array(lib.vhem_tree_base_labels(tree.pointer, level), (n_base,), tree, np.int32),
        state_map=None if states is None else np.split(states, at[1:-1]),
        names=[text(c.name[i]) for i in range(Kb)] if c.name else [""] * Kb,
        runs=[{**plain(c.run[r]), "bounds": array(c.run[r].bounds, (c.run[r].n_iter + 1,), tree),
               "label": array(c.run[r].label, (Kb,), tree, np.int32)}
              for r in range(c.n_run)],
        centers=Handle(c.centers, None, tree) if c.centers else None,
        textures=Handle(c.textures, None, tree) if c.textures else None,
    )
    return parts


def report(session: Session, tree: Handle, path: Any, parts: Mapping[str, Any]) -> None:
    """Writes the page; truth and choice, lists of texts and of records, are set apart from plain options."""
    parts = dict(parts)
    truth, choice = parts.pop("truth", None), parts.pop("choice", None)
    struct, keep = options_of("report_input", {**parts, "tree": tree})
    if truth is not None:
        struct.truth = texts(truth, keep)
    if choice is not None:
        if getattr(choice, "dtype", None) != record("vhem_choice"):
            raise InputError("choice is not what vhem.metrics.choose gives")
        keep.append(np.ascontiguousarray(choice))
        struct.choice, struct.n_choice = ffi.from_buffer("vhem_choice[]", keep[-1]), len(choice)
    session.call("vhem_report_write", struct, path_bytes(path))


def assign(session: Session, tree: Handle, source: Handle, kind: str) -> Tuple[Any, Any, Any]:
    """label [n][levels], posterior [n][Kr of the lowest level], score [n]."""
    n = size(source, kind)
    label, out_label = out_array((n, tree_size(tree)), np.int32)
    z, out_z = out_array((n, lib.vhem_tree_level(tree.pointer, 0).Kr))
    best, out_best = out_array((n,))
    session.call(_assign[kind], tree.pointer, source.pointer, out_label, out_z, out_best)
    return label, z, best


# ---- 5. numbers: agreement, distances, choices -------------------------------------------------------------

def choose(session: Session, models: Handle, K: Sequence[int], S: Sequence[int], n_splits: int,
           options: Mapping[str, Any]) -> Any:
    struct, keep = options_of("cluster_options", options)
    rows = np.zeros(len(K) * len(S), record("vhem_choice"))
    session.call("vhem_choose", models.pointer, len(K), whole_numbers(K, "n_clusters"), len(S),
                 whole_numbers(S, "n_states"), n_splits, struct, ffi.from_buffer("vhem_choice[]", rows))
    return rows


def agreement(a: Any, b: Any) -> Dict[str, float]:
    out = ffi.new("vhem_agreement *")
    lib.vhem_partition_compare(len(a), ffi.from_buffer("int[]", a), ffi.from_buffer("int[]", b), out)
    return plain(out[0])


def measure(session: Session, tree: Handle, level: int, models: Optional[Handle], data: Optional[Handle],
            options: Mapping[str, Any]) -> Dict[str, float]:
    struct, keep = options_of("cluster_options", options)
    out = ffi.new("vhem_measures *")
    session.call("vhem_measure", tree.pointer, level, models.pointer if models else ffi.NULL,
                 data.pointer if data else ffi.NULL, struct, out)
    return plain(out[0])


def paired_t(a: Any, b: Any) -> Tuple[float, float]:
    t, p = ffi.new("double *"), ffi.new("double *")
    lib.vhem_paired_t(len(a), doubles(a), doubles(b), t, p)
    return t[0], p[0]


def distance(session: Session, a: Handle, b: Handle, options: Mapping[str, Any]) -> Tuple[Any, Any]:
    struct, keep = options_of("distance_options", options)
    shape = (size(a, "h3m"), size(b, "h3m"))
    (D, out), (error, out_error) = out_array(shape), out_array(shape)
    session.call("vhem_distance", a.pointer, b.pointer, struct, out, out_error)
    return D, error


# ---- 6. classes and tags -----------------------------------------------------------------------------------

class Tags(NamedTuple):
    """Which things have which tags: has [things][tags] of 0 and 1."""

    things: List[str]
    tags: List[str]
    has: Any


def _tags(tags: Optional[Tags], keep: List[Any]) -> Any:
    if tags is None:
        return ffi.NULL
    table = ffi.new("vhem_tags *", {"n": len(tags.things), "C": len(tags.tags)})
    table.thing, table.tag = texts(tags.things, keep), texts(tags.tags, keep)
    table.has = ffi.from_buffer("unsigned char[]", tags.has)
    return table


def tags_load(session: Session, path: Any) -> Tags:
    found = session.made("vhem_tags_load", "tags", path_bytes(path))
    t = found.pointer
    return Tags([text(t.thing[i]) for i in range(t.n)], [text(t.tag[c]) for c in range(t.C)],
                array(t.has, (t.n, t.C), found, np.uint8))


def classes_train(session: Session, data: Handle, tags: Optional[Tags], options: Mapping[str, Any]) -> Handle:
    """Models of the labels of the data, or of tags."""
    struct, keep = options_of("train_options", options)
    return session.made("vhem_classes_train", "classes", data.pointer, _tags(tags, keep), struct)


def classes_update(session: Session, classes: Handle, data: Handle, tags: Optional[Tags], store: Any) -> None:
    """More data, in place: views of the classes that were there before must not be used again."""
    keep: List[Any] = []
    session.call("vhem_classes_update", classes.pointer, data.pointer, _tags(tags, keep),
                 ffi.NULL if store is None else path_bytes(store))


def classes_options(classes: Handle) -> Dict[str, Any]:
    return plain(lib.vhem_classes_options(classes.pointer)[0])


def classes_load(session: Session, path: Any) -> Handle:
    return session.made("vhem_classes_load", "classes", path_bytes(path))


def classes_save(session: Session, classes: Handle, made: Any, path: Any) -> None:
    said = ffi.NULL if made is None else json.dumps(made).encode()
    session.call("vhem_classes_save", classes.pointer, said, path_bytes(path))


def classes_parts(classes: Handle) -> List[Dict[str, Any]]:
    """name, prior, things, pieces and model of each class."""
    view, found = ffi.new("vhem_class_view *"), []
    for c in range(lib.vhem_classes_size(classes.pointer)):
        lib.vhem_classes_view(classes.pointer, c, view)
        found.append({**plain(view[0]), "model": Handle(view.model, None, classes)})
    return found


def classes_predict(session: Session, classes: Handle, data: Handle, fast: int) -> Dict[str, Any]:
    return _prediction(session.made("vhem_classes_predict", "prediction", classes.pointer, data.pointer, fast))


def crossvalidate(session: Session, data: Handle, tags: Optional[Tags], options: Mapping[str, Any],
                  folds: int, holdout: float) -> Dict[str, Any]:
    """What is predicted of each thing by models that were trained without its fold."""
    struct, keep = options_of("train_options", options)
    return _prediction(session.made("vhem_crossvalidate", "prediction", data.pointer, _tags(tags, keep), struct,
                                    folds, holdout))


def _prediction(made: Handle) -> Dict[str, Any]:
    """names, labels and, of a cross-validation, fold [n]; classes [C]; loglik, log_posterior [n][C]."""
    p = made.pointer
    return {"names": [text(p.name[i]) for i in range(p.n)], "labels": [text(p.label[i]) for i in range(p.n)],
            "classes": [text(p.class_name[c]) for c in range(p.C)], "scored": p.scored,
            "fold": array(p.fold, (p.n,), made, np.int32), "loglik": array(p.loglik, (p.n, p.C), made),
            "log_posterior": array(p.log_posterior, (p.n, p.C), made)}


def rank(session: Session, score: Any, truth: Any, k: Sequence[int],
         options: Mapping[str, Any]) -> Tuple[Any, Any]:
    """For each tag its measures, a record; and precision among the first k things, [C][n_k]."""
    n, C = score.shape
    rows = np.zeros(C, record("vhem_tag_measure"))
    p_at, out = out_array((C, len(k)))
    struct, keep = options_of("rank_options", options)
    keep.append(whole_numbers(k, "at"))
    struct.n_k, struct.k = len(k), keep[-1]
    session.call("vhem_rank", n, C, doubles(score), ffi.from_buffer("unsigned char[]", truth), struct,
                 ffi.from_buffer("vhem_tag_measure[]", rows), out)
    return rows, p_at


# ---- 7. dynamic textures -----------------------------------------------------------------------------------

def dtm_new(session: Session, d: int, textures: Sequence[Mapping[str, Any]]) -> Handle:
    """A set of textures; each mapping has A Q mu Sigma C ybar R as arrays, n omega name label."""
    views, keep = ffi.new("vhem_dt_view[]", len(textures)), []
    for view, dt in zip(views, textures):
        view.n, view.d, view.omega = dt["n"], d, dt["omega"]
        for key in ("A", "Q", "mu", "Sigma", "C", "ybar", "R"):
            setattr(view, key, doubles(dt[key]))
        for key in ("name", "label"):
            keep.append(ffi.new("char[]", c_text(dt[key])))
            setattr(view, key, keep[-1])
    return session.made("vhem_dtm_new", "dtm", d, len(textures), views)


def dtm_load(session: Session, path: Any) -> Handle:
    return session.made("vhem_dtm_load", "dtm", path_bytes(path))


def dtm_save(session: Session, dtm: Handle, path: Any) -> None:
    session.call("vhem_dtm_save", dtm.pointer, path_bytes(path))


def dtm_parts(dtm: Handle, i: int) -> Dict[str, Any]:
    """What is in texture i; arrays are views that keep the set alive."""
    view = ffi.new("vhem_dt_view *")
    lib.vhem_dtm_view(dtm.pointer, i, view)
    n, d = view.n, view.d
    shapes = {"A": (n, n), "Q": (n, n), "mu": (n,), "Sigma": (n, n), "C": (d, n), "ybar": (d,), "R": (d,)}
    return {**plain(view[0]), "name": text(view.name), "label": text(view.label),
            **{key: array(getattr(view, key), shape, dtm) for key, shape in shapes.items()}}


def dtm_fit(session: Session, data: Handle, options: Mapping[str, Any],
            made: Any) -> Tuple[Handle, Dict[str, Any]]:
    """Textures, and what every restart came to, as :func:`fit` has it."""
    struct, keep = options_of("dtm_fit_options", options)
    report = ffi.new("vhem_fit_report **")
    dtm = session.made("vhem_dtm_fit", "dtm", data.pointer, struct, last=(report,))
    session.call("vhem_dtm_set_provenance", dtm.pointer, json.dumps(made).encode())
    return dtm, _fit_report(report[0])


def dtm_score(session: Session, dtm: Handle, data: Handle) -> Any:
    loglik, out = out_array((size(data, "data"), size(dtm, "dtm")))
    session.call("vhem_dtm_score", dtm.pointer, data.pointer, out)
    return loglik


def dtm_smooth(session: Session, dtm: Handle, i: int, data: Handle, k: int, T: int, n: int) -> Tuple[Any, Any]:
    """Means [T][n] and covariances [T][n][n] of the states."""
    (x, out), (cov, out_cov) = out_array((T, n)), out_array((T, n, n))
    session.call("vhem_dtm_smooth", dtm.pointer, i, data.pointer, k, out, out_cov, ffi.NULL)
    return x, cov


def dtm_sample(session: Session, dtm: Handle, N: int, T: int) -> Handle:
    return session.made("vhem_dtm_sample", "data", dtm.pointer, N, T)
