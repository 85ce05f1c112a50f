# SPDX-License-Identifier: BSD-3-Clause
"""Clusters of sequences and of models, and hierarchies of clusters; the front door, :func:`vhem.cluster`.

The package has the function under the name of this module: ``from vhem.cluster import VHEM`` works, and
``vhem.cluster`` is the function.
"""
from __future__ import annotations

import numbers
import re
import warnings
from typing import Any, ClassVar, Dict, List, Optional, Type, TypeVar, Union

import numpy as np
from sklearn.base import ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted

from . import _lib, _restored, _run, _told
from ._base import Estimator
from ._inputs import as_models, holds_models, opened
from ._options import RENAMED, further
from ._types import Array
from .data import Sequences, lengths_of
from .errors import InputError
from .estimate import HMM
from .model import H3M
from .result import Graph, Tree
from .texture import Textures, fit_textures


_Self = TypeVar("_Self", bound="ModelClustering")

# Parameters that the search for groups of sequences, method "auto", has no use for, and what they are to others.
_OF_OTHERS = {
    "hmm": "how sequences become models", "tau": "the length of the virtual samples by which models are compared",
    "nv": "the number of virtual samples for each model", "init": "how a run starts",
    "n_init": "the number of starts, of which the one with the best bound is kept",
    "search": "which starts and candidates are tried", "candidate": "which of the best bounds is kept",
    "refine": "how finely the Gaussians of models are cut", "neighbours": "the neighbours of each model in a graph",
    "max_iter": "the most iterations of a start", "tol": "the change of a bound that ends a run",
    "cov_floor": "the smallest variance of a centre that is made of models",
}


