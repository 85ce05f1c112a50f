# SPDX-License-Identifier: BSD-3-Clause
"""What the states of an HMM emit, under the names that people look for: rates, probabilities, channels, ..."""
from __future__ import annotations

from typing import Any, Dict, List, Optional

import numpy as np

from ._types import Array

_PLURAL = {"mu": "means", "cov": "cov", "rate": "rates", "p": "probabilities", "shape": "shapes", "zero": "zeros",
           "mean": "means", "kappa": "kappas", "weights": "c", "channels": "channels"}


def _told(emission: str, asked: str, names: Any) -> AttributeError:
    there = ", ".join(dict.fromkeys(_PLURAL[name] for name in names))
    return AttributeError(f"HMMs with emission {emission} have no {asked}; they have {there}")


class Natural:
    """Parameters of an emission family by their natural names, each (S, M, d); those a family does not have are no
    attributes of its HMMs."""

    emission: str
    params: Dict[str, Array]
    columns: Any

    def _param(self, name: str) -> Array:
        if name not in self.params:
            raise _told(self.emission, _PLURAL[name], self.params)
        return self.params[name]

    @property
    def rates(self) -> Array:
        """Of Poisson distributions, the mean counts; of gamma distributions, with :attr:`shapes`."""
        return self._param("rate")

    @property
    def shapes(self) -> Array:
        """Of gamma distributions."""
        return self._param("shape")

    @property
    def zeros(self) -> Array:
        """Of gamma distributions: the probability of exactly 0."""
        return self._param("zero")

    @property
    def kappas(self) -> Array:
        """Of von Mises distributions: how narrow they are."""
        return self._param("kappa")

    @property
    def probabilities(self) -> Array:
        """Of bits the probability of 1; of symbols, (S, 1, V), that of each symbol."""
        return self._param("p")

    @property
    def means(self) -> Array:
        """The mean of each column; of angles their mean direction."""
        p = self.params
        if "shape" in p:
            return (1 - p["zero"]) * p["shape"] / p["rate"]
        for name in ("mu", "mean", "rate", "p"):
            if name in p and self.emission != "categorical":
                return p[name]
        raise _told(self.emission, "means", p)

    def _document(self) -> Dict[str, Any]:
        raise NotImplementedError

    @property
    def symbols(self) -> List[str]:
        """Of symbols: their names, in the order of :attr:`probabilities`."""
        if self.emission != "categorical":
            raise _told(self.emission, "symbols", self.params)
        return list(self._document()["symbols"])

    @property
    def channels(self) -> List[Dict[str, Any]]:
        """Of a product: for each channel its ``emission``, ``columns``, ``symbols`` where it has any, and its
        parameters by name, (S, M, d) each; as :meth:`vhem.Model.from_params` takes them."""
        if self.emission != "product":
            raise _told(self.emission, "channels", self.params)
        found = self._document()
        return [{**told, **{name: np.array(values, float) for name, values in numbers.items()}}
                for told, numbers in zip(found["channels"], found["hmms"][0]["channels"])]

    def _parts(self) -> List[Dict[str, Any]]:
        """The channels of a product, or what is emitted as the only one.  States that share the Gaussians of a
        background have these, as if they were their own, next to their weights."""
        if self.emission == "product":
            return self.channels
        if self.emission != "gaussian-tied":
            return [{"emission": self.emission, **self.params}]
        weights, shared = self.params["weights"][..., None], self._document()["background"]
        shape = (*weights.shape[:-1], len(shared["mu"][0]))
        return [{"emission": self.emission, "weights": np.broadcast_to(weights, shape),
                 **{name: np.broadcast_to(np.array(values), shape) for name, values in shared.items()}}]

    @property
    def by_column(self) -> Dict[str, Dict[str, Any]]:
        """For each column, by its own name or as y0, y1, ..., its ``emission`` and its parameters by name: (S, M) each,
        and (S, M, V) with ``symbols`` for the probabilities of symbols.  Of full covariances ``cov`` has the variance.
        Of gaussian-tied ``mu`` and ``cov`` are those of the G Gaussians of the background, and ``weights`` how much
        each state uses of them: (S, 1, G) each."""
        found: Dict[str, Dict[str, Any]] = {}
        columns = enumerate(self.columns)
        for part in self._parts():
            about = ("emission", "columns", "symbols")
            params = {name: values for name, values in part.items() if name not in about}
            d = 1 if part["emission"] == "categorical" else next(iter(params.values())).shape[-1]
            for k, (at, column) in zip(range(d), columns):
                one = {"emission": part["emission"], **(params if column["symbols"] else _of_column(params, k))}
                if column["symbols"]:
                    one["symbols"] = column["symbols"]
                own = column["name"] and column["name"] not in found
                found[column["name"] if own else f"y{at}"] = one
        return found


def _of_column(params: Dict[str, Array], k: int) -> Dict[str, Array]:
    """Parameters of column k; of a covariance matrix its variance."""
    return {name: values[..., k, k] if name == "cov" and values.ndim > params["mu"].ndim else values[..., k]
            for name, values in params.items()}


def of_states(values: Optional[Array], M: int) -> Any:
    """(S, ...) in place of (S, 1, ...) where states have one component."""
    return values[:, 0] if values is not None and M == 1 else values


class NaturalEstimator:
    """The same of a fitted estimator with one HMM, model_, under names with an underscore."""

    model_: Any

    def _of_states(self, name: str) -> Any:
        return of_states(getattr(self.model_, name), self.model_.M)

    @property
    def means_(self) -> Array:
        return self._of_states("means")

    @property
    def covars_(self) -> Array:
        if self.model_.cov is None:
            raise _told(self.model_.emission, "cov", self.model_.params)
        return self._of_states("cov")

    @property
    def rates_(self) -> Array:
        return self._of_states("rates")

    @property
    def shapes_(self) -> Array:
        return self._of_states("shapes")

    @property
    def zeros_(self) -> Array:
        return self._of_states("zeros")

    @property
    def kappas_(self) -> Array:
        return self._of_states("kappas")

    @property
    def probabilities_(self) -> Array:
        return self._of_states("probabilities")

    @property
    def lambdas_(self) -> Array:
        if self.model_.emission != "poisson":
            raise _told(self.model_.emission, "lambdas", self.model_.params)
        return self._of_states("rates")

    @property
    def emissionprob_(self) -> Array:
        if self.model_.emission != "categorical":
            raise _told(self.model_.emission, "emissionprob", self.model_.params)
        return self._of_states("probabilities")

    @property
    def symbols_(self) -> List[str]:
        return list(self.model_.symbols)

    @property
    def channels_(self) -> List[Dict[str, Any]]:
        return list(self.model_.channels)

    @property
    def by_column_(self) -> Dict[str, Dict[str, Any]]:
        return {column: {name: of_states(value, self.model_.M) if isinstance(value, np.ndarray) else value
                         for name, value in about.items()} for column, about in self.model_.by_column.items()}
