# SPDX-License-Identifier: BSD-3-Clause
"""From sequences to models: one HMM, one HMM per sequence, and a mixture of HMMs."""
from __future__ import annotations

from typing import Any, Dict, Literal, Optional, Tuple, overload

import numpy as np
from sklearn.base import ClusterMixin, DensityMixin, clone
from sklearn.utils.validation import check_is_fitted

from . import _lib, _run, _told
from ._base import Estimator, like_input
from ._frames import pandas_of
from ._natural import NaturalEstimator
from ._options import further
from ._types import Array
from .data import Sequences, as_sequences, is_frame, lengths_of
from .errors import InputError
from .model import H3M, Model


_FIT = ("n_states", "n_mix", "covariance_type", "topology", "init", "n_init", "max_iter", "tol", "cov_floor")


def _fixed(values: Any, what: str, S: Optional[int], axes: int) -> Any:
    """Probabilities that stay, in their shape; without a number of states they say it."""
    if values is None:
        return None
    given = np.asarray(values, np.float64)
    shape = (len(given) if S is None and given.ndim else S,) * axes
    if given.shape != shape:
        raise InputError(f"{what} has shape {given.shape}, must be {shape}")
    return given


class HMM(NaturalEstimator, DensityMixin, Estimator):  # type: ignore[misc]
    """One hidden Markov model for one or many sequences, by Baum-Welch from several starts.

    Parameters
    ----------
    n_states : int, (int, int), or "auto"
        States; a pair, (2, 4), or "auto", (1, 6): as many of these as each HMM needs, by variational Bayes; default 3.
    n_mix : int
        Gaussians in the mixture of each state; default 1.
    covariance_type : {"diag", "full", "poisson", "bernoulli", "gamma", "von-mises", "categorical", \
"tied:FILE", "COL:NAME,..."}
        Of the Gaussians, or another family that states emit; "tied:FILE": weights of the Gaussians in a file
        that ``vhem background`` wrote; "COL:NAME,...": a family for each column; default "diag".
    topology : {"free", "left-right", "linear"}
        Transitions that are allowed: all, never back, to the next state only; default "free".
    fixed_startprob, fixed_transmat : arrays (n_states,), (n_states, n_states)
        A number stays as it is, NaN is free.
    init : {"kmeans", "random", "segment"} or a :class:`vhem.Model` to start from
        How a run starts; default "kmeans".
    n_init : int
        Starts, of which the best is kept; default 10; 4 of a mixture, of textures and of pieces; 1 with a given start.
    max_iter : int
        Most iterations of a start; default 200; dtm: 100.
    tol : float
        Stop when an iteration gains less, in nats per frame, 0: never; default 1e-05.
    cov_floor : float
        Smallest variance, as a share of that within states, 0: none; default 0.0001.
    prior : str, path, dict or :class:`vhem.H3M`
        "vb": variational Bayes, which keeps variances from collapsing where a state has few frames; "eb": with the
        strength of the prior estimated too; either with settings, "vb:nu0=1,start=ml"; settings of "vb" alone,
        "nu0=1" or ``{"nu0": 1}``; "none": the highest likelihood; or a prior that is there already:
        models that were fitted with one, their file, or ``models.prior``; default vb; none with a given start.
    options : dict
        Further options of the library by name, such as ``{"repair": 0}``.
    random_state : int, generator or None
        None is seed 0: the same answer every time.
    n_jobs : int or None
        Threads; None for all cores, or as many as OMP_NUM_THREADS says; -1 for all cores whatever it says.
    verbose : int
        1: a progress bar; 2: what the library has to tell as well.
    layout : {"ndt", "ntd"}
        Order of an array with three axes: (sequences, channels, time), as in aeon, or (sequences, time, channels),
        as in tslearn; default "ndt", with a warning where it may be the other.
    progress : callable, optional
        ``progress(what, done, total)``, now and then.

    Attributes
    ----------
    model_ : :class:`vhem.Model`
    n_states_ : int
        Its states: as many as were asked for, or were found to be needed.
    startprob_, transmat_, means_, covars_, weights_ : arrays
        The same under the names of hmmlearn; means_ (S, d) and without weights_ when n_mix is 1.
    rates_, shapes_, zeros_, probabilities_, kappas_, symbols_, channels_, by_column_
        Of families that have them, as :class:`vhem.Model` has rates, shapes, ...; (S, d) when n_mix is 1.
    lambdas_, emissionprob_ : arrays (S, d), (S, V)
        rates_ of "poisson" and probabilities_ of "categorical" under the names of hmmlearn.
    log_likelihood_ : float
        Of the data it was fitted to, in nats.
    n_iter_, converged_, runs_
        Of the best start; runs_ has a row for every start, with its bound: what was maximised.

    Examples
    --------
    >>> import numpy as np, vhem
    >>> rng = np.random.default_rng(1)
    >>> y = np.concatenate([rng.normal(0, 1, 50), rng.normal(9, 1, 50)])[:, None]
    >>> hmm = vhem.HMM(n_states=2).fit(y)
    >>> np.sort(hmm.means_.ravel()).round().tolist()
    [-0.0, 9.0]
    >>> len(set(hmm.predict(y)[:50])), hmm.predict(y).shape
    (1, (100,))
    """

    _ranges = _single = True

    def __init__(self, n_states: Any = None, *, n_mix: Optional[int] = None,
                 covariance_type: Optional[str] = None, topology: Optional[str] = None,
                 fixed_startprob: Any = None, fixed_transmat: Any = None, init: Any = None,
                 n_init: Optional[int] = None, max_iter: Optional[int] = None, tol: Optional[float] = None,
                 cov_floor: Optional[float] = None, prior: Any = None, options: Optional[Dict[str, Any]] = None,
                 random_state: Any = None, n_jobs: Optional[int] = None, verbose: int = 0, progress: Any = None,
                 layout: Optional[str] = None):
        self.n_states = n_states
        self.n_mix = n_mix
        self.covariance_type = covariance_type
        self.topology = topology
        self.fixed_startprob = fixed_startprob
        self.fixed_transmat = fixed_transmat
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.cov_floor = cov_floor
        self.prior = prior
        self.options = options
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress
        self.layout = layout

    def _options(self) -> Dict[str, Any]:
        pi = _fixed(self.fixed_startprob, "fixed_startprob", self.n_states, 1)
        A = _fixed(self.fixed_transmat, "fixed_transmat", self.n_states if pi is None else len(pi), 2)
        fixed = [values for values in (pi, A) if values is not None]
        states = {"S": len(fixed[0])} if fixed else {}
        return {**self._options_of(*_FIT, "prior"), "fixed_pi": pi, "fixed_A": A, **states, **further(self.options)}

    def _fit_all(self, data: Sequences, seed: int, session: Any) -> Any:
        """One HMM per sequence, or per group where there are groups, and the report of the fit."""
        options = {**self._options(), "by_group": data.groups is not None}
        handle, report = _lib.fit(session, data.handle(session), options)
        models = H3M._of(handle, self._record(options, seed))
        self._tell(models, report, data, options)
        return models, report

    def _tell(self, models: H3M, report: Dict[str, Any], data: Sequences, options: Dict[str, Any]) -> None:
        if not {"emission", "start"} & set(options):         # nobody has said what states emit
            _told.warn_of_columns(data)
        _told.of_fit(models, report, data, self.verbose)

    def fit(self, X: Any, y: Any = None, lengths: Any = None, weights: Any = None) -> "HMM":
        """Fits one HMM to all sequences; weights say how much each of them counts.

        Lengths may also be the second argument, as in hmmlearn; any other y is ignored, as in scikit-learn.
        """
        data = self._sequences(X, lengths_of(X, y, lengths), weights=weights).with_groups(None)
        if len(data) > 1:
            data = data.with_groups(["all"] * len(data))
        seed = _run.seed_of(self.random_state)
        with self._session(seed) as session:
            models, report = self._fit_all(data, seed, session)
            best = report["run"][0, report["best"][0]]
            self.model_: Model = models[0]
            self.model_.name = self.model_.name if len(data) == 1 else ""
            self.runs_ = report["run"][0]
            self.log_likelihood_ = float(best["loglik"])
            self.n_iter_ = int(best["n_iter"])
            self.converged_ = bool(best["converged"])
        self._warn_unless_converged("the HMM", self.converged_, self.n_iter_, self.tol)
        return self

    @property
    def n_states_(self) -> int:
        return self.model_.S

    @property
    def startprob_(self) -> Array:
        return self.model_.pi

    @property
    def transmat_(self) -> Array:
        return self.model_.A

    @property
    def weights_(self) -> Array:
        return self.model_.c

    def score_samples(self, X: Any, lengths: Any = None) -> Array:
        """Log-likelihood of each sequence, in nats."""
        data = self._new(X, lengths)
        return self.model_.score(data, n_jobs=self.n_jobs)

    def score(self, X: Any, y: Any = None, lengths: Any = None) -> float:
        """Mean log-likelihood of a sequence, in nats."""
        return float(np.mean(self.score_samples(X, lengths_of(X, y, lengths))))

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """The most likely state of each frame: one array for an array, a list of paths for a list."""
        data = self._new(X, lengths)
        paths, _ = self.model_.decode(data, n_jobs=self.n_jobs)
        return like_input(X, lengths, paths)

    def predict_proba(self, X: Any, lengths: Any = None) -> Any:
        """The probability of each state at each frame: (frames, S), or a list of such arrays."""
        data = self._new(X, lengths)
        return like_input(X, lengths, self.model_.posterior(data, n_jobs=self.n_jobs))

    def sample(self, n: int = 1, T: int = 100, random_state: Any = None) -> Sequences:
        """n new sequences of T frames; others at each call, unless random_state is a seed."""
        check_is_fitted(self)
        return self.model_.sample(n, T, random_state)

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def save(self, path: Any) -> None:
        """Writes the HMM to a model file, .json or .h5, for :meth:`load`, the command and C."""
        check_is_fitted(self)
        H3M([self.model_]).save(path)

    @classmethod
    def load(cls, path: Any) -> "HMM":
        """A fitted estimator with the HMM of a model file, which must hold one."""
        models = H3M.load(path)
        if len(models) != 1:
            raise InputError(f"{path} holds {len(models)} HMMs, must hold one; vhem.H3M.load reads them all")
        made = cls(n_states=models[0].S)
        made.model_ = models[0]
        made._fitted_to(models.d)
        return made


