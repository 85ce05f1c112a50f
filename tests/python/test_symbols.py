# SPDX-License-Identifier: BSD-3-Clause
"""Symbols in Python: lists, arrays and frames of text, and files whose columns hold some."""
import datetime
import json
import warnings

import numpy as np
import pytest

import vhem

SYMBOLS = ["007", "7", "home", "work"]


@pytest.fixture
def texts():
    rng = np.random.default_rng(0)
    share = ([0.1, 0.1, 0.1, 0.7], [0.3, 0.5, 0.1, 0.1])
    return [[str(word) for word in rng.choice(SYMBOLS, size=20 + i, p=share[i % 2])] for i in range(8)]


def categorical(n_states=1):
    return vhem.HMM(n_states, covariance_type="categorical", random_state=0)


def test_forms_of_one_sequence(texts):
    forms = (texts[0], [texts[0]], np.array(texts[0]), np.array(texts[0], object), np.array(texts[0])[:, None],
             [np.array(texts[0])], vhem.Sequences(texts[0]), tuple(texts[0]))
    fits = [categorical().fit(form) for form in forms]
    for fit in fits:
        assert fit.symbols_ == SYMBOLS
        np.testing.assert_array_equal(fit.probabilities_, fits[0].probabilities_)
    assert fits[0].predict(texts[0]).shape == (20,)
    assert fits[0].sample(2, 5).cells(0).shape == (5, 1)
    assert set(fits[0].sample(2, 50).cells(1).ravel()) <= set(SYMBOLS)


def test_clusters(texts):
    found = vhem.VHEM(2, hmm=categorical(), random_state=0).fit(texts)
    assert [found.labels_[i] == found.labels_[0] for i in range(8)] == [i % 2 == 0 for i in range(8)]
    np.testing.assert_array_equal(found.predict(texts), found.labels_)
    rows = np.array([words[:20] for words in texts])
    np.testing.assert_array_equal(vhem.VHEM(2, hmm=categorical(), random_state=0).fit(rows).labels_, found.labels_)
    np.testing.assert_array_equal(found.predict(rows), found.labels_)
    assert vhem.VBHEM(3, hmm=categorical(), random_state=0).fit(texts).n_clusters_ == 2
    mixture = vhem.HMMMixture(2, n_states=1, covariance_type="categorical").fit(texts)
    assert mixture.centers_.columns[0]["symbols"] == SYMBOLS


def test_missing_and_numbers():
    data = vhem.Sequences([["a", "NA", "1.0", 1, None, " a "], ["b", "", 2, "2", float("nan"), "?"]], [1, 1])
    assert data.d == 6 and set(data.symbols) == {"y0", "y5"}
    data = vhem.Sequences.from_arrays([["a", "NA", "1.0", 1, None, " a "], ["b", "", 2, "2", float("nan"), "?"]])
    assert data.symbols == {"y0": ["a", "1", "b", "2"]}
    assert data.cells(0).ravel().tolist() == ["a", None, "1", "1", None, "a"]
    assert data.cells(1).ravel().tolist() == ["b", None, "2", "2", None, None]
    assert not vhem.Sequences(np.array(["1.5", "2"])).symbols      # texts that are plain numbers are numbers


def test_symbols_stay(texts, tmp_path):
    data = vhem.Sequences.from_arrays(texts, labels=list("abababab"), columns=["place"])
    for same in (data[2:5], data.with_names(list("12345678")), data.with_groups(list("aabbccdd")),
                 data.with_labels(None)):
        assert same.symbols == data.symbols
        assert set(categorical().fit(same).symbols_) <= set(SYMBOLS)
    assert categorical().fit(data.with_groups(None)).symbols_ == SYMBOLS
    data.save(tmp_path / "d.csv")
    again = vhem.Sequences.load(tmp_path / "d.csv", symbols="place")
    assert [again.cells(n).tolist() for n in range(8)] == [data.cells(n).tolist() for n in range(8)]


