# SPDX-License-Identifier: BSD-3-Clause
"""Models: views, files, pickles, and those of other programs."""
import copy
import gc
import json
import pickle

import numpy as np
import pytest
import support
import vhem


@pytest.fixture
def pair(tmp_path):
    """Two HMMs known to the last digit, and their file."""
    path = tmp_path / "pair.json"
    path.write_text(support.model())
    return vhem.H3M.load(path), json.loads(path.read_text())


def test_views(pair):
    models, file = pair
    assert len(models) == 2 and models.names == ["slow", "fast"] and models.labels == ["a", "b"]
    assert models.omega.tolist() == [0.25, 0.75] and models.emission == "gaussian-diag" and models.d == 1
    for m, hmm in zip(models, file["hmms"]):
        for key in ("pi", "A", "c", "mu", "cov"):
            np.testing.assert_array_equal(getattr(m, key), hmm[key])
            assert not getattr(m, key).flags.writeable
        assert (m.S, m.M) == (hmm["S"], hmm["M"])
    assert models["fast"].name == "fast" and models[-1].name == "fast"
    assert models[1:].names == ["fast"] and models[1:].omega.tolist() == [1]
    with pytest.raises(IndexError):
        models[2]
    with pytest.raises(KeyError):
        models["none"]


def test_views_outlive_their_set(pair):
    A = vhem.H3M(list(pair[0]))[0].A
    gc.collect()
    assert A.tolist() == [[0.9, 0.1], [0.2, 0.8]]


def test_scores_agree_with_the_definition(pair, rng):
    models, file = pair
    y = rng.normal(2, 2, size=(7, 1))
    expected = [support.forward(hmm, y.tolist()) for hmm in file["hmms"]]
    np.testing.assert_allclose(models.score([y]), [expected], rtol=1e-12)
    np.testing.assert_allclose(models[1].score(y), expected[1:], rtol=1e-12)
    paths, logprobs = models[0].decode(y)
    best, path = support.best_path(file["hmms"][0], y.tolist())
    assert tuple(paths[0]) == path and logprobs[0] == pytest.approx(best, rel=1e-12)
    np.testing.assert_allclose(models[1].posterior(y)[0].sum(axis=1), 1)


def test_made_of_arrays():
    m = vhem.Model([0.5, 0.5], [[1, 0], [0, 1]], [[0, 0], [1, 1]], [np.eye(2), 2 * np.eye(2)], name="n",
                   label="l")
    assert (m.emission, m.S, m.M, m.d, m.name, m.label) == ("gaussian-full", 2, 1, 2, "n", "l")
    mix = vhem.Model([1], [[1]], [[[0.0], [3.0]]], [[[1.0], [2.0]]], c=[[0.25, 0.75]])
    assert mix.M == 2 and mix.c.tolist() == [[0.25, 0.75]]
    both = vhem.H3M([m, vhem.Model([1], [[1]], [[0, 1]], [[1, 4]])], omega=[3, 1])
    assert both.emission == "gaussian-full" and both.omega.tolist() == [0.75, 0.25]
    np.testing.assert_array_equal(both[1].cov[0, 0], np.diag([1, 4]))
    assert m.renamed("other").name == "other" and m.renamed("other").label == "l"


@pytest.mark.parametrize("wrong, text", [
    (dict(A=[[0.9, 0.2], [0.5, 0.5]]), "row 0 of A"),
    (dict(pi=[1, 1]), "pi"),
    (dict(mu=[[0.0]]), r"mu has shape \(1, 1\), must be \(2, d\)"),
    (dict(cov=[[1.0], [-1.0]]), "cov|variance"),
    (dict(A=[[1.0]]), r"A has shape \(1, 1\), must be \(2, 2\)"),
])
def test_wrong_arrays(wrong, text):
    good = dict(pi=[0.5, 0.5], A=[[0.5, 0.5], [0.5, 0.5]], mu=[[0.0], [1.0]], cov=[[1.0], [1.0]])
    with pytest.raises(vhem.Error, match=text) as caught:
        vhem.Model(**{**good, **wrong})
    assert isinstance(caught.value, ValueError)
    with pytest.raises(ValueError, match="not an HMM"):
        vhem.H3M([1, 2])
    with pytest.raises(ValueError, match="no HMMs"):
        vhem.H3M([])