def _estimator(hmm: Optional[HMM], params: Dict[str, Any]) -> HMM:
    return HMM(**params) if hmm is None else hmm


def _to_fit(estimator: HMM, X: Any, lengths: Any, groups: Any, weights: Any) -> Sequences:
    """Sequences to fit an HMM each; the rows of a frame are frames, so that it must say which sequences they are of."""
    X = pandas_of(X)
    if is_frame(X) and lengths is None and not {"id", "seq"} & set(X.columns):
        raise InputError("the frame has no column 'id' or 'seq' that names the sequence of each row; use "
                         "vhem.Sequences.from_frame(X, id=...), or X.to_numpy() if each row is a sequence")
    return as_sequences(X, lengths, groups=groups, weights=weights, layout=estimator.layout,
                        reading=estimator._reading())


def _shaped(estimator: HMM, data: Sequences) -> HMM:
    """The estimator with the states and the topology with which the sequences show groups best."""
    from .cluster import cluster
    for name in ("n_states", "topology", "fixed_startprob", "fixed_transmat"):
        if getattr(estimator, name) is not None:
            raise InputError(f"shape='auto' and {name} exclude each other")
    level = cluster(data, n_mix=estimator.n_mix, covariance_type=estimator.covariance_type,
                    random_state=estimator.random_state, n_jobs=estimator.n_jobs,
                    progress=estimator.progress).result_[0]
    shapes = [(run["S"], run["topology"]) for run in level.runs if run["as_good"] and run["topology"]]
    n_states, topology = shapes[-1] if shapes else (level.options["S"], level.options["topology"])
    return clone(estimator).set_params(n_states=n_states, topology=topology)


