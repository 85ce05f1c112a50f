# SPDX-License-Identifier: BSD-3-Clause
"""Dynamic textures: linear dynamical systems, the other model of sequences, for movement without states.

    x_1 ~ N(mu, Sigma)    x_{t+1} = A x_t + v, v ~ N(0, Q)    y_t = C x_t + ybar + w, w ~ N(0, diag R)
"""
from __future__ import annotations

from typing import Any, Optional, Sequence

import numpy as np

from . import _html, _lib, _run, _told
from ._types import Array, Part
from .data import as_sequences, layout_of
from .errors import InputError
from .model import Models, weights_of

_SHAPES = {"A": "nn", "Q": "nn", "mu": "n", "Sigma": "nn", "C": "dn", "ybar": "d", "R": "d"}


class Texture:
    """One dynamic texture: a state of n dimensions behind frames of d.  Its arrays are read-only views.

    Parameters
    ----------
    A, Q : arrays (n, n)
        How the state moves, and the covariance of what is added at each step.
    mu, Sigma : arrays (n,), (n, n)
        Mean and covariance of the first state.
    C, ybar, R : arrays (d, n), (d,), (d,)
        How a frame follows from the state, the mean frame, and the variances of its noise.
    name, label : str, optional

    Examples
    --------
    >>> import vhem
    >>> vhem.Texture([[0.5]], [[1.0]], [0.0], [[1.0]], C=[[1.0], [2.0]], ybar=[0.0, 0.0], R=[0.1, 0.1], name="wave")
    <Texture 'wave': n = 1, d = 2>
    """

    omega, n, d = Part[float](), Part[int](), Part[int]()
    A, Q, mu, Sigma = Part[Array](), Part[Array](), Part[Array](), Part[Array]()
    C, ybar, R = Part[Array](), Part[Array](), Part[Array]()

    def __init__(self, A: Any, Q: Any, mu: Any, Sigma: Any, C: Any, ybar: Any, R: Any, *, name: str = "",
                 label: str = ""):
        given = dict(zip(_SHAPES, (A, Q, mu, Sigma, C, ybar, R)))
        arrays = {key: np.ascontiguousarray(value, np.float64) for key, value in given.items()}
        if arrays["C"].ndim != 2:
            raise InputError(f"C has shape {arrays['C'].shape}, must be (d, n)")
        size = dict(zip("dn", arrays["C"].shape))
        for key, letters in _SHAPES.items():
            shape = tuple(size[letter] for letter in letters)
            if arrays[key].shape != shape:
                raise InputError(f"{key} has shape {arrays[key].shape}, must be {shape}")
        about = {"n": size["n"], "omega": 1.0, "name": name or "", "label": label or ""}
        with _run.session() as s:
            self._take(_lib.new_textures(s, size["d"], [{**arrays, **about}]), 0)

    @classmethod
    def _of(cls, handle: _lib.Handle, i: int) -> "Texture":
        made = cls.__new__(cls)
        made._take(handle, i)
        return made

    def _take(self, handle: _lib.Handle, i: int) -> None:
        parts = _lib.texture_parts(handle, i)
        self._handle, self._i = handle, i
        self.name: str = parts["name"]
        self.label: str = parts["label"]
        self._shown = parts

    def smooth(self, X: Any, lengths: Any = None, *, return_cov: bool = False) -> Any:
        """For each sequence the mean of the state at each frame, (T, n), given all its frames; with
        return_cov also the covariances, (T, n, n)."""
        data = as_sequences(X, lengths, single=True, layout=layout_of(X, self.d))
        with _run.session() as s:
            handle = data.handle(s)
            found = [_lib.smooth(s, self._handle, self._i, handle, k) for k in range(len(data))]
        means = [x for x, _ in found]
        return (means, [cov for _, cov in found]) if return_cov else means

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        return f"<Texture{name}: n = {self.n}, d = {self.d}>"

    def _repr_html_(self) -> str:
        return _html.texture(self)

    def __reduce__(self) -> Any:
        return _texture_of, (Textures([self]),)

    def __deepcopy__(self, memo: Any) -> "Texture":
        return self


