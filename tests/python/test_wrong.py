# SPDX-License-Identifier: BSD-3-Clause
"""Wrong input ends in a sentence: vhem.Error, ValueError or TypeError, and never in a crash or a wrong answer."""
import numpy as np
import pytest
import vhem


def one_state(d=1):
    return vhem.Model([1], [[1]], np.zeros((1, d)), np.ones((1, d)))


@pytest.mark.parametrize("X, sentence", [
    ([], "no sequences"), (None, "NoneType, must be a list"), (3, "int, must be a list"), ({"a": 1}, "dict, must be"),
    ((x for x in ()), "generator, must be"), (b"abc", "bytes, must be"), ([np.zeros((0, 2))], r"shape \(0, 2\)"),
    ([np.array(["a", "b"])], "needs numbers"), ([np.array(["2020-01-01"], "M8[D]")], "must be numbers"),
    ([np.full((3, 1), np.nan)], "missing"), ([np.full((3, 1), np.inf)], "infinite"),
    ([np.zeros((3, 1)), np.zeros((3, 2))], "sequence 1 has 2 columns")])
@pytest.mark.parametrize("estimator", [vhem.HMM(), vhem.VHEM(), vhem.HMMMixture()], ids=lambda e: type(e).__name__)
def test_sequences(estimator, X, sentence):
    with pytest.raises(ValueError, match=sentence):
        estimator.fit(X)


def test_frames_of_pandas(sequences):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [0, 0, 1, 1], "x": np.array([1, 2.5, 3, 4], object), "word": ["a"] * 4,
                              "z": pandas.array([1, None, 3, 4], "Int64")})
    read = vhem.Sequences.from_frame(frame)
    assert read.columns == ["x", "z"] and np.isnan(read.y[1, 1]) and read.y[1, 0] == 2.5
    with pytest.raises(ValueError, match="must be numbers.*'a'"):
        vhem.Sequences.from_frame(frame.assign(x=[1, 2, "a", 4]))
    with pytest.raises(ValueError, match="row 2 has no value in column 'id'"):
        vhem.Sequences.from_frame(frame.assign(id=[0, 0, None, 1]))
    with pytest.raises(ValueError, match="several columns are called 'x'"):
        vhem.Sequences.from_frame(pandas.DataFrame([[0, 1.0, 2.0]], columns=["id", "x", "x"]))
    assert isinstance(vhem.HMM(n_states=1).fit(pandas.Series(sequences)).predict(pandas.Series(sequences)), list)


@pytest.mark.parametrize("parameters, sentence", [
    ({"n_clusters": 10**9}, "there are only 12"), ({"n_clusters": 2**70}, "fit into 64 bits"),
    ({"n_clusters": 2.5}, "n_clusters is 2.5, must be a whole number$"),
    ({"n_clusters": "a"}, "n_clusters is 'a', must be a whole number$"),
    ({"n_clusters": (3, "a")}, r"n_clusters is \(3, 'a'\), must be a whole number for each level$"),
    ({"tau": 2**40}, "tau is 1099511627776, which is too large"),
    ({"method": 3}, "no method 3; the methods are vhem"),
    ({"options": 3}, "options is 3, must be a dict"), ({"options": {"no": 1}}, "no option 'no'"),
    ({"init": 3}, "item 0 is of type int, not an HMM"), ({"n_states": 10**9}, "4096")])