@overload
def fit_each(X: Any, lengths: Any = None, *, groups: Any = None, weights: Any = None, hmm: Optional[HMM] = None,
             shape: Optional[str] = None, return_report: Literal[False] = False, **params: Any) -> H3M:
    ...


@overload
def fit_each(X: Any, lengths: Any = None, *, groups: Any = None, weights: Any = None, hmm: Optional[HMM] = None,
             shape: Optional[str] = None, return_report: Literal[True], **params: Any) -> Tuple[H3M, Dict[str, Any]]:
    ...


def fit_each(X: Any, lengths: Any = None, *, groups: Any = None, weights: Any = None,
             hmm: Optional[HMM] = None, shape: Optional[str] = None, return_report: bool = False, **params: Any) -> Any:
    """One HMM for each sequence, or for each group of sequences, on all cores.

    Parameters
    ----------
    X, lengths
        Sequences in any form of :mod:`vhem.data`.
    groups : list of N, optional
        One HMM for each group, such as a person; by default the groups that the data have, if any.
    weights : array (N,), optional
    hmm : :class:`HMM`, optional
        Where the parameters come from; or
    **params
        parameters of :class:`HMM`: ``fit_each(X, n_states=4)``.
    shape : {"auto"}, optional
        "auto": the number of states and the topology with which the sequences show groups best, as
        :func:`vhem.cluster` tries them.
    return_report : bool
        Also return a dictionary with ``run`` (K, R): the log-likelihood of every start of every model,
        ``best`` (K,) and ``frames`` (K,).

    Returns
    -------
    models : :class:`vhem.H3M`

    Examples
    --------
    >>> import numpy as np, vhem
    >>> rng = np.random.default_rng(0)
    >>> songs = [rng.normal(size=(T, 2)) for T in (40, 50, 60)]
    >>> vhem.fit_each(songs, n_states=2)
    <H3M: 3 HMMs, S = 2, d = 2, gaussian-diag>
    """
    estimator = _estimator(hmm, params)
    data = _to_fit(estimator, X, lengths, groups, weights)
    if shape not in (None, "auto"):
        raise InputError(f"shape is {shape!r}, must be 'auto', or else given by n_states and topology")
    if shape is not None:
        estimator = _shaped(estimator, data)
    seed = _run.seed_of(estimator.random_state)
    with estimator._session(seed) as session:
        models, report = estimator._fit_all(data, seed, session)
    return (models, report) if return_report else models


