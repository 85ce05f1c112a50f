# SPDX-License-Identifier: BSD-3-Clause
"""Models: one HMM, and sets of models with weights; a set of HMMs is what the paper calls H3M.

Their arrays are read-only views of the memory of the library, which lives as long as a view does.
"""
from __future__ import annotations

import json
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Dict, Iterator, List, Optional, Sequence, Tuple, Type, TypeVar, overload

import numpy as np

from . import _ffi, _html, _lib, interop
from ._mat import is_mat
from ._natural import Natural
from ._run import seed_of_sample, session
from ._types import Array, Part
from ._symbols import of_models
from .data import Sequences, as_sequences, grouped, layout_of
from .errors import InputError


def _array(values: Any, what: str, *shapes: Tuple[int, ...]) -> Array:
    """A contiguous array of floats in one of the shapes."""
    made = np.ascontiguousarray(values, np.float64)
    if made.shape not in shapes:
        raise InputError(f"{what} has shape {made.shape}, must be {' or '.join(map(str, shapes))}")
    return made


def arrays_of_hmm(pi: Any, A: Any, mu: Any, cov: Any, c: Any = None) -> Dict[str, Any]:
    """The arrays of an HMM in the shapes of the library, and its emission; one Gaussian per state may be
    given without the axis of the mixture."""
    pi = np.atleast_1d(np.ascontiguousarray(pi, np.float64))
    mu = np.ascontiguousarray(mu, np.float64)
    S = len(pi)
    if mu.ndim not in (2, 3) or len(mu) != S:
        raise InputError(f"mu has shape {mu.shape}, must be ({S}, d) or ({S}, M, d)")
    cov = np.asarray(cov, np.float64)
    if cov.ndim not in (mu.ndim, mu.ndim + 1):
        raise InputError(f"cov has shape {cov.shape}, must be the shape of mu, {mu.shape}, or have one more axis")
    if mu.ndim == 2:
        mu, cov = mu[:, None], cov[:, None]
    M, d = mu.shape[1:]
    cov = _array(cov, "cov", (S, M, d), (S, M, d, d))
    c = np.full((S, M), 1.0 / M) if c is None else c
    return {"pi": pi, "A": _array(A, "A", (S, S)), "M": M, "c": _array(c, "c", (S, M)), "mu": mu, "cov": cov,
            "emission": "gaussian-diag" if cov.ndim == 3 else "gaussian-full"}


def _by_component(emission: str, name: str, values: Any) -> Any:
    """A parameter with the axis of the mixture, as lists."""
    made = np.asarray(values, np.float64)
    least = 4 if emission == "gaussian-full" and name == "cov" else 3
    return (made[:, None] if made.ndim == least - 1 else made).tolist()


def document_of_hmm(emission: str, pi: Any, A: Any, name: str, label: str, told: Dict[str, Any],
                    params: Dict[str, Any]) -> bytes:
    """A model file with one HMM; told has c, columns, symbols, channels and background, each or None."""
    top: Dict[str, Any] = {"format": "vhem-h3m", "version": 1, "emission": emission, "omega": [1.0]}
    hmm: Dict[str, Any] = {"name": name, "label": label, "S": len(pi), "pi": np.asarray(pi, np.float64).tolist(),
                           "A": np.asarray(A, np.float64).tolist()}
    hmm.update({key: _by_component(emission, key, values) for key, values in params.items()})
    sizes = [np.shape(values) for values in hmm.values() if np.ndim(values) >= 3]
    if told["channels"] is not None:
        about = ("emission", "columns", "symbols")
        top["channels"] = [{key: own[key] for key in about if key in own} for own in told["channels"]]
        hmm["channels"] = [{key: _by_component(own["emission"], key, values) for key, values in own.items()
                            if key not in about} for own in told["channels"]]
        sizes = [np.shape(values) for values in hmm["channels"][0].values()]
        top["d"] = sum(len(own["columns"]) for own in told["channels"])
    elif told["background"] is not None:
        top["background"] = {key: np.asarray(values, np.float64).tolist() for key, values in told["background"].items()}
        top["d"] = len(top["background"]["mu"][0])
    elif sizes:
        top["d"] = 1 if emission == "categorical" else sizes[0][2]
    if told["symbols"] is not None:
        top["symbols"] = [str(word) for word in told["symbols"]]
    if told["columns"] is not None:
        top["columns"] = list(told["columns"])
    M = sizes[0][1] if sizes else 1
    if told["background"] is None:
        hmm["M"] = M
    hmm["c"] = np.full((len(pi), M), 1.0 / M).tolist() if told["c"] is None else np.asarray(told["c"], float).tolist()
    return json.dumps({**top, "hmms": [hmm]}).encode()


