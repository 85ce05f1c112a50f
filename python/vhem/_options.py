# SPDX-License-Identifier: BSD-3-Clause
"""From parameters by the names of scikit-learn and hmmlearn to options by the names of the library.

A parameter that is None is not passed on: the library has the default, and only the library.
"""
from __future__ import annotations

import json
import numbers
import warnings
from typing import Any, Dict, Mapping

from . import _ffi
from ._inputs import as_models
from .errors import InputError
from .model import H3M

RENAMED = {
    "n_states": "S", "n_mix": "M", "n_clusters": "K", "n_components": "K", "n_piece": "K", "n_init": "restarts",
    "covariance_type": "emission", "fixed_startprob": "fixed_pi", "fixed_transmat": "fixed_A", "power": "lambda",
    "fit_prior": "prior",
}

# Names of version 0.1 that options= still takes.
OLD = {"min_things": "min_items"}


def _prior(given: Any) -> Any:
    """A prior as the library takes it: a word, settings, a path, or its text, also from models that have one."""
    if isinstance(given, H3M):
        if given.prior is None:
            raise InputError("prior= was given models that were fitted without a prior; fit them with prior='vb'")
        given = given.prior
    if not isinstance(given, Mapping):
        return given
    if "format" in given:
        return json.dumps(given)
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, (str, numbers.Real)):
            raise InputError(f"prior[{name!r}] is {value!r}, must be a number or a word; a prior with the contents "
                             "of a file also needs 'format'")
    return ",".join(f"{name}={value}" for name, value in given.items()) or None


def _states(given: Any, ranges: bool) -> Dict[str, Any]:
    """A number of states; where ranges are known, also the least and the most of them, or "auto"."""
    pair = ranges and isinstance(given, (tuple, list)) and len(given) == 2
    word = ranges and isinstance(given, str) and given == "auto"
    if not word and not all(isinstance(value, numbers.Integral) for value in (given if pair else (given,))):
        raise InputError(f"n_states is {given!r}, must be a whole number" +
                         (", a pair such as (2, 4) to choose it from, or 'auto'" if ranges else ""))
    if pair and given[0] > given[1]:
        raise InputError(f"n_states is {given!r}, must begin with the smaller number")
    return {"S": given[0], "S_max": given[1]} if pair else {"S": given}


def options(params: Mapping[str, Any], ranges: bool = False) -> Dict[str, Any]:
    """The options of the library from parameters that are not None; ranges: numbers of states may be chosen."""
    found: Dict[str, Any] = {}
    for key, value in params.items():
        if value is None:
            continue
        if key == "covariance_type":
            tied = str(value).startswith("tied:")                            # and the file of a background
            by_column = ":" in str(value) and not tied
            own = by_column or _ffi.emission_params(str(value))              # or a family's own name
            found["emission"] = value if own else f"gaussian-{value}"
        elif key in ("prior", "fit_prior"):
            found["prior"] = _prior(value)
        elif key == "n_states":
            found.update(_states(value, ranges))
        elif key == "init" and not isinstance(value, str):
            found["start"] = as_models(value)._handle
        else:
            found[RENAMED.get(key, key)] = value
    return found


def further(given: Any) -> Dict[str, Any]:
    """Options of the library by name, such as an estimator may be given; "lambda_" is lambda."""
    if not isinstance(given, (Mapping, type(None))):
        raise InputError(f"options is {given!r}, must be a dict")
    found = {str(key).rstrip("_"): value for key, value in (given or {}).items()}
    for key in set(found) & set(OLD):
        warnings.warn(f"the option {key!r} was renamed {OLD[key]!r} in version 0.2", DeprecationWarning,
                      stacklevel=4)
        found[OLD[key]] = found.pop(key)
    return found


def joined(first: Mapping[str, Any], second: Mapping[str, Any]) -> Dict[str, Any]:
    """Both, the second over the first, also inside the options of a piece and of a reduction."""
    both = dict(first)
    for key, value in second.items():
        inner = both.get(key)
        both[key] = joined(inner, value) if isinstance(inner, Mapping) and isinstance(value, Mapping) else value
    return both
