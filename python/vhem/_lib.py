# SPDX-License-Identifier: BSD-3-Clause
"""The binding: the only file, with its tables, that names functions of the C library.

1. tables: backends, methods, options (_tables.py)     5. clusterings and trees
2. sessions: one context                               6. numbers: agreement, distances, choices
3. files and sequences                                 7. classes and tags
4. models and estimation

Every function here takes and returns NumPy arrays, plain values and handles; what they mean to a user is
decided in the other files.
"""
from __future__ import annotations

import json
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np

from . import _call
from ._ffi import (Handle, array, c_text, doubles, ffi, function, lib, numbers_at, options_of, out_array, path_bytes,
                   plain, prediction_struct, record, text, texts, whole_numbers)
from ._tables import backend_problem as backend_problem, backends as backends, method_facts as method_facts
from ._tables import method_table as method_table, methods as methods, option_table as option_table
from ._types import Prediction, Tags
from ._parameters import named
from .errors import Error, FileError, InputError, warn

# ---- 2. sessions: one context ------------------------------------------------------------------------------

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

    def __init__(self, seed: Optional[int] = None, threads: Optional[int] = None, backend: Optional[str] = None,
                 progress: Optional[Callable[[str, int, int], Any]] = None,
                 tell: Optional[Callable[[str], Any]] = None):
        self.progress, self.tell = progress, tell
        self.called: Mapping[str, str] = {}                  # what sizes are called where the work was asked for
        self.interrupt: Optional[BaseException] = None
        self.at_end: Callable[[], None] = lambda: None
        self._warnings: List[str] = []
        self._handle = ffi.new_handle(self)
        options, self._keep = options_of("ctx_options",
                                         {"backend": backend, "threads": threads, "seed": seed})
        options.log, options.log_arg = _log, self._handle
        options.words = lib.VHEM_WORDS_PYTHON
        if progress is not None:
            options.progress, options.progress_arg = _progress, self._handle
        out = ffi.new("vhem_ctx **")
        if lib.vhem_ctx_new(options, out) != lib.VHEM_OK:
            raise InputError(backend_problem(str(backend)))
        self.ctx = ffi.gc(out[0], lib.vhem_free)

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
            raise InputError(f"{name}: an argument is out of range: {error}") from None
        self.interrupt = self.interrupt or interrupt
        lines, self._warnings = self._warnings, []
        for line in lines:
            warn(named(line, self.called))
        if status not in (lib.VHEM_OK, lib.VHEM_ESTOPPED):
            raise _error(status, named(text(lib.vhem_ctx_error(self.ctx)), self.called))

    def made(self, name: str, kind: str, *args: Any, last: Any = (), keep: Any = ()) -> Handle:
        """Calls a function that makes an object through its last argument, or the one before ``last``."""
        out = ffi.new(f"vhem_{kind} **")
        self.call(name, *args, out, *last)
        if not out[0]:
            raise self.interrupt or Error(f"{name} was stopped before it had a result")
        return owned(out[0], kind, *keep)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.at_end()
        if error is None and self.interrupt is not None:
            raise self.interrupt


def owned(pointer: Any, kind: str, *keep: Any) -> Handle:
    """An object or a plain record that is freed with its handle."""
    return Handle(pointer, lib.vhem_free, *keep)


def _error(status: int, sentence: str) -> Error:
    sentence = sentence or text(lib.vhem_status_text(status))
    if status in (lib.VHEM_EINVAL, lib.VHEM_EFORMAT):
        return InputError(sentence)
    return FileError(sentence) if status == lib.VHEM_EIO else Error(sentence)


def _read(provenance: Any) -> Any:
    return json.loads(text(provenance)) if provenance else None


# ---- 3. files and sequences --------------------------------------------------------------------------------

def load(session: Session, path: Any, options: Mapping[str, Any]) -> Tuple[str, Handle]:
    """What is in a file: "models", "tree", "classes" or "data"."""
    struct, keep = options_of("data_options", options)
    out = ffi.new("vhem_contents *")
    session.call("vhem_load", path_bytes(path), struct, out)
    found = [(kind, getattr(out, kind)) for kind in ("models", "tree", "classes", "data") if getattr(out, kind)]
    if not found:
        raise session.interrupt or Error(f"{path}: reading was stopped")
    return found[0][0], owned(found[0][1], found[0][0])


