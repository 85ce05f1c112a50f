# SPDX-License-Identifier: BSD-3-Clause
"""Models of classes and of tags: each is a small mixture of models, learned from those of its examples."""
from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _lib, _restored, _run
from ._base import Estimator
from ._options import further, joined
from ._types import Array, Prediction, Tags
from .data import Sequences, as_sequences, is_path
from .errors import InputError
from .metrics import Judgement
from .model import Models, file_bytes, from_file_bytes


class Classes:
    """Trained models of classes or tags: a file, a pickle, a mapping from names to :class:`vhem.H3M` or, for
    dynamic textures, to :class:`vhem.Textures`.

    Attributes
    ----------
    names : list (C,)
    models : list (C,)
    prior : array (C,)
    n_items, n_pieces : lists (C,)
        What each was learned from.
    options : dict
        Those of the training.
    """

    def __init__(self, handle: _lib.Handle, made: Any = None):
        self._handle, self._made = handle, made
        parts = _lib.classes_parts(handle)
        self.names: List[str] = [part["name"] for part in parts]
        self.models: List[Any] = [Models._of(part["models"]) for part in parts]
        self.prior: Array = np.array([part["prior"] for part in parts])
        self.n_items: List[int] = [part["items"] for part in parts]
        self.n_pieces: List[int] = [part["pieces"] for part in parts]
        self.options: Dict[str, Any] = _lib.classes_facts(handle)["options"]

    @property
    def n_things(self) -> List[int]:
        """What :attr:`n_items` was called before version 0.2."""
        warnings.warn("Classes.n_things was renamed Classes.n_items in version 0.2", DeprecationWarning,
                      stacklevel=2)
        return self.n_items

    @property
    def provenance(self) -> Any:
        """What made these models, when that is known."""
        return _lib.classes_facts(self._handle)["provenance"] if self._made is None else self._made

    @classmethod
    def load(cls, path: Any) -> "Classes":
        """Reads what :meth:`save`, or the command, wrote."""
        with _run.session() as session:
            return cls(_lib.read(session, "classes", path))

    def save(self, path: Any, made: Any = None) -> None:
        """Writes the file; made is a record of what made it, kept under "provenance"."""
        with _run.session() as session:
            _lib.write(session, "classes", self._handle, self._made if made is None else made, path)

    def updated(self, data: Sequences, tags: Optional[Tags] = None, store: Any = None) -> "Classes":
        """These classes, trained further on more data with the store of the first training; a new object."""
        more = _from_bytes(file_bytes(self.save))            # the library changes its object in place
        with _run.session() as session:
            _lib.classes_update(session, more._handle, data.handle(session), tags, store)
        return Classes(more._handle, self._made)

    def __getitem__(self, name: Any) -> Any:
        """The models of a class, by its name; a class that is a whole number may be given as that."""
        called = str(name)
        if called not in self.names:
            raise KeyError(f"there is no class {called!r}; the classes are {', '.join(self.names[:20])}")
        return self.models[self.names.index(called)]

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
    """What models said of items (sequences, or groups) that they were not trained on.

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
    _said: Prediction
    _tags: Optional[Tags]

    @property
    def predictions(self) -> Array:
        """The most likely class of each, (n,)."""
        return np.asarray(self.classes)[np.argmax(self.log_proba, axis=1)]

    def judge(self, top: Optional[int] = None, at: Sequence[int] = (),
              never_given: Optional[str] = None) -> Judgement:
        """Accuracy, confusion, precision and so on of those held out; see :class:`vhem.metrics.Judgement`."""
        return _judged(self._said, self._tags, top, at, never_given)

    @property
    def accuracy(self) -> float:
        """Share of those held out that have the class, or tag, which is most likely."""
        return self.judge().accuracy

    @property
    def confusion(self) -> Array:
        """Items of each true class, in rows, by the class that is most likely, (C, C)."""
        return self.judge().confusion

    def measures(self, top: int = 1, at: Sequence[int] = (10,),
                 never_given: Optional[str] = None) -> Tuple[Array, Array]:
        """Precision and so on of those held out; see :meth:`TagModel.measures`."""
        found = self.judge(top, at, never_given)
        return found.each, found.each_p_at


def _judged(said: Prediction, tags: Optional[Tags], top: Optional[int], at: Sequence[int],
            never_given: Optional[str]) -> Judgement:
    """A prediction against tags, or against the labels of its items."""
    _check_top(top)
    with _run.session() as session:
        found = _lib.judge(session, said, tags, list(at), {"top": top, "never_given": never_given})
    return Judgement._of(said.classes, found)


class _Trained(Estimator):
    """What the classifier and the tag model share."""

    def __init__(self, n_components: Optional[int] = None, *, model: Optional[str] = None,
                 estimator: Optional[str] = None, n_piece: Optional[int] = None, n_states: Optional[int] = None,
                 n_mix: Optional[int] = None, covariance_type: Optional[str] = None, topology: Optional[str] = None,
                 init: Any = None, n_init: Optional[int] = None, cov_floor: Optional[float] = None,
                 fit_prior: Any = None, chunk: Optional[int] = None, prior: Optional[str] = None,
                 tau: Any = None, nv: Optional[float] = None, fast: int = 0, store: Any = None,
                 options: Optional[Dict[str, Any]] = None, random_state: Any = None, n_jobs: Optional[int] = None,
                 verbose: int = 0, progress: Any = None,
                 layout: Optional[str] = None):
        self.model = model
        self.estimator = estimator
        self.n_components = n_components
        self.n_piece = n_piece
        self.n_states = n_states
        self.n_mix = n_mix
        self.covariance_type = covariance_type
        self.topology = topology
        self.init = init
        self.n_init = n_init
        self.cov_floor = cov_floor
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
        self.layout = layout

    def _train_options(self, by_group: bool) -> Dict[str, Any]:
        piece = self._options_of("model", "n_piece", "n_states", "n_mix", "n_init", "covariance_type", "topology",
                                 "init", "cov_floor", "fit_prior")
        reduce = self._options_of("n_states", "n_mix", "n_init", "tau", "nv")
        if "emission" in piece and _lib.method_facts(self.estimator)["takes_data"]:
            reduce["emission"] = piece["emission"]
        whole = self._options_of("n_components", "estimator", "chunk", "prior", "store")
        return joined({**whole, "piece": piece, "reduce": reduce, "by_group": by_group}, further(self.options))

    def _train(self, data: Sequences, tags: Optional[Tags] = None) -> None:
        options = self._train_options(data.groups is not None)
        seed = _run.seed_of(self.random_state)
        with self._session(seed) as session:
            self.models_ = Classes(_lib.classes_train(session, data.handle(session), tags, options),
                                   self._record(options, seed))

    def _more(self, X: Any, lengths: Any, groups: Any) -> Sequences:
        """New data to go on learning from, or to judge."""
        data = self._new(X, lengths)
        return data if groups is None else data.with_groups(groups)

    def _validated(self, data: Sequences, tags: Optional[Tags], folds: int, holdout: Optional[float]) -> Prediction:
        if not isinstance(folds, (int, np.integer)):
            raise InputError(f"folds is {folds!r}, must be a whole number")
        options = self._train_options(data.groups is not None)
        with self._session(_run.seed_of(self.random_state)) as session:
            return _lib.crossvalidate(session, data.handle(session), tags, options,
                                      folds if holdout is None else 0, 0.0 if holdout is None else float(holdout))

    def _predicted(self, data: Sequences) -> Prediction:
        with self._session(0) as session:
            return _lib.classes_predict(session, self.models_._handle, data.handle(session), self.fast)

    def save(self, path: Any) -> None:
        """Writes the models of the classes; the command reads them too."""
        check_is_fitted(self)
        self.models_.save(path)

    def _loaded(self, path: Any) -> None:
        self.models_ = Classes.load(path)
        self.set_params(**_restored.of_classes(self._get_param_names(), self.models_))
        self._fitted_to(self.models_[self.models_.names[0]].d)

    def __sklearn_is_fitted__(self) -> bool:
        return "models_" in vars(self)


class HMMClassifier(ClassifierMixin, _Trained):  # type: ignore[misc]
    """Classes of sequences by Bayes' rule: the model of a class is a mixture of HMMs, or of dynamic textures.

    A model is fitted to each sequence, and those of a class are reduced to n_components by VHEM: the sequences
    are looked at once, and new ones can be added later.

    Parameters
    ----------
    n_components : int
        Models of a class; default 4.
    model : {"hmm", "dtm"}
        HMMs, or dynamic textures; default "hmm".
    estimator : str
        How the model of a class is estimated, one of :func:`vhem.methods`; default vhem; textures: hem-dtm.
    n_piece : int
        Models fitted to each piece of the data; 1 by default.
    n_states : int
        States of these HMMs, or dimension of the state of a texture; default 3.
    n_mix, covariance_type, topology, init
        Of these HMMs; as for :class:`vhem.HMM`.
    n_init : int
        Starts of each fit; default 10; 4 of a mixture, of textures and of pieces; 1 with a given start.
        And of each reduction, 5 by default.
    cov_floor : float
        Smallest variance in a fit, as a share of that within states, 0: none; default 0.0001.
    fit_prior : str, path, dict or :class:`vhem.H3M`
        Prior of such a fit, as prior of :class:`vhem.HMM`; default vb; none with a given start.
    chunk : int
        Sequences, or groups, that make a piece; default 1.
    prior : {"uniform", "counts"}
        Prior probabilities of the classes; default "uniform".
    tau, nv
        Of the reduction; as for :class:`vhem.ModelClustering`.
    fast : int
        Above 0: look models up in a tree and score only so many of its branches.
    store : path
        A file that keeps what is fitted, to go on from.
    options : dict
        Further options of the library by name: ``{"min_items": 3}``, or of the pieces and of the reduction,
        ``{"piece": {"max_iter": 50}, "reduce": {"tol": 0}}``.
    random_state, n_jobs, verbose, progress, layout
        As for :class:`vhem.HMM`.

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

    @classmethod
    def load(cls, path: Any) -> "HMMClassifier":
        """A fitted classifier with the models of a file.  Its classes are whole numbers where all their names are, else
        texts, as in the file."""
        made = cls()
        made._loaded(path)
        made.classes_ = np.sort(_whole(np.array(made.models_.names)))
        made._names = [str(c) for c in made.classes_]
        return made

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
        target = self._like_classes(self._target(data, y))
        if (target.dtype.kind in "OUS") != (self.classes_.dtype.kind in "OUS"):
            raise InputError(f"the new classes are of type {target.dtype}, the earlier ones of type "
                             f"{self.classes_.dtype}; give all of them as text, or all as numbers")
        classes = np.union1d(self.classes_, target)
        names = _class_names(classes)
        if not set(self._names) <= set(names):
            raise InputError("two classes look the same as text, such as 1 and 1.0; train again with all the data")
        self.models_ = self.models_.updated(_labelled(data, target, classes), store=self.store)
        self.classes_, self._names = classes, names
        return self

    def cross_validate(self, X: Any, y: Any = None, folds: int = 5, *, holdout: Optional[float] = None,
                       lengths: Any = None, groups: Any = None) -> CrossValidation:
        """Trains without one fold and predicts it, for every fold; or once, and a share is held out.

        A piece that several folds have is fitted once, so this is quicker than scikit-learn's
        ``cross_validate``.  The estimator itself is left as it is.
        """
        data = as_sequences(X, lengths, groups=groups, layout=self.layout, reading=self._reading())
        target = self._target(data, y)
        classes = np.unique(target)
        names = _class_names(classes)
        found = self._validated(_labelled(data, target, classes), None, folds, holdout)
        kept = [names.index(name) for name in found.classes]
        truth = np.array([[label == name for name in found.classes] for label in found.labels], np.uint8)
        return CrossValidation(found.names, found.fold, classes[kept], found.log_posterior, truth, found, None)

    def judge(self, X: Any, y: Any = None, lengths: Any = None, groups: Any = None, *, top: Optional[int] = None,
              at: Sequence[int] = (), never_given: Optional[str] = None) -> Judgement:
        """Accuracy, confusion, precision, recall and F of the classes y, by default the labels of the data."""
        data = self._more(X, lengths, groups)
        known = dict(zip(self.classes_.tolist(), self._names))
        labels = [known.get(value, "") for value in self._like_classes(self._target(data, y)).tolist()]
        return _judged(self._predicted(data.with_labels(labels)), None, top, at, never_given)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the sequences whose most likely class is that of y."""
        return float(super().score(X, self._like_classes(y), sample_weight))

    def _like_classes(self, y: Any) -> Any:
        """Texts such as "3", of labels in a file, as the numbers that the classes are."""
        check_is_fitted(self)
        return _whole(np.asarray(y)) if self.classes_.dtype.kind in "iu" else y

    @staticmethod
    def _target(data: Sequences, y: Any) -> Array:
        """The class of each sequence."""
        y = data.labels if y is None else y
        if y is None:
            raise InputError(
                "HMMClassifier requires y to be passed, but the target y is None; the sequences have no labels either")
        target = column_or_1d(y, warn=True)
        check_classification_targets(target)
        if len(target) != len(data):
            raise InputError(
                f"Found input variables with inconsistent numbers of samples: {len(target)} classes, "
                f"{len(data)} sequences")
        return np.asarray(target)

    def predict_log_proba(self, X: Any, lengths: Any = None, groups: Any = None) -> Array:
        """log p(class | sequences), (n, C): of each sequence, or of each group."""
        found = self._predicted(self._more(X, lengths, groups)).log_posterior
        return found[:, [self.models_.names.index(name) for name in self._names]]

    def predict_proba(self, X: Any, lengths: Any = None, groups: Any = None) -> Array:
        """p(class | sequences), (n, C)."""
        return np.exp(self.predict_log_proba(X, lengths, groups))

    def predict(self, X: Any, lengths: Any = None, groups: Any = None) -> Array:
        """The most likely class of each sequence, or of each group."""
        log_p = self.predict_log_proba(X, lengths, groups)
        return self.classes_[np.argmax(log_p, axis=1)]


def _whole(names: Array) -> Array:
    """Texts as whole numbers, where all of them are."""
    texts = names.ravel().tolist()
    if not texts or not all(isinstance(text, str) and re.fullmatch("0|-?[1-9][0-9]{0,17}", text) for text in texts):
        return names
    return np.array([int(text) for text in texts]).reshape(names.shape)


def _class_names(classes: Array) -> List[str]:
    """Names in the file: the classes as text, where these differ and there is some."""
    names = [str(c) for c in classes]
    return names if all(names) and len(set(names)) == len(names) else [str(c) for c in range(len(names))]


def _labelled(data: Sequences, target: Array, classes: Array) -> Sequences:
    """The same sequences with the names of their classes as labels."""
    names = _class_names(classes)
    return data.with_labels([names[c] for c in np.searchsorted(classes, target)])


class TagModel(_Trained):
    """Tags of songs, or of anything that has several: a mixture of HMMs, or of dynamic textures, for each tag.

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

    @classmethod
    def load(cls, path: Any) -> "TagModel":
        """A fitted model with the tags of a file."""
        made = cls()
        made._loaded(path)
        made.tags_ = made.models_.names
        return made

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
        sequences = as_sequences(X, lengths, groups=groups, layout=self.layout, reading=self._reading())
        data, table = _tagged(sequences, Y, tags)
        found = self._validated(data, table, folds, holdout)
        return CrossValidation(found.names, found.fold, np.array(found.classes), found.log_posterior,
                               _truth(table, found.names, found.classes), found, table)

    def predict_proba(self, X: Any, lengths: Any = None, groups: Any = None) -> Array:
        """Weights of the tags that sum to 1, (n, tags): of each sequence, or of each group."""
        return np.exp(self._predicted(self._more(X, lengths, groups)).log_posterior)

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
            raise InputError(f"there is no tag {tag!r}; the tags are {', '.join(self.tags_[:20])}")
        weight = self.predict_proba(X, lengths, groups)[:, self.tags_.index(tag)]
        return np.argsort(-weight, kind="stable")[:top]

    def judge(self, X: Any, Y: Any, lengths: Any = None, groups: Any = None, tags: Optional[Sequence[str]] = None, *,
              top: Optional[int] = None, at: Sequence[int] = (), never_given: Optional[str] = None) -> Judgement:
        """How well tags are given and found: MAP, precision, recall, F, of all and of each.

        Every sequence or group is given its best ``top`` tags, 10 unless told; ``at`` are numbers of those
        retrieved first to take the precision among.  Of a file of tags, what it does not name is left out.  The
        precision of a tag that nothing is given is 0/0: 0, or with ``never_given="base-rate"`` the share that
        have it.
        """
        data, table = _tagged(self._more(X, lengths, groups), Y, tags)
        return _judged(self._predicted(data), table, top, at, never_given)

    def measures(self, X: Any, Y: Any, top: Optional[int] = None, at: Sequence[int] = (10,), lengths: Any = None,
                 groups: Any = None, tags: Optional[Sequence[str]] = None,
                 never_given: Optional[str] = None) -> Tuple[Array, Array]:
        """For each tag, records n, given, right, precision, recall, F, average_precision; and precision among
        the first k that are retrieved, for every k in ``at``, (tags, len(at)); see :meth:`judge`."""
        found = self.judge(X, Y, lengths, groups, tags, top=top, at=at, never_given=never_given)
        return found.each, found.each_p_at

    def score(self, X: Any, Y: Any, lengths: Any = None, groups: Any = None) -> float:
        """Mean average precision over the tags that occur in Y."""
        return self.judge(X, Y, lengths, groups).MAP