@pytest.mark.parametrize("ending", ["json", "h5"])
def test_files(pair, tmp_path, ending):
    path = tmp_path / f"m.{ending}"
    pair[0].save(path)
    assert vhem.H3M.load(path) == pair[0]
    with pytest.raises(vhem.FileError, match="none.json"):
        vhem.H3M.load(tmp_path / "none.json")
    path.write_text("{}")
    with pytest.raises(vhem.InputError, match=f"m.{ending}"):
        vhem.H3M.load(path)


def test_pickles_and_copies(pair):
    again = pickle.loads(pickle.dumps(pair[0]))
    assert again == pair[0] and again.omega.tolist() == [0.25, 0.75]
    one = pickle.loads(pickle.dumps(pair[0][1]))
    assert one.name == "fast" and (one.A == pair[0][1].A).all()
    assert copy.deepcopy(pair[0]) is pair[0] and pair[0] != pair[0][:1]


def test_shown(pair):
    assert repr(pair[0]) == "<H3M: 2 HMMs, S = 2, d = 1, gaussian-diag>"
    assert repr(pair[0][0]) == "<Model 'slow': S = 2, M = 1, d = 1, gaussian-diag>"
    assert "slow" in pair[0]._repr_html_() and "to 1" in pair[0][0]._repr_html_()
    nasty = vhem.Model([1], [[1]], [[0.0]], [[1.0]], name="<script>")
    assert "<script>" not in nasty._repr_html_() + vhem.H3M([nasty])._repr_html_()


def test_samples(pair):
    a, b = (pair[0].sample(5, 20, random_state=s) for s in (3, 3))
    np.testing.assert_array_equal(a.y, b.y)
    assert a.lengths.tolist() == [20] * 5 and set(a.labels) <= {"slow", "fast"}
    assert not np.array_equal(a.y, pair[0].sample(5, 20, random_state=4).y)
    assert set(pair[0][1].sample(5, 20).labels) == {"fast"}


@pytest.mark.parametrize("kind", ["spherical", "diag", "full", "tied"])
def test_hmmlearn(sequences, kind):
    hmmlearn = pytest.importorskip("hmmlearn.hmm")
    y = sequences[0]
    for theirs in (hmmlearn.GaussianHMM(2, covariance_type=kind, random_state=0).fit(y),
                   hmmlearn.GMMHMM(2, 2, covariance_type=kind, random_state=0, n_iter=3).fit(y)):
        ours = vhem.H3M([theirs])
        assert ours[0].score(y)[0] == pytest.approx(theirs.score(y), rel=1e-9)
        assert ours[0].to_hmmlearn().score(y) == pytest.approx(theirs.score(y), rel=1e-9)
        assert (ours[0].decode(y)[0][0] == theirs.predict(y)).all()


def test_hmmlearn_goes_straight_into_vhem(sequences):
    hmmlearn = pytest.importorskip("hmmlearn.hmm")
    theirs = [hmmlearn.GaussianHMM(2, random_state=0).fit(y) for y in sequences]
    found = vhem.VHEM(2, random_state=1).fit(theirs)
    assert support.same_partition(found.labels_, [0, 1] * 6)
    assert (found.predict(theirs) == found.labels_).all()


def test_something_like_hmmlearn_is_enough(sequences):
    class Fitted:
        covariance_type = "full"
        startprob_, transmat_ = np.array([0.5, 0.5]), np.full((2, 2), 0.5)
        means_, covars_ = np.zeros((2, 2)), np.stack([np.eye(2)] * 2)
    assert vhem.H3M([Fitted()]).emission == "gaussian-full"


def test_mat_files(tmp_path, rng):
    pytest.importorskip("scipy.io")
    models = vhem.H3M([vhem.Model([0.25, 0.75], [[0.5, 0.5], [0, 1]], rng.normal(size=(2, 2)),
                                  np.stack([np.eye(2) * (k + 1)] * 2)) for k in range(3)])
    path = tmp_path / "models.mat"
    models.save(path)
    assert vhem.H3M.load(path).compare(models) == 0
    assert vhem.VHEM(2).fit(str(path)).labels_.shape == (3,)


