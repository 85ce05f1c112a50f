# SPDX-License-Identifier: BSD-3-Clause
"""Results of clustering: one level, and hierarchies of levels."""
from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _html, _lib
from ._inputs import as_models, holds_models, opened
from ._run import session
from ._types import Array
from ._symbols import of_models
from .data import as_sequences, grouped, layout_of
from .errors import InputError, warn
from .model import H3M, Models, file_bytes, from_file_bytes
from .texture import Textures

MOST_MODELS, MOST_FRAMES = 200, 100000           # that a report measures without being told to


def _object(text: Optional[str]) -> Optional[Dict[str, Any]]:
    return json.loads(text) if text else None


class Graph(NamedTuple):
    """A graph of sequences that method "auto" partitioned, as :attr:`Clustering.graphs` lists them: how distinct its
    groups are, how stable, and how alike those of the graph that was kept."""

    graph: str
    modularity: float
    stability: float
    agreement: float
    kept: bool


class Clustering:
    """One level of clusters.  Arrays are read-only views; what a method does not have is None.

    Attributes
    ----------
    labels : array (Kb,)
        Cluster of each item: a model, a sequence or a group, as ``items`` says.
    base_labels : array (Kb of the lowest level,)
        Cluster of each item of the lowest level; -1: none.
    parents : array (Kr,)
        Cluster of each centre in the level above, -1: left out; None in the highest level.
    z : array (Kb, Kr)
        How surely an item belongs to each cluster, given these centres.
    share : array (Kb,)
        Of the starts and candidates whose bound is as good, in how many the item is in the group it has here; None
        where fewer than two of them are known.  Of method "auto": of samples of the items.
    centers : :class:`vhem.H3M`, or :class:`vhem.Textures` when dynamic textures were clustered
        The centre of each cluster, a model itself; omega are the weights of the clusters.
    bound : array (n_iter + 1,)
        The objective of the initial model and after each iteration, in nats.
    L_hmm : array (Kb, Kr)
        Bound on the expected log-likelihood of each model's sequences under each centre, in nats.
    state_map : list of Kb arrays
        For each state of each model, the state of its centre that it is most often paired with.
    runs : list of dict
        Every restart and candidate: seed, init, bound, n_iter, converged, finished; bounds, its curve;
        modularity of its groups in the graph of nearest neighbours; agreement, their adjusted Rand index with
        those that were kept; and label, the groups of a candidate.  What is not known is None or NaN; so are
        bounds and label of the run that was kept, which are ``bound`` and ``labels``.  Of method "auto" a run
        is a graph, which init names; it has a modularity, a stability and no bound, and as_good is 1 for the one that
        was kept.
    items : str
        What was clustered: "models", "sequences" or "groups".
    posterior, prior : dict
        Of method "vbhem": the objects of the clustering file.
    n_clusters_max : int
        Clusters there were before those that are not needed were removed.
    names, method, options, n_clusters, n_iter, converged, n_empty, n_revived, n_fell
    """

    def __init__(self, tree: _lib.Handle, level: int, made: Any = None):
        parts = _lib.level_parts(tree, level)
        self._tree, self._level, self._made = tree, level, made
        self.method: str = parts["method"]
        self.labels: Array = parts["label"]
        self.base_labels: Array = parts["base_label"]
        self.parents: Optional[Array] = parts["parent"]
        self.z: Array = parts["z"]
        self.share: Optional[Array] = parts["share"]
        self.L_hmm: Array = parts["L_hmm"]
        self.bound: Array = parts["bound"]
        self.state_map: Optional[List[Array]] = parts["state_map"]
        self.centers: Union[H3M, Textures, None] = None if parts["centers"] is None else Models._of(parts["centers"])
        self.items: Optional[str] = parts["items"]
        self.names: List[str] = parts["names"]
        self.runs: List[Dict[str, Any]] = parts["runs"]
        self.options: Dict[str, Any] = parts["options"]
        self.n_clusters: int = parts["Kr"]
        self.n_clusters_max: int = parts["K_max"]
        self.posterior: Optional[Dict[str, Any]] = _object(parts["posterior"])
        self.prior: Optional[Dict[str, Any]] = _object(parts["prior"])
        self.n_iter: int = parts["n_iter"]
        self.converged = bool(parts["converged"])
        self.n_empty: int = parts["n_empty"]
        self.n_revived: int = parts["n_revived"]
        self.n_fell: int = parts["n_fell"]

    @property
    def lower_bound(self) -> float:
        """The objective at the end, in nats; NaN for a method without one."""
        return float("nan") if self.bound is None else float(self.bound[-1])

    @property
    def graphs(self) -> Optional[List[Graph]]:
        """The graphs that method "auto" partitioned, the one that it kept among them; None for other methods."""
        if self.method != "auto":
            return None
        return [Graph(run["init"], run["modularity"], run["stability"], run["agreement"], bool(run["as_good"]))
                for run in self.runs]

    @property
    def textures(self) -> Optional[Textures]:
        """The centres when they are textures: what :attr:`centers` is since version 0.2."""
        warnings.warn("Clustering.textures was renamed Clustering.centers in version 0.2", DeprecationWarning,
                      stacklevel=2)
        return self.centers if isinstance(self.centers, Textures) else None

    def save(self, path: Any) -> None:
        """Writes the clustering file, .json."""
        tree = Tree._of(self._tree, self._made)
        if len(tree) == 1:
            tree.save(path)
            return
        whole = json.loads(file_bytes(tree.save))
        level = {"format": "vhem-clustering", "version": whole["version"], **whole["levels"][self._level]}
        level.setdefault("provenance", whole.get("provenance"))
        Path(path).write_text(json.dumps(level, indent=1) + "\n")

    def __repr__(self) -> str:
        iterations = "" if self.bound is None else f", {self.n_iter} iterations"
        return f"<Clustering: {len(self.labels)} in {self.n_clusters} clusters by {self.method}{iterations}>"

    def _repr_html_(self) -> str:
        return _html.clustering(self)

    def __reduce__(self) -> Any:
        return _level_of, (Tree._of(self._tree, self._made), self._level)


