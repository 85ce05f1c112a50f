# SPDX-License-Identifier: BSD-3-Clause
"""Sentences of the library in the words of Python.

The library names options as the command does, ``--cov-floor``, and sizes as files do, ``S``; a user of Python has
``cov_floor=`` and ``n_states``.  And a parameter that there is not: which one was meant?
"""
from __future__ import annotations

import difflib
import functools
import inspect
import re
from typing import Any, Callable, FrozenSet, Iterable, Mapping, Optional

from ._tables import option_table

# What Sequences.load takes; no estimator does.
READING = ("format", "id", "label", "group", "weight", "columns", "where", "order", "symbols", "missing", "sheet",
           "memory")

# Options of the command that have another name here; the others have a "_" for each "-".
_OPTION = {"emission": "covariance_type", "cov": "covariance_type", "states": "n_states", "mix": "n_mix",
           "restarts": "n_init", "threads": "n_jobs", "seed": "random_state"}
_COMMAND = {"vhem fit --model dtm": "vhem.fit_textures", "vhem fit --emission": "--emission"}
# An option and the next word, which is its value or goes on with the sentence.
_NAMED = re.compile(r"--([a-z][a-z-]*)(?:([ =])('[^']*'|(?!--)[^\s;)?]*[^\s;:)?,])?)?")
_NUMBER_TEXT = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?")
_LIST_OR_PATH = re.compile(r"[^\s,]+(,[^\s,]+)+|\S*/\S*|\S+\.\w+")
# Words that the tables of options do not list.
_MORE_CHOICES = {"cov": ("diag", "full"), "prior": ("none", "vb", "eb")}

# What the command, C, files and hmmlearn call the parameters of estimators.
_MEANT = {"emission": "covariance_type", "emissions": "covariance_type", "family": "covariance_type",
          "cov": "covariance_type", "cov_type": "covariance_type", "S": "n_states", "states": "n_states", "M": "n_mix",
          "mix": "n_mix", "restarts": "n_init", "n_restarts": "n_init", "seed": "random_state", "threads": "n_jobs",
          "n_threads": "n_jobs", "n_iter": "max_iter", "iterations": "max_iter", "startprob": "fixed_startprob",
          "transmat": "fixed_transmat", "levels": "n_clusters"}
_SIZES = ("n_clusters", "n_clusters_max", "n_components", "n_states", "n_states_max")
_NUMBER = {**dict.fromkeys(("K", "k", "n", "n_clusters", "n_hmms"), _SIZES[:3]),
           "n_components": _SIZES[:4]}                       # states, in hmmlearn


@functools.lru_cache(maxsize=None)
def _choices(option: str) -> FrozenSet[str]:
    """The words that are values of an option, such as diag."""
    rows = [option_table(kind).get(option, {}) for kind in ("data", "fit", "cluster", "distance", "train", "rank")]
    words = [word for row in rows for word in (row.get("argument") or "").split("|")]
    return frozenset([*_MORE_CHOICES.get(option, ()), *(word for word in words if word.islower())])


def _is_value(option: str, word: str) -> bool:
    """Is the word after an option its value, or does it go on with the sentence, as in "--id takes several"?"""
    return (word.startswith("'") or word in _choices(option) or _NUMBER_TEXT.fullmatch(word) is not None
            or _LIST_OR_PATH.fullmatch(word) is not None)


def _quoted(option: str, value: str) -> str:
    """A value as Python has it; what Sequences.load takes is text, also where it is a number."""
    plain = value.startswith("'") or (option not in READING and _NUMBER_TEXT.fullmatch(value))
    return value if plain else f"'{value}'"


def in_python(sentence: str, called: Optional[Mapping[str, str]] = None) -> str:
    """The sentence with options as Python has them; ``called`` says what a size at its beginning is called."""
    for command, there in _COMMAND.items():
        sentence = sentence.replace(command, there)

    def option(found: "re.Match[str]") -> str:
        name, joint, word = found[1].replace("-", "_"), found[2] or "", found[3] or ""
        ends = found.end() == len(sentence) and name in READING      # "leave it out with --columns x"
        begin = f"{_OPTION.get(name, name)}="
        if word and (joint == "=" or ends or _is_value(name, word)):
            return begin + _quoted(name, word)
        return begin + joint.strip("=") + word

    sentence = _NAMED.sub(option, sentence)
    size = re.match(r"(K|S|M|restarts|emission)\b(?= (is|of|')|,)", sentence)
    if size and called and size[1] in called:
        rest = sentence[size.end():]
        sentence = called[size[1]] + (rest.replace("gaussian-", "") if size[1] == "emission" else rest)
    return sentence


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
