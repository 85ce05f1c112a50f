# SPDX-License-Identifier: BSD-3-Clause
"""Models of classes and of tags: each is a small mixture of HMMs, learned from the models of its examples."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _lib, _run
from ._base import Estimator, further, start_options
from ._types import Array
from .data import Sequences, as_sequences, is_path
from .errors import InputError
from .estimate import prior_text
from .model import H3M, file_bytes, from_file_bytes


class Classes:
    """Trained models of classes or tags: a file, a pickle, a mapping from names to :class:`vhem.H3M`."""

    def __init__(self, handle: _lib.Handle):
        self._handle = handle
        parts = _lib.classes_parts(handle)
        self.names: List[str] = [part["name"] for part in parts]
        self.models: List[H3M] = [H3M._of(part["model"]) for part in parts]
        self.prior: Array = np.array([part["prior"] for part in parts])
        self.n_things: List[int] = [part["things"] for part in parts]
        self.options: Dict[str, Any] = _lib.classes_options(handle)

    @classmethod
    def load(cls, path: Any) -> "Classes":
        """Reads what :meth:`save`, or the command, wrote."""
        with _run.session() as session:
            return cls(_lib.classes_load(session, path))

    def save(self, path: Any, made: Any = None) -> None:
        """Writes the file; made is a record of what made it, kept under "provenance"."""
        with _run.session() as session:
            _lib.classes_save(session, self._handle, made, path)

    def updated(self, data: Sequences, tags: Optional[_lib.Tags] = None, store: Any = None) -> "Classes":
        """These classes with more data; the store is that of the training.  What there is stays as it is."""
        more = _from_bytes(file_bytes(self.save))            # the library changes its object in place
        with _run.session() as session:
            _lib.classes_update(session, more._handle, data.handle(session), tags, store)
        return Classes(more._handle)

    def __getitem__(self, name: str) -> H3M:
        if name not in self.names:
            raise KeyError(name)
        return self.models[self.names.index(name)]

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<Classes: {', '.join(self.names[:8])}{', ...' if len(self) > 8 else ''}>"

    def __reduce__(self) -> Any:
        return _from_bytes, (file_bytes(self.save),)

    def __deepcopy__(self, memo: Any) -> "Classes":
        return self


def _from_bytes(content: bytes) -> Classes:
    return from_file_bytes(Classes.load, content)


@dataclass(frozen=True)
class CrossValidation:
    """What models said of sequences, or groups, that they were not trained on.

    Attributes
    ----------
    names : list (n,)
    fold : array (n,)
        The fold in which each was held out; -1: never, and its row is of no use.
    classes : array (C,)
        The classes, or tags.
    log_proba : array (n, C)
    truth : array (n, C)
        Who has which class or tags, 0 or 1.
    """

    names: List[str]
    fold: Array
    classes: Array
    log_proba: Array
    truth: Array

    @property
    def predictions(self) -> Array:
        """The most likely class of each, (n,)."""
        return np.asarray(self.classes)[np.argmax(self.log_proba, axis=1)]

    @property
    def accuracy(self) -> float:
        """Share of those held out that have the class, or tag, which is most likely."""
        best = np.argmax(self.log_proba, axis=1)
        return float(self.truth[np.arange(len(best)), best][self.fold >= 0].mean())

    def measures(self, top: int = 1, at: Sequence[int] = (10,), never_given: str = "zero") -> Tuple[Array, Array]:
        """Precision and so on of those held out; see :meth:`TagModel.measures`."""
        held = self.fold >= 0
        return _ranked(np.exp(self.log_proba[held]), self.truth[held], top, at, never_given)


def _ranked(weights: Array, truth: Array, top: int, at: Sequence[int], never_given: str) -> Tuple[Array, Array]:
    _check_top(top)
    with _run.session() as session:
        return _lib.rank(session, np.ascontiguousarray(weights), np.ascontiguousarray(truth, np.uint8), list(at),
                         {"top": min(top, weights.shape[1]), "never_given": never_given})


class _Trained(Estimator):
    """What the classifier and the tag model share."""

    def __init__(self, *, estimator: str = "vhem", n_components: int = 4, n_piece: int = 1, n_states: int = 3,
                 n_mix: int = 1, covariance_type: str = "diag", topology: str = "free", init: Any = "kmeans",
                 n_init: Optional[int] = None, fit_prior: Any = None, chunk: int = 1, prior: str = "uniform",
                 tau: Optional[int] = None, nv: Optional[float] = None, fast: int = 0, store: Any = None,
                 options: Optional[Dict[str, Any]] = None, random_state: Any = None,
                 n_jobs: Optional[int] = -1, verbose: int = 0, progress: Any = None):
        self.estimator = estimator
        self.n_components = n_components
        self.n_piece = n_piece
        self.n_states = n_states
        self.n_mix = n_mix
        self.covariance_type = covariance_type
        self.topology = topology
        self.init = init
        self.n_init = n_init
        self.fit_prior = fit_prior
        self.chunk = chunk
        self.prior = prior
        self.tau = tau
        self.nv = nv
        self.fast = fast
        self.store = store
        self.options = options
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.progress = progress

    def _train_options(self, by_group: bool) -> Dict[str, Any]:
        piece = {
            "K": self.n_piece, "S": self.n_states, "M": self.n_mix, "restarts": self.n_init,
            "emission": f"gaussian-{self.covariance_type}", "topology": self.topology,
            "prior": prior_text(self.fit_prior), **start_options(self.init)
        }
        reduce = {"K": self.n_components, "tau": self.tau, "nv": self.nv, "S": self.n_states, "M": self.n_mix,
                  "restarts": self.n_init}
        if _lib.takes_data(self.estimator):
            reduce["emission"] = piece["emission"]
        return {"estimator": self.estimator, "piece": piece, "reduce": reduce, "by_group": by_group,
                "chunk": self.chunk, "prior": self.prior, "store": self.store, **further(self.options)}

    def _train(self, data: Sequences, tags: Optional[_lib.Tags] = None) -> None:
        options = self._train_options(data.groups is not None)
        seed = _run.seed_of(self.random_state)
        with self._session(seed) as session:
            self.models_ = Classes(_lib.classes_train(session, data.handle(session), tags, options))
        self._made = self._record(options, seed)

    def _more(self, X: Any, lengths: Any, groups: Any) -> Sequences:
        """New data to go on learning from."""
        data = self._new(X, lengths)
        return data if groups is None else data.with_groups(groups)

    def _validated(self, data: Sequences, tags: Optional[_lib.Tags], folds: int,
                   holdout: Optional[float]) -> Dict[str, Any]:
        if not isinstance(folds, (int, np.integer)):
            raise InputError(f"folds is {folds!r}, must be a whole number")
        options = self._train_options(data.groups is not None)
        with self._session(_run.seed_of(self.random_state)) as session:
            return _lib.crossvalidate(session, data.handle(session), tags, options,
                                      folds if holdout is None else 0, 0.0 if holdout is None else float(holdout))

    def _predicted(self, X: Any, lengths: Any, groups: Any) -> Dict[str, Any]:
        data = self._new(X, lengths)
        if groups is not None:
            data = data.with_groups(groups)
        with self._session(0) as session:
            return _lib.classes_predict(session, self.models_._handle, data.handle(session), self.fast)

    def save(self, path: Any) -> None:
        """Writes the models of the classes; the command reads them too."""
        check_is_fitted(self)
        self.models_.save(path, self._made)

    def __sklearn_is_fitted__(self) -> bool:
        return "models_" in vars(self)


class HMMClassifier(ClassifierMixin, _Trained):  # type: ignore[misc]
    """Classes of sequences by Bayes' rule: the model of a class is a mixture of HMMs.

    An HMM is fitted to each sequence, and those of a class are reduced to n_components by VHEM: the sequences
    are looked at once, and new ones can be added later.

    Parameters
    ----------
    estimator : str
        How the model of a class is estimated; one of :func:`vhem.methods`.
    n_components : int
        HMMs of a class.
    n_piece : int
        HMMs fitted to each piece of the data.
    n_states, n_mix, covariance_type, topology, init
        Of these HMMs; as for :class:`vhem.HMM`.
    n_init : int, optional
        Starts of each fit and of each reduction.
    fit_prior
        Prior of these fits; ``prior`` of :class:`vhem.HMM`.
    chunk : int
        Sequences, or groups, that make a piece.
    prior : {"uniform", "counts"}
    tau, nv
        Of the reduction; as for :class:`vhem.VHEM`.
    fast : int
        Above 0: look HMMs up in a tree and score only so many of its branches.
    store : path, optional
        A file that keeps what is fitted, to go on from.
    options : dict, optional
        Further options of the library by name.

    Attributes
    ----------
    classes_ : array (C,)
    models_ : :class:`vhem.Classes`

    Examples
    --------
    >>> import numpy as np, vhem
    >>> rng = np.random.default_rng(0)
    >>> X = [rng.normal(5 * (n % 2), 1, size=(30, 1)) for n in range(8)]
    >>> y = ["low", "high"] * 4
    >>> clf = vhem.HMMClassifier(n_components=1, n_states=1).fit(X, y)
    >>> clf.predict(X[:2]).tolist(), clf.score(X, y)
    (['low', 'high'], 1.0)
    """

    def fit(self, X: Any, y: Any = None, lengths: Any = None, groups: Any = None) -> "HMMClassifier":
        """Learns the classes y of the sequences, by default their labels; a group is one example."""
        data = self._sequences(X, lengths, groups)
        target = self._target(data, y)
        classes = np.unique(target)
        self._train(_labelled(data, target, classes))
        names = _class_names(classes)
        kept = [c for c in range(len(classes)) if names[c] in self.models_.names]
        self.classes_, self._names = classes[kept], [names[c] for c in kept]
        return self

    def update(self, X: Any, y: Any = None, lengths: Any = None, groups: Any = None) -> "HMMClassifier":
        """Learns from more data, also new classes, as if it had been there from the start.

        What was fitted before is in ``store``, without which there is nothing to go on from.
        """
        data = self._more(X, lengths, groups)
        target = self._target(data, y)
        if (target.dtype.kind in "OUS") != (self.classes_.dtype.kind in "OUS"):
            raise InputError(f"the new classes are {target.dtype}, those before {self.classes_.dtype}")
        classes = np.union1d(self.classes_, target)
        names = _class_names(classes)
        if not set(self._names) <= set(names):
            raise InputError("the classes have no names that differ as text: train again with all the data")
        self.models_ = self.models_.updated(_labelled(data, target, classes), store=self.store)
        self.classes_, self._names = classes, names
        return self

    def cross_validate(self, X: Any, y: Any = None, folds: int = 5, *, holdout: Optional[float] = None,
                       lengths: Any = None, groups: Any = None) -> CrossValidation:
        """Trains without one fold and predicts it, for every fold; or once, and a share is held out.

        A piece that several folds have is fitted once, so this is quicker than scikit-learn's
        ``cross_validate``.  The estimator itself is left as it is.
        """
        data = as_sequences(X, lengths, groups=groups)
        target = self._target(data, y)
        classes = np.unique(target)
        names = _class_names(classes)
        found = self._validated(_labelled(data, target, classes), None, folds, holdout)
        kept = [names.index(name) for name in found["classes"]]
        truth = np.array([[label == name for name in found["classes"]] for label in found["labels"]], np.uint8)
        return CrossValidation(found["names"], found["fold"], classes[kept], found["log_posterior"], truth)

    @staticmethod
    def _target(data: Sequences, y: Any) -> Array:
        """The class of each sequence."""
        y = data.labels if y is None else y
        if y is None:
            raise InputError(
                "HMMClassifier requires y to be passed, but the target y is None; the data have no "
                "labels either")
        target = column_or_1d(y, warn=True)
        check_classification_targets(target)
        if len(target) != len(data):
            raise InputError(
                f"Found input variables with inconsistent numbers of samples: {len(target)} classes, "
                f"{len(data)} sequences")
        return np.asarray(target)

    def predict_log_proba(self, X: Any, lengths: Any = None, groups: Any = None) -> Array:
        """log p(class | sequences), (n, C): of each sequence, or of each group."""
        found = self._predicted(X, lengths, groups)["log_posterior"]
        return found[:, [self.models_.names.index(name) for name in self._names]]

    def predict_proba(self, X: Any, lengths: Any = None, groups: Any = None) -> Array:
        """p(class | sequences), (n, C)."""
        return np.exp(self.predict_log_proba(X, lengths, groups))

    def predict(self, X: Any, lengths: Any = None, groups: Any = None) -> Array:
        """The most likely class of each sequence, or of each group."""
        log_p = self.predict_log_proba(X, lengths, groups)
        return self.classes_[np.argmax(log_p, axis=1)]


def _class_names(classes: Array) -> List[str]:
    """Names in the file: the classes as text, where these differ and there is some."""
    names = [str(c) for c in classes]
    return names if all(names) and len(set(names)) == len(names) else [str(c) for c in range(len(names))]


def _labelled(data: Sequences, target: Array, classes: Array) -> Sequences:
    """The same sequences with the names of their classes as labels."""
    names = _class_names(classes)
    return Sequences(data.y, data.lengths, names=data.names, groups=data.groups, weights=data.weights,
                     labels=[names[c] for c in np.searchsorted(classes, target)], columns=data.columns)


class TagModel(_Trained):
    """Tags of songs, or of anything that has several: a mixture of HMMs for each tag.

    Parameters are those of :class:`HMMClassifier`.

    Attributes
    ----------
    tags_ : list of str
    models_ : :class:`vhem.Classes`

    Examples
    --------
    >>> import numpy as np, vhem
    >>> rng = np.random.default_rng(0)
    >>> X = [rng.normal(5 * (n % 2), 1, size=(30, 1)) for n in range(8)]
    >>> Y = [["calm", "low"], ["loud"]] * 4
    >>> model = vhem.TagModel(n_components=1, n_states=1).fit(X, Y)
    >>> model.annotate(X[:2], top=1)
    [['calm'], ['loud']]
    >>> sorted(model.retrieve(X, "loud", top=4).tolist())
    [1, 3, 5, 7]
    """

    def fit(self, X: Any, Y: Any, lengths: Any = None, groups: Any = None,
            tags: Optional[Sequence[str]] = None) -> "TagModel":
        """Learns tags.

        Y has a row for each sequence, or for each group in the order they come: a list of its tags, or zeros
        and ones (n, C), with the names of the columns in ``tags``.  Or it is the path of a file that says
        which tags the sequences or groups have, by name.
        """
        self._train(*_tagged(self._sequences(X, lengths, groups), Y, tags))
        self.tags_ = self.models_.names
        return self

    def update(self, X: Any, Y: Any, lengths: Any = None, groups: Any = None,
               tags: Optional[Sequence[str]] = None) -> "TagModel":
        """Learns from more data, also new tags, as if it had been there from the start.

        What was fitted before is in ``store``, without which there is nothing to go on from.
        """
        data, table = _tagged(self._more(X, lengths, groups), Y, tags)
        self.models_ = self.models_.updated(data, table, store=self.store)
        self.tags_ = self.models_.names
        return self

    def cross_validate(self, X: Any, Y: Any, folds: int = 5, *, holdout: Optional[float] = None,
                       lengths: Any = None, groups: Any = None,
                       tags: Optional[Sequence[str]] = None) -> CrossValidation:
        """Trains without one fold and predicts it, for every fold; or once, and a share is held out."""
        data, table = _tagged(as_sequences(X, lengths, groups=groups), Y, tags)
        found = self._validated(data, table, folds, holdout)
        truth, _ = _truth(table, found["names"], found["classes"])
        return CrossValidation(found["names"], found["fold"], np.array(found["classes"]), found["log_posterior"],
                               truth)

    def predict_proba(self, X: Any, lengths: Any = None, groups: Any = None) -> Array:
        """Weights of the tags that sum to 1, (n, tags): of each sequence, or of each group."""
        return np.exp(self._predicted(X, lengths, groups)["log_posterior"])

    def annotate(self, X: Any, top: int = 10, lengths: Any = None, groups: Any = None) -> List[List[str]]:
        """The best tags of each sequence or group, best first."""
        _check_top(top)
        order = np.argsort(-self.predict_proba(X, lengths, groups), axis=1, kind="stable")[:, :top]
        return [[self.tags_[c] for c in row] for row in order]

    def retrieve(self, X: Any, tag: str, top: int = 10, lengths: Any = None, groups: Any = None) -> Array:
        """Which sequences or groups have the tag most likely, best first."""
        check_is_fitted(self)
        _check_top(top)
        if tag not in self.tags_:
            raise InputError(f"the tag is {tag!r}, must be one of {', '.join(self.tags_[:20])}")
        weight = self.predict_proba(X, lengths, groups)[:, self.tags_.index(tag)]
        return np.argsort(-weight, kind="stable")[:top]

    def measures(self, X: Any, Y: Any, top: int = 10, at: Sequence[int] = (10,), lengths: Any = None,
                 groups: Any = None, tags: Optional[Sequence[str]] = None,
                 never_given: str = "zero") -> Tuple[Array, Array]:
        """For each tag, records n, given, right, precision, recall, F, average_precision; and precision among
        the first k that are retrieved, for every k in ``at``, (tags, len(at)).  Of a file of tags, what it
        does not name is left out.  The precision of a tag that nothing is given is 0/0: 0, or with
        ``never_given="base-rate"`` the share that have it."""
        data, table = _tagged(self._more(X, lengths, groups), Y, tags)
        weights = self.predict_proba(data)
        truth, known = _truth(table, _things(data), self.tags_)
        return _ranked(weights[known], truth[known], top, at, never_given)

    def score(self, X: Any, Y: Any, lengths: Any = None, groups: Any = None) -> float:
        """Mean average precision over the tags that occur in Y."""
        rows, _ = self.measures(X, Y, lengths=lengths, groups=groups)
        return float(rows["average_precision"][rows["n"] > 0].mean())


def _check_top(top: Any) -> None:
    if not isinstance(top, (int, np.integer)) or top < 1:
        raise InputError(f"top is {top!r}, must be a whole number, at least 1")


def _things(data: Sequences) -> List[str]:
    """What has tags: groups in the order they come, or sequences by name, or by number."""
    if data.groups is not None:
        return list(dict.fromkeys(data.groups))
    names = data.names
    return names if names is not None and len(set(names)) == len(names) else [
        str(n) for n in range(len(data))
    ]


def _tagged(data: Sequences, Y: Any, tags: Optional[Sequence[str]]) -> Tuple[Sequences, _lib.Tags]:
    """Sequences that have names or groups, and the tags of these."""
    things = _things(data)
    if data.groups is None:
        data = Sequences(data.y, data.lengths, names=things, weights=data.weights, columns=data.columns)
    if is_path(Y):
        with _run.session() as session:
            return data, _lib.tags_load(session, Y)
    names, has = _table(Y, tags)
    if len(has) != len(things):
        raise InputError(f"there are tags of {len(has)}, and {len(things)} sequences or groups")
    return data, _lib.Tags(things, names, has)


def _truth(table: _lib.Tags, things: List[str], tags: Sequence[str]) -> Tuple[Array, List[int]]:
    """Who of these has which of these tags, (n, C), and which of these the table knows."""
    row = {thing: n for n, thing in enumerate(table.things)}
    known = [n for n, thing in enumerate(things) if thing in row]
    if not known:
        raise InputError(f"none of the {len(things)} sequences or groups has tags, {things[0]!r} for instance")
    truth = np.zeros((len(things), len(tags)), np.uint8)
    rows = [row[things[n]] for n in known]
    for c, tag in enumerate(tags):
        if tag in table.tags:
            truth[known, c] = table.has[rows, table.tags.index(tag)]
    return truth, known


def _table(Y: Any, tags: Optional[Sequence[str]]) -> Tuple[List[str], Array]:
    """Names of tags and who has them, (n, C) of 0 and 1."""
    if isinstance(Y, Mapping) or not hasattr(Y, "__len__"):
        raise InputError(f"Y is a {type(Y).__name__}, must be a list with the tags of each sequence or group")
    if hasattr(Y, "columns") and tags is None:
        tags = [str(name) for name in Y.columns]
    if hasattr(Y, "shape"):
        has = np.asarray(Y)
        if has.ndim != 2 or not np.isin(has, (0, 1)).all():
            raise InputError(f"Y has shape {has.shape}, must be zeros and ones, (n, tags)")
        names = [str(c) for c in range(has.shape[1])] if tags is None else [str(tag) for tag in tags]
        if len(names) != has.shape[1] or len(set(names)) != len(names):
            raise InputError(f"there are {len(set(names))} different tags, must be {has.shape[1]}, one for each column")
        return names, np.ascontiguousarray(has, np.uint8)
    for n, row in enumerate(Y):
        if isinstance(row, str) or not hasattr(row, "__iter__"):
            raise InputError(f"row {n} of Y is {row!r}, must be a list of tags")
    names = sorted({str(tag) for row in Y for tag in row}) if tags is None else [str(tag) for tag in tags]
    place = {name: c for c, name in enumerate(names)}
    has = np.zeros((len(Y), len(names)), np.uint8)
    for n, row in enumerate(Y):
        has[n, [place[str(tag)] for tag in row if str(tag) in place]] = 1
    return names, has