class Tree(Sequence[Clustering]):
    """A stack of clusterings, lowest first; each clusters the centres of the one below.

    It is a list of its levels.  ``tree[0].base_labels`` and those of the levels above tell where each input
    ended up.
    """

    _handle: _lib.Handle

    _levels: List[Clustering]
    _made: Any                                   # what made this, when that was not a file

    @classmethod
    def _of(cls, handle: _lib.Handle, made: Any = None) -> "Tree":
        found = cls.__new__(cls)
        found._handle, found._made = handle, made
        found._levels = [Clustering(handle, l, made) for l in range(_lib.tree_facts(handle)["levels"])]
        return found

    @classmethod
    def load(cls, path: Any) -> "Tree":
        """A tree, a clustering as a tree of one level, or models as a level without items, from a file."""
        with session() as s:
            return cls._of(_lib.read(s, "tree", path))

    def save(self, path: Any) -> None:
        """Writes a tree file; a clustering file when there is one level."""
        with session() as s:
            _lib.write(s, "tree", self._handle, self._made, path)

    def __len__(self) -> int:
        return len(self._levels)

    def __getitem__(self, key: Any) -> Any:
        return self._levels[key]

    def __iter__(self) -> Iterator[Clustering]:
        return iter(self._levels)

    @property
    def base_labels(self) -> Array:
        """Where each input ended up, (Kb, levels)."""
        return np.column_stack([level.base_labels for level in self])

    @property
    def provenance(self) -> Any:
        """What made this result, when that is known."""
        return _lib.tree_facts(self._handle)["provenance"] if self._made is None else self._made

    def assign(self, X: Any, lengths: Any = None, *, groups: Any = None,
               n_jobs: Optional[int] = None) -> Tuple[Any, Any, Any]:
        """New models, by L_hmm, or new sequences, by likelihood, into the clusters of every level.

        With groups, a list with the group of each sequence or True for those that the data have, each group
        goes into a cluster as a whole.  Returns labels (n, levels), probabilities of the clusters of the lowest
        level (n, Kr), and for each its score under the best of them, in nats.
        """
        X = opened(X, of_models(self[0].centers))
        with session(n_jobs=n_jobs) as s:
            if holds_models(X):
                models = as_models(X)
                return _lib.assign(s, self._handle, _lib.source(models._handle), len(models))
            data, by_group = grouped(self._sequences(X, lengths), groups)
            n = len(data.group_names) if by_group else len(data)
            return _lib.assign(s, self._handle, _lib.source(data=data.handle(s), by_group=by_group), n)

    def _sequences(self, X: Any, lengths: Any) -> Any:
        """Sequences for the centres, in the columns that these have."""
        return as_sequences(X, lengths, layout=self._layout_of(X), reading=of_models(self[0].centers))

    def _layout_of(self, X: Any) -> Optional[str]:
        """The one in which an array has the channels of the centres."""
        return layout_of(X, getattr(self[0].centers, "d", None))

    def measure(self, X: Any = None, lengths: Any = None, *, models: Any = None, level: int = 0,
                tau: Optional[int] = None, power: Optional[float] = None, kernel: Optional[str] = None,
                n_jobs: Optional[int] = None) -> Dict[str, float]:
        """How good the clusters of a level are; see :func:`vhem.metrics.measures`."""
        with session(n_jobs=n_jobs) as s:
            of = _lib.source(None if models is None else as_models(models)._handle,
                             None if X is None else self._sequences(X, lengths).handle(s))
            return _lib.measure(s, self._handle, level, of, {"tau": tau, "lambda": power, "kernel": kernel})

    def _measured(self, models: Any, data: Any, everything: bool) -> Optional[List[Dict[str, float]]]:
        """The measures of every level, of many models or frames only when everything is asked for."""
        many = models is not None and len(models) > MOST_MODELS, data is not None and len(data.y) > MOST_FRAMES
        if any(many) and not everything:
            warn(f"measures of more than {MOST_MODELS} models or {MOST_FRAMES} frames are left out; measures=True "
                 "computes them")
            models, data = (None if much else given for much, given in zip(many, (models, data)))
        if (models is None and data is None) or not len(self[0].labels):
            return None
        try:
            return [self.measure(data, models=models, level=l) for l in range(len(self))]
        except InputError as error:                          # sequences with gaps, for instance
            if everything:
                raise
            warn(f"the report has no measures: {error}")
            return None

    def report(self, path: Any, X: Any = None, lengths: Any = None, *, models: Any = None,
               title: Optional[str] = None, classes: Optional[Sequence[Any]] = None, distance: Any = None,
               choice: Any = None, measures: Optional[bool] = None, image: Any = None, y_down: bool = False,
               n_example: int = 2, tables: Any = None, frame_name: Optional[str] = None, plane: Any = None,
               stats: Any = None) -> None:
        """Writes one HTML page that needs nothing else, for any browser.

        Parameters
        ----------
        X, lengths
            Sequences to show some of, coloured by state; they are matched to models by name or group.
        models : the models that were clustered: their labels, and what made them
        classes : list (Kb,), optional
            Known class of each model, instead of the labels of the models.
        distance : array (Kb, Kb), optional
            Between the models; of :func:`vhem.metrics.distance`.
        choice : records of :func:`vhem.metrics.choose`, optional
        measures : bool, optional
            Whether to work out how good the clusters are (:func:`vhem.metrics.measures`) from the models and
            sequences that are given; by default where that is quick, with a warning where it is not.
        image : path of a picture to lie under emissions of two dimensions
        y_down : bool
            The second dimension grows downwards, as in pictures.
        tables : folder, optional
            Gets every number as TSV.
        frame_name : str, optional
            What frames are called on the page: "fixations"; default "frames".
        plane : pair of names or numbers of dimensions, optional
            Drawn as the plane when there are more than two; each other dimension is a strip.
        stats : of :func:`vhem.metrics.stats`, optional
        """
        Kb = _lib.n_items(self._handle)
        if classes is not None and len(classes) != Kb:
            raise InputError(f"there are {len(classes)} classes, must be {Kb}, one for each model")
        if distance is not None and np.shape(distance) != (Kb, Kb):
            raise InputError(f"distance has shape {np.shape(distance)}, must be {(Kb, Kb)}")
        models = None if models is None else as_models(models)
        data = None if X is None else self._sequences(X, lengths)
        found = None if measures is False else self._measured(models, data, bool(measures))
        with session() as s:
            parts = {
                "title": title, "image": image, "y_down": y_down, "tables": tables,
                "models": None if models is None else models._handle,
                "data": None if data is None else data.handle(s), "measures": found,
                "examples": None if data is None else _lib.examples(s, self._handle, data.handle(s), n_example),
                "distance": None if distance is None else np.asarray(distance, np.float64),
                "truth": None if classes is None else [str(c) for c in classes], "choice": choice,
                "command": "vhem.Tree.report", "frame_name": frame_name,
                "plane": ",".join(map(str, plane)) if isinstance(plane, (tuple, list)) else plane,
                "stats": None if stats is None else stats._handle,
            }
            _lib.report(s, self._handle, path, parts)

    def __repr__(self) -> str:
        sizes = ", ".join(str(level.n_clusters) for level in self)
        return f"<Tree: {len(self[0].labels)} in {sizes} clusters>"

    def _repr_html_(self) -> str:
        return "".join(level._repr_html_() for level in self)

    def __reduce__(self) -> Any:
        return _from_bytes, (file_bytes(self.save),)

    def __deepcopy__(self, memo: Any) -> "Tree":
        return self


def as_tree(result: Any) -> Tree:
    """The tree of a fitted estimator, or itself."""
    found = getattr(result, "result_", result)
    if not isinstance(found, Tree):
        raise InputError(f"{type(result).__name__} objects have no clusters; give a fitted VHEM or VHEMTree, or a "
                         "vhem.Tree")
    return found


def _level_of(tree: Tree, level: int) -> Clustering:
    return tree[level]


def _from_bytes(content: bytes) -> Tree:
    return from_file_bytes(Tree.load, content)