def _check_top(top: Any) -> None:
    if top is not None and (not isinstance(top, (int, np.integer)) or top < 1):
        raise InputError(f"top is {top!r}, must be a whole number of at least 1")


def _tagged(data: Sequences, Y: Any, tags: Optional[Sequence[str]]) -> Tuple[Sequences, Tags]:
    """Sequences that have names or groups, and the tags of these: of sequences by name, or else by number."""
    if data.groups is None and (data.names is None or len(set(data.names)) < len(data)):
        data = data.with_names([str(n) for n in range(len(data))])
    items = data.names if data.groups is None else data.group_names
    if is_path(Y):
        with _run.session() as session:
            return data, _lib.tags_load(session, Y)
    names, has = _table(Y, tags)
    if len(has) != len(items or []):
        raise InputError(f"Y has the tags of {len(has)} items, but there are {len(items or [])} sequences or groups")
    return data, Tags(list(items or []), names, has)


def _truth(table: Tags, items: List[str], tags: Sequence[str]) -> Array:
    """Who of these has which of these tags, (n, C); who is not in the table has none."""
    row, column = ({name: n for n, name in enumerate(part)} for part in (table.items, table.tags))
    truth = np.zeros((len(items), len(tags)), np.uint8)
    for n, item in enumerate(items):
        for c, tag in enumerate(tags):
            if item in row and tag in column:
                truth[n, c] = table.has[row[item], column[tag]]
    return truth


def _table(Y: Any, tags: Optional[Sequence[str]]) -> Tuple[List[str], Array]:
    """Names of tags and who has them, (n, C) of 0 and 1."""
    if isinstance(Y, Mapping) or not hasattr(Y, "__len__"):
        raise InputError(f"Y is of type {type(Y).__name__}, must be a list with the tags of each sequence or group")
    if hasattr(Y, "columns") and tags is None:
        tags = [str(name) for name in Y.columns]
    if hasattr(Y, "shape"):
        has = np.asarray(Y)
        if has.ndim != 2 or not np.isin(has, (0, 1)).all():
            raise InputError(f"Y has shape {has.shape}, must be an array (n, tags) of zeros and ones")
        names = [str(c) for c in range(has.shape[1])] if tags is None else [str(tag) for tag in tags]
        if len(names) != has.shape[1] or len(set(names)) != len(names):
            raise InputError(f"there are {len(set(names))} different tags, but Y has {has.shape[1]} columns; "
                             "give each column one name")
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