class Textures(Models[Texture]):
    """A set of dynamic textures with weights: what :func:`fit_textures` gives and "hem-dtm" clusters.

    Parameters
    ----------
    textures : list of :class:`Texture`
    omega : array (K,), optional
        Weights, which need not sum to 1; equal by default.
    """

    _called = "dynamic textures"

    def __init__(self, textures: Sequence[Texture], omega: Any = None):
        if not len(textures):
            raise InputError("there are no textures; a set needs at least one")
        for i, dt in enumerate(textures):
            if not isinstance(dt, Texture):
                raise InputError(f"item {i} is of type {type(dt).__name__}, must be a vhem.Texture")
            if dt.d != textures[0].d:
                raise InputError(f"texture {i} has dimension {dt.d}, but texture 0 has {textures[0].d}; they must "
                                 "agree")
        weights = weights_of(omega, len(textures))
        with _run.session() as s:
            self._handle = _lib.new_textures(s, textures[0].d, [
                {**_lib.texture_parts(dt._handle, dt._i), "omega": float(w)} for dt, w in zip(textures, weights)])

    def _item(self, i: int) -> Texture:
        return Texture._of(self._handle, i)

    def __repr__(self) -> str:
        return f"<Textures: {len(self)}, n = {self[0].n}, d = {self.d}>"


Models._kinds[_lib.TEXTURES] = Textures


def _texture_of(textures: Textures) -> Texture:
    return textures[0]


def fit_textures(X: Any, lengths: Any = None, *, n: Optional[int] = None, method: Optional[str] = None,
                 noise: Optional[str] = None, n_components: Optional[int] = None, pieces: bool = False,
                 store: Any = None, groups: Any = None, weights: Any = None, n_init: Optional[int] = None,
                 max_iter: Optional[int] = None, tol: Optional[float] = None, cov_floor: Optional[float] = None,
                 random_state: Any = None, n_jobs: Optional[int] = None, verbose: int = 0, progress: Any = None,
                 return_report: bool = False, layout: Optional[str] = None) -> Any:
    """A dynamic texture for each sequence or group, or a mixture of n_components by EM.

    Parameters
    ----------
    X, lengths
        Sequences in any form of :mod:`vhem.data`.
    n : int
        Dimension of the state; default 3.
    method : {"svd", "em"}
        Principal components in closed form, or EM from there; default "svd".
    noise : {"diag", "isotropic"}
        Covariance of the noise; default "diag".
    n_components : int
        Textures of a mixture; default 0: one texture for each sequence or group.
    pieces : bool
        With n_components: a mixture for each sequence or group by itself, all in one set.
    store : path
        A file that gets each mixture of the pieces as soon as it is fitted.
    groups : list of N
        The sequences of a group belong together; by default the groups that the data have, if any.
    weights : array (N,)
    n_init : int
        Starts, of which the best is kept; default 10; 4 of a mixture, of textures and of pieces; 1 with a given start.
    max_iter : int
        Most iterations of a start; default 200; dtm: 100.
    tol : float
        Stop when an iteration gains less, in nats per frame; default 1e-05.
    cov_floor : float
        Smallest variance, as a share of that of all the data; default 0.0001.
    random_state, n_jobs, verbose, progress, layout
        As for :class:`vhem.HMM`.
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
    data = as_sequences(X, lengths, groups=groups, weights=weights, layout=layout)
    options = {"model": "dtm", "S": n, "learn": method, "noise": noise, "K": n_components, "pieces": pieces or None,
               "store": store, "restarts": n_init, "max_iter": max_iter, "tol": tol, "cov_floor": cov_floor,
               "by_group": data.groups is not None}
    seed = _run.seed_of(random_state)
    with _run.session(seed, n_jobs, verbose, progress) as s:
        handle, report = _lib.fit(s, data.handle(s), options)
    found = Textures._of(handle, _run.made_by("vhem.fit_textures", options, seed))
    _told.of_fit(found, report, data, verbose, mixture=bool(n_components) and not pieces)
    return (found, report) if return_report else found