class Model(Natural):
    """One hidden Markov model.

    Parameters
    ----------
    pi : array (S,)
        Probability to start in each state.
    A : array (S, S)
        Transition probabilities, rows are "from".
    mu : array (S, d) or (S, M, d)
        Means of the Gaussians of each state.
    cov : array of variances, shaped as mu, or of covariance matrices, with one more axis
    c : array (S, M), optional
        Weights of the Gaussians of each state.
    name, label : str, optional

    Examples
    --------
    >>> import vhem
    >>> m = vhem.Model([1, 0], [[0.9, 0.1], [0.2, 0.8]], [[0.0], [5.0]], [[1.0], [2.0]], name="walk")
    >>> m
    <Model 'walk': S = 2, M = 1, d = 1, gaussian-diag>
    >>> m.A[0].tolist()
    [0.9, 0.1]
    """

    emission, omega, d, M = Part[str](), Part[float](), Part[int](), Part[int]()
    pi, A, c, mu, cov, theta = Part[Array](), Part[Array](), Part[Array](), Part[Array](), Part[Array](), Part[Array]()
    params = Part[Dict[str, Array]]()

    def __init__(self, pi: Any, A: Any, mu: Any, cov: Any, *, c: Any = None, name: str = "", label: str = ""):
        arrays = arrays_of_hmm(pi, A, mu, cov, c)
        with session() as s:
            self._handle = _lib.new_hmms(s, arrays["mu"].shape[2],
                                         [{**arrays, "omega": 1.0, "name": name or "", "label": label or ""}])
        self._take(0)

    @classmethod
    def from_params(cls, emission: str, pi: Any, A: Any, *, c: Any = None, columns: Optional[Sequence[str]] = None,
                    symbols: Optional[Sequence[str]] = None, channels: Optional[Sequence[Dict[str, Any]]] = None,
                    background: Optional[Dict[str, Any]] = None, name: str = "", label: str = "",
                    **params: Any) -> "Model":
        """An HMM of any emission family, from its parameters by name.

        Parameters
        ----------
        emission : str
            "poisson", "categorical", "product", ...
        pi, A : arrays (S,) and (S, S)
        c : array (S, M), optional
            Weights of the components of each state; of "gaussian-tied" (S, G), those of the background's Gaussians.
        columns, symbols : lists of str, optional
            Names of the columns, and of the symbols of "categorical".
        channels : list of dict
            Of "product": for each channel `emission`, `columns`, its parameters, and `symbols` where it is categorical.
        background : dict of arrays mu and cov (G, d)
            Of "gaussian-tied".
        **params : arrays (S, d) or (S, M, d)
            The parameters as model files name them: `rate` of "poisson", `mean` and `kappa` of "von-mises", `p` (S, V)
            of "categorical".

        Examples
        --------
        >>> import vhem
        >>> m = vhem.Model.from_params("poisson", [1, 0], [[0.9, 0.1], [0.2, 0.8]], rate=[[1.0], [7.5]])
        >>> m.rates.ravel().tolist()
        [1.0, 7.5]
        >>> m = vhem.Model.from_params("categorical", [1], [[1]], p=[[0.25, 0.75]], symbols=["rest", "walk"])
        >>> m.probabilities.tolist(), m.symbols
        ([[[0.25, 0.75]]], ['rest', 'walk'])
        """
        told = {"c": c, "columns": columns, "symbols": symbols, "channels": channels, "background": background}
        content = document_of_hmm(emission, pi, A, name, label, told, params)
        try:
            return from_file_bytes(H3M.load, content)[0]
        except InputError as error:
            raise InputError(str(error).split("file.json: ", 1)[-1]) from None

    @classmethod
    def _of(cls, handle: _lib.Handle, i: int) -> "Model":
        made = cls.__new__(cls)
        made._handle = handle
        made._take(i)
        return made

    def _take(self, i: int) -> None:
        parts = _lib.hmm_parts(self._handle, i)
        self._i = i
        self.name: str = parts["name"]
        self.label: str = parts["label"]
        self._layout: Any = parts["layout"]
        self._shown = parts
        parts["params"] = self._params()

    def _params(self) -> Dict[str, Array]:
        """The parameters of the family by name, each (S, M, d) or as cov; they lie one after the other behind c.  Of
        symbols p is (S, 1, V), of a background `weights` (S, 1, G), of a product `channels` (S, M, all numbers)."""
        found: Dict[str, Array] = {}
        at = self.c.size
        names = _ffi.emission_params(self.emission)
        for name in names:
            shape = self.cov.shape if name == "cov" else (*self.c.shape, self.d)
            if len(names) == 1:
                shape = (*self.c.shape, (self.theta.size - at) // self.c.size)
            size = int(np.prod(shape))
            found[name] = self.theta[at:at + size].reshape(shape)
            at += size
        return found

    @property
    def S(self) -> int:
        """Number of states."""
        return len(self.pi)

    @property
    def columns(self) -> List[Dict[str, Any]]:
        """For each column of a frame its ``name``, ``emission`` (in a product that of its channel) and ``symbols``."""
        return _lib.models_columns(self._handle)

    def _document(self) -> Dict[str, Any]:
        found: Dict[str, Any] = json.loads(file_bytes(H3M([self]).save))
        return found

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        return f"<Model{name}: S = {self.S}, M = {self.M}, d = {self.d}, {self.emission}>"

    def _repr_html_(self) -> str:
        return _html.model(self)

    def __reduce__(self) -> Any:
        return _model_of, (H3M([self]),)

    def __deepcopy__(self, memo: Any) -> "Model":
        return self

    def renamed(self, name: str, label: Optional[str] = None) -> "Model":
        """The same HMM under another name, and label when one is given."""
        told = {**_mapping(self, 1.0, False), "name": name, "label": self.label if label is None else label}
        with session() as s:
            return Model._of(_lib.new_hmms(s, self.d, [told]), 0)

    def score(self, X: Any, lengths: Any = None, *, n_jobs: Optional[int] = None) -> Array:
        """Log-likelihood of each sequence, in nats."""
        data = as_sequences(X, lengths, single=True, layout=layout_of(X, self.d), reading=of_models(self))
        with session(n_jobs=n_jobs) as s:
            scores = _lib.score(s, _one(self), _lib.source(data=data.handle(s)), len(data))
        return scores[:, 0]

    def decode(self, X: Any, lengths: Any = None, *, n_jobs: Optional[int] = None) -> Tuple[List[Array], Array]:
        """The most likely state path of each sequence, and the log-probabilities of the paths."""
        data = as_sequences(X, lengths, single=True, layout=layout_of(X, self.d), reading=of_models(self))
        with session(n_jobs=n_jobs) as s:
            found = _lib.decode(s, self._handle, self._i, data.handle(s), "path logprob")
        return _cut(found["path"], found["length"]), found["logprob"]

    def posterior(self, X: Any, lengths: Any = None, *, n_jobs: Optional[int] = None) -> List[Array]:
        """For each sequence the probability of each state at each frame, (T, S)."""
        data = as_sequences(X, lengths, single=True, layout=layout_of(X, self.d), reading=of_models(self))
        with session(n_jobs=n_jobs) as s:
            found = _lib.decode(s, self._handle, self._i, data.handle(s), "gamma")
        return _cut(found["gamma"], found["length"])

    def transitions(self, X: Any, lengths: Any = None, *, n_jobs: Optional[int] = None) -> Array:
        """For each sequence the expected number of transitions from each state to each, (N, S, S)."""
        data = as_sequences(X, lengths, single=True, layout=layout_of(X, self.d), reading=of_models(self))
        with session(n_jobs=n_jobs) as s:
            found: Array = _lib.decode(s, self._handle, self._i, data.handle(s), "xi")["xi"]
        return found

    def sample(self, n: int, T: int, random_state: Any = None) -> Sequences:
        """n sequences of T frames; others at each call, unless random_state is a seed."""
        with session(seed_of_sample(random_state)) as s:
            return Sequences._from_handle(_lib.sample(s, _one(self), n, T))

    def to_hmmlearn(self) -> Any:
        """A fitted ``hmmlearn.hmm.GaussianHMM``, or ``GMMHMM`` when states have several Gaussians; ``PoissonHMM`` and
        ``CategoricalHMM`` of counts and symbols."""
        return interop.to_hmmlearn(self)


def _cut(values: Array, lengths: Array) -> List[Array]:
    """The rows of each sequence."""
    return np.split(values, np.cumsum(lengths)[:-1])


def _one(model: Model) -> _lib.Handle:
    """A set with this HMM alone."""
    return model._handle if _lib.models_facts(model._handle)["K"] == 1 else H3M([model])._handle


def _model_of(h3m: "H3M") -> Model:
    return h3m[0]


T = TypeVar("T")


class Models(Sequence[T]):
    """A set of models with weights, of HMMs (:class:`H3M`) or of dynamic textures (:class:`vhem.Textures`).

    It is a list of its models; a slice or a list of indices gives a smaller set, a text the model of that name.
    """

    _handle: _lib.Handle
    _made: Any = None                            # what made these models, when that was not a file
    _kinds: ClassVar[Dict[int, Type["Models[Any]"]]] = {}
    _called: ClassVar[str] = "models"

    def __init__(self, models: Sequence[Any], omega: Any = None):
        raise NotImplementedError("make a vhem.H3M of HMMs, or vhem.Textures")

    def _item(self, i: int) -> T:
        raise NotImplementedError

    @cached_property
    def _facts(self) -> Dict[str, Any]:
        return _lib.models_facts(self._handle)

    @classmethod
    def _of(cls, handle: _lib.Handle, made: Any = None) -> Any:
        """The set of the library under the class that it belongs to."""
        kind = cls._kinds[_lib.models_facts(handle)["kind"]]
        if not issubclass(kind, cls):
            raise InputError(f"these are {kind._called}, must be {cls._called}; vhem.load reads both")
        found = kind.__new__(kind)
        found._handle, found._made = handle, made
        return found

    @classmethod
    def load(cls, path: Any) -> Any:
        """Models of a .json or .h5 file; of clusters or a tree the centres of the lowest level."""
        with session() as s:
            handle = _lib.read(s, "models", path)
        try:
            return cls._of(handle)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    def save(self, path: Any) -> None:
        """Writes .json or .h5, by the ending."""
        with session() as s:
            _lib.write(s, "models", self._handle, self._made, path)

    # ---- as a list

    def __len__(self) -> int:
        return int(self._facts["K"])

    @overload
    def __getitem__(self, key: int) -> T: ...
    @overload
    def __getitem__(self, key: slice) -> Any: ...

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (int, np.integer)):
            return self._item(range(len(self))[int(key)])
        if isinstance(key, str):
            if key not in self.names:
                known = ", ".join(filter(None, self.names[:20]))
                raise KeyError(f"there is no model named {key!r}; " +
                               (f"the names are {known}" if known else "the models have no names"))
            return self[self.names.index(key)]
        rows = np.arange(len(self))[key]
        if not len(rows):
            raise InputError("no models are selected; a set needs at least one")
        with session() as s:
            return self._of(_lib.some_models(s, self._handle, rows.tolist(), weights_of(self.omega[rows], len(rows))))

    def __iter__(self) -> Iterator[T]:
        return (self._item(i) for i in range(len(self)))

    @cached_property
    def names(self) -> List[str]:
        return _lib.models_each(self._handle, "name")

    @cached_property
    def labels(self) -> List[str]:
        return _lib.models_each(self._handle, "label")

    @cached_property
    def omega(self) -> Array:
        """Weights (K,)."""
        weights = np.array(_lib.models_each(self._handle, "omega"))
        weights.flags.writeable = False
        return weights

    @property
    def d(self) -> int:
        """Dimension of a frame."""
        return int(self._facts["d"])

    @property
    def provenance(self) -> Any:
        """What made these models, when that is known."""
        return self._facts["provenance"] if self._made is None else self._made

    def _repr_html_(self) -> str:
        return _html.models(self)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.compare(other) == 0 and self.names == other.names  # type: ignore

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return _from_bytes, (file_bytes(self.save),)

    def __deepcopy__(self, memo: Any) -> "Models[T]":
        return self

    # ---- what the models say

    def compare(self, other: "Models[T]") -> float:
        """Largest difference of a parameter, relative above 1; infinite when the shapes differ."""
        return _lib.compare(self._handle, other._handle)

    def score(self, X: Any, lengths: Any = None, *, groups: Any = None, n_jobs: Optional[int] = None) -> Array:
        """Log-likelihood (N, K) of each sequence under each model, in nats.

        With groups, a list of N or True for those that the data have, that of each group: the sum over its
        sequences, in the order of ``Sequences.group_names``.
        """
        data = as_sequences(X, lengths, single=True, layout=layout_of(X, self.d), reading=of_models(self))
        data, by_group = grouped(data, groups)
        with session(n_jobs=n_jobs) as s:
            n = len(data.group_names) if by_group else len(data)
            return _lib.score(s, self._handle, _lib.source(data=data.handle(s), by_group=by_group), n)

    def sample(self, n: int, T: int, random_state: Any = None) -> Sequences:
        """n sequences of T frames, each from a model drawn with the weights omega, whose name is its label; others at
        each call, unless random_state is a seed."""
        with session(seed_of_sample(random_state)) as s:
            return Sequences._from_handle(_lib.sample(s, self._handle, n, T))