def test_symbols_of_another_file(texts, tmp_path):
    """Numbers of symbols differ from file to file; whatever was fitted goes by their names."""
    (tmp_path / "all.csv").write_text("who,place\n" + "".join(f"p{i},{w}\n" for i, ws in enumerate(texts) for w in ws))
    (tmp_path / "few.csv").write_text("who,place\n" + "".join(f"q,{w}\n" for w in ("work", "7", "work", "work")))
    all, few = (vhem.Sequences.load(tmp_path / name, id="who", columns="place", symbols="place")
                for name in ("all.csv", "few.csv"))
    assert few.symbols == {"place": ["work", "7"]}
    kind = [i % 2 for i in range(8)]
    each = {"covariance_type": "categorical", "n_states": 1}
    for data in (all, all[[0, 2, 3, 1, 5, 4, 7, 6]], all[:8]):
        p = dict(zip(SYMBOLS, categorical().fit(data).probabilities_.ravel()))
        right = np.log([p["work"], p["7"], p["work"], p["work"]]).sum()
        for told in (few, few[:1], few[[0]]):
            assert categorical().fit(data).score(told) == pytest.approx(right)
    for more in ({"weights": np.ones(8)}, {"groups": kind}):
        fit = vhem.fit_each(all, **more, **each)[0]
        p = dict(zip(fit.symbols, fit.probabilities.ravel()))
        assert fit.score(few)[0] == pytest.approx(np.log([p["work"], p["7"], p["work"], p["work"]]).sum())
    assert vhem.HMMClassifier(**each).fit(all, kind).predict(few).tolist() == [0]


