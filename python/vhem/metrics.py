# SPDX-License-Identifier: BSD-3-Clause
"""How well partitions agree, how far apart models are, how good clusters are, how many there are."""
from __future__ import annotations

from typing import Any, Dict, Iterable, Optional, Tuple, Union

import numpy as np

from . import _lib
from ._run import session
from ._types import Array
from .data import as_sequences
from .errors import InputError
from .model import H3M, as_models
from .result import as_tree


def _codes(labels: Any) -> Array:
    _, codes = np.unique(np.asarray(labels), return_inverse=True)
    return np.ascontiguousarray(codes.ravel(), np.int32)


def agreement(a: Any, b: Any) -> Dict[str, float]:
    """Rand index, adjusted Rand index, normalised mutual information and purity of two partitions.

    Purity takes b as the classes.

    >>> import vhem
    >>> vhem.metrics.agreement([0, 0, 1, 1], ["x", "x", "y", "y"])
    {'rand': 1.0, 'adjusted_rand': 1.0, 'nmi': 1.0, 'purity': 1.0}
    """
    x, y = _codes(a), _codes(b)
    if len(x) != len(y) or not len(x):
        raise InputError(f"there are {len(x)} and {len(y)} labels, must be as many, and at least one")
    return _lib.agreement(x, y)


def distance(a: Any, b: Any = None, *, kind: str = "kl", tau: Optional[int] = None, symmetric: bool = False,
             samples: Optional[int] = None, power: Optional[float] = None, normalised: bool = True,
             return_error: bool = False, random_state: Any = None, n_jobs: Optional[int] = -1) -> Any:
    """Every HMM of a against every HMM of b (a itself by default), for sequences of tau frames: (Ka, Kb).

    Parameters
    ----------
    kind : {"kl", "kl-sampled", "ppk"}
        Variational bound on the Kullback-Leibler divergence, its sampled value, in nats; or the logarithm of
        the probability product kernel.
    symmetric : bool
        The mean of both directions of a divergence.
    samples : int, optional
        Sequences drawn from each HMM.
    power, normalised
        Of the kernel.
    return_error : bool
        Also return the standard errors of what is sampled.

    Examples
    --------
    >>> import vhem
    >>> near, far = [vhem.Model([1], [[1]], [[x]], [[1.0]]) for x in (0.0, 3.0)]
    >>> vhem.metrics.distance([near, far], tau=2).round(6).tolist()
    [[0.0, 9.0], [9.0, 0.0]]
    """
    first = as_models(a)
    second = first if b is None else as_models(b)
    options = {"kind": kind, "tau": tau, "symmetric": symmetric, "samples": samples, "lambda": power,
               "normalised": normalised}
    with session(random_state, n_jobs) as s:
        D, error = _lib.distance(s, first._handle, second._handle, options)
    return (D, error) if return_error else D


def measures(result: Any, X: Any = None, models: Any = None, *, level: int = 0, lengths: Any = None,
             tau: Optional[int] = None, power: Optional[float] = None, kernel: Optional[str] = None,
             n_jobs: Optional[int] = -1) -> Dict[str, float]:
    """How good the clusters of a level are: expected_loglik, compactness and modularity, from the models that
    were clustered, and loglik of sequences X under their centres; NaN for what cannot be said.

    tau, and power and kernel ("normalised", "raw", "scaled") of the compactness, are by default as the
    clusters were made.
    """
    tree = as_tree(result)
    if models is None and X is None and isinstance(getattr(result, "models_", None), H3M):
        models = result.models_
    with session(n_jobs=n_jobs) as s:
        data = None if X is None else as_sequences(X, lengths).handle(s)
        return _lib.measure(s, tree._handle, level, None if models is None else as_models(models)._handle,
                            data, {"tau": tau, "lambda": power, "kernel": kernel})


def paired_t(a: Any, b: Any) -> Tuple[float, float]:
    """Two-sided paired t-test: t and p.

    >>> import vhem
    >>> t, p = vhem.metrics.paired_t([1.0, 2.0, 3.0], [0.0, 1.5, 2.0])
    >>> round(t, 3), round(p, 3)
    (5.0, 0.038)
    """
    x, y = (np.ascontiguousarray(v, np.float64).ravel() for v in (a, b))
    if len(x) != len(y):
        raise InputError(f"there are {len(x)} and {len(y)} values, must be as many")
    return _lib.paired_t(x, y)


def choose(models: Any, n_clusters: Iterable[int], n_states: Union[Iterable[int], None] = None, *,
           n_splits: int = 0, random_state: Any = None, n_jobs: Optional[int] = -1, verbose: int = 0,
           progress: Any = None, **options: Any) -> Array:
    """A table to choose the number of clusters, and of states of the centres, by.

    Returns an array of records K, S, bound, loglik, n_param, bic, icl, stability, one for every combination:
    smaller BIC and ICL are better; stability is the agreement of two halves, when n_splits is above 0.
    ``pandas.DataFrame(choose(...))`` prints it well.  Options are those of :class:`vhem.VHEM` by the
    library's names: tau, nv, restarts, preset.

    >>> import vhem
    >>> models = [vhem.Model([1], [[1]], [[x]], [[1.0]]) for x in (0.0, 1.0, 20.0, 21.0)]
    >>> [int(k) for k in vhem.metrics.choose(models, [1, 2])["K"]]
    [1, 2]
    """
    with session(random_state, n_jobs, verbose, progress) as s:
        rows: Array = _lib.choose(s, as_models(models)._handle, list(n_clusters),
                                  [0] if n_states is None else list(n_states), n_splits, options)
    return rows