def fit_pieces(X: Any, lengths: Any = None, *, n_components: int = 1, store: Any = None, groups: Any = None,
               weights: Any = None, hmm: Optional[HMM] = None, **params: Any) -> H3M:
    """A mixture of n_components HMMs for each sequence or group, all in one set, side by side on all cores.

    The first half of hierarchical estimation: for songs of many fragments, or for more data than fit into
    memory at once.  ``vhem.VHEM`` reduces the set, which is the second half.

    Parameters
    ----------
    X, lengths, groups, weights, hmm, **params
        As for :func:`fit_each`.
    n_components : int
        HMMs of each sequence or group, at most its sequences; their weights sum to 1 / (number of sequences or groups).
    store : path, optional
        A file that gets each mixture as soon as it is fitted; what it has already is not fitted again.

    Examples
    --------
    >>> import numpy as np, vhem
    >>> rng = np.random.default_rng(0)
    >>> fragments = [rng.normal(9 * (n % 2), 1, size=(30, 1)) for n in range(8)]
    >>> songs = vhem.fit_pieces(fragments, groups=["a"] * 4 + ["b"] * 4, n_components=2, n_states=1)
    >>> songs.names
    ['a/0', 'a/1', 'b/0', 'b/1']
    """
    estimator = _estimator(hmm, params)
    data = _to_fit(estimator, X, lengths, groups, weights)
    options = {**estimator._options(), "K": n_components, "pieces": 1, "store": store,
               "by_group": data.groups is not None}
    seed = _run.seed_of(estimator.random_state)
    with estimator._session(seed) as session:
        handle, report = _lib.fit(session, data.handle(session), options)
    models = H3M._of(handle, _run.made_by("vhem.fit_pieces", options, seed))
    estimator._tell(models, report, data, options)
    return models


