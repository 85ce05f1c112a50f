# SPDX-License-Identifier: BSD-3-Clause
"""Signatures and docstrings against the table of options of the library: names, defaults, choices.

The library alone has defaults, so that a parameter that stands for an option is None unless it is given.
"""
import inspect
import re

import numpy as np
import pytest
import vhem
from conftest import SOURCE
from vhem import _lib, _options

# What takes parameters, the tables its options are in, and parameters that go by a name of their own.
TAKERS = [
    (vhem.HMM, ["fit"], {}),
    (vhem.HMMMixture, ["fit"], {}),
    (vhem.fit_textures, ["fit"], {"n": "S", "method": "learn"}),
    (vhem.ModelClustering, ["cluster"], {}),
    (vhem.HMMClassifier, ["train", "fit", "cluster"], {}),
    (vhem.TagModel, ["train", "fit", "cluster"], {}),
    (vhem.Sequences.load, ["data"], {}),
    (vhem.metrics.distance, ["distance"], {}),
    (vhem.metrics.rank, ["rank"], {}),
]
IDS = [taker.__qualname__ for taker, _, _ in TAKERS]

# Parameters that are no options of the library, or not with a default of its own.
OWN = {"X", "a", "b", "at", "backend", "cls", "fast", "fixed_startprob", "fixed_transmat", "groups", "hmm",
       "layout", "lengths", "n_clusters", "n_jobs", "names", "options", "path", "pieces", "progress", "random_state",
       "return_error", "return_report", "scores", "symbols", "truth", "verbose", "weights"}


def parameters(taker):
    found = inspect.signature(taker.__init__ if inspect.isclass(taker) else taker).parameters
    return {name: p.default for name, p in found.items() if name != "self"}


def option_of(name, tables, renamed):
    """The row of the table that a parameter stands for."""
    real = renamed.get(name) or _options.RENAMED.get(name, name)
    for table in ["fit"] if name == "fit_prior" else tables:
        if real in _lib.option_table(table):
            return _lib.option_table(table)[real]
    return None


def entries(text):
    """What a docstring says of each parameter: {name: (type, text)}; a list of names without a type refers to
    another class."""
    block = inspect.cleandoc(text).split("Parameters\n----------\n")[1]
    block = re.split(r"\n\n(?=\w+\n-+\n|>>>|Examples|Returns)", block)[0]
    found = {}
    for entry in re.split(r"\n(?=\S)", block):
        head, _, body = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        for name in names.split(", "):
            found[name.lstrip("*")] = (kind, " ".join(body.split()))
    return found


def said(option):
    """The default as a docstring has it."""
    words = (option["argument"] or "").split("|")
    if option["type"] == _lib.lib.VHEM_OPTION_FLAG:
        return str(option["fallback"] == "1")
    if option["type"] == _lib.lib.VHEM_OPTION_CHOICE and option["fallback"] in words:
        return '"%s"' % option["fallback"].replace("gaussian-", "")
    return option["fallback"].replace("gaussian-", "")


def test_the_tables_are_read():
    assert _lib.option_table("fit")["S"]["fallback"] == "3" and _lib.option_table("fit")["S"]["least"] == 1
    assert "linkage" in _lib.option_table("cluster") and "min_items" in _lib.option_table("train")
    with pytest.raises(AttributeError):
        _lib.option_table("none")


@pytest.mark.parametrize("taker, tables, renamed", TAKERS, ids=IDS)
def test_signature(taker, tables, renamed):
    for name, default in parameters(taker).items():
        option = option_of(name, tables, renamed)
        assert option is not None or name in OWN, f"{name} is no option of the library"
        if option is not None and name not in OWN and not (taker is vhem.HMMMixture and name == "n_components"):
            assert default is None, f"{name} has a default of its own, {default!r}"


@pytest.mark.parametrize("taker, tables, renamed", [row for row in TAKERS if row[0] not in (vhem.TagModel,
                                                                                          vhem.Sequences.load)],
                         ids=lambda value: getattr(value, "__qualname__", ""))
def test_docstring(taker, tables, renamed):
    told = entries(taker.__doc__)
    for name in parameters(taker):
        assert name in told or name in OWN, f"{name} is not described"
        option, (kind, text) = option_of(name, tables, renamed), told.get(name, ("", ""))
        if option is None or name in OWN or not kind or name in ("n_piece", "n_components", "store"):
            continue
        assert f"default {said(option)}" in text, f"{name}: the default is {said(option)}"
        if ":func:`vhem.methods`" in text:
            assert name in ("method", "estimator")
        elif option["type"] == _lib.lib.VHEM_OPTION_CHOICE:
            words = option["argument"].replace("gaussian-", "").split("|")
            assert sorted(re.findall(r'"([^"]+)"', kind)) == sorted(words), f"{name}: choices"


def test_every_option_can_be_given():
    """As a parameter, or by name in options=."""
    for taker, tables, renamed in TAKERS:
        names = parameters(taker)
        if "options" in names:
            continue
        reached = {(option_of(name, tables, renamed) or {}).get("name") for name in names}
        elsewhere = {"by_group", "model"} | ({"M", "emission", "init", "topology", "repair", "prior", "S_max"}
                                             if taker is vhem.fit_textures else set())
        assert set(_lib.option_table(tables[0])) <= reached | elsewhere, taker


def test_renamed_options_are_in_the_docs():
    page = (SOURCE / "docs" / "python-names.md").read_text().split("## Names of options")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|", page, re.M)
    listed = {python: c for left, right in rows for python in re.findall(r"`(\w+)`", left)
              for c in re.findall(r"`(\w+)`", right)}
    for python, c in {**_options.RENAMED, "random_state": "seed", "n_jobs": "threads"}.items():
        assert listed.get(python) == c, f"{python} is {c}"


def test_what_is_left_out_is_not_passed_on():
    assert vhem.HMM()._options() == {"fixed_pi": None, "fixed_A": None}
    assert vhem.ModelClustering()._options() == {"method": None} == vhem.VHEM()._options()
    assert vhem.HMM(n_states=2, covariance_type="full")._options()["emission"] == "gaussian-full"
    trained = vhem.HMMClassifier(n_components=2)._train_options(False)
    assert trained == {"K": 2, "piece": {}, "reduce": {}, "by_group": False}


def test_a_negative_number_is_not_the_default(sequences):
    for parameters in ({"n_states": -1}, {"tol": -1e-9}, {"cov_floor": np.float32(-1)}):
        with pytest.raises(ValueError, match="must not be negative; leave it out for the default"):
            vhem.HMM(**parameters).fit(sequences)


def test_options_inside_options(sequences):
    clf = vhem.HMMClassifier(n_components=1, n_states=1, options={"piece": {"max_iter": 7}, "min_items": 2})
    used = clf.fit(sequences, ["low", "high"] * 6).models_.options
    assert used["piece"]["max_iter"] == 7 and used["piece"]["S"] == 1 and used["min_items"] == 2
    with pytest.warns(DeprecationWarning, match="'min_things' was renamed 'min_items'"):
        vhem.HMMClassifier(n_components=1, n_states=1, options={"min_things": 2}).fit(sequences, ["a", "b"] * 6)
    dead = vhem.HMM(n_states=2, options={"repair": 0, "max_iter": 3}).fit(sequences)
    assert dead.n_iter_ <= 3
