# SPDX-License-Identifier: BSD-3-Clause
"""Channels of sequences brought to mean 0 and standard deviation 1, for pipelines."""
from __future__ import annotations

from typing import Any, List, Optional

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._types import Array
from .data import Sequences, as_sequences, lengths_of
from .errors import InputError


class SequenceScaler(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Scales each channel by its mean and standard deviation over all frames of all sequences.

    Missing values do not count, and stay missing.  A channel that never changes is only moved to 0.  Symbols stay as
    they are.  Channels that have names are found by these, in any order.  An array of numbers gives an array of the
    same shape, to be read as it was; everything else gives :class:`vhem.Sequences`.

    Parameters
    ----------
    with_mean : bool
        Whether to move the mean to 0; default True.
    with_std : bool
        Whether to divide by the standard deviation; default True.
    layout : {"ndt", "ntd"}
        Order of an array with three axes, as for :class:`vhem.HMM`.

    Attributes
    ----------
    mean_, scale_ : arrays (d,)
    n_features_in_ : int
        Channels.

    Examples
    --------
    >>> import numpy as np, vhem
    >>> from sklearn.pipeline import make_pipeline
    >>> rng = np.random.default_rng(0)
    >>> X = [rng.normal((100, 9 * (n % 2)), (50, 1), size=(60, 2)) for n in range(6)]
    >>> clusters = make_pipeline(vhem.SequenceScaler(), vhem.VHEM(2, n_states=1)).fit(X)
    >>> bool(clusters[-1].labels_[0] != clusters[-1].labels_[1]), len(clusters.predict(X))
    (True, 6)
    """

    mean_: Array
    scale_: Array

    def __init__(self, *, with_mean: bool = True, with_std: bool = True, layout: Optional[str] = None):
        self.with_mean = with_mean
        self.with_std = with_std
        self.layout = layout

    def fit(self, X: Any, y: Any = None, lengths: Any = None) -> "SequenceScaler":
        """Learns mean and standard deviation of each channel."""
        data = as_sequences(X, lengths_of(X, y, lengths), estimator=self, layout=self.layout)
        if np.isnan(data.y).all(axis=0).any():
            raise InputError("a channel has no values; leave it out")
        numbers = ~_of_symbols(data)
        self.n_features_in_ = data.table or data.d
        self._names = _names(data)
        self.mean_, self.scale_ = np.zeros(data.d), np.ones(data.d)
        if self.with_mean:
            self.mean_[numbers] = np.nanmean(data.y[:, numbers], axis=0)
        if self.with_std:
            spread = np.nanstd(data.y[:, numbers], axis=0)
            self.scale_[numbers] = np.where(spread > 0, spread, 1.0)
        return self

    def fit_transform(self, X: Any, y: Any = None, lengths: Any = None) -> Any:
        """Learns mean and standard deviation of each channel, and scales the channels."""
        lengths = lengths_of(X, y, lengths)
        return self.fit(X, None, lengths).transform(X, lengths)

    def _places(self, data: Sequences) -> Any:
        """Where each channel of the data stands among those of the fit."""
        names, known = _names(data), self._names
        if names is None or known is None:
            if data.d != len(self.scale_):
                raise InputError(f"X has {data.d} channels, but SequenceScaler is expecting {len(self.scale_)}")
            return np.arange(data.d)
        if sorted(names) != sorted(known):
            raise InputError(f"X has the channels {', '.join(names)}, but SequenceScaler is expecting "
                             f"{', '.join(known)}")
        return np.array([known.index(name) for name in names])

    def _moved(self, X: Any, lengths: Any, back: bool) -> Any:
        check_is_fitted(self, "scale_")
        data = as_sequences(X, lengths, estimator=self, layout=self.layout)
        if data.table is not None and data.table != self.n_features_in_ and self.n_features_in_ != data.d:
            raise InputError(f"X has {data.table} features, but SequenceScaler is expecting {self.n_features_in_} "
                             "features as input; give a list of sequences for other lengths")
        at = self._places(data)
        symbols = _of_symbols(data)
        mean, scale = np.where(symbols, 0.0, self.mean_[at]), np.where(symbols, 1.0, self.scale_[at])
        y = data.y * scale + mean if back else (data.y - mean) / scale
        if data.table is not None:
            return y.reshape(len(data), -1)
        if isinstance(X, np.ndarray) and X.dtype != object and not data.symbols:
            return self._as_it_came(X, data, y)
        made = Sequences(y, data.lengths, names=data.names, labels=data.labels, groups=data.groups,
                         weights=data.weights, columns=data.columns)
        made.symbols = data.symbols
        return made

    def _as_it_came(self, X: Array, data: Sequences, y: Array) -> Array:
        """Scaled frames in the shape of the array they came in, with its padding."""
        if X.ndim < 3:
            return y.reshape(X.shape)
        found = np.full((len(data), X.shape[1 if self.layout == "ntd" else 2], data.d), np.nan)
        for place, T, end in zip(found, data.lengths, np.cumsum(data.lengths)):
            place[:T] = y[end - T:end]
        return found if self.layout == "ntd" else np.ascontiguousarray(found.transpose(0, 2, 1))

    def transform(self, X: Any, lengths: Any = None) -> Any:
        """The sequences with scaled channels; names, labels, groups, weights and symbols are kept."""
        return self._moved(X, lengths, False)

    def inverse_transform(self, X: Any, lengths: Any = None) -> Any:
        """Sequences, for instance sampled ones, in the units of the data."""
        return self._moved(X, lengths, True)


def _names(data: Sequences) -> Optional[List[str]]:
    """The channels by name; None where they have none but y0, y1, ..."""
    return None if data.columns in (None, [f"y{k}" for k in range(data.d)]) else data.columns


def _of_symbols(data: Sequences) -> Array:
    """Which channels hold symbols, (d,)."""
    named = data.columns or [f"y{k}" for k in range(data.d)]
    return np.array([bool(data.symbols.get(name)) for name in named])