class H3M(Models[Model]):
    """A set of hidden Markov models with weights: what fitting gives and clustering takes.

    Parameters
    ----------
    hmms : list of :class:`Model`, fitted hmmlearn objects or fitted :class:`vhem.HMM`
    omega : array (K,), optional
        Weights, which need not sum to 1; equal by default.

    Examples
    --------
    >>> import vhem
    >>> a = vhem.Model([1], [[1]], [[0.0]], [[1.0]], name="a")
    >>> b = vhem.Model([1], [[1]], [[9.0]], [[1.0]], name="b")
    >>> both = vhem.H3M([a, b])
    >>> both.names, both.omega.tolist(), both[1].mu.ravel().tolist()
    (['a', 'b'], [0.5, 0.5], [9.0])
    """

    _called = "HMMs"

    def __init__(self, hmms: Sequence[Any], omega: Any = None):
        models = [one_model(hmm, i) for i, hmm in enumerate(hmms)]
        if not models:
            raise InputError("there are no HMMs; a set needs at least one")
        for i, m in enumerate(models):
            if m.d != models[0].d:
                raise InputError(f"HMM {i} has dimension {m.d}, but HMM 0 has {models[0].d}; they must agree")
        weights = weights_of(omega, len(models))
        full = any(m.emission == "gaussian-full" for m in models)
        with session() as s:
            self._handle = _lib.new_hmms(s, models[0].d, [_mapping(m, w, full) for m, w in zip(models, weights)])

    def _item(self, i: int) -> Model:
        return Model._of(self._handle, i)

    @classmethod
    def load(cls, path: Any) -> "H3M":
        """HMMs of a .json or .h5 file, or of an EMHMM .mat file where SciPy can read it."""
        return cls(interop.models_of_mat(path)) if is_mat(path) else super().load(path)

    def save(self, path: Any) -> None:
        """Writes .json or .h5, by the ending; .mat for EMHMM."""
        if is_mat(path):
            interop.save_mat(self, path)
        else:
            super().save(path)

    @property
    def prior(self) -> Optional[Dict[str, Any]]:
        """The prior that the HMMs were fitted with, to fit others with: ``fit_each(X, prior=models.prior)``."""
        return self._facts["prior"]

    @property
    def emission(self) -> str:
        return str(self._facts["emission"])

    @property
    def columns(self) -> List[Dict[str, Any]]:
        """For each column of a frame its ``name``, ``emission`` (in a product that of its channel) and ``symbols``."""
        return _lib.models_columns(self._handle)

    def __repr__(self) -> str:
        S = _span((self._facts["S_least"], self._facts["S"]))
        return f"<H3M: {len(self)} HMMs, S = {S}, d = {self.d}, {self.emission}>"


