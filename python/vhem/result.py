# SPDX-License-Identifier: BSD-3-Clause
"""Results of clustering: one level, and hierarchies of levels."""
from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

import numpy as np

from . import _html, _lib
from ._run import session
from ._types import Array
from .data import as_sequences
from .errors import InputError
from .model import H3M, as_models, file_bytes, from_file_bytes, holds_models
from .texture import Textures


class Clustering:
    """One level of clusters.  Arrays are read-only views; what a method does not have is None.

    Attributes
    ----------
    labels : array (Kb,)
        Cluster of each model or sequence.
    z : array (Kb, Kr)
        How surely it belongs to each.
    centers : :class:`vhem.H3M`
        The centre of each cluster, an HMM itself; omega are the weights of the clusters.
    textures : :class:`vhem.Textures`
        The centres when dynamic textures were clustered.
    bound : array (n_iter + 1,)
        The objective of the initial model and after each iteration, in nats.
    L_hmm : array (Kb, Kr)
        Bound on the expected log-likelihood of each model's sequences under each centre, in nats.
    state_map : list of Kb arrays
        For each state of each model, the state of its centre that is most often beside it.
    runs : list of dict
        Every restart and candidate: seed, init, bound, n_iter, converged, finished; bounds, its curve;
        modularity of its groups in the graph of nearest neighbours; agreement, their adjusted Rand index with
        those that were kept; and label, the groups of a candidate.  What is not known is None or NaN; so are
        bounds and label of the run that was kept, which are ``bound`` and ``labels``.
    names, method, options, n_iter, converged, n_empty, n_revived, n_fell
    """

    def __init__(self, tree: _lib.Handle, level: int):
        parts = _lib.level_parts(tree, level)
        self._tree, self._level = tree, level
        self.method: str = parts["method"]
        self.labels: Array = parts["label"]
        self.base_labels: Array = parts["base_label"]
        self.z: Array = parts["z"]
        self.L_hmm: Array = parts["L_hmm"]
        self.bound: Array = parts["bound"]
        self.state_map: Optional[List[Array]] = parts["state_map"]
        self.centers: Optional[H3M] = H3M._of(parts["centers"]) if parts["centers"] is not None else None
        self.textures: Optional[Textures] = (Textures._of(parts["textures"]) if parts["textures"] is not None
                                             else None)
        self.names: List[str] = parts["names"]
        self.runs: List[Dict[str, Any]] = parts["runs"]
        self.options: Dict[str, Any] = parts["options"]
        self.n_clusters: int = parts["Kr"]
        self.n_iter: int = parts["n_iter"]
        self.converged = bool(parts["converged"])
        self.n_empty: int = parts["n_empty"]
        self.n_revived: int = parts["n_revived"]
        self.n_fell: int = parts["n_fell"]

    @property
    def lower_bound(self) -> float:
        """The objective at the end, in nats; NaN for a method without one."""
        return float("nan") if self.bound is None else float(self.bound[-1])

    def save(self, path: Any) -> None:
        """Writes the clustering file, .json."""
        with session() as s:
            _lib.level_save(s, self._tree, self._level, path)

    def __repr__(self) -> str:
        return (f"<Clustering: {len(self.labels)} in {self.n_clusters} clusters by {self.method}, "
                f"{self.n_iter} iterations>")

    def _repr_html_(self) -> str:
        return _html.clustering(self)

    def __reduce__(self) -> Any:
        return _level_of, (Tree._of(self._tree), self._level)


class Tree(Sequence[Clustering]):
    """A stack of clusterings, lowest first; each clusters the centres of the one below.

    It is a list of its levels.  ``tree[0].base_labels`` and those of the levels above tell where each input
    ended up.
    """

    _handle: _lib.Handle

    @classmethod
    def _of(cls, handle: _lib.Handle) -> "Tree":
        made = cls.__new__(cls)
        made._handle = handle
        made._levels = [Clustering(handle, l) for l in range(_lib.tree_size(handle))]
        return made

    _levels: List[Clustering]

    @classmethod
    def load(cls, path: Any) -> "Tree":
        """A tree, or a clustering as a tree of one level, from a .json file."""
        with session() as s:
            return cls._of(_lib.tree_load(s, path))

    def save(self, path: Any) -> None:
        """Writes a tree file; a clustering file when there is one level."""
        if len(self) == 1:
            self[0].save(path)
            return
        with session() as s:
            _lib.tree_save(s, self._handle, path)

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
        return _lib.tree_provenance(self._handle)

    def assign(self, X: Any, lengths: Any = None, *, n_jobs: Optional[int] = -1) -> Tuple[Any, Any, Any]:
        """New models, by L_hmm, or new sequences, by likelihood, into the clusters of every level.

        Returns labels (n, levels), probabilities of the clusters of the lowest level (n, Kr), and for each
        its score under the best of them, in nats.
        """
        with session(n_jobs=n_jobs) as s:
            if holds_models(X):
                return _lib.assign(s, self._handle, as_models(X)._handle, "h3m")
            if isinstance(X, Textures):
                return _lib.assign(s, self._handle, X._handle, "dtm")
            return _lib.assign(s, self._handle, as_sequences(X, lengths).handle(s), "data")

    def report(self, path: Any, X: Any = None, lengths: Any = None, *, models: Any = None,
               title: Optional[str] = None, classes: Optional[Sequence[Any]] = None, distance: Any = None,
               choice: Any = None, image: Any = None, y_down: bool = False, n_example: Optional[int] = None,
               tables: Any = None) -> None:
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
        image : path of a picture to lie under emissions of two dimensions
        y_down : bool
            The second dimension grows downwards, as in pictures.
        tables : folder, optional
            Gets every number as TSV.
        """
        Kb = len(self[0].labels)
        if classes is not None and len(classes) != Kb:
            raise InputError(f"there are {len(classes)} classes, must be {Kb}, one for each model")
        if distance is not None and np.shape(distance) != (Kb, Kb):
            raise InputError(f"distance has shape {np.shape(distance)}, must be {(Kb, Kb)}")
        with session() as s:
            parts = {
                "title": title, "image": image, "y_down": y_down, "tables": tables, "n_example": n_example,
                "models": None if models is None else as_models(models)._handle,
                "data": None if X is None else as_sequences(X, lengths).handle(s),
                "distance": None if distance is None else np.asarray(distance, np.float64),
                "truth": None if classes is None else [str(c) for c in classes], "choice": choice,
                "command": "vhem.Tree.report",
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
        raise InputError(f"a {type(result).__name__} has no clusters; give a fitted VHEM or VHEMTree, or a vhem.Tree")
    return found


def _level_of(tree: Tree, level: int) -> Clustering:
    return tree[level]


def _from_bytes(content: bytes) -> Tree:
    return from_file_bytes(Tree.load, content)