class ModelClustering(ClusterMixin, Estimator):  # type: ignore[misc]
    """Clusters of sequences or of models, and their centres, by any method of the library.

    Which groups are in these sequences?  Give it the sequences, as :func:`vhem.cluster` does, and no method: the groups
    are looked for in several graphs of the sequences, and the centre of each is one HMM for all its members.  With a
    method or a preset for models, sequences become one HMM each first.  :class:`VHEM` always does that: it looks for
    the highest bound of the paper on models.

    Parameters
    ----------
    n_clusters : int, or list of int
        Clusters; default 2, of :class:`VHEMTree` (4, 2); of sequences without a method their number is chosen.  Of a
        list those of each level of a hierarchy, lowest first, each of the centres of the level below.
    method : str
        One of :func:`vhem.methods`; default vhem; sequences: auto; textures: hem-dtm.  That of :class:`VHEM` and with
        a preset is vhem for sequences too.
    preset : {"paper", "emhmm"}
        Settings of the paper, or of the toolbox for eye movements, for what is left None below; default none.
    n_states : int
        States of the centres; default as the input; method auto: several.  Of "auto", only models of so many are tried.
    n_mix : int
        Gaussians in each state of the centres; default as the input; auto: 1.
    covariance_type : {"diag", "full", "poisson", "bernoulli", "gamma", "von-mises", "categorical", \
"tied:FILE", "COL:NAME,..."}
        What the states of models of sequences emit, as for :class:`vhem.HMM`; default diag; models have theirs.
    topology : {"free", "left-right", "linear"}
        Transitions of models of sequences, as for :class:`vhem.HMM`: only such models are tried; default
        free and linear are tried.  With a method for models, free.
    tau : int, or "auto"
        Length of the virtual samples by which models are compared, in frames; default 10.  "auto": that of the
        sequences which the models were fitted to.
    nv : float
        Number of them for each model: the fewer, the softer the assignments; default 10000; shem: 10;
        vbhem: median frames of a sequence (10 if unknown) / tau; emhmm: models / tau.
    init : {"auto", "base", "far", "emissions", "pooled", "dealt"} or models to start from
        How a run starts; default "auto".
    n_init : int
        Starts, of which the best is kept; default 20 to 300, more for small inputs; em-h3m, shem, hem-dtm: 10; 1
        with a given start.
    search : {"auto", "fast", "thorough", "restarts"}
        What "vhem" tries: starts and candidates from distances between the models; one such candidate; more of
        all; starts alone; default auto; restarts with a preset, an init or a given start.
    candidate : int
        Keep the N-th best partition of the search instead of the best; default 1.
    refine : int
        Cut base Gaussians that overlap into so many slabs, at most 32: a tighter bound, and centres whose states
        blur less; default 1.
    neighbours : int
        Neighbours of each model in the graph of method "knn-sc"; default 10, or fewer where clusters are smaller.
    max_iter : int
        Most iterations of a start; default 200; emhmm: 101.
    tol : float
        A run ends when the bound changes by less than this share, 0: never; default 1e-05;
        vbhem: 1e-06.
    cov_floor : float
        Smallest variance of a centre, as a share of that of the input, 0: none; default 1e-06; em-h3m, shem:
        0.0001; 0 with a preset.
    hmm : :class:`vhem.HMM`
        How sequences become models, for methods that cluster models; without it an HMM of n_states, n_mix,
        covariance_type and topology.
    options : dict
        Further options of the library by name, such as ``{"linkage": "complete"}``.
    random_state, n_jobs, verbose, progress, layout
        As for :class:`vhem.HMM`.
    backend : str
        One of :func:`vhem.backends`, such as "cuda"; default that of :func:`vhem.set_backend`, else the best one.

    Attributes
    ----------
    labels_ : array (Kb,)
        Cluster of each model or sequence, in the highest level; of each group, named in ``result_[0].names``, when
        sequences had groups.  Of "auto" it is the partition that was found, from which centres were made:
        :meth:`predict` asks these, and may put a few sequences elsewhere.
    level_labels_ : array (Kb, levels)
        Cluster of each model in every level.
    z_ : array (Kb, Kr)
        How surely each model belongs to each cluster, given these centres, of the lowest level.  Where
        ``z_.argmax(axis=1)`` is not its label, the centres of "auto" would put a sequence into another group.
    share_ : array (Kb,)
        Of the starts and candidates of this fit whose bound is as good, in how many each model is in the group it has
        here, of the lowest level; None where fewer than two of them are known.  Of "auto": of samples of the sequences.
    centers_ : :class:`vhem.H3M` or :class:`vhem.Textures`
        Of the lowest level; None for a method without centres.
    graphs_ : list of (graph, modularity, stability, agreement, kept)
        Of "auto", else None: the graphs that were partitioned, of which the one with the largest sum of modularity and
        stability was kept; agreement is the adjusted Rand index of its groups with those.  ``pandas.DataFrame`` prints
        it well; ``result_[0].runs`` has the groups of each.
    lower_bound_ : float
        The objective at the end, in nats, of the lowest level; NaN for a method without one, such as "auto".
    models_ : :class:`vhem.H3M` or :class:`vhem.Textures`
        The models that were clustered; not there when sequences were clustered without models of each.
    result_ : :class:`vhem.Tree`
        All levels and everything else: bound curves, restarts, L_hmm, state maps; can be saved, pickled, drawn.
    n_iter_ : int
        Iterations of all levels together; 1 for each level of a method without a bound.
    converged_ : bool
        Of all levels.

    Notes
    -----
    On Ctrl-C the best result so far is stored before KeyboardInterrupt is raised; "auto" has none before its end.

    Examples
    --------
    >>> import vhem
    >>> models = [vhem.Model([1], [[1]], [[x]], [[1.0]]) for x in (0.0, 1.0, 20.0, 21.0)]
    >>> found = vhem.ModelClustering(2, method="ppk-sc").fit(models)
    >>> bool(found.labels_[0] == found.labels_[1]), bool(found.labels_[1] == found.labels_[2])
    (True, False)
    """

    _default_clusters: ClassVar[Any] = 2
    _for_sequences: ClassVar[Optional[str]] = "auto"         # without a method; None: what models of them get

    covariance_type: Optional[str] = None                    # older pickles have neither
    topology: Optional[str] = None
    models_: Union[H3M, Textures]
    labels_: Array
    level_labels_: Array
    z_: Array
    share_: Optional[Array]
    centers_: H3M          # to a type checker; textures have textures, and some methods have no centres: None
    result_: Tree

    def __init__(self, n_clusters: Any = None, *, method: Optional[str] = None, preset: Optional[str] = None,
                 n_states: Optional[int] = None, n_mix: Optional[int] = None,
                 covariance_type: Optional[str] = None, topology: Optional[str] = None, tau: Any = None,
                 nv: Optional[float] = None, init: Any = None, n_init: Optional[int] = None,
                 search: Optional[str] = None, candidate: Optional[int] = None, refine: Optional[int] = None,
                 neighbours: Optional[int] = None, max_iter: Optional[int] = None, tol: Optional[float] = None,
                 cov_floor: Optional[float] = None, hmm: Optional[HMM] = None,
                 options: Optional[Dict[str, Any]] = None, random_state: Any = None,
                 n_jobs: Optional[int] = None, verbose: int = 0, progress: Any = None,
                 backend: Optional[str] = None, layout: Optional[str] = None):
        self.n_clusters = n_clusters
        self.method = method
        self.preset = preset
        self.n_states = n_states
        self.n_mix = n_mix
        self.covariance_type = covariance_type
        self.topology = topology
        self.tau = tau
        self.nv = nv
        self.init = init
        self.n_init = n_init
        self.search = search
        self.candidate = candidate
        self.refine = refine
        self.neighbours = neighbours
        self.max_iter = max_iter
        self.tol = tol
        self.cov_floor = cov_floor
        self.hmm = hmm
        self.options = options
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress
        self.layout = layout
        self.backend = backend

    # ---- fitting

    def _levels(self, method: Optional[str] = None) -> List[int]:
        """Clusters of each level; 0 has the method choose."""
        if self.n_clusters is None and method == "auto":
            return [0]
        wanted = self._default_clusters if self.n_clusters is None else self.n_clusters
        several = np.ndim(wanted) > 0
        levels = list(wanted) if several else [wanted]
        if not all(isinstance(K, numbers.Integral) for K in levels):
            raise InputError(f"n_clusters is {wanted!r}, must be a whole number" +
                             (" for each level" if several else ""))
        if method == "auto" and 0 in levels:
            raise InputError("n_clusters is 0, must be at least 1; without it the number of clusters is chosen")
        return levels

    def _method(self) -> Optional[str]:
        """The method by name, None for the default, which depends on the kind of the models."""
        return self.method

    def _options(self) -> Dict[str, Any]:
        names = ("preset", "n_states", "n_mix", "covariance_type", "topology", "tau", "nv", "init", "n_init", "search",
                 "candidate", "refine", "neighbours", "max_iter", "tol", "cov_floor")
        return {"method": self._method(), **self._options_of(*names), **further(self.options)}

    def fit(self: _Self, X: Any, y: Any = None, lengths: Any = None, groups: Any = None, weights: Any = None) -> _Self:
        """Clusters sequences, or models.

        X is a set of models (:class:`vhem.H3M`, :class:`vhem.Textures`, a list of fitted :class:`vhem.HMM` or
        hmmlearn objects, a path of a model file) or sequences in any form of :mod:`vhem.data`, which are first
        described by one model each, or one per group, unless the method works on sequences.
        """
        _lib.method_facts(self._method())
        seed = _run.seed_of(self.random_state)
        X, lengths = opened(X, self._reading()), lengths_of(X, y, lengths)
        with self._session(seed) as session:
            options = self._options()
            record = self._record(options, seed)
            if holds_models(X):
                self.models_ = as_models(X)
                self._fitted_to(self.models_.d)
                source = _lib.source(self.models_._handle)
            else:
                options["method"] = self._method_of_sequences(options)
                data = self._sequences(X, lengths, groups, weights)
                source = self._from_sequences(session, options, data, seed)
            if session.interrupt is None:
                tree = _lib.cluster(session, source, self._levels(options["method"]), options)
                self._take(Tree._of(tree, record))
                _told.of_clusters(self.result_, self.verbose)
        return self

    def fit_predict(self, X: Any, y: Any = None, lengths: Any = None, groups: Any = None, weights: Any = None) -> Array:
        """Clusters models, or sequences, and gives :attr:`labels_`."""
        return self.fit(X, y, lengths, groups, weights).labels_

    def _method_of_sequences(self, options: Dict[str, Any]) -> Optional[str]:
        """The method for sequences; None: that for the models that are fitted to them."""
        asked: Optional[str] = options["method"]
        unsaid = asked is None and options.get("preset") is None
        method = self._for_sequences if unsaid else asked
        if method == "auto":
            self._check_auto(unsaid)
        return method

    def _check_auto(self, unsaid: bool) -> None:
        """No parameter is ignored.  When "auto" was asked for, the library judges its own options."""
        for name in _OF_OTHERS if unsaid else ("hmm",):
            if getattr(self, name) is not None:
                row = _lib.option_table("cluster").get(RENAMED.get(name, name))
                takes = "vhem" if row is None else row["methods"].split()[0]
                raise InputError(f"{name} is {_OF_OTHERS[name]}; groups of sequences are found without it: leave "
                                 f"it out, or give method={takes!r}, which takes it")

    def _from_sequences(self, session: _lib.Session, options: Dict[str, Any], data: Sequences, seed: int) -> Any:
        """The sequences themselves when the method takes them, else a model of each or of each group."""
        takes = _lib.method_facts(options["method"])
        if takes["takes_data"]:
            for name in ("models_", "fit_report_"):          # of an earlier fit
                self.__dict__.pop(name, None)
            if options["method"] == "auto" and "emission" not in options:
                _told.warn_of_columns(data)
            return _lib.source(data=data.handle(session), by_group=data.groups is not None)
        if takes["takes_hmms"]:
            self.models_, self.fit_report_ = self._hmm(seed)._fit_all(data, seed, session)
        else:
            self.models_ = fit_textures(data, n=self.n_states, random_state=seed, n_jobs=self.n_jobs,
                                        verbose=self.verbose, progress=self.progress)
        self._drop_used(options, takes)
        return _lib.source(self.models_._handle)

    def _drop_used(self, options: Dict[str, Any], takes: Dict[str, Any]) -> None:
        """Removes the options that the models of sequences have, and that the method has no use for."""
        for name in ("S", "M", *(("emission", "topology") if takes["takes_hmms"] else ())):
            asked_of_the_method = name in further(self.options) and name not in ("S", "M")
            if takes["name"] not in _lib.option_table("cluster")[name]["methods"].split() and not asked_of_the_method:
                options.pop(name, None)

    def _hmm(self, seed: int) -> HMM:
        """The estimator that turns sequences into the models to cluster."""
        if self.hmm is None:
            return HMM(random_state=seed, n_states=self.n_states, n_mix=self.n_mix,
                       covariance_type=self.covariance_type, topology=self.topology)
        for name in ("covariance_type", "topology"):
            if getattr(self, name) is not None:
                raise InputError(f"{name} and hmm are both given; give vhem.HMM({name}={getattr(self, name)!r}) as hmm")
        return clone(self.hmm)

    def _take(self, tree: Tree) -> None:
        lowest = tree[0]
        self.result_ = tree
        self.level_labels_ = tree.base_labels
        self.labels_ = self.level_labels_[:, -1]
        self.z_ = lowest.z
        self.share_ = lowest.share
        self.centers_ = lowest.centers
        self.lower_bound_ = lowest.lower_bound
        self.n_iter_ = sum(1 if level.bound is None else level.n_iter for level in tree)
        self.converged_ = all(level.converged for level in tree)

    @property
    def graphs_(self) -> Optional[List[Graph]]:
        return self.result_[0].graphs

    def __sklearn_is_fitted__(self) -> bool:
        return "result_" in vars(self)

    # ---- new models and sequences

    def _assign(self, X: Any, lengths: Any, groups: Any) -> Any:
        check_is_fitted(self, "result_")
        X = opened(X, self._reading_again())
        new = X if holds_models(X) else self._new(X, lengths)
        return self.result_.assign(new, groups=groups, n_jobs=self.n_jobs)

    def predict(self, X: Any, lengths: Any = None, groups: Any = None) -> Array:
        """Cluster of each new model, sequence or, with groups, group of sequences in the highest level.

        groups is a list with the group of each sequence, or True for the groups that the data have.  Each goes to the
        cluster that :meth:`predict_proba` gives most; of VHEM, the models that were clustered go where they are.
        ``labels_`` of a sequence that was fitted to may differ: where the method compares models, as VHEM does, they
        say where its model went; of "auto", in which group it was found, before there were centres to ask.
        """
        return self._assign(X, lengths, groups)[0][:, -1]

    def predict_levels(self, X: Any, lengths: Any = None, groups: Any = None) -> Array:
        """Cluster of each new model, sequence or group in every level, (n, levels)."""
        return self._assign(X, lengths, groups)[0]

    def predict_proba(self, X: Any, lengths: Any = None, groups: Any = None) -> Array:
        """Probability (n, Kr) of each cluster of the lowest level."""
        return self._assign(X, lengths, groups)[1]

    def score_samples(self, X: Any, lengths: Any = None, groups: Any = None) -> Array:
        """The (expected) log-likelihood of each new model, sequence or group under its centre, in nats."""
        return self._assign(X, lengths, groups)[2]

    def score(self, X: Any, y: Any = None, lengths: Any = None) -> float:
        """Mean of :meth:`score_samples`."""
        return float(np.mean(self.score_samples(X, lengths_of(X, y, lengths))))

    def save(self, path: Any) -> None:
        """Writes the clusters to a .json file, for :meth:`load`, the command and C."""
        check_is_fitted(self, "result_")
        self.result_.save(path)

    @classmethod
    def load(cls: Type[_Self], path: Any) -> _Self:
        """A fitted estimator with the clusters and parameters of a file; it predicts, and has no models_."""
        tree = Tree.load(path)
        if not tree[0].method and not len(tree[0].labels):   # a set of models is a level without items
            what = "dynamic textures" if isinstance(tree[0].centers, Textures) else "HMMs"
            raise InputError(f"{path} is a file of models, {tree[0].n_clusters} {what}, must be one of clusters; "
                             "vhem.load reads it")
        made = cls(**_restored.of_clusters(cls._get_param_names(), tree, cls._for_sequences))
        made._take(tree)
        if made.centers_ is not None:
            made._fitted_to(made.centers_.d)
        return made

    def report(self, path: Any, X: Any = None, lengths: Any = None, **more: Any) -> None:
        """Writes one HTML page with all of this; see :meth:`vhem.Tree.report`."""
        check_is_fitted(self, "result_")
        more.setdefault("models", getattr(self, "models_", None))
        self.result_.report(path, X, lengths, **more)