def test_mat_files_as_the_toolbox_has_them(tmp_path):
    """A group struct beside other things; a single state; a cov of one number; prior as a row."""
    io = pytest.importorskip("scipy.io")
    path = tmp_path / "group.mat"
    hmm = {"prior": np.array([[1.0]]), "trans": np.array([[1.0]]), "LL": -3.5,
           "pdf": np.array([{"mean": np.array([[2.0, 3.0]]), "cov": np.eye(2) * 4}], dtype=object)}
    cell = np.empty((1, 2), dtype=object)
    cell[0, 0] = cell[0, 1] = hmm
    io.savemat(path, {"group": {"hmms": cell, "label": [1, 2]}, "opt": {"S": 3}})
    models = vhem.H3M.load(path)
    assert models.names == ["hmm1", "hmm2"] and models[1].mu.tolist() == [[[2, 3]]]
    io.savemat(path, {"x": 1})
    with pytest.raises(vhem.InputError, match="prior, trans and pdf; the file holds x"):
        vhem.H3M.load(path)
    path.write_text("no")
    with pytest.raises(vhem.InputError, match="group.mat"):
        vhem.H3M.load(path)


def test_pieces_and_transitions(sequences, tmp_path):
    groups = ["a"] * 6 + ["b"] * 6
    pooled = vhem.fit_pieces(sequences, groups=groups, n_components=2, n_states=1, store=tmp_path / "store")
    assert pooled.names == ["a/0", "a/1", "b/0", "b/1"]
    np.testing.assert_allclose(pooled.omega.sum(), 1)
    assert (tmp_path / "store").stat().st_size > 100
    counts = vhem.fit_each(sequences, n_states=2)[0].transitions(sequences[:3])
    np.testing.assert_allclose(counts.sum(axis=(1, 2)), [29, 30, 31])


def test_texts_with_nul():
    with pytest.raises(ValueError, match="NUL"):
        vhem.Model([1], [[1]], [[0.0]], [[1.0]], name="a\0b")
    with pytest.raises(ValueError, match="NUL"):
        vhem.H3M.load("a\0b.json")
    with pytest.raises(ValueError, match="must be a str or"):
        vhem.Sequences.load(3)


def test_other_families(tmp_path):
    """Counts with a gap: fitted, looked at, kept in a file, renamed, put together."""
    rng = np.random.default_rng(3)
    X = [np.concatenate([rng.poisson(1, (20, 2)), rng.poisson(8, (20, 2))]).astype(float) for _ in range(4)]
    X[0][3, 1] = np.nan
    models = vhem.fit_each(X, n_states=2, covariance_type="poisson", random_state=1)
    m = models[0]
    assert m.emission == "poisson" and list(m.params) == ["rate"] and m.params["rate"].shape == (2, 1, 2)
    assert m.mu is None and (m.params["rate"] > 0).all()
    assert np.isfinite(m.score(X)).all()
    models.save(tmp_path / "m.json")
    assert vhem.H3M.load(tmp_path / "m.json").compare(models) == 0
    again = vhem.H3M([m.renamed("a"), models[1]])
    assert again[0].name == "a" and np.array_equal(again[0].params["rate"], m.params["rate"])


def test_damaged_on_disk(tmp_path):
    """A set of more than 16 MB stays on disk; what cannot be read of it is told, not left out."""
    d, K = 1200, 1100
    one = [vhem.Model([1], [[1]], np.full((1, d), 0.5), np.full((1, d), 2.0), name=f"h{i}") for i in range(K)]
    models = vhem.H3M(one)
    path = tmp_path / "m.h5"
    models.save(path)
    assert vhem.H3M.load(path).names[-1] == f"h{K - 1}"
    whole = bytearray(path.read_bytes())
    at = whole.rindex(np.full(d, 2.0).tobytes())
    whole[at:at + 8] = np.array([3.0]).tobytes()
    path.write_bytes(whole)
    damaged = vhem.H3M.load(path)
    assert damaged[0].name == "h0"
    for look in (lambda m: m.names, lambda m: m.omega, lambda m: m[K - 1].mu, lambda m: m.compare(models)):
        with pytest.raises(vhem.Error, match=r"m.h5: chunk 2 \(HMMs 1024 to 1099\): the checksum of its numbers is"):
            look(damaged)


