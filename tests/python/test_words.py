# SPDX-License-Identifier: BSD-3-Clause
"""Errors and warnings have the words of Python: its parameters, not the options of the command or letters of C."""
import inspect
import re

import numpy as np
import pytest
import vhem
from conftest import SOURCE
from vhem import _lib, _parameters


@pytest.mark.parametrize("made, sentence", [
    (lambda: vhem.HMM(emission="poisson"), "HMM has no parameter 'emission'; it is called covariance_type here: "
     "covariance_type='poisson'"),
    (lambda: vhem.fit_each([np.zeros(3)], seed=3), "HMM has no parameter 'seed'; it is called random_state here: "
     "random_state=3"),
    (lambda: vhem.VHEM(k=3), "VHEM has no parameter 'k'; it is called n_clusters here: n_clusters=3"),
    (lambda: vhem.HMMMixture(n_clusters=3), "HMMMixture has no parameter 'n_clusters'; it is called n_components here: "
     "n_components=3"),
    (lambda: vhem.HMM(n_state=3), "HMM has no parameter 'n_state'; it is called n_states here: n_states=3"),
    (lambda: vhem.fit_each("d.csv", columns="x"), "HMM has no parameter 'columns'; pass it to "
     "vhem.Sequences.load(path, columns='x'), and fit what that returns"),
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
        with pytest.raises(vhem.InputError, match=ask + "; pass id= to vhem.Sequences.load"):
            fit(tmp_path / "who.csv")
    with pytest.raises(vhem.InputError, match="add missing='-'; .* fit it with covariance_type='y:categorical'; "
                       "to leave it out, name the others with columns=$"):
        vhem.Sequences.load(tmp_path / "id.csv")
    with pytest.warns(vhem.VhemWarning, match="leave it out with columns='x,y'$"):
        vhem.Sequences.load(tmp_path / "id.csv", missing="-")


def test_names_that_are_not_there(sequences):
    models = vhem.fit_each(vhem.Sequences.from_arrays(sequences[:2], names=["a", "b"]), n_states=1)
    with pytest.raises(KeyError, match="there is no model named 'c'; the names are a, b"):
        models["c"]
    with pytest.raises(KeyError, match="the models have no names"):
        vhem.fit_each(sequences[:2], n_states=1)["c"]


def literals():
    """Every string of the library, with the parts of those that go on in the next line joined; options in «»."""
    if not (SOURCE / "src").is_dir():
        pytest.skip("the source of the library is not here")
    paths = sorted((SOURCE / "src").rglob("*.[ch]"))
    code = [path.read_text() for path in paths if path.parent.name != "report"]      # pages, not sentences
    marked = [re.sub(r'\bVH_OPT\(\s*"((?:[^"\\\n]|\\.)*)"\s*\)', r'"«\1»"', text) for text in code]
    found = [re.findall(r'"((?:[^"\\\n]|\\.)*)"', run[0]) for text in marked
             for run in re.finditer(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+', text)]
    return ["".join(parts) for parts in found]


def test_every_option_that_the_library_names_has_a_name_here():
    """An option that a sentence of the library names is a parameter of an estimator or of Sequences.load."""
    known = {*_parameters.READING, "backend", "models", "model", "emission", *vhem.HMM().get_params(),
             *_lib.option_table("cluster"), *inspect.signature(vhem.metrics.stats).parameters}
    asked = [name for text in literals() for name in re.findall(r"«([a-z_]+)(?:=[^«»]*)?»", text)]
    assert len(asked) > 20 and set(asked) <= known


def test_the_library_spells_no_option_as_the_command_does():
    """Its sentences name fields, and the context spells them; the help of the options is the command's."""
    table = (SOURCE / "src/core/options.c").read_text() if (SOURCE / "src").is_dir() else ""
    wrong = [text for text in literals()
             if re.search(r"--(%s|[a-z])", text) and text[:40] not in table and text != "--cov %s"]
    assert not wrong


def test_where_options_belong():
    assert _parameters.where_to_say("say with id= which") == "say with id= which; pass id= to vhem.Sequences.load"
    for sentence in ("grid= is 3, must be 4", "by_group= is 2"):
        assert _parameters.where_to_say(sentence) == sentence


class Named(vhem.HMM):
    def __init__(self, extra=1, **parameters):
        super().__init__(**parameters)
        self.extra = extra


def test_subclasses_that_hand_parameters_on():
    made = Named(n_states=2, extra=3)
    assert made.n_states == 2 and made.extra == 3
    with pytest.raises(TypeError, match="Named has no parameter 'seed'; it is called random_state here: rand"):
        Named(seed=3)