def read(session: Session, kind: str, path: Any) -> Handle:
    """A file of "models", a "tree" or "classes"."""
    return session.made(f"vhem_{kind}_load", kind, path_bytes(path))


def write(session: Session, kind: str, what: Handle, made: Any, path: Any) -> None:
    """Writes "models", a "tree" or "classes"; made is a record of what made them, None to keep what there is."""
    said = ffi.NULL if made is None else json.dumps(made).encode()
    session.call(f"vhem_{kind}_save", what.pointer, said, path_bytes(path))


def data_wrap(session: Session, y: Any, lengths: Any, about: Mapping[str, Any]) -> Handle:
    """Sequences on the frames y [sum T][d], which are not copied; about has name, label, group, weight, column and
    symbols."""
    T, known = np.ascontiguousarray(lengths, np.int64), ffi.new("vhem_data_text *")
    frames = doubles(y, (None, None), "the frames")
    d = y.shape[1]
    if (T > len(y)).any() or T.sum(dtype=np.float64) != len(y):     # as whole numbers a sum could wrap around
        raise InputError(f"the lengths have sum {T.sum(dtype=np.float64):.0f}, but there are {len(y)} frames")
    hold: List[Any] = []
    for key in ("name", "label", "group", "column"):
        n = d if key == "column" else len(T)
        if about[key] is not None and len(about[key]) != n:
            raise InputError(f"there are {len(about[key])} {key}s, must be {n}")
        setattr(known, key, texts(about[key], hold))
    if about["weight"] is not None:
        hold.append(doubles(np.ascontiguousarray(about["weight"], np.float64), (len(T),), "weights"))
        known.weight = hold[-1]
    if about["symbols"] is not None:
        hold.append(ffi.new("vhem_symbols[]", [(len(names), texts(names, hold) if names else ffi.NULL)
                                               for names in about["symbols"]]))
        known.symbols = hold[-1]
    return session.made("vhem_data_wrap", "data", len(T), numbers_at(T, "int64_t"), d, frames, known, keep=[y])


def data_load(session: Session, path: Any, options: Mapping[str, Any]) -> Handle:
    struct, keep = options_of("data_options", options)
    return session.made("vhem_data_load", "data", path_bytes(path), struct)


def demo(session: Session, name: str) -> Handle:
    return session.made("vhem_demo", "data", c_text(name))


def data_save(session: Session, data: Handle, path: Any) -> None:
    session.call("vhem_data_save", data.pointer, path_bytes(path))


def _symbols(record: Any) -> List[str]:
    """The names of the symbols of a column, none where it holds numbers."""
    return [text(record.name[v]) for v in range(record.n)]


def data_parts(data: Handle) -> Dict[str, Any]:
    """Everything that is in a data set; frames are a view."""
    facts, view = ffi.new("vhem_data_facts *"), ffi.new("vhem_seq_view *")
    lib.vhem_data_info(data.pointer, facts)
    parts: Dict[str, Any] = {"names": [], "labels": [], "groups": [], "weights": [], "lengths": []}
    first = None
    for n in range(facts.N):
        lib.vhem_data_view(data.pointer, n, view)
        first = view.y if n == 0 else first
        for key in ("name", "label", "group"):
            parts[key + "s"].append(text(getattr(view, key)))
        parts["weights"].append(view.weight)
        parts["lengths"].append(view.T)
    parts["columns"] = [text(facts.column[k]) for k in range(facts.d)]
    parts["symbols"] = {parts["columns"][k]: found for k in range(facts.d if facts.symbols else 0)
                        if (found := _symbols(facts.symbols[k]))}
    parts["y"] = array(first, (facts.frames, facts.d), data)
    return parts


def _length(data: Handle, n: int) -> int:
    """Frames of a sequence, as the library has them: so many numbers it writes."""
    view = ffi.new("vhem_seq_view *")
    if lib.vhem_data_view(data.pointer, n, view) != lib.VHEM_OK:
        raise InputError(f"there is no sequence {n}")
    return int(view.T)


def source(models: Optional[Handle] = None, data: Optional[Handle] = None, by_group: bool = False) -> Handle:
    """What is worked on: models, or sequences, or groups of these; it keeps them alive."""
    made = ffi.new("vhem_source *", {"by_group": int(by_group)})
    made.models, made.data = (ffi.NULL if part is None else part.pointer for part in (models, data))
    return Handle(made, None, models, data)