def test_columns_and_symbols(tmp_path):
    path = tmp_path / "days.csv"
    rows = [f"{person},{'home' if (t + person) % 3 else 'work'},{t % 4}" for person in range(3) for t in range(40)]
    path.write_text("id,place,steps\n" + "\n".join(rows) + "\n")
    days = vhem.Sequences.load(path, symbols="place")
    assert days.symbols == {"place": ["work", "home"]}           # as they come; models have them sorted
    assert set(days.y[:, 0]) == {0, 1} and vhem.Sequences.load(path, columns="steps").symbols == {}
    models = vhem.fit_each(days, n_states=2, covariance_type="place:categorical,steps:poisson")
    assert models.columns == [{"name": "place", "emission": "categorical", "symbols": ["home", "work"]},
                              {"name": "steps", "emission": "poisson", "symbols": []}]


def made_of_every_kind():
    """HMMs of families whose columns have more than numbers: symbols, channels, a background."""
    A, pi = [[0.9, 0.1], [0.2, 0.8]], [0.6, 0.4]
    track = [{"emission": "gamma", "columns": ["step"], "shape": [[2.0], [9.0]], "rate": [[1.0], [2.0]]},
             {"emission": "von-mises", "columns": ["turn"], "mean": [[3.0], [0.0]], "kappa": [[1.0], [5.0]]},
             {"emission": "categorical", "columns": ["what"], "symbols": ["eat", "go"], "p": [[0.8, 0.2], [0.1, 0.9]]}]
    background = {"mu": [[0.0, 0.0], [5.0, 1.0], [2.0, 2.0]], "cov": np.ones((3, 2))}
    return [vhem.Model.from_params("poisson", pi, A, rate=[[1.0, 2.0], [7.5, 0.5]], name="a"),
            vhem.Model.from_params("categorical", pi, A, p=[[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]], symbols="xyz", name="a"),
            vhem.Model.from_params("product", pi, A, channels=track, name="a"),
            vhem.Model.from_params("gaussian-tied", pi, A, background=background, name="a",
                                   c=[[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]])]


@pytest.mark.parametrize("m", made_of_every_kind(), ids=lambda m: m.emission)
def test_every_family_from_arrays(m, tmp_path):
    other = m.renamed("b")
    both = vhem.H3M([m, other])
    assert [h.name for h in both] == ["a", "b"] and both[1:][0].name == "b"
    assert pickle.loads(pickle.dumps(both)) == both and pickle.loads(pickle.dumps(m)).emission == m.emission
    both.save(tmp_path / "m.json")
    assert vhem.H3M.load(tmp_path / "m.json") == both
    seen = m.sample(3, 40, random_state=1)
    assert np.isfinite(both[1].score(seen)).all() and len(both[0].decode(seen)[0]) == 3
    assert sum(p.size for p in m.params.values()) + m.c.size == m.theta.size
    assert vhem.VHEM(1, random_state=0).fit(both).centers_.emission == m.emission


def test_sets_of_one_layout():
    _, letters, _, tied = made_of_every_kind()
    assert letters.params["p"].shape == (2, 1, 3) and tied.params["weights"].shape == (2, 1, 3)
    more = vhem.Model.from_params("categorical", [1], [[1]], p=[[0.5, 0.5]], symbols="xy")
    with pytest.raises(vhem.Error, match="does not match the others"):
        vhem.H3M([letters, more])
    moved = vhem.Model.from_params("gaussian-tied", [1], [[1]], c=[[0.5, 0.5, 0.0]],
                                   background={"mu": np.zeros((3, 2)), "cov": np.ones((3, 2))})
    with pytest.raises(vhem.Error, match="backgrounds"):
        vhem.H3M([tied, moved])
    with pytest.raises(vhem.Error, match="^HMM 0: .*rate"):
        vhem.Model.from_params("poisson", [1], [[1]], rate=[[-1.0]])


