# SPDX-License-Identifier: BSD-3-Clause
"""Errors and warnings have the words of Python: its parameters, not the options of the command or letters of C."""
import re

import numpy as np
import pytest
import vhem
from conftest import SOURCE
from vhem import _lib, _words


@pytest.mark.parametrize("made, sentence", [
    (lambda: vhem.HMM(emission="poisson"), "HMM has no parameter 'emission'; it is called covariance_type here: "
     "covariance_type='poisson'"),
    (lambda: vhem.fit_each([np.zeros(3)], seed=3), "HMM has no parameter 'seed'; it is called random_state here: "
     "random_state=3"),
    (lambda: vhem.VHEM(k=3), "VHEM has no parameter 'k'; it is called n_clusters here: n_clusters=3"),
    (lambda: vhem.HMMMixture(n_clusters=3), "HMMMixture has no parameter 'n_clusters'; it is called n_components here: "
     "n_components=3"),
    (lambda: vhem.HMM(n_state=3), "HMM has no parameter 'n_state'; it is called n_states here: n_states=3"),
    (lambda: vhem.fit_each("d.csv", columns="x"), "HMM has no parameter 'columns'; it is an argument of "
     "vhem.Sequences.load(path, columns='x'), whose result can be fitted"),
    (lambda: vhem.VBHEM(colour=1), "VBHEM has no parameter 'colour'; its parameters are n_clusters_max, ")])
def test_unknown_parameters(made, sentence):
    with pytest.raises(TypeError, match="^" + re.escape(sentence)):
        made()


@pytest.mark.parametrize("estimator, sentence", [
    (vhem.HMM(n_states=0), "n_states is 0, must be"), (vhem.HMM(n_init=0), "n_init is 0, must"),
    (vhem.HMM(n_states=(4, 2)), "n_states is (4, 2), must begin with the smaller number"),
    (vhem.HMM(covariance_type="round"), "covariance_type 'round' is unknown; known are diag, full, poisson"),
    (vhem.VHEM(99), "n_clusters is 99, but there are only 12 models"),
    (vhem.HMMMixture(99), "n_components is 99, but there are only 12 sequences"),
    (vhem.HMM(n_states=2, n_mix=0), "n_mix is 0, must be"),
    (vhem.HMM(n_states="auto", prior="none"), "the number of states is chosen by variational Bayes, which needs a "
     "prior: not prior='none'"),
    (vhem.VHEM(2, preset="paper", n_init=0), "n_init is 0, must")])
def test_parameters(sequences, estimator, sentence):
    with pytest.raises(vhem.Error, match="^" + re.escape(sentence)):
        estimator.fit(sequences)


def test_files(tmp_path):
    rows = [f"{i // 10},{i % 10},{i * 0.3},{'-' if i == 5 else i % 7}" for i in range(40)]
    (tmp_path / "who.csv").write_text("\n".join(["who,t,x,y", *rows]) + "\n")
    (tmp_path / "id.csv").write_text("\n".join(["id,t,x,y", *rows]) + "\n")
    ask = "say with id= which columns name a sequence; the columns are who, t, x, y"
    for read in (vhem.Sequences.load, vhem.load):
        with pytest.raises(vhem.InputError, match=ask):
            read(tmp_path / "who.csv")
    for fit in (vhem.fit_each, vhem.VHEM(2).fit):
        with pytest.raises(vhem.InputError, match=ask + "; id= is an argument of vhem.Sequences.load"):
            fit(tmp_path / "who.csv")
    with pytest.raises(vhem.InputError, match="with columns= to leave this one out, .* with missing='-'$"):
        vhem.Sequences.load(tmp_path / "id.csv")
    with pytest.warns(vhem.VhemWarning, match="leave it out with columns='x,y'$"):
        vhem.Sequences.load(tmp_path / "id.csv", missing="-")


def test_names_that_are_not_there(sequences):
    models = vhem.fit_each(vhem.Sequences.from_arrays(sequences[:2], names=["a", "b"]), n_states=1)
    with pytest.raises(KeyError, match="there is no model named 'c'; there are a, b"):
        models["c"]
    with pytest.raises(KeyError, match="they have no names"):
        vhem.fit_each(sequences[:2], n_states=1)["c"]


def test_every_option_that_the_library_names_has_a_name_here():
    """An option that a sentence of the library names is a parameter of an estimator or of Sequences.load."""
    known = {*_words.READING, "backend", "models", *vhem.HMM().get_params(), *_lib.option_table("cluster")}
    asked = 0
    if not (SOURCE / "src").is_dir():
        pytest.skip("the source of the library is not here")
    for path in sorted((SOURCE / "src").rglob("*.c")):
        if path.parent.name == "report":                     # pages, not sentences
            continue
        for text in re.findall(r'"((?:[^"\\]|\\.)*)"', path.read_text().replace("vhem fit --model dtm", "")):
            for option in re.findall(r"([a-z_]+)=", _words.in_python(" ".join(re.findall(r"--[a-z][a-z-]*", text)))):
                asked += 1
                assert option in known, (path, text)
    assert asked > 20
