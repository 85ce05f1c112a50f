# SPDX-License-Identifier: BSD-3-Clause
"""How well partitions agree, how far apart models are, how good clusters are, how many there are."""
from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _ffi, _lib
from ._inputs import as_models
from ._options import options as options_of
from ._run import session
from ._types import Array
from ._symbols import of_models
from .data import as_sequences, grouped
from .errors import InputError
from .result import as_tree


def _codes(labels: Any) -> Array:
    """Labels as numbers; that of no label, "", is negative."""
    values = np.asarray(labels).ravel()
    if values.dtype.kind == "U":
        with session() as s:
            return np.asarray(_lib.number_names(s, values.tolist()))
    return np.ascontiguousarray(np.unique(values, return_inverse=True)[1].ravel(), np.int32)


def agreement(a: Any, b: Any) -> Dict[str, float]:
    """Rand index, adjusted Rand index, normalised mutual information and purity of two partitions.

    Purity takes b as the classes.  What has no label, the empty text, does not count.  Of fewer than two items all are
    NaN, where scikit-learn says 1.

    >>> import vhem
    >>> vhem.metrics.agreement([0, 0, 1, 1], ["x", "x", "y", "y"])
    {'rand': 1.0, 'adjusted_rand': 1.0, 'nmi': 1.0, 'purity': 1.0}
    """
    x, y = _codes(a), _codes(b)
    if len(x) != len(y) or not len(x):
        raise InputError(f"the lists have {len(x)} and {len(y)} labels, must have the same length, at least 1")
    return _lib.agreement(x, y)


