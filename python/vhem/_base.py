# SPDX-License-Identifier: BSD-3-Clause
"""What every estimator of vhem has in common."""
from __future__ import annotations

from typing import Any, Dict, List, Optional

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _lib, _run, _symbols
from ._options import options
from ._parameters import explains, sizes_of
from .data import Sequences, as_sequences, holds_arrays, layout_of
from .errors import InputError, warn


class Estimator(BaseEstimator):  # type: ignore[misc]
    """Parameters random_state, n_jobs, verbose and progress; sequences in, with their dimension checked."""

    _ranges = False                          # n_states may be a pair or "auto"
    _single = False                          # an array (T, d) without lengths is one sequence

    random_state: Any
    n_jobs: Optional[int]
    verbose: int
    progress: Any
    layout: Optional[str]

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "__init__" in vars(cls):
            cls.__init__ = explains(vars(cls)["__init__"])  # type: ignore[method-assign]

    def _session(self, seed: Any) -> _lib.Session:
        made = _run.session(seed, self.n_jobs, self.verbose, self.progress, getattr(self, "backend", None))
        made.called = sizes_of(vars(self))
        return made

    def _sequences(self, X: Any, lengths: Any, groups: Any = None, weights: Any = None) -> Sequences:
        """Sequences to fit; their dimension is that of all later ones."""
        data = as_sequences(X, lengths, groups=groups, weights=weights, single=self._single, estimator=self,
                            layout=getattr(self, "layout", None), reading=self._reading())
        self._fitted_to(data.d, data.table)
        return data

    def _reading(self) -> _symbols.Reading:
        """Which columns of a file to fit to are wanted, and which hold symbols, as the emission says."""
        hmm = getattr(self, "hmm", None) or self
        start = getattr(hmm, "init", None)
        if start is not None and not isinstance(start, str):
            return _symbols.of_models(start)
        return _symbols.of_emission(getattr(hmm, "covariance_type", None))

    def _reading_again(self) -> _symbols.Reading:
        """The same for new data, as the fitted models say."""
        for name in ("model_", "centers_", "models_"):
            found = vars(self).get(name)
            if found is not None and hasattr(found, "columns"):
                return _symbols.of_models(found)
        return self._reading()

    def _fitted_to(self, d: int, table: Optional[int] = None) -> None:
        """n_features_in_ counts channels; of a table (n, T), as everywhere in scikit-learn, columns."""
        self._d, self._table = d, table
        self.n_features_in_ = table or d

    def _new(self, X: Any, lengths: Any) -> Sequences:
        """Sequences to apply the fitted models to.  Lengths may differ, but not those of tables."""
        check_is_fitted(self)
        data = as_sequences(X, lengths, single=self._single, estimator=self, layout=self._layout_of(X),
                            reading=self._reading_again())
        tables = data.table is not None and self._table is not None
        found, needed = (data.table, self._table) if tables else (data.d, self._d)
        if found != needed:
            hint = "; give a list of sequences for other lengths" if tables else ""
            if data.table == needed and not tables:
                hint = "; one sequence (time, channels) is given as a list, [X]"
            raise InputError(f"X has {found} features, but {type(self).__name__} is expecting {needed} features as "
                             "input" + hint)
        return data

    def _layout_of(self, X: Any) -> Optional[str]:
        """The layout that was asked for; else the one in which an array with three axes has the channels of the fit."""
        layout: Optional[str] = getattr(self, "layout", None)
        return layout_of(X, self._d) if layout is None else layout

    def _options_of(self, *names: str) -> Dict[str, Any]:
        """The options of the library from parameters of this estimator, those that are not None."""
        return options({name: getattr(self, name) for name in names}, self._ranges)

    def _record(self, options: Dict[str, Any], seed: int) -> Dict[str, Any]:
        return _run.made_by(f"vhem.{type(self).__name__}", options, seed)

    def _warn_unless_converged(self, what: str, converged: bool, n_iter: int, tol: Optional[float]) -> None:
        """Without a tolerance nothing was to converge."""
        if not converged and tol != 0:
            warn(f"{what} did not converge in {n_iter} iterations; raise max_iter or tol", ConvergenceWarning)


def like_input(X: Any, lengths: Any, per_sequence: List[Any]) -> Any:
    """One array when one array went in, a list for a list of sequences."""
    flat = isinstance(X, (list, tuple)) and bool(X) and all(isinstance(x, str) for x in X)
    listed = lengths is None and not flat and (isinstance(X, (list, tuple, Sequences)) or holds_arrays(X))
    return per_sequence if listed else np.concatenate(per_sequence)