def items(session: Session, of: Handle) -> Dict[str, Any]:
    """The items of a source: names, labels, sequences [n] and, of data, the item of each sequence [N]."""
    found = session.made("vhem_source_items", "items", of.pointer)
    p = found.pointer
    sequences = array(p.sequences, (p.n,), found, np.int64)
    return {"names": [text(p.name[i]) for i in range(p.n)], "labels": [text(p.label[i]) for i in range(p.n)],
            "sequences": sequences, "item": array(p.item, (int(sequences.sum()),), found, np.int64)}


# ---- 4. models and estimation ------------------------------------------------------------------------------

HMMS, TEXTURES = int(lib.VHEM_HMMS), int(lib.VHEM_TEXTURES)


def _views(kind: str, d: int, models: Sequence[Mapping[str, Any]], keep: List[Any]) -> Any:
    """Structs with the omega, name and label of each model."""
    views = ffi.new(f"{kind}[]", len(models))
    for view, model in zip(views, models):
        view.d, view.omega = d, model["omega"]
        for key in ("name", "label"):
            keep.append(ffi.new("char[]", c_text(model[key])))
            setattr(view, key, keep[-1])
    return views


def new_hmms(session: Session, d: int, hmms: Sequence[Mapping[str, Any]]) -> Handle:
    """A set of HMMs of one emission; each has M omega name label, and pi A and either c mu cov or theta as
    arrays."""
    keep: List[Any] = [ffi.new("char[]", c_text(hmms[0]["emission"]))]
    views = _views("vhem_hmm_view", d, hmms, keep)
    for view, hmm in zip(views, hmms):
        S, M = len(hmm["pi"]), hmm["M"]
        view.S, view.M, view.emission = S, M, keep[0]
        shapes = {"pi": (S,), "A": (S, S), "c": (S, M), "mu": (S, M, d), "theta": (None,),
                  "cov": (S, M, d, d) if hmm["emission"] == "gaussian-full" else (S, M, d)}
        for key in ("pi", "A", *(("c", "mu", "cov") if hmm["c"] is not None else ("theta",))):
            setattr(view, key, doubles(hmm[key], shapes[key], key))
        if hmm["c"] is None:
            view.n_theta = len(hmm["theta"])
        view.layout = hmm.get("layout", ffi.NULL)
    return session.made("vhem_models_new_hmms", "models", keep[0], d, len(hmms), views)


def _texture_shapes(n: int, d: int) -> Dict[str, Tuple[int, ...]]:
    return {"A": (n, n), "Q": (n, n), "mu": (n,), "Sigma": (n, n), "C": (d, n), "ybar": (d,), "R": (d,)}


def new_textures(session: Session, d: int, textures: Sequence[Mapping[str, Any]]) -> Handle:
    """A set of textures; each has A Q mu Sigma C ybar R as arrays, n omega name label."""
    keep: List[Any] = []
    views = _views("vhem_dt_view", d, textures, keep)
    for view, dt in zip(views, textures):
        view.n = dt["n"]
        for key, shape in _texture_shapes(dt["n"], d).items():
            setattr(view, key, doubles(dt[key], shape, key))
    return session.made("vhem_models_new_textures", "models", d, len(textures), views)


def some_models(session: Session, models: Handle, rows: Sequence[int], omega: Any) -> Handle:
    """These of the models, with these weights, as a set of their own."""
    facts = models_facts(models)
    textures = facts["kind"] == TEXTURES
    views = ffi.new("vhem_dt_view[]" if textures else "vhem_hmm_view[]", len(rows))
    for k, (i, weight) in enumerate(zip(rows, omega)):
        _look(models, i, views + k, textures)
        views[k].omega = weight
    if textures:
        return session.made("vhem_models_new_textures", "models", facts["d"], len(rows), views)
    for view in views:                                       # theta has all parameters
        view.c = view.mu = view.cov = ffi.NULL
    return session.made("vhem_models_new_hmms", "models", facts["emission"].encode(), facts["d"], len(rows), views)