class HMMMixture(ClusterMixin, DensityMixin, Estimator):  # type: ignore[misc]
    """A mixture of HMMs on sequences by EM, the paper's EM-H3M: clusters without models in between.

    Parameters
    ----------
    n_components : int
        HMMs of the mixture.
    n_states, n_mix, covariance_type, topology, init, n_init, max_iter, tol, cov_floor, options
        As for :class:`HMM`; init may be the HMMs to start from.
    random_state, n_jobs, verbose, progress, layout
        As for :class:`HMM`.

    Attributes
    ----------
    centers_ : :class:`vhem.H3M`
        The HMMs and their weights omega.
    labels_ : array (N,)
        The HMM each sequence of the fit belongs to; the sequences of a group belong together.
    weights_ : array (K,)
    log_likelihood_, n_iter_, converged_, runs_

    Examples
    --------
    >>> import numpy as np, vhem
    >>> rng = np.random.default_rng(0)
    >>> X = [rng.normal(9 * (n % 2), 1, size=(30, 1)) for n in range(8)]
    >>> vhem.HMMMixture(n_components=2, n_states=1).fit_predict(X)[:2].tolist() in ([0, 1], [1, 0])
    True
    """

    def __init__(self, n_components: int = 2, *, n_states: Optional[int] = None, n_mix: Optional[int] = None,
                 covariance_type: Optional[str] = None, topology: Optional[str] = None, init: Any = None,
                 n_init: Optional[int] = None, max_iter: Optional[int] = None, tol: Optional[float] = None,
                 cov_floor: Optional[float] = None, options: Optional[Dict[str, Any]] = None,
                 random_state: Any = None, n_jobs: Optional[int] = None, verbose: int = 0, progress: Any = None,
                 layout: Optional[str] = None):
        self.n_components = n_components
        self.n_states = n_states
        self.n_mix = n_mix
        self.covariance_type = covariance_type
        self.topology = topology
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.cov_floor = cov_floor
        self.options = options
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress
        self.layout = layout

    def fit(self, X: Any, y: Any = None, lengths: Any = None, groups: Any = None,
            weights: Any = None) -> "HMMMixture":
        """Fits the mixture; the sequences of a group come from the same HMM."""
        data = self._sequences(X, lengths_of(X, y, lengths), groups, weights)
        options = {**self._options_of("n_components", *_FIT), "by_group": data.groups is not None,
                   **further(self.options)}
        if options["K"] == 0:                                # to the library: one model for each
            raise InputError("n_components is 0, must be at least 1")
        seed = _run.seed_of(self.random_state)
        with self._session(seed) as session:
            handle, report = _lib.fit(session, data.handle(session), options)
            best = report["run"][0, report["best"][0]]
            self.centers_: H3M = H3M._of(handle, self._record(options, seed))
            if not {"emission", "start"} & set(options):
                _told.warn_of_columns(data)
            _told.of_fit(self.centers_, report, data, self.verbose, mixture=True)
            self.runs_ = report["run"][0]
            self.log_likelihood_ = float(best["loglik"])
            self.n_iter_ = int(best["n_iter"])
            self.converged_ = bool(best["converged"])
            joint = self._joint(data, True if data.groups is not None else None)
            labels = np.argmax(joint, axis=1).astype(np.int32)      # as those of the other methods
            self.labels_: Array = labels[... if data.groups is None else data.group_of]
        self._warn_unless_converged("the mixture", self.converged_, self.n_iter_, self.tol)
        return self

    def fit_predict(self, X: Any, y: Any = None, lengths: Any = None, groups: Any = None, weights: Any = None) -> Array:
        """Fits the mixture, and gives :attr:`labels_`."""
        return self.fit(X, y, lengths, groups, weights).labels_

    @property
    def weights_(self) -> Array:
        return self.centers_.omega

    def _joint(self, data: Sequences, groups: Any) -> Array:
        """log omega_j p(y_n | HMM j), (N, K); of groups the product over their sequences."""
        with np.errstate(divide="ignore"):
            return np.log(self.weights_) + self.centers_.score(data, groups=groups, n_jobs=self.n_jobs)

    def score_samples(self, X: Any, lengths: Any = None, groups: Any = None) -> Array:
        """Log-likelihood of each sequence, or of each group, under the mixture, in nats."""
        return np.logaddexp.reduce(self._joint(self._new(X, lengths), groups), axis=1)

    def score(self, X: Any, y: Any = None, lengths: Any = None) -> float:
        """Mean log-likelihood of a sequence, in nats."""
        return float(np.mean(self.score_samples(X, lengths_of(X, y, lengths))))

    def predict_proba(self, X: Any, lengths: Any = None, groups: Any = None) -> Array:
        """Probability (N, K) that each sequence, or each group, comes from each HMM."""
        joint = self._joint(self._new(X, lengths), groups)
        return np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])

    def save(self, path: Any) -> None:
        """Writes the mixture to a model file, .json or .h5, for :meth:`load`, the command and C."""
        check_is_fitted(self, "centers_")
        self.centers_.save(path)

    @classmethod
    def load(cls, path: Any) -> "HMMMixture":
        """A fitted estimator with the mixture of a model file; it predicts, and has no labels_."""
        models = H3M.load(path)
        made = cls(n_components=len(models))
        made.centers_ = models
        made._fitted_to(models.d)
        return made

    def predict(self, X: Any, lengths: Any = None, groups: Any = None) -> Array:
        """The most likely HMM of each sequence, or of each group."""
        return np.argmax(self._joint(self._new(X, lengths), groups), axis=1).astype(np.int32)

    def sample(self, n: int = 1, T: int = 100, random_state: Any = None) -> Sequences:
        """n new sequences of T frames, others at each call, unless random_state is a seed; the label is the name of the
        HMM a sequence came from."""
        check_is_fitted(self)
        return self.centers_.sample(n, T, random_state)

    def __sklearn_is_fitted__(self) -> bool:
        return "centers_" in vars(self)
