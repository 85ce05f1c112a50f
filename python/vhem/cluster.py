# SPDX-License-Identifier: BSD-3-Clause
"""Clusters of HMMs, and of sequences through them; hierarchies of clusters."""
from __future__ import annotations

from typing import Any, Dict, List, Optional, Union

import numpy as np
from sklearn.base import ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted

from . import _lib, _run
from ._base import Estimator, further, start_options
from ._types import Array
from .estimate import HMM
from .model import H3M, as_models, holds_models
from .result import Clustering, Tree
from .texture import Textures, fit_textures

class _Clusterer(ClusterMixin, Estimator):  # type: ignore[misc]
    """What VHEM and VHEMTree share: options, input, results, new data."""

    method: str
    preset: Optional[str]
    n_states: Optional[int]
    n_mix: Optional[int]
    tau: Optional[int]
    nv: Optional[float]
    init: Any
    n_init: Optional[int]
    search: Optional[str]
    max_iter: Optional[int]
    tol: Optional[float]
    cov_floor: Optional[float]
    hmm: Optional[HMM]
    models_: Union[H3M, Textures]
    options: Optional[Dict[str, Any]]

    def _levels(self) -> List[int]:
        raise NotImplementedError

    def _options(self) -> Dict[str, Any]:
        return {
            "method": self.method, "preset": self.preset, "S": self.n_states, "M": self.n_mix,
            "tau": self.tau, "nv": self.nv, "restarts": self.n_init, "search": self.search,
            "max_iter": self.max_iter, "tol": self.tol, "cov_floor": self.cov_floor,
            **start_options(self.init), **further(self.options)
        }

    def _hmm(self, seed: int) -> HMM:
        """The estimator that turns sequences into the models to cluster."""
        if self.hmm is not None:
            return clone(self.hmm)
        return HMM(random_state=seed, n_states=self.n_states or 3, n_mix=self.n_mix or 1)

    def fit(self, X: Any, y: Any = None, lengths: Any = None, groups: Any = None, weights: Any = None) -> Any:
        """Clusters models, or sequences.

        X is a set of models (:class:`vhem.H3M`, a list of fitted :class:`vhem.HMM` or hmmlearn objects, a
        path of a model file) or sequences in any form of :mod:`vhem.data`, which are first described by one
        HMM each, or one per group, unless the method works on sequences.
        """
        seed = _run.seed_of(self.random_state)
        with self._session(seed) as session:
            if holds_models(X) or isinstance(X, Textures):
                self.models_ = X if isinstance(X, Textures) else as_models(X)
                self._fitted_to(self.models_.d)
                source, kind = self.models_._handle, "dtm" if isinstance(X, Textures) else "h3m"
            else:
                source, kind = self._from_sequences(session, X, lengths, groups, weights, seed)
            if session.interrupt is None:
                options = self._options()
                if kind == "data":
                    options["by_group"] = self._by_group
                if kind == "dtm" and self.method == "vhem":
                    options["method"] = None                # the default for textures
                tree = _lib.tree_build(session, source, kind, self._levels(), options)
                _lib.tree_set_provenance(session, tree, self._record(options, seed))
                self._take(Tree._of(tree))
        return self

    def _from_sequences(self, session: _lib.Session, X: Any, lengths: Any, groups: Any, weights: Any,
                        seed: int) -> Any:
        data = self._sequences(X, lengths, groups, weights)
        self._by_group = data.groups is not None
        if _lib.takes_data(self.method):
            return data.handle(session), "data"
        if _lib.takes_textures(self.method):
            self.models_ = fit_textures(data, n=self.n_states, random_state=seed, n_jobs=self.n_jobs,
                                        verbose=self.verbose, progress=self.progress)
            return self.models_._handle, "dtm"
        hmm = self._hmm(seed)
        self.models_, self.fit_report_ = hmm._fit_all(data, seed, session)
        return self.models_._handle, "h3m"

    def _take(self, tree: Tree) -> None:
        raise NotImplementedError

    def report(self, path: Any, X: Any = None, lengths: Any = None, **more: Any) -> None:
        """Writes one HTML page with all of this; see :meth:`vhem.Tree.report`."""
        check_is_fitted(self, "result_")
        models = getattr(self, "models_", None)
        more.setdefault("models", models if isinstance(models, H3M) else None)
        self.result_.report(path, X, lengths, **more)

    def _assign(self, X: Any, lengths: Any) -> Any:
        check_is_fitted(self, "result_")
        if holds_models(X) or isinstance(X, Textures):
            return self.result_.assign(X, n_jobs=self.n_jobs)
        return self.result_.assign(self._new(X, lengths), n_jobs=self.n_jobs)

    def predict_proba(self, X: Any, lengths: Any = None) -> Array:
        """Probability (n, Kr) of each cluster, of the lowest level in a tree, for new models or sequences."""
        return self._assign(X, lengths)[1]

    def score_samples(self, X: Any, lengths: Any = None) -> Array:
        """The (expected) log-likelihood of each new model or sequence under its centre, in nats."""
        return self._assign(X, lengths)[2]

    def score(self, X: Any, y: Any = None, lengths: Any = None) -> float:
        """Mean of :meth:`score_samples`."""
        return float(np.mean(self.score_samples(X, lengths)))

    def __sklearn_is_fitted__(self) -> bool:
        return "result_" in vars(self)