def models_facts(models: Handle) -> Dict[str, Any]:
    """kind (HMMS or TEXTURES), K, d, S, M, emission, prior and provenance of a set."""
    facts = ffi.new("vhem_models_facts *")
    lib.vhem_models_info(models.pointer, facts)
    return {**plain(facts[0]), "prior": _read(facts.prior), "provenance": _read(facts.provenance)}


def models_columns(models: Handle) -> List[Dict[str, Any]]:
    """name, emission and symbols (none: it holds numbers) of each column of the frames of HMMs."""
    found: List[Dict[str, Any]] = []
    column = ffi.new("vhem_column_view *")
    while lib.vhem_models_column(models.pointer, len(found), column) == lib.VHEM_OK:
        found.append({"name": text(column.name), "emission": text(column.emission),
                      "symbols": _symbols(column.symbols)})
    return found


def _look(models: Handle, i: int, view: Any, textures: bool = False) -> None:
    """Has the view show model i; raises the sentence where a set on disk is damaged."""
    get = lib.vhem_models_texture if textures else lib.vhem_models_hmm
    if get(models.pointer, i, view) != lib.VHEM_OK:
        _check_readable(models, i, 1)
        raise InputError(f"there is no {'texture' if textures else 'HMM'} {i}; the set has {models_facts(models)['K']}")


def _check_readable(models: Handle, first: int, n: int) -> None:
    """Raises the sentence where models first .. first+n-1 of a set on disk cannot be read."""
    with Session() as session:
        session.call("vhem_models_read", models.pointer, first, n)


def models_each(models: Handle, key: str) -> List[Any]:
    """name, label or omega of each model."""
    facts = models_facts(models)
    textures = facts["kind"] == TEXTURES
    view = ffi.new("vhem_dt_view *" if textures else "vhem_hmm_view *")
    found = []
    for i in range(facts["K"]):
        _look(models, i, view, textures)
        found.append(view.omega if key == "omega" else text(getattr(view, key)))
    return found


def _parts(view: Any, shapes: Mapping[str, Tuple[int, ...]], owner: Handle) -> Dict[str, Any]:
    """What a view shows; its arrays keep the owner alive."""
    return {**plain(view[0]), "name": text(view.name), "label": text(view.label),
            **{key: array(getattr(view, key), shape, owner) for key, shape in shapes.items()}}


def hmm_parts(models: Handle, i: int) -> Dict[str, Any]:
    """What is in HMM i."""
    view = ffi.new("vhem_hmm_view *")
    _look(models, i, view)
    S, M, d = view.S, view.M, view.d
    cov = (S, M, d, d) if text(view.emission) == "gaussian-full" else (S, M, d)
    parts = _parts(view, {"pi": (S,), "A": (S, S), "c": (S, M), "mu": (S, M, d), "cov": cov,
                          "theta": (view.n_theta,)}, models)
    parts["layout"] = view.layout                           # lives as long as the set
    return parts


def texture_parts(models: Handle, i: int) -> Dict[str, Any]:
    """What is in texture i."""
    view = ffi.new("vhem_dt_view *")
    _look(models, i, view, textures=True)
    return _parts(view, _texture_shapes(view.n, view.d), models)


def compare(a: Handle, b: Handle) -> float:
    """Largest difference of two sets of models."""
    for models in (a, b):
        _check_readable(models, 0, models_facts(models)["K"])
    return float(lib.vhem_models_compare(a.pointer, b.pointer))


def fit(session: Session, data: Handle, options: Mapping[str, Any]) -> Tuple[Handle, Dict[str, Any]]:
    """Models of sequences, and what every restart came to: run [K][R], best [K], frames [K]."""
    struct, keep = options_of("fit_options", options)
    report = ffi.new("vhem_fit_report **")
    models = session.made("vhem_fit", "models", data.pointer, struct, last=(report,))
    p, owner = report[0], owned(report[0], "fit_report")
    return models, {"run": array(p.run, (p.K * p.R,), owner, record("vhem_fit_run")).reshape(p.K, p.R),
                    "best": array(p.best, (p.K,), owner, np.int32),
                    "frames": array(p.frames, (p.K,), owner, np.int64)}


def score(session: Session, models: Handle, of: Handle, n: int) -> Any:
    """Log-likelihood of each of the n items of a source under each model."""
    loglik, out = out_array((n, models_facts(models)["K"]))
    session.call("vhem_score", models.pointer, of.pointer, out)
    return loglik


