# SPDX-License-Identifier: BSD-3-Clause
"""Channels of sequences brought to mean 0 and standard deviation 1, for pipelines."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._types import Array
from .data import Sequences, as_sequences
from .errors import InputError


class SequenceScaler(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Scales each channel by its mean and standard deviation over all frames of all sequences.

    Missing values do not count, and stay missing.  A channel that never changes is only moved to 0.

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
        data = as_sequences(X, lengths, estimator=self, layout=self.layout)
        if np.isnan(data.y).all(axis=0).any():
            raise InputError("a channel has no values; leave it out")
        self.n_features_in_ = data.table or data.d
        self.mean_ = np.nanmean(data.y, axis=0) if self.with_mean else np.zeros(data.d)
        spread = np.nanstd(data.y, axis=0) if self.with_std else np.ones(data.d)
        self.scale_ = np.where(spread > 0, spread, 1.0)
        return self

    def _moved(self, X: Any, lengths: Any, back: bool) -> Sequences:
        check_is_fitted(self, "scale_")
        data = as_sequences(X, lengths, estimator=self, layout=self.layout)
        if data.d != len(self.scale_):
            raise InputError(f"X has {data.d} channels, but SequenceScaler is expecting {len(self.scale_)}")
        y = data.y * self.scale_ + self.mean_ if back else (data.y - self.mean_) / self.scale_
        return Sequences(y, data.lengths, names=data.names, labels=data.labels, groups=data.groups,
                         weights=data.weights, columns=data.columns)

    def transform(self, X: Any, lengths: Any = None) -> Sequences:
        """The sequences with scaled channels; names, labels, groups and weights are kept."""
        return self._moved(X, lengths, False)

    def inverse_transform(self, X: Any, lengths: Any = None) -> Sequences:
        """Sequences, for instance sampled ones, in the units of the data."""
        return self._moved(X, lengths, True)