class VHEM(ModelClustering):
    """Clusters of HMMs and their centres by variational hierarchical EM, the method of the paper.

    It looks for the centres with the highest bound of the paper on the models: to reduce many models to few, or to
    work as the paper does.  Sequences become one HMM each first.  Which groups are in a set of sequences is a question
    for :func:`vhem.cluster`, whose groups need not have a high bound.  Dynamic textures are clustered by the
    counterpart for them, "hem-dtm".  :class:`ModelClustering` has the other methods.

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

    _for_sequences = None

    def _method(self) -> Optional[str]:
        return None if self.method == "vhem" else self.method

    def fit(self: _Self, X: Any, y: Any = None, lengths: Any = None, groups: Any = None, weights: Any = None) -> _Self:
        """Clusters models, or sequences; see :meth:`ModelClustering.fit`."""
        if self._method() is not None:
            warnings.warn(f"{type(self).__name__}(method={self.method!r}) does not run VHEM; use vhem.ModelClustering "
                          "for other methods", DeprecationWarning, stacklevel=2)
        return super().fit(X, y, lengths, groups, weights)  # type: ignore[misc]


class VHEMTree(VHEM):
    """A hierarchy by :class:`VHEM`: clusters of models, clusters of their centres, and so on.

    n_clusters is (4, 2) by default.

    Examples
    --------
    >>> import vhem
    >>> models = [vhem.Model([1], [[1]], [[x]], [[1.0]]) for x in (0.0, 1.0, 20.0, 21.0, 70.0, 71.0)]
    >>> tree = vhem.VHEMTree((3, 2)).fit(models)
    >>> [level.n_clusters for level in tree.result_], tree.level_labels_.shape
    ([3, 2], (6, 2))
    """

    _default_clusters = (4, 2)


def _with_parameters(doc: Optional[str], about: Optional[str]) -> Optional[str]:
    """A docstring with the parameters and attributes of another one before its examples.  Python 3.13 removes the
    indent of docstrings, python -OO the docstrings."""
    shared = re.search(r"^ *Parameters\n.*?(?=^ *Notes\n)", about or "", re.M | re.S)
    if not doc or not shared:
        return doc
    before, examples, after = re.split(r"^( *Examples\n)", doc, maxsplit=1, flags=re.M)
    return before + shared[0] + examples + after


VHEM.__doc__ = _with_parameters(VHEM.__doc__, ModelClustering.__doc__)
VHEMTree.__doc__ = _with_parameters(VHEMTree.__doc__, ModelClustering.__doc__)


class VBHEM(ModelClustering):
    """Clusters of HMMs by variational Bayes, which finds how many clusters and states are needed.

    The answer depends on nv times tau, the virtual frames for each model: with more of them finer differences
    count.

    Parameters
    ----------
    n_clusters_max : int
        Most clusters there may be; default 8, or as many as there are models.
    n_states_max : int
        Most states of a centre; default as the input.  Sequences become HMMs of 1 to n_states_max states each,
        6 where it is None.
    prior : str or dict
        A file that holds a prior, the object in such a file, or settings of the default prior,
        ``{"alpha": 1, "nu": 5}`` or "alpha=1,nu=5"; known are alpha, eta, eps, kappa, lambda, nu and scale;
        for other families than Gaussians frames in place of the last three; default one that follows the scale of
        the input.
    learn_prior : int
        Learn the prior anew before every so many iterations; default 0: never.
    prune : bool
        Remove clusters and states that are not needed; default True.
    n_mix, preset, tau, nv, init, n_init, search, max_iter, tol, hmm, options
        As for :class:`ModelClustering`.
    random_state, n_jobs, verbose, progress, layout
        As for :class:`vhem.HMM`.

    Attributes
    ----------
    n_clusters_ : int
        Clusters that are needed.
    n_states_ : array (n_clusters_,)
        States of each of their centres.
    posterior_, prior_ : dict
        Posterior and prior of the centres, laid out as in docs/formats-models.md; ``centers_`` are the posterior means.
    labels_, z_, share_, centers_, lower_bound_, models_, result_, n_iter_, converged_
        As for :class:`ModelClustering`.

    Examples
    --------
    >>> import vhem
    >>> models = [vhem.Model([1], [[1]], [[x]], [[1.0]]) for x in (0.0, 0.1, 0.2, 20.0, 20.1, 20.2)]
    >>> found = vhem.VBHEM(n_clusters_max=4).fit(models)
    >>> found.n_clusters_, found.n_states_.tolist()
    (2, [1, 1])
    """

    def __init__(self, n_clusters_max: Optional[int] = None, n_states_max: Optional[int] = None, *,
                 n_mix: Optional[int] = None, prior: Any = None, learn_prior: Optional[int] = None,
                 prune: Optional[bool] = None, preset: Optional[str] = None, tau: Any = None,
                 nv: Optional[float] = None, init: Any = None, n_init: Optional[int] = None,
                 search: Optional[str] = None, max_iter: Optional[int] = None, tol: Optional[float] = None,
                 hmm: Optional[HMM] = None, options: Optional[Dict[str, Any]] = None, random_state: Any = None,
                 n_jobs: Optional[int] = None, verbose: int = 0, progress: Any = None,
                 layout: Optional[str] = None):
        self.n_clusters_max = n_clusters_max
        self.n_states_max = n_states_max
        self.n_mix = n_mix
        self.prior = prior
        self.learn_prior = learn_prior
        self.prune = prune
        self.preset = preset
        self.tau = tau
        self.nv = nv
        self.init = init
        self.n_init = n_init
        self.search = search
        self.max_iter = max_iter
        self.tol = tol
        self.hmm = hmm
        self.options = options
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress
        self.layout = layout

    def _most(self, name: str, default: Optional[int]) -> Optional[int]:
        """A parameter that is the most there may be of something."""
        value = getattr(self, name)
        if value is None:
            return default
        if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
            raise InputError(f"{name} is {value!r}, must be a whole number of at least 1")
        return int(value)

    def _levels(self, method: Optional[str] = None) -> List[int]:
        return [self._most("n_clusters_max", min(8, len(self.models_))) or 1]

    def _method(self) -> Optional[str]:
        return "vbhem"

    def _options(self) -> Dict[str, Any]:
        names = ("preset", "n_mix", "tau", "nv", "init", "n_init", "search", "max_iter", "tol", "prior",
                 "learn_prior", "prune")
        most = self._most("n_states_max", None)
        states = {} if most is None else {"S": most}
        return {"method": "vbhem", **states, **self._options_of(*names), **further(self.options)}

    def _hmm(self, seed: int) -> HMM:
        if self.hmm is not None:
            return clone(self.hmm)
        return HMM(random_state=seed, n_states=(1, self._most("n_states_max", 6)), n_mix=self.n_mix)

    def _take(self, tree: Tree) -> None:
        super()._take(tree)
        lowest = tree[0]
        self.n_clusters_ = lowest.n_clusters
        self.n_states_ = np.array([len(model.pi) for model in self.centers_])
        self.posterior_, self.prior_ = lowest.posterior, lowest.prior


def cluster(X: Any, n_clusters: Any = None, *, lengths: Any = None, groups: Any = None, weights: Any = None,
            **parameters: Any) -> ModelClustering:
    """Which groups are in these sequences?  A fitted :class:`vhem.ModelClustering` says it.

    Models of several shapes are fitted to the sequences: with states that return or that are passed in order, few and
    many, of the values, of their changes, of each sequence on its own scale.  What they say of each other's sequences
    makes a graph for each shape.  Each graph is partitioned, and the partition is kept whose groups are the most
    distinct, and the most stable when sequences are left out.  The centre of each group is one HMM.

    Parameters
    ----------
    X, lengths, groups, weights
        Sequences in any form of :mod:`vhem.data`, or a file of them; groups, such as persons, are put into clusters as
        a whole.  Models are clustered by VHEM, as :class:`vhem.VHEM` does.
    n_clusters : int, or list of int
        Clusters; by default their number is chosen.  A list: the lowest level has the first number of clusters, each
        level above is VHEM of the centres below.
    **parameters
        Of :class:`vhem.ModelClustering`, by name: ``random_state``, ``n_jobs``, ``covariance_type="categorical"``;
        ``topology``, ``n_states`` and ``n_mix`` restrict the shapes that are tried.

    Returns
    -------
    found : :class:`vhem.ModelClustering`
        ``labels_``, ``centers_``, ``graphs_``, ``predict``, ``report``, ...

    Examples
    --------
    >>> import numpy as np, vhem
    >>> rng = np.random.default_rng(0)
    >>> hill = 4 * np.sin(np.linspace(0, np.pi, 24))
    >>> X = [rng.normal(hill if n % 2 else 4 - hill, 0.3) for n in range(20)]    # up and down, or down and up
    >>> found = vhem.cluster(X, 2)
    >>> found.labels_.tolist() == [0, 1] * 10, len(found.centers_)
    (True, 2)
    >>> (found.predict(X[:4]) == found.labels_[:4]).tolist()
    [True, True, True, True]
    """
    return ModelClustering(n_clusters, **parameters).fit(X, lengths=lengths, groups=groups, weights=weights)