def decode(session: Session, models: Handle, i: int, data: Handle, wanted: str) -> Dict[str, Any]:
    """What HMM i says of the states of all sequences: path [frames] and logprob [N], gamma [frames][S] or xi [N][S][S],
    whichever is wanted; and length [N]."""
    view, facts = ffi.new("vhem_hmm_view *"), ffi.new("vhem_data_facts *")
    _look(models, i, view)
    lib.vhem_data_info(data.pointer, facts)
    N, S = facts.N, view.S
    shapes = {"path": (facts.frames,), "logprob": (N,), "gamma": (facts.frames, S), "xi": (N, S, S)}
    found, out = {"length": np.array([_length(data, n) for n in range(N)], np.int64)}, ffi.new("vhem_decoding *")
    keep = []
    for key in wanted.split():
        found[key], pointer = out_array(shapes[key], np.int32 if key == "path" else np.float64)
        setattr(out, key, pointer)
        keep.append(pointer)
    which = np.full(N, i, np.int64)
    session.call("vhem_decode", models.pointer, ffi.from_buffer("int64_t[]", which), data.pointer, 0, N, out)
    return found


def smooth(session: Session, models: Handle, i: int, data: Handle, k: int) -> Tuple[Any, Any]:
    """Means [T][n] and covariances [T][n][n] of the states of a texture."""
    view = ffi.new("vhem_dt_view *")
    _look(models, i, view, textures=True)
    T, n = _length(data, k), view.n
    (x, out), (cov, out_cov) = out_array((T, n)), out_array((T, n, n))
    session.call("vhem_posterior", models.pointer, i, data.pointer, k, out, out_cov, ffi.NULL)
    return x, cov


def sample(session: Session, models: Handle, N: int, T: int) -> Handle:
    return session.made("vhem_sample", "data", models.pointer, N, T)


# ---- 5. clusterings and trees ------------------------------------------------------------------------------

def cluster(session: Session, of: Handle, K: Sequence[int], options: Mapping[str, Any]) -> Handle:
    """Levels of clusters of a source; one level is a clustering."""
    struct, keep = options_of("cluster_options", options)
    return session.made("vhem_cluster", "tree", of.pointer, len(K), whole_numbers(K, "n_clusters"), struct)


def tree_facts(tree: Handle) -> Dict[str, Any]:
    """levels, kind of the centres, and provenance."""
    facts = ffi.new("vhem_tree_facts *")
    lib.vhem_tree_info(tree.pointer, facts)
    return {**plain(facts[0]), "provenance": _read(facts.provenance)}


def n_items(tree: Handle) -> int:
    """What the lowest level clusters, as the library counts it."""
    return int(lib.vhem_tree_level(tree.pointer, 0).Kb)


def level_parts(tree: Handle, level: int) -> Dict[str, Any]:
    """Everything a level holds; arrays are views, and what a method does not have is None."""
    c = lib.vhem_tree_level(tree.pointer, level)
    Kb, Kr = c.Kb, c.Kr
    n_base = lib.vhem_tree_level(tree.pointer, 0).Kb
    at = array(c.state_map_at, (Kb + 1,), tree, np.int64)
    states = None if at is None else array(c.state_map, (int(at[-1]),), tree, np.int32)
    nothing = np.zeros(0, np.int32)                          # of a level without items
    parts = plain(c[0])
    parts.update(
        label=array(c.label, (Kb,), tree, np.int32) if Kb else nothing,
        base_label=array(c.base_label, (n_base,), tree, np.int32) if n_base else nothing,
        parent=array(c.parent, (Kr,), tree, np.int32), z=array(c.z, (Kb, Kr), tree),
        share=array(c.share, (Kb,), tree),
        L_hmm=array(c.L_hmm, (Kb, Kr), tree), bound=array(c.bound, (c.n_iter + 1,), tree),
        state_map=None if states is None else np.split(states, at[1:-1]),
        names=[text(c.name[i]) for i in range(Kb)] if c.name else [""] * Kb,
        runs=[{**plain(c.run[r]), "bounds": array(c.run[r].bounds, (c.run[r].n_iter + 1,), tree),
               "label": array(c.run[r].label, (Kb,), tree, np.int32)}
              for r in range(c.n_run)],
        centers=Handle(c.centers, None, tree) if c.centers else None,
    )
    return parts