Models._kinds[_lib.HMMS] = H3M


def weights_of(omega: Any, K: int) -> Array:
    """K weights that sum to 1; equal ones for None."""
    weights = np.ones(K) if omega is None else np.asarray(omega, np.float64)
    if weights.shape != (K,) or not np.isfinite(weights).all() or (weights < 0).any() or weights.sum() <= 0:
        raise InputError(f"omega is {omega!r}, must be {K} weights of 0 or more, not all 0")
    return weights / weights.sum()


def _span(values: Any) -> str:
    found = sorted(set(values))
    return str(found[0]) if len(found) == 1 else f"{found[0]} to {found[-1]}"


def _mapping(m: Model, omega: float, full: bool) -> Dict[str, Any]:
    cov = m.cov
    if full and cov is not None and cov.ndim == 3:
        cov = np.ascontiguousarray(cov[..., None] * np.eye(m.d))
    return {
        "pi": m.pi, "A": m.A, "M": m.M, "c": None if m.mu is None else m.c, "mu": m.mu, "cov": cov, "theta": m.theta,
        "omega": float(omega), "name": m.name, "label": m.label, "emission": "gaussian-full" if full else m.emission,
        "layout": m._layout
    }


def file_bytes(save: Any) -> bytes:
    """What save(path) writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.json"
        save(path)
        return path.read_bytes()


def from_file_bytes(load: Any, content: bytes) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.json"
        path.write_bytes(content)
        return load(path)


def _from_bytes(content: bytes) -> Any:
    return from_file_bytes(Models.load, content)


def one_model(hmm: Any, i: int = 0) -> Model:
    """One HMM of whatever holds one."""
    if isinstance(hmm, Model):
        return hmm
    if isinstance(getattr(hmm, "model_", None), Model):
        return hmm.model_
    if interop.is_hmmlearn_counts(hmm):
        return Model.from_params(**interop.params_of_hmmlearn(hmm))
    if interop.is_hmmlearn(hmm):
        return Model(**interop.from_hmmlearn(hmm))
    raise InputError(
        f"item {i} is of type {type(hmm).__name__}, not an HMM; give a vhem.Model, a fitted vhem.HMM or a fitted "
        "hmmlearn object")