class VHEM(_Clusterer):
    """Clusters of HMMs and their centres by variational hierarchical EM, or by another method by name.

    Parameters
    ----------
    n_clusters : int
    method : str
        One of :func:`vhem.methods`; "vhem" is the paper's.
    preset : {None, "paper", "emhmm"}
        Settings of the paper, or of the toolbox for eye movements, for what is left None below.
    n_states, n_mix : int, optional
        Sizes of the centres; by default the largest of the models.
    tau : int, optional
        Length of the imagined sequences by which models are compared; -1: that of the sequences the models
        were fitted to.
    nv : float, optional
        Number of them per model: the larger, the harder the assignments.
    init : str or models to start from, optional
    n_init : int, optional
        Starts, of which the best is kept; fewer when the best bound has been found again before.
    search : {None, "auto", "fast", "thorough", "restarts"}
        How much is tried beside the starts; None is "auto", and "restarts" with a preset or an init.
    max_iter, tol, cov_floor : optional
    hmm : :class:`vhem.HMM`, optional
        How sequences become models; without it an HMM of n_states and n_mix.
    options : dict, optional
        Further options of the library by name, such as ``{"linkage": "complete"}`` or, for the second-best
        partition, ``{"candidate": 2}``.
    random_state, n_jobs, verbose, progress
        As for :class:`vhem.HMM`.

    Attributes
    ----------
    labels_ : array (Kb,)
        Cluster of each model, or of each group, named in ``result_[0].names``, when sequences had groups.
    z_ : array (Kb, Kr)
        How surely each model belongs to each cluster.
    centers_ : :class:`vhem.H3M`, or :class:`vhem.Textures` when textures were clustered
    lower_bound_ : float
        The objective at the end, in nats.
    models_ : :class:`vhem.H3M`
        What was clustered.
    result_ : :class:`vhem.Tree` of one level
        Everything else: bound curve, restarts, L_hmm, state maps; can be saved, pickled, drawn.
    n_iter_, converged_

    Notes
    -----
    On Ctrl-C the best result so far is stored before KeyboardInterrupt is raised.

    Examples
    --------
    >>> import numpy as np, vhem
    >>> rng = np.random.default_rng(0)
    >>> X = [rng.normal(9 * (n % 2), 1, size=(60, 2)) for n in range(6)]
    >>> vhem_ = vhem.VHEM(n_clusters=2, n_states=1).fit(X)
    >>> bool(vhem_.labels_[0] != vhem_.labels_[1]), vhem_.z_.shape, len(vhem_.centers_)
    (True, (6, 2), 2)
    >>> bool((vhem_.predict(X) == vhem_.labels_).all())
    True
    """

    def __init__(self, n_clusters: int = 2, *, method: str = "vhem", preset: Optional[str] = None,
                 n_states: Optional[int] = None, n_mix: Optional[int] = None, tau: Optional[int] = None,
                 nv: Optional[float] = None, init: Any = None, n_init: Optional[int] = None,
                 search: Optional[str] = None, max_iter: Optional[int] = None, tol: Optional[float] = None,
                 cov_floor: Optional[float] = None, hmm: Optional[HMM] = None,
                 options: Optional[Dict[str, Any]] = None, random_state: Any = None,
                 n_jobs: Optional[int] = -1, verbose: int = 0, progress: Any = None):
        self.n_clusters = n_clusters
        self.method = method
        self.preset = preset
        self.n_states = n_states
        self.n_mix = n_mix
        self.tau = tau
        self.nv = nv
        self.init = init
        self.n_init = n_init
        self.search = search
        self.max_iter = max_iter
        self.tol = tol
        self.cov_floor = cov_floor
        self.hmm = hmm
        self.options = options
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress

    def _levels(self) -> List[int]:
        return [self.n_clusters]

    def _take(self, tree: Tree) -> None:
        level: Clustering = tree[0]
        self.result_ = tree
        self.labels_ = level.labels
        self.z_ = level.z
        self.centers_: Union[H3M, Textures, None] = level.centers if level.textures is None else level.textures
        self.lower_bound_ = level.lower_bound
        self.n_iter_ = level.n_iter
        self.converged_ = level.converged

    def predict(self, X: Any, lengths: Any = None) -> Array:
        """Cluster of each new model or sequence."""
        return self._assign(X, lengths)[0][:, 0]