def assign(session: Session, tree: Handle, of: Handle, n: int) -> Tuple[Any, Any, Any]:
    """label [n][levels], posterior [n][Kr of the lowest level], score [n] of the n items of a source."""
    label, out_label = out_array((n, tree_facts(tree)["levels"]), np.int32)
    z, out_z = out_array((n, lib.vhem_tree_level(tree.pointer, 0).Kr))
    best, out_best = out_array((n,))
    session.call("vhem_assign", tree.pointer, of.pointer, out_label, out_z, out_best)
    return label, z, best


def examples(session: Session, tree: Handle, data: Handle, each: int) -> Handle:
    """Sequences to show of each cluster, with their states."""
    return session.made("vhem_examples_find", "examples", tree.pointer, data.pointer, each)


def report(session: Session, tree: Handle, path: Any, parts: Mapping[str, Any]) -> None:
    """Writes the page; truth, choice and measures are lists of texts and of records."""
    parts = dict(parts)
    truth, choice, measures = (parts.pop(key, None) for key in ("truth", "choice", "measures"))
    struct, keep = options_of("report_input", {**parts, "tree": tree})
    if truth is not None:
        struct.truth = texts(truth, keep)
    if choice is not None:
        if getattr(choice, "dtype", None) != record("vhem_choice"):
            raise InputError("choice must be a table returned by vhem.metrics.choose")
        keep.append(np.ascontiguousarray(choice))
        struct.choice, struct.n_choice = ffi.from_buffer("vhem_choice[]", keep[-1]), len(choice)
    if measures is not None:
        keep.append(ffi.new("vhem_measures[]", list(measures)))
        struct.measures = keep[-1]
    session.call("vhem_report_write", struct, path_bytes(path))


# ---- 6. numbers: agreement, distances, choices -------------------------------------------------------------

def choose(session: Session, of: Handle, K: Sequence[int], S: Sequence[int], effort: Mapping[str, int],
           options: Mapping[str, Any]) -> Any:
    """effort: n_splits, n_seeds, n_path."""
    struct, keep = options_of("cluster_options", options)
    want, kept = options_of("choose_options", effort)
    kept += [whole_numbers(K, "n_clusters"), whole_numbers(S, "n_states", "int")]
    want.K, want.S, want.n_K, want.n_S = kept[-2], kept[-1], len(K), len(S)
    rows = np.zeros(len(K) * len(S) + max(want.n_path, 0), record("vhem_choice"))
    session.call("vhem_choose", of.pointer, want, struct, ffi.from_buffer("vhem_choice[]", rows))
    return rows[rows["K"] > 0]


def number_names(session: Session, names: Sequence[str]) -> Any:
    """Names as numbers, in the order they first appear; -1 for ""."""
    keep: List[Any] = []
    numbers, out = out_array((len(names),), np.int32)
    session.call("vhem_number_names", len(names), texts(names, keep), out, ffi.new("int *"))
    return numbers


def agreement(a: Any, b: Any) -> Dict[str, float]:
    out = ffi.new("vhem_agreement *")
    lib.vhem_partition_compare(len(a), numbers_at(a, "int", (len(a),)), numbers_at(b, "int", (len(a),)), out)
    return plain(out[0])


def measure(session: Session, tree: Handle, level: int, of: Handle, options: Mapping[str, Any]) -> Dict[str, float]:
    struct, keep = options_of("cluster_options", options)
    out = ffi.new("vhem_measures *")
    session.call("vhem_measure", tree.pointer, level, of.pointer, struct, out)
    return plain(out[0])


def paired_t(a: Any, b: Any) -> Tuple[float, float]:
    t, p = ffi.new("double *"), ffi.new("double *")
    lib.vhem_paired_t(len(a), doubles(a, (len(a),)), doubles(b, (len(a),)), t, p)
    return t[0], p[0]


def distance(session: Session, a: Handle, b: Handle, options: Mapping[str, Any]) -> Tuple[Any, Any]:
    struct, keep = options_of("distance_options", options)
    shape = (models_facts(a)["K"], models_facts(b)["K"])
    (D, out), (error, out_error) = out_array(shape), out_array(shape)
    session.call("vhem_distance", a.pointer, b.pointer, struct, out, out_error)
    return D, error