def distance(a: Any, b: Any = None, *, kind: Optional[str] = None, tau: Optional[int] = None,
             symmetric: Optional[bool] = None, samples: Optional[int] = None, power: Optional[float] = None,
             normalised: Optional[bool] = None, return_error: bool = False, random_state: Any = None,
             n_jobs: Optional[int] = None) -> Any:
    """Every HMM of a against every HMM of b (a itself by default), for sequences of tau frames: (Ka, Kb).

    Parameters
    ----------
    kind : {"kl", "kl-sampled", "ppk"}
        Variational bound on the Kullback-Leibler divergence, its sampled value, in nats; or the logarithm of
        the probability product kernel; default "kl".
    tau : int
        Frames of the sequences compared; default 10.
    symmetric : bool
        The mean of both directions of a divergence; default False.
    samples : int
        Sequences drawn from each HMM; default 1000.
    power : float
        Power of the kernel; default 0.5.
    normalised : bool
        Divide the kernel by those of each HMM with itself; default True.
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
    options = options_of({"kind": kind, "tau": tau, "symmetric": symmetric, "samples": samples, "power": power,
                          "normalised": normalised})
    with session(random_state, n_jobs) as s:
        D, error = _lib.distance(s, first._handle, second._handle, options)
    return (D, error) if return_error else D


def measures(result: Any, X: Any = None, models: Any = None, *, level: int = 0, lengths: Any = None,
             tau: Optional[int] = None, power: Optional[float] = None, kernel: Optional[str] = None,
             n_jobs: Optional[int] = None) -> Dict[str, float]:
    """How good the clusters of a level are: expected_loglik, compactness and modularity, from the models that
    were clustered, and loglik of sequences X under their centres; NaN where a measure is not available.

    tau, and power and kernel ("normalised", "raw", "scaled") of the compactness, are by default as the
    clusters were made.
    """
    tree = as_tree(result)
    if models is None and X is None:
        models = getattr(result, "models_", None)
    return tree.measure(X, lengths, models=models, level=level, tau=tau, power=power, kernel=kernel, n_jobs=n_jobs)


@dataclass(frozen=True)
class Statistics:
    """Scores of persons under the centres of clusters, and tests; of :func:`stats`.

    Attributes
    ----------
    names, labels : lists (n,)
        The persons: groups of sequences, or sequences.
    sequences, frames : arrays (n,)
    cluster : array (n,)
        That of the model that was clustered under the person's name, else the one that fits best.
    clustered : array (n,)
        Whether there was such a model.
    loglik : array (n, K)
        Mean over the sequences of the log-likelihood per frame under each centre, in nats.
    scale : array (n, K)
        ``(L_j - L_k) / (|L_j| + |L_k|)``, k the best of the other centres: with two centres the A-B scale.
    uncertainty : array (n,)
        Entropy of the posterior over the centres, in nats.
    entropy : array (n,)
        Minus the log-likelihood per frame under the person's own model; NaN without models.
    share : array (n,)
        That of the clustered model (:class:`vhem.Clustering`); NaN where it is not known.
    groups : list
        Names of the groups that are compared: labels, if there are two or more, else clusters.
    group_of : array (n,)
    left_out : bool
        Whether each person was scored under centres made without the person's own model.
    tests : list of dictionaries
        kind ("paired-t", "t", "mann-whitney"), measure, centre, other, a, b, n_a, n_b, mean_a, mean_b, statistic,
        freedom, p, p_greater, p_adjusted, d, d_low, d_high; ``pandas.DataFrame(s.tests)`` prints them well.
    """

    names: List[str]
    labels: List[str]
    sequences: Array
    frames: Array
    cluster: Array
    clustered: Array
    loglik: Array
    scale: Array
    uncertainty: Array
    entropy: Array
    share: Array
    groups: List[str]
    group_of: Array
    left_out: bool
    tests: List[Dict[str, Any]]
    _handle: Any = None


def stats(result: Any, X: Any, lengths: Any = None, *, groups: Any = None, models: Any = None, leave_out: bool = False,
          correction: str = "holm", confidence: float = 0.95, level: int = 0, persons: Optional[str] = None,
          n_jobs: Optional[int] = None) -> Statistics:
    """How well the sequences of each person fit each centre, and tests between centres and groups of persons.

    In each cluster a paired t-test of the log-likelihoods under its own centre and under each other one; between
    groups of persons (the labels of the data, or else the clusters) Welch's t-test and the Mann-Whitney test of
    scales, and of entropies when there are models.

    Parameters
    ----------
    result : fitted VHEM or other estimator with clusters, or a Tree
    X, lengths
        Sequences; persons are their groups, if they have some.
    groups : list (n sequences,) or bool, optional
        The person of each sequence; False: each sequence is one. By default the groups of the data, if any.
    models : optional
        The models that were clustered, for entropies and leave_out.
    leave_out : bool
        Score each person under centres made again without the person's own model. Without it, tests of persons
        whose models were clustered are circular: their p is too small.
    correction : {"holm", "bonferroni", "bh", "none"}
        Of p for all tests of one kind.
    confidence : float
        Of the intervals of Cohen's d.
    level : int
        Of a tree; 0 is the lowest.
    persons : {"same", "new"}, optional
        Persons who have the name of a model that was clustered and other data: the same people, or others. By default
        they are others if somebody else has the data of a model; if nobody has, it is an error.

    Examples
    --------
    >>> import numpy as np, vhem
    >>> rng = np.random.default_rng(0)
    >>> trials = [rng.normal(6 * (i // 4 % 2), 1, (5, 1)) for i in range(40)]
    >>> X = vhem.Sequences.from_arrays(trials, groups=[f"s{i // 4}" for i in range(40)])
    >>> people = vhem.fit_each(X, n_states=1, random_state=0)
    >>> found = vhem.VHEM(2, random_state=0).fit(people)
    >>> s = vhem.metrics.stats(found, X, models=people, leave_out=True)
    >>> [(t["kind"], t["n_a"], t["p"] < 0.001) for t in s.tests if t["kind"] == "paired-t"]
    [('paired-t', 5, True), ('paired-t', 5, True)]
    """
    tree = as_tree(result)
    data = as_sequences(X, lengths, layout=tree._layout_of(X), reading=of_models(tree[0].centers))
    data, by_group = grouped(data, data.groups is not None if groups is None else groups)
    with session(n_jobs=n_jobs) as s:
        handle, found = _ffi.stats(s, {
            "tree": tree._handle, "level": level, "data": data.handle(s), "by_group": by_group,
            "models": None if models is None else as_models(models)._handle, "leave_out": leave_out,
            "correction": correction, "confidence": confidence, "persons": persons,
        })
    found["clustered"] = found["clustered"].astype(bool)
    return Statistics(**found, _handle=handle)


def paired_t(a: Any, b: Any) -> Tuple[float, float]:
    """Two-sided paired t-test: t and p.

    >>> import vhem
    >>> t, p = vhem.metrics.paired_t([1.0, 2.0, 3.0], [0.0, 1.5, 2.0])
    >>> round(t, 3), round(p, 3)
    (5.0, 0.038)
    """
    x, y = (np.ascontiguousarray(v, np.float64).ravel() for v in (a, b))
    if len(x) != len(y):
        raise InputError(f"the lists have {len(x)} and {len(y)} values, must have the same length")
    return _lib.paired_t(x, y)


def _numbers(name: str, given: Any) -> List[int]:
    """A number, or several of them."""
    one = isinstance(given, numbers.Integral)
    found: List[int] = [int(given)] if one else [] if isinstance(given, str) else list(given)
    if not found:
        raise InputError(f"{name} is {given!r}, must be whole numbers such as [2, 3, 4]")
    return found


def choose(models: Any, n_clusters: Iterable[int], n_states: Union[Iterable[int], None] = None, *,
           n_splits: int = 0, n_seeds: int = 0, n_path: int = 0, random_state: Any = None, n_jobs: Optional[int] = None,
           verbose: int = 0, progress: Any = None, **options: Any) -> Array:
    """A table to choose the number of clusters, and of states of the centres, by.

    Returns an array of records K, S, path, bound, loglik, n_param, bic, icl, stability, evidence, frames, K_used,
    S_used, same_runs, same_seeds, one for every combination: smaller BIC and ICL are better; stability is the
    agreement of two halves, when n_splits is above 0; evidence, the larger the better, is the bound of
    variational Bayes, which needed K_used clusters for so many virtual frames of each model; same_runs is the
    share of the starts with the same groups, same_seeds the agreement with n_seeds other seeds.  n_path further
    records, where path is 1, say how many clusters are needed with fewer and with more virtual frames.
    ``pandas.DataFrame(choose(...))`` prints it well.  Options are those of :class:`vhem.ModelClustering`, also by
    the library's names: tau, nv, n_init or restarts, preset.

    >>> import vhem
    >>> models = [vhem.Model([1], [[1]], [[x]], [[1.0]]) for x in (0.0, 1.0, 20.0, 21.0)]
    >>> [int(k) for k in vhem.metrics.choose(models, [1, 2])["K"]]
    [1, 2]
    """
    with session(random_state, n_jobs, verbose, progress) as s:
        rows: Array = _lib.choose(s, _lib.source(as_models(models)._handle), _numbers("n_clusters", n_clusters),
                                  [0] if n_states is None else _numbers("n_states", n_states),
                                  {"n_splits": n_splits, "n_seeds": n_seeds, "n_path": n_path}, options_of(options))
    return rows


@dataclass(frozen=True)
class Judgement:
    """Predictions against the truth, of classes or of tags.

    Attributes
    ----------
    names : list (C,)
        The classes, or tags.
    n, unknown : int
        Items judged; items whose class is not known, which do not count.
    accuracy : float
        Share of the items whose best class, or tag, is right.
    precision, recall, F, MAP : float
        Means over the classes or tags that occur; MAP is the mean average precision.
    p_at : array (len(at),)
        Mean precision among the first k items.
    each : array of C records
        n, given, right, precision, recall, F, average_precision of every class or tag;
        ``pandas.DataFrame(j.each, j.names)`` prints them well.
    each_p_at : array (C, len(at))
    confusion : array (C, C)
        Items of each true class, in rows, by what is predicted.
    """

    names: List[str]
    n: int
    unknown: int
    accuracy: float
    precision: float
    recall: float
    F: float
    MAP: float
    p_at: Array
    each: Array
    each_p_at: Array
    confusion: Array

    @classmethod
    def _of(cls, names: Sequence[Any], found: Dict[str, Any]) -> "Judgement":
        kept = {key: found[key] for key in ("n", "unknown", "accuracy", "precision", "recall", "F", "MAP", "p_at",
                                            "confusion")}
        return cls(names=[str(name) for name in names], each=found["tag"], each_p_at=found["tag_p_at"], **kept)


def rank(scores: Any, truth: Any, *, names: Optional[Sequence[Any]] = None, top: Optional[int] = None,
         at: Sequence[int] = (), never_given: Optional[str] = None) -> Judgement:
    """Scores (n, C) of tags, by which tags are ranked within an item and items within a tag, against the truth.

    Parameters
    ----------
    truth : array (n, C) of 0 and 1
    names : list (C,)
        The tags; by default their numbers.
    top : int
        Tags that each item is given, its best; default 10; classes: 1.
    at : list of int
        Numbers k of items to take the precision among.
    never_given : {"zero", "base-rate"}
        Precision of a tag that no item is given: 0, or the share of the items that have it; default "zero".

    >>> import vhem
    >>> vhem.metrics.rank([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], [[1, 0], [0, 1], [0, 1]], top=1).MAP
    1.0
    """
    score = np.ascontiguousarray(scores, np.float64)
    table = np.ascontiguousarray(truth, np.uint8)
    if score.ndim != 2 or score.shape != table.shape:
        raise InputError(f"the scores have shape {score.shape} and the truth {table.shape}, must both be (n, tags)")
    called = list(range(score.shape[1])) if names is None else list(names)
    if len(called) != score.shape[1]:
        raise InputError(f"there are {len(called)} names, must be {score.shape[1]}, one for each tag")
    with session() as s:
        return Judgement._of(called, _lib.rank(s, score, table, list(at), {"top": top, "never_given": never_given}))