class VHEMTree(_Clusterer):
    """A hierarchy: clusters of models, clusters of their centres, and so on.

    Parameters are those of :class:`VHEM`, with

    n_clusters : list of int, or int for a single level
        Clusters of each level, lowest first, never more than in the level below.

    Attributes
    ----------
    result_ : :class:`vhem.Tree`
        The levels, each a :class:`vhem.Clustering`.
    labels_ : array (Kb,)
        Cluster of each model in the highest level.
    level_labels_ : array (Kb, levels)
        Where each model ended up in every level.
    models_ : :class:`vhem.H3M`
    n_iter_ : int
        Iterations of all levels together.

    Examples
    --------
    >>> import vhem
    >>> models = [vhem.Model([1], [[1]], [[x]], [[1.0]]) for x in (0.0, 1.0, 20.0, 21.0, 70.0, 71.0)]
    >>> tree = vhem.VHEMTree((3, 2)).fit(models)
    >>> [level.n_clusters for level in tree.result_], tree.level_labels_.shape
    ([3, 2], (6, 2))
    """

    def __init__(self, n_clusters: Any = (4, 2), *, method: str = "vhem", preset: Optional[str] = None,
                 n_states: Optional[int] = None, n_mix: Optional[int] = None, tau: Optional[int] = None,
                 nv: Optional[float] = None, init: Any = None, n_init: Optional[int] = None,
                 search: Optional[str] = None, max_iter: Optional[int] = None, tol: Optional[float] = None,
                 cov_floor: Optional[float] = None, hmm: Optional[HMM] = None,
                 options: Optional[Dict[str, Any]] = None, random_state: Any = None,
                 n_jobs: Optional[int] = -1, verbose: int = 0, progress: Any = None):
        self.n_clusters = n_clusters
        self.method = method
        self.preset = preset
        self.n_states = n_states
        self.n_mix = n_mix
        self.tau = tau
        self.nv = nv
        self.init = init
        self.n_init = n_init
        self.search = search
        self.max_iter = max_iter
        self.tol = tol
        self.cov_floor = cov_floor
        self.hmm = hmm
        self.options = options
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress

    def _levels(self) -> List[int]:
        return list(self.n_clusters) if hasattr(self.n_clusters, "__len__") else [self.n_clusters]

    def _take(self, tree: Tree) -> None:
        self.result_ = tree
        self.level_labels_ = tree.base_labels
        self.labels_ = self.level_labels_[:, -1]
        self.n_iter_ = sum(level.n_iter for level in tree)

    def predict(self, X: Any, lengths: Any = None) -> Array:
        """Cluster of each new model or sequence in the highest level."""
        return self._assign(X, lengths)[0][:, -1]

    def predict_levels(self, X: Any, lengths: Any = None) -> Array:
        """Cluster of each new model or sequence in every level, (n, levels)."""
        return self._assign(X, lengths)[0]