def test_natural_names():
    counts, letters, track, tied = made_of_every_kind()
    assert counts.rates is counts.means and counts.rates.shape == (2, 1, 2)
    assert letters.probabilities[0, 0].tolist() == [0.2, 0.3, 0.5] and letters.symbols == ["x", "y", "z"]
    assert [c["emission"] for c in track.channels] == ["gamma", "von-mises", "categorical"]
    assert track.channels[0]["rate"].ravel().tolist() == [1.0, 2.0] and track.channels[2]["symbols"] == ["eat", "go"]
    again = vhem.Model.from_params("product", track.pi, track.A, channels=track.channels)
    assert np.array_equal(again.theta, track.theta) and again.columns == track.columns
    gamma = vhem.Model.from_params("gamma", [1], [[1]], shape=[[3.0]], rate=[[2.0]], zero=[[0.5]])
    assert gamma.means.item() == 0.75 and gamma.zeros.item() == 0.5 and gamma.shapes.item() == 3
    angle = vhem.Model.from_params("von-mises", [1], [[1]], mean=[[3.0]], kappa=[[2.0]])
    assert angle.means.item() == 3 and angle.kappas.item() == 2
    for m, name, there in ((counts, "kappas", "rates"), (letters, "means", "probabilities"), (tied, "means", "c"),
                           (track, "rates", "channels"), (angle, "symbols", "means, kappas")):
        assert not hasattr(m, name)
        with pytest.raises(AttributeError, match=f"no {name}; they have {there}$"):
            getattr(m, name)


def test_natural_names_of_estimators():
    counts, letters, track, _ = made_of_every_kind()
    fitted = vhem.HMM(2, covariance_type="poisson", random_state=0).fit(counts.sample(4, 60, random_state=1))
    assert np.array_equal(fitted.rates_, fitted.lambdas_) and fitted.means_.shape == (2, 2)
    assert np.allclose(fitted.rates_[np.argsort(fitted.rates_[:, 0])], [[1, 2], [7.5, 0.5]], atol=0.7)
    assert not hasattr(fitted, "covars_") and not hasattr(fitted, "emissionprob_")
    assert not hasattr(vhem.HMM(2), "rates_")
    fitted = vhem.HMM(2, covariance_type="categorical", random_state=0).fit(letters.sample(4, 60, random_state=1))
    assert fitted.emissionprob_.shape == (2, 3) and len(fitted.symbols_) == 3
    assert np.allclose(fitted.probabilities_.sum(1), 1) and not hasattr(fitted, "lambdas_")
    fitted = vhem.HMM(2, n_mix=2, random_state=0).fit(np.arange(60.0)[:, None] % 7)
    assert fitted.means_.shape == (2, 2, 1) and fitted.covars_.shape == (2, 2, 1)


class Theirs:
    """What vhem looks for in a fitted model of hmmlearn."""

    startprob_, transmat_ = [0.6, 0.4], [[0.9, 0.1], [0.2, 0.8]]

    def __init__(self, **arrays):
        vars(self).update(arrays)


def test_hmmlearn_counts_and_symbols():
    models = vhem.H3M([Theirs(lambdas_=[[1.0, 2.0], [7.5, 0.5]])] * 2)
    assert models.emission == "poisson" and models[0].rates[1, 0].tolist() == [7.5, 0.5]
    models = vhem.H3M([Theirs(emissionprob_=[[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])])
    assert models.emission == "categorical" and models[0].symbols == ["0", "1", "2"]
    assert np.isfinite(models[0].score(np.array([[0.0], [2.0], [1.0]]))).all()
    with pytest.raises(vhem.Error, match="not an HMM"):
        vhem.H3M([Theirs(emissionprob_=[[0.2, 0.8], [0.6, 0.4]], n_trials=[3])])
    hmmlearn = pytest.importorskip("hmmlearn.hmm")
    y = np.random.default_rng(0).integers(0, 3, (60, 1))
    for theirs in (hmmlearn.PoissonHMM(2, random_state=0).fit(y), hmmlearn.CategoricalHMM(2, random_state=0).fit(y)):
        ours = vhem.H3M([theirs])[0]
        assert ours.score(y.astype(float))[0] == pytest.approx(theirs.score(y), rel=1e-9)
        assert ours.to_hmmlearn().score(y) == pytest.approx(theirs.score(y), rel=1e-9)
