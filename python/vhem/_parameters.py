# SPDX-License-Identifier: BSD-3-Clause
"""Names of parameters: what an estimator calls the sizes of the library, and which parameter was meant."""
from __future__ import annotations

import difflib
import functools
import inspect
import re
from typing import Any, Callable, Iterable, Mapping

# What Sequences.load takes; no estimator does.
READING = ("format", "id", "label", "group", "weight", "columns", "where", "order", "symbols", "missing", "sheet",
           "memory")

# What the command, C, files and hmmlearn call the parameters of estimators.
_MEANT = {"emission": "covariance_type", "emissions": "covariance_type", "family": "covariance_type",
          "cov": "covariance_type", "cov_type": "covariance_type", "S": "n_states", "states": "n_states", "M": "n_mix",
          "mix": "n_mix", "restarts": "n_init", "n_restarts": "n_init", "seed": "random_state", "threads": "n_jobs",
          "n_threads": "n_jobs", "n_iter": "max_iter", "iterations": "max_iter", "startprob": "fixed_startprob",
          "transmat": "fixed_transmat", "levels": "n_clusters"}
_SIZES = ("n_clusters", "n_clusters_max", "n_components", "n_states", "n_states_max")
_NUMBER = {**dict.fromkeys(("K", "k", "n", "n_clusters", "n_hmms"), _SIZES[:3]),
           "n_components": _SIZES[:4]}                       # states, in hmmlearn


def named(sentence: str, called: Mapping[str, str]) -> str:
    """The sentence with the name that ``called`` gives to a size at its beginning: "n_states is 0" for "S is 0"."""
    size = re.match(r"(K|S|M|restarts|emission)\b(?= (is|of|')|,)", sentence)
    if not size or size[1] not in called:
        return sentence
    rest = sentence[size.end():]
    return called[size[1]] + (rest.replace("gaussian-", "") if size[1] == "emission" else rest)


def sizes_of(parameters: Iterable[str]) -> Mapping[str, str]:
    """What an estimator with these parameters calls the sizes of the library."""
    there = [name for name in _SIZES if name in parameters]
    return {"restarts": "n_init", "emission": "covariance_type", "M": "n_mix",
            **{"S": name for name in there if name.startswith("n_states")},
            **{"K": name for name in there if not name.startswith("n_states")}}


def where_to_say(sentence: str) -> str:
    """A sentence about a file that was given as a path, with the place where its options belong."""
    asks = [name for name in READING if re.search(rf"\b{name}=", sentence)]
    return f"{sentence}; pass {asks[0]}= to vhem.Sequences.load" if asks else sentence


def _unknown(cls: type, name: str, value: Any, known: Iterable[str]) -> str:
    """A sentence about a parameter that there is not."""
    known = [one for one in known if one != "self"]
    meant = _MEANT.get(name)
    if meant is None or meant not in known:
        sizes = [one for one in _NUMBER.get(name, ()) if one in known]
        meant = next(iter(sizes or difflib.get_close_matches(name, known, 1, 0.7)), None)
    begin = f"{cls.__name__} has no parameter {name!r}"
    if meant is not None:
        return f"{begin}; it is called {meant} here: {meant}={value!r}"
    if name in READING:
        return f"{begin}; pass it to vhem.Sequences.load(path, {name}={value!r}), and fit what that returns"
    return f"{begin}; its parameters are {', '.join(known)}"


def explains(init: Callable[..., None]) -> Callable[..., None]:
    """An __init__ that says what an unknown parameter is called.  One with **parameters hands them on, to be judged
    by the class that it extends."""
    takes = inspect.signature(init).parameters
    if any(one.kind is inspect.Parameter.VAR_KEYWORD for one in takes.values()):
        return init
    known = list(takes)
    placed = [name for name in known[1:] if takes[name].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]

    @functools.wraps(init)
    def wrapped(self: Any, *args: Any, **parameters: Any) -> None:
        for name, value in parameters.items():
            if name not in known:
                raise TypeError(_unknown(type(self), name, value, known))
        if len(args) > len(placed):
            raise TypeError(f"{type(self).__name__} takes {len(args)} parameters without a name, must be at most "
                            f"{len(placed)}, {', '.join(placed)}; give the others by name")
        init(self, *args, **parameters)

    return wrapped
