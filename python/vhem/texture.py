# SPDX-License-Identifier: BSD-3-Clause
"""Dynamic textures: linear dynamical systems, the other model of sequences, for movement without states.

    x_1 ~ N(mu, Sigma)    x_{t+1} = A x_t + v, v ~ N(0, Q)    y_t = C x_t + ybar + w, w ~ N(0, diag R)
"""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Sequence

import numpy as np

from . import _lib, _run
from ._types import Array
from .data import Sequences, as_sequences
from .errors import InputError
from .model import file_bytes, from_file_bytes, weights_of


class Texture:
    """One dynamic texture: a state of n dimensions behind frames of d; arrays are read-only views."""

    def __init__(self, handle: _lib.Handle, i: int):
        parts = _lib.dtm_parts(handle, i)
        self._handle, self._i = handle, i
        self.name: str = parts["name"]
        self.label: str = parts["label"]
        self.omega: float = parts["omega"]
        self.n: int = parts["n"]
        self.d: int = parts["d"]
        self.A: Array = parts["A"]
        self.Q: Array = parts["Q"]
        self.mu: Array = parts["mu"]
        self.Sigma: Array = parts["Sigma"]
        self.C: Array = parts["C"]
        self.ybar: Array = parts["ybar"]
        self.R: Array = parts["R"]

    def smooth(self, X: Any, lengths: Any = None, *, return_cov: bool = False) -> Any:
        """For each sequence the mean of the state at each frame, (T, n), given all its frames; with
        return_cov also the covariances, (T, n, n)."""
        data = as_sequences(X, lengths, single=True)
        with _run.session() as s:
            handle = data.handle(s)
            found = [_lib.dtm_smooth(s, self._handle, self._i, handle, k, int(T), self.n)
                     for k, T in enumerate(data.lengths)]
        means = [x for x, _ in found]
        return (means, [cov for _, cov in found]) if return_cov else means

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        return f"<Texture{name}: n = {self.n}, d = {self.d}>"

    def __reduce__(self) -> Any:
        return _texture_of, (Textures([self]),)


class Textures(Sequence[Texture]):
    """A set of dynamic textures with weights: what :func:`fit_textures` gives and "hem-dtm" clusters."""

    def __init__(self, textures: Sequence[Texture], omega: Any = None):
        if not textures:
            raise InputError("there are no textures, a set needs at least one")
        for i, dt in enumerate(textures):
            if not isinstance(dt, Texture):
                raise InputError(f"item {i} is a {type(dt).__name__}, must be a vhem.Texture")
            if dt.d != textures[0].d:
                raise InputError(f"texture {i} has dimension {dt.d}, texture 0 has {textures[0].d}; must be the same")
        weights = weights_of(omega, len(textures))
        parts: List[Dict[str, Any]] = [{**_lib.dtm_parts(dt._handle, dt._i), "omega": float(w)}
                                       for dt, w in zip(textures, weights)]
        with _run.session() as s:
            self._handle = _lib.dtm_new(s, textures[0].d, parts)

    @classmethod
    def _of(cls, handle: _lib.Handle) -> "Textures":
        made = cls.__new__(cls)
        made._handle = handle
        return made

    @classmethod
    def load(cls, path: Any) -> "Textures":
        """Textures of a .json or .h5 file."""
        with _run.session() as s:
            return cls._of(_lib.dtm_load(s, path))

    def save(self, path: Any) -> None:
        """Writes .json or .h5, by the ending."""
        with _run.session() as s:
            _lib.dtm_save(s, self._handle, path)

    def __len__(self) -> int:
        return _lib.size(self._handle, "dtm")

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (int, np.integer)):
            return Texture(self._handle, range(len(self))[int(key)])
        rows = np.arange(len(self))[key]
        return Textures([self[int(i)] for i in rows], self.omega[rows])

    def __iter__(self) -> Iterator[Texture]:
        return (self[i] for i in range(len(self)))

    @property
    def names(self) -> List[str]:
        return [dt.name for dt in self]

    @property
    def labels(self) -> List[str]:
        return [dt.label for dt in self]

    @property
    def omega(self) -> Array:
        """Weights (K,)."""
        return np.array([dt.omega for dt in self])

    @property
    def d(self) -> int:
        """Dimension of a frame."""
        return self[0].d

    @property
    def provenance(self) -> Any:
        """What made these textures, when that is known."""
        return _lib.provenance(self._handle, "dtm")

    def compare(self, other: "Textures") -> float:
        """Largest difference of a parameter, relative above 1; infinite when the shapes differ."""
        return _lib.compare(self._handle, other._handle, "dtm")

    def score(self, X: Any, lengths: Any = None, *, n_jobs: Optional[int] = -1) -> Array:
        """Log-likelihood (N, K) of each sequence under each texture, in nats."""
        data = as_sequences(X, lengths, single=True)
        with _run.session(n_jobs=n_jobs) as s:
            return _lib.dtm_score(s, self._handle, data.handle(s))

    def sample(self, n: int, T: int, random_state: Any = None) -> Sequences:
        """n sequences of T frames, each from a texture drawn with the weights omega."""
        with _run.session(random_state) as s:
            return Sequences._from_handle(_lib.dtm_sample(s, self._handle, n, T))

    def __repr__(self) -> str:
        return f"<Textures: {len(self)}, n = {self[0].n}, d = {self.d}>"

    def __reduce__(self) -> Any:
        return _from_bytes, (file_bytes(self.save),)

    def __deepcopy__(self, memo: Any) -> "Textures":
        return self


def _texture_of(textures: Textures) -> Texture:
    return textures[0]


def _from_bytes(content: bytes) -> Textures:
    return from_file_bytes(Textures.load, content)


def fit_textures(X: Any, lengths: Any = None, *, n: Optional[int] = None, method: Optional[str] = None,
                 noise: Optional[str] = None, n_components: int = 0, groups: Any = None,
                 n_init: Optional[int] = None, max_iter: Optional[int] = None, tol: Optional[float] = None,
                 cov_floor: Optional[float] = None, random_state: Any = None, n_jobs: Optional[int] = -1,
                 verbose: int = 0, progress: Any = None, return_report: bool = False) -> Any:
    """A dynamic texture for each sequence or group, or a mixture of n_components by EM.

    Parameters
    ----------
    n : int, optional
        Dimension of the state.
    method : {"svd", "em"}, optional
        Principal components in closed form, or EM.
    noise : {"diag", "isotropic"}, optional
    return_report : bool
        Also return what every start came to, as :func:`vhem.fit_each` does.

    Examples
    --------
    >>> import numpy as np, vhem
    >>> rng = np.random.default_rng(0)
    >>> X = [np.cumsum(rng.normal(size=(60, 4)), axis=0) for _ in range(3)]
    >>> vhem.fit_textures(X, n=2)
    <Textures: 3, n = 2, d = 4>
    """
    data = as_sequences(X, lengths, groups=groups)
    options = {"n": n, "method": method, "noise": noise, "K": n_components, "restarts": n_init,
               "max_iter": max_iter, "tol": tol, "cov_floor": cov_floor, "by_group": data.groups is not None}
    seed = _run.seed_of(random_state)
    with _run.session(seed, n_jobs, verbose, progress) as s:
        made = _run.made_by("vhem.fit_textures", options, seed)
        handle, report = _lib.dtm_fit(s, data.handle(s), options, made)
    return (Textures._of(handle), report) if return_report else Textures._of(handle)