def test_options(sequences, parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        vhem.ModelClustering(**{"n_clusters": 2, **parameters}).fit(vhem.fit_each(sequences, n_states=1))


def test_whole_numbers_say_how_large_they_may_be(flock):
    with pytest.raises(vhem.InputError, match="n_states is .*, must be whole numbers that fit into 32 bits"):
        vhem.metrics.choose(flock, [2], [2**40])
    with pytest.raises(vhem.InputError, match="n_clusters is .*, must be whole numbers that fit into 64 bits"):
        vhem.metrics.choose(flock, [2**70])


def test_the_number_that_stands_for_auto(sequences):
    with pytest.raises(vhem.Error, match="2147483647, which is too large"):
        vhem.HMM(2147483647).fit(sequences)


def test_lists_of_unequal_length():
    with pytest.raises(vhem.InputError, match="the lists have 2 and 1 labels, must have the same length, at least 1"):
        vhem.metrics.agreement([0, 1], [0])
    with pytest.raises(vhem.InputError, match="the lists have 2 and 1 values, must have the same length"):
        vhem.metrics.paired_t([0, 1], [0])


def test_sizes_that_the_library_cannot_see(sequences):
    models = vhem.fit_each(sequences, n_states=1)
    found = vhem.VHEM(2).fit(models)
    for wrong, sentence in [
            (lambda: vhem.HMM(n_states=3, fixed_startprob=[0.5, 0.5]).fit(sequences), r"must be \(3,\)"),
            (lambda: vhem.HMM(n_states=3, fixed_transmat=np.eye(2)).fit(sequences), r"must be \(3, 3\)"),
            (lambda: vhem.H3M([one_state(2), one_state(1)]), "HMM 1 has dimension 1"),
            (lambda: vhem.H3M([one_state()], omega=[-1]), "must be 1 weights"),
            (lambda: vhem.Model([1], [[1]], [[0.0]], 1.0), "cov has shape"),
            (lambda: vhem.Textures(list(vhem.fit_textures(sequences, n=1)), omega=[1, 2]), "must be 12 weights"),
            (lambda: vhem.Textures([3]), "item 0 is of type int, must be a vhem.Texture"),
            (lambda: vhem.TagModel().fit(sequences, np.ones((12, 2)), tags=["a"]), "1 different tags, but Y has 2"),
            (lambda: vhem.TagModel().fit(sequences, ["abc"] * 12), "row 0 of Y is 'abc'"),
            (lambda: found.report("r.html", classes=["a"]), "1 classes, must be 12"),
            (lambda: found.report("r.html", distance=np.eye(2)), r"must be \(12, 12\)"),
            (lambda: found.report("r.html", choice=np.zeros(3)), "vhem.metrics.choose"),
            (lambda: vhem.Sequences(np.zeros((4, 1)), [2.5, 1.5]), "whole numbers"),
            (lambda: vhem.metrics.measures(3), "give a fitted VHEM"),
            (lambda: vhem.metrics.distance(models, tau="auto"), "must be a whole number"),
            (lambda: models.sample(2**60, 5), "are possible"), (lambda: models.sample(2**70, 5), "int too big"),
            (lambda: models.sample("a", 5), "integer")]:
        with pytest.raises(ValueError, match=sentence):
            wrong()


def test_odd_names_in_a_notebook():
    model = vhem.Model([1], [[1]], [[0.0]], [[1.0]], name="<b>&'\"\n\u202e", label="</td><script>")
    assert "<script>" not in vhem.H3M([model])._repr_html_() and "<b>&" not in model._repr_html_()


def test_parameters_by_position_and_by_other_names():
    with pytest.raises(TypeError, match="HMM has no parameter 'n_components'; it is called n_states here: n_states=3"):
        vhem.HMM(n_components=3)
    with pytest.raises(TypeError, match="it is called n_clusters here"):
        vhem.VHEM(n_components=3)
    assert vhem.HMMClassifier(2).n_components == vhem.TagModel(2).n_components == 2
    with pytest.raises(TypeError, match="HMMClassifier takes 2 parameters without a name, must be at most 1, n_comp"):
        vhem.HMMClassifier(2, 3)


def test_arrays_of_too_many_axes():
    for estimator in (vhem.HMM(), vhem.VHEM()):
        with pytest.raises(vhem.InputError, match=r"X has shape \(2, 3, 4, 5\), must have at most three axes"):
            estimator.fit(np.zeros((2, 3, 4, 5)))
        with pytest.raises(vhem.InputError, match="with lengths two"):
            estimator.fit(np.zeros((2, 3, 4)), lengths=[2])