def test_files(texts, tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("id,x,place\n" + "".join(f"s{i},{t % 3},{word}\n" for i, words in enumerate(texts)
                                             for t, word in enumerate(words)))
    fit = vhem.HMM(1, covariance_type="x:poisson,place:categorical").fit(path)
    assert fit.channels_[1]["symbols"] == SYMBOLS
    assert np.isfinite(fit.score(path)) and len(fit.model_.score(str(path))) == 8
    models = vhem.fit_each(path, n_states=1, covariance_type="place:categorical")
    found = vhem.VHEM(2, random_state=0).fit(models)
    np.testing.assert_array_equal(found.predict(path), found.labels_)
    np.testing.assert_array_equal(found.result_.assign(path)[0][:, 0], found.labels_)
    direct = vhem.VHEM(2, hmm=vhem.HMM(1, covariance_type="place:categorical"), random_state=0).fit(path)
    np.testing.assert_array_equal(direct.labels_, found.labels_)
    assert models.score(path).shape == (8, 8)


def test_mat_files(tmp_path):
    """What the package says by itself about reading symbols is not for .mat files, whose symbols are numbers."""
    io, path = pytest.importorskip("scipy.io"), tmp_path / "c.mat"
    codes = np.random.default_rng(0).integers(0, 3, (40, 1))
    io.savemat(path, {"X": codes, "lengths": [25, 15]})
    fit = categorical().fit(path)
    assert fit.symbols_ == ["0", "1", "2"]
    assert fit.score(path) == pytest.approx(fit.score([codes[:25], codes[25:]]))
    models = vhem.fit_each(path, n_states=1, covariance_type="categorical")
    assert models.score(path).shape == (2, 2)
    assert vhem.VHEM(1, hmm=categorical()).fit(path).predict(path).tolist() == [0, 0]
    with pytest.raises(vhem.InputError, match="symbols= does not apply to a .mat file; leave it out"):
        vhem.Sequences.load(path, symbols="*")


def test_frames(texts):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": np.repeat(np.arange(8), [len(t) for t in texts]), "place": np.concatenate(texts)})
    fit = categorical().fit(frame)
    assert fit.symbols_ == SYMBOLS
    assert categorical().fit(frame.astype({"place": "category"})).symbols_ == SYMBOLS
    frame["x"] = np.arange(len(frame)) % 3
    assert fit.score(frame) == pytest.approx(fit.score(frame[["id", "place"]]))
    both = vhem.HMM(1, covariance_type="x:poisson,place:categorical").fit(frame)
    assert both.channels_[1]["symbols"] == SYMBOLS
    with pytest.warns(vhem.VhemWarning, match="^text columns left out: place$"):
        assert vhem.Sequences.from_frame(frame).d == 1
    assert vhem.Sequences.from_frame(frame, columns=["place", "x"]).symbols.keys() == {"place"}


@pytest.fixture
def mixed():
    pd = pytest.importorskip("pandas")
    return pd.DataFrame({"id": [0, 0, 1, 1], "x": [0.5, 1.5, 2.5, 3.5], "place": ["a", "b", "b", "c"],
                         "state": [1, 0, 2, 1], "flag": [True, False, True, True],
                         "day": pd.date_range("2020-01-01", periods=4)})


@pytest.mark.parametrize("symbols", ["place", "place,state", "state", "?", "*"])
def test_columns_named_as_symbols(mixed, symbols, tmp_path, monkeypatch):
    """A frame, and a file that pandas reads, have the symbols that the same table in a text file has."""
    pd, frame = pytest.importorskip("pandas"), mixed[["id", "x", "place", "state"]]
    frame.to_csv(tmp_path / "d.csv", index=False)
    monkeypatch.setattr(pd, "read_parquet", lambda path: frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vhem.VhemWarning)
        text = vhem.Sequences.load(tmp_path / "d.csv", symbols=symbols)
        for same in vhem.Sequences.from_frame(frame, symbols=symbols), vhem.Sequences.load("d.pq", symbols=symbols):
            assert same.columns == text.columns
            if symbols != "*":                               # with which a frame keeps its numbers
                assert same.symbols == text.symbols and (same.y == text.y).all()
    assert "place" in text.columns or symbols == "state"


def test_symbols_that_are_not_there(mixed):
    with pytest.raises(vhem.InputError, match="there is no column 'plaze'; the columns are id, x, place"):
        vhem.Sequences.from_frame(mixed, symbols="plaze,state")
    renamed = mixed.rename(columns={"place": "place, now"})
    with pytest.warns(vhem.VhemWarning, match="^non-numeric columns left out: flag, day$"):
        assert list(vhem.Sequences.from_frame(renamed, symbols="place, now").symbols) == ["place, now"]
    mixed["code"] = ["a", 1, 2, 3]
    with pytest.raises(vhem.InputError, match="^column 'code' must be numbers: .*; symbols='code' takes it as symbols"):
        vhem.Sequences.from_frame(mixed[["id", "x", "code"]])


def test_flags_and_dates_beside_text(mixed):
    for how in {"symbols": "*"}, {"columns": ["place", "flag"]}:
        data = vhem.Sequences.from_frame(mixed[["id", "place", "flag"]], **how)
        assert data.symbols == {"place": ["a", "b", "c"]} and data.y[:, 1].tolist() == [1, 0, 1, 1]
    assert vhem.Sequences([["a", True], ["b", np.False_]]).y.tolist() == [[0, 1], [1, 0]]
    sentence = "column 'day' holds dates or times, must be numbers or text; leave it out, or convert it first"
    for how in {"symbols": "*"}, {"columns": ["place", "day"]}, {"columns": ["x", "day"]}:
        with pytest.raises(vhem.InputError, match=sentence):
            vhem.Sequences.from_frame(mixed, **how)
    assert vhem.Sequences.from_frame(mixed, columns=["day", "flag"], symbols="flag,day").cells(0)[1].tolist() == [
        "2020-01-02 00:00:00", "False"]
    for day in datetime.date(2020, 1, 2), np.datetime64("2020-01-02", "ns"):
        with pytest.raises(vhem.InputError, match="^column 'day' holds .* such as '2020-01-02.*must be numbers or t"):
            vhem.Sequences(np.array([["a", day], ["b", day]], object), columns=["place", "day"])


def test_refused(texts):
    for estimator in (vhem.HMM(1), vhem.VHEM(2), vhem.HMM(1, covariance_type="poisson")):
        with pytest.raises(vhem.InputError, match="needs numbers; covariance_type='categorical' takes text"):
            estimator.fit(texts)
    with pytest.raises(vhem.InputError, match="give several sequences as a list of lists"):
        vhem.VHEM(2).fit(texts[0])
    with pytest.raises(vhem.InputError, match="column 'y0' is 'swim', which the models have no symbol for"):
        categorical().fit(texts).score([["home", "swim"]])
    with pytest.raises(vhem.InputError, match="holds text"):
        vhem.Model([1], [[1]], [[0.0]], [[1.0]]).score(texts)


def test_clusters_without_centres(tmp_path):
    models = [vhem.Model([1], [[1]], [[x]], [[1.0]]) for x in (0.0, 0.1, 20.0, 20.1)]
    found = vhem.ModelClustering(2, method="kl-sc").fit(models)
    found.save(tmp_path / "c.json")
    stored = json.loads((tmp_path / "c.json").read_text())
    stored.pop("centers", None)
    (tmp_path / "c.json").write_text(json.dumps(stored))
    with pytest.raises(vhem.InputError, match="c.json has clusters without centres; give the models that"):
        vhem.VHEM(2).fit(tmp_path / "c.json")


def test_numbers_with_many_digits():
    """Zeros after the point make no code of a number, but a whole number of more than 15 digits is one."""
    long = "12345678901234567890"
    data = vhem.Sequences.from_arrays([["1", "1.0000000000000000", "1.000000000000000000e+00", "a", long]])
    assert data.symbols["y0"] == ["1", "a", long]


def test_parameters_by_column():
    rng = np.random.default_rng(3)
    rows = [[n, x, y, word] for n, x, y, word in zip(rng.poisson(3, 40), rng.normal(size=40), rng.normal(5, 1, 40),
                                                     rng.choice(["in", "out"], 40))]
    data = vhem.Sequences(np.array(rows, object), columns=["n", "x", "y", "ward"])
    fit = vhem.HMM(2, covariance_type="n:poisson,x+y:gaussian-full,ward:categorical").fit(data)
    found, model = fit.by_column_, fit.model_.by_column
    assert list(found) == ["n", "x", "y", "ward"]
    assert found["n"]["emission"] == "poisson" and found["n"]["rate"].shape == (2,)
    assert model["n"]["rate"].shape == (2, 1)
    np.testing.assert_array_equal(found["y"]["mu"], fit.channels_[1]["mu"][:, 0, 1])
    np.testing.assert_array_equal(found["y"]["cov"], fit.channels_[1]["cov"][:, 0, 1, 1])
    assert found["ward"]["symbols"] == ["in", "out"] and found["ward"]["p"].shape == (2, 2)
    plain = vhem.HMM(2).fit(data.y[:, 1:3])
    np.testing.assert_array_equal(plain.by_column_["y1"]["mu"], plain.means_[:, 1])
    symbols = vhem.HMM(1, covariance_type="categorical").fit(["a", "b", "a"])
    np.testing.assert_array_equal(symbols.by_column_["y0"]["p"], symbols.probabilities_)
    gamma = vhem.HMM(1, covariance_type="gamma").fit(rng.gamma(2, 1, (50, 2)))
    assert set(gamma.by_column_["y1"]) == {"emission", "shape", "rate", "zero"}


def test_parameters_by_column_of_a_background(tmp_path):
    rng = np.random.default_rng(4)
    X = [rng.normal(4 * (n % 2), 1, (30, 2)) for n in range(6)]
    background = vhem.HMM(1, n_mix=3).fit(X).model_
    vhem.H3M([background]).save(tmp_path / "b.json")
    fit = vhem.HMM(2, covariance_type=f"gaussian-tied:{tmp_path / 'b.json'}").fit(X)
    found = fit.model_.by_column
    assert list(found) == ["y0", "y1"]
    for k, about in enumerate(found.values()):
        assert set(about) == {"emission", "weights", "mu", "cov"}
        np.testing.assert_array_equal(about["weights"], fit.model_.params["weights"])
        for state in 0, 1:
            np.testing.assert_array_equal(about["mu"][state, 0], background.mu[0, :, k])
            np.testing.assert_array_equal(about["cov"][state, 0], background.cov[0, :, k])
    assert fit.by_column_["y1"]["mu"].shape == (2, 3)


def test_columns_of_one_name_keep_their_places():
    class Emitted(vhem._natural.Natural):
        emission = "poisson"
        params = {"rate": np.array([[[1.0, 2.0, 3.0]]])}
        columns = [{"name": name, "symbols": []} for name in ("n", "n", "m")]

    found = Emitted().by_column
    assert {name: about["rate"].item() for name, about in found.items()} == {"n": 1, "y1": 2, "m": 3}