# ---- 7. classes and tags -----------------------------------------------------------------------------------

def _tags(tags: Optional[Tags], keep: List[Any]) -> Any:
    if tags is None:
        return ffi.NULL
    table = ffi.new("vhem_tags *", {"n": len(tags.items), "C": len(tags.tags)})
    table.item, table.tag = texts(tags.items, keep), texts(tags.tags, keep)
    keep.append(numbers_at(np.ascontiguousarray(tags.has, np.uint8), "unsigned char",
                           (len(tags.items), len(tags.tags)), "the table of tags"))
    table.has = keep[-1]
    return table


def tags_load(session: Session, path: Any) -> Tags:
    found = session.made("vhem_tags_load", "tags", path_bytes(path))
    t = found.pointer
    return Tags([text(t.item[i]) for i in range(t.n)], [text(t.tag[c]) for c in range(t.C)],
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


def classes_facts(classes: Handle) -> Dict[str, Any]:
    """C, options and provenance of trained classes."""
    facts = ffi.new("vhem_classes_facts *")
    lib.vhem_classes_info(classes.pointer, facts)
    return {"C": facts.C, "options": plain(facts.options[0]), "provenance": _read(facts.provenance)}


def classes_parts(classes: Handle) -> List[Dict[str, Any]]:
    """name, prior, items, pieces and models of each class."""
    view, found = ffi.new("vhem_class_view *"), []
    for c in range(classes_facts(classes)["C"]):
        lib.vhem_classes_view(classes.pointer, c, view)
        found.append({**plain(view[0]), "models": Handle(view.models, None, classes)})
    return found


def classes_predict(session: Session, classes: Handle, data: Handle, fast: int) -> Prediction:
    return _prediction(session.made("vhem_classes_predict", "prediction", classes.pointer, data.pointer, fast))


def crossvalidate(session: Session, data: Handle, tags: Optional[Tags], options: Mapping[str, Any],
                  folds: int, holdout: float) -> Prediction:
    """What is predicted of each item by models that were trained without its fold."""
    struct, keep = options_of("train_options", options)
    return _prediction(session.made("vhem_crossvalidate", "prediction", data.pointer, _tags(tags, keep), struct,
                                    folds, holdout))


def _prediction(made: Handle) -> Prediction:
    p = made.pointer
    return Prediction([text(p.name[i]) for i in range(p.n)], [text(p.label[i]) for i in range(p.n)],
                      [text(p.class_name[c]) for c in range(p.C)], array(p.sequences, (p.n,), made, np.int64),
                      array(p.fold, (p.n,), made, np.int32), array(p.loglik, (p.n, p.C), made),
                      array(p.log_posterior, (p.n, p.C), made), p.scored)


def _rank_options(options: Mapping[str, Any], k: Sequence[int]) -> Tuple[Any, List[Any]]:
    struct, keep = options_of("rank_options", options)
    keep.append(whole_numbers(k, "at"))
    struct.n_k, struct.k = len(k), keep[-1]
    return struct, keep


def _judgement(made: Handle) -> Dict[str, Any]:
    j = made.pointer
    return {**plain(j[0]), "p_at": array(j.p_at, (j.n_k,), made) if j.n_k else np.zeros(0),
            "tag": array(j.tag, (j.C,), made, record("vhem_tag_measure")),
            "tag_p_at": array(j.tag_p_at, (j.C, j.n_k), made) if j.n_k else np.zeros((j.C, 0)),
            "confusion": array(j.confusion, (j.C, j.C), made, np.int64)}


def judge(session: Session, said: Prediction, tags: Optional[Tags], k: Sequence[int],
          options: Mapping[str, Any]) -> Dict[str, Any]:
    """Predictions against tags, or against the labels of their items."""
    struct, keep = _rank_options(options, k)
    return _judgement(session.made("vhem_judge", "judgement", prediction_struct(said, keep), _tags(tags, keep),
                                   struct))


def rank(session: Session, score: Any, truth: Any, k: Sequence[int], options: Mapping[str, Any]) -> Dict[str, Any]:
    """Scores [n][C] of tags against the truth [n][C], 0 or 1."""
    struct, keep = _rank_options(options, k)
    return _judgement(session.made("vhem_rank", "judgement", *score.shape, doubles(score),
                                   numbers_at(truth, "unsigned char", score.shape), struct))
