# SPDX-License-Identifier: BSD-3-Clause
"""What users bring and take home: layouts and padding of arrays, scaling, files of estimators, statistics."""
import inspect
import json
import os
import subprocess
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import vhem
from vhem.cluster import _with_parameters


@pytest.fixture
def trials():
    rng = np.random.default_rng(0)
    arrays = [rng.normal((6 * (i // 4 % 2), 1), 1, (rng.integers(2, 6), 2)) for i in range(48)]
    return vhem.Sequences.from_arrays(arrays, groups=[f"s{i // 4}" for i in range(48)], columns=["x", "y"])


def test_layouts():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6, 40, 3))                          # (n, T, d)
    right = vhem.Sequences.from_array(X, layout="ntd")
    assert right.d == 3 and right.lengths.tolist() == [40] * 6
    np.testing.assert_array_equal(right[4], X[4])
    same = vhem.Sequences.from_array(X.transpose(0, 2, 1))
    np.testing.assert_array_equal(same.y, right.y)
    with pytest.warns(vhem.VhemWarning, match="layout=.ntd."):
        vhem.VHEM(2, n_states=1).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", vhem.VhemWarning)
        assert vhem.VHEM(2, n_states=1).fit(X.transpose(0, 2, 1)).n_features_in_ == 3
        for made in vhem.VHEM(2, n_states=1, layout="ntd"), vhem.HMMMixture(2, n_states=1, layout="ntd"), \
                vhem.HMM(1, layout="ntd"), vhem.HMMClassifier(n_states=1, n_components=1, layout="ntd"), \
                vhem.SequenceScaler(layout="ntd"):
            assert made.fit(X, [0, 1] * 3 if isinstance(made, vhem.HMMClassifier) else None).n_features_in_ == 3
        vhem.VHEM(2, n_states=1, layout="ndt").fit(X[:, :4])
        fitted = vhem.VHEM(2, n_states=1).fit(list(X))       # later arrays have the channels of the fit
        assert fitted.predict(X).tolist() == fitted.predict(X.transpose(0, 2, 1)).tolist() == fitted.labels_.tolist()
    with pytest.raises(vhem.InputError, match="layout is 'tnd'"):
        vhem.VHEM(2, n_states=1, layout="tnd").fit(X)
    with pytest.raises(vhem.InputError, match="layout"):
        vhem.Sequences.from_array(X, layout="tnd")
    with pytest.raises(vhem.InputError, match="three axes"):
        vhem.Sequences.from_array(X[0])


def test_padding():
    rng = np.random.default_rng(1)
    lengths = [5, 9, 7]
    arrays = [rng.normal(size=(T, 2)) for T in lengths]
    arrays[1][3, 0] = np.nan                                 # missing, not padding
    X = np.full((3, 2, 9), np.nan)
    for i, a in enumerate(arrays):
        X[i, :, :len(a)] = a.T
    made = vhem.Sequences.from_array(X, names=["a", "b", "c"])
    assert made.lengths.tolist() == lengths and made.names == ["a", "b", "c"]
    for i, a in enumerate(arrays):
        np.testing.assert_array_equal(made[i], a)
    models = vhem.fit_each(X, n_states=1)
    assert len(models) == 3
    X[2] = np.nan
    with pytest.raises(vhem.InputError, match="sequence 2 is all NaN"):
        vhem.Sequences.from_array(X)


def test_tables_that_pandas_reads(monkeypatch, tmp_path):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"who": ["b", "a", "b", "a"], "set": ["u", "u", "u", "v"], "t": [2, 1, 1, 2],
                          "x": [20.0, 1, 10, 2]})
    for name, reader in ("d.ods", "read_excel"), ("d.parquet", "read_parquet"):
        sheets = []
        monkeypatch.setattr(pd, reader, lambda path, **sheet: sheets.append(sheet) or table)
        made = vhem.Sequences.load(name, id="who", columns="x", order="t")
        assert made.names == ["b", "a"] and made.y.ravel().tolist() == [10, 20, 1, 2]
        assert vhem.Sequences.load(name, id="who", columns="x", where="set=u").lengths.tolist() == [2, 1]
        gaps = vhem.Sequences.load(name, id="who", columns="x", missing="lost,20")
        assert np.isnan(gaps.y.ravel()).tolist() == [True, False, False, False]
        with pytest.raises(vhem.InputError, match="order= names column 'z'"):
            vhem.Sequences.load(name, id="who", order="z")

        if name == "d.ods":
            for sheet in "Trials", "2":
                vhem.Sequences.load(name, id="who", columns="x", sheet=sheet)
            assert sheets[-2:] == [{"sheet_name": "Trials"}, {"sheet_name": 1}]
        else:
            with pytest.raises(vhem.InputError, match="this file has no sheets"):
                vhem.Sequences.load(name, id="who", sheet="Trials")
        with pytest.raises(vhem.InputError, match="memory= does not work for a file that pandas reads"):
            vhem.Sequences.load(name, id="who", memory=0)

        def missing(path, **sheet):
            raise ImportError(says)
        monkeypatch.setattr(pd, reader, missing)
        for says, told in (("pip install it", "pip install it"),
                           ("Unable to find a usable engine; tried", "needs pyarrow to read it: pip install pyarrow")):
            with pytest.raises(vhem.InputError, match=told + "; or save it as CSV"):
                vhem.Sequences.load(name, id="who")


def test_one_sequence_is_explained(trials):
    found = vhem.VHEM(2, n_states=1).fit(list(trials))
    with pytest.raises(vhem.InputError, match=r"given as a list, \[X\]"):
        found.predict(np.asarray(trials[0]))
    assert found.predict([trials[0]]).shape == (1,)
    with pytest.raises(ValueError, match=r"single channel as a list, \[X\]"):
        vhem.VHEM(2).fit(np.arange(9.0))
    with pytest.warns(vhem.VhemWarning, match=r"\(12, 2\) is read as 12 sequences of 2 frames with one channel"):
        assert len(vhem.fit_each(np.random.default_rng(0).normal(size=(12, 2)), n_states=1)) == 12


def test_table_without_id_is_explained():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"trial": [0, 0, 0, 1, 1, 1], "x": [1.0, 2, 3, 4, 5, 6]})
    with pytest.warns(vhem.VhemWarning, match=r"names the sequence, vhem.Sequences.from_frame\(X, id=...\)"):
        vhem.VHEM(2, n_states=1).fit(table)
    for fit in (vhem.fit_each, vhem.fit_pieces):
        with pytest.raises(vhem.InputError, match=r"no column 'id' or 'seq' .* vhem.Sequences.from_frame\(X, id=...\)"):
            fit(table, n_states=1)
        assert len(fit(table.to_numpy()[:, :2].repeat(2, axis=1), n_states=1)) == 6


def test_layout_of_functions():
    """An array (n, T, d) is read as layout says by functions too, and as its models say after a fit."""
    X = np.random.default_rng(0).normal(size=(6, 30, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        models = vhem.fit_each(X, n_states=1, layout="ntd")
        assert (len(models), models.d) == (6, 2)
        assert vhem.fit_pieces(X, n_components=1, n_states=1, layout="ntd").d == 2
        assert vhem.fit_textures(X, n=1, layout="ntd").d == 2
        np.testing.assert_array_equal(models.score(X), models.score(list(X)))
        np.testing.assert_array_equal(models[0].score(X), models[0].score(list(X)))
        found = vhem.VHEM(2).fit(models).result_
        np.testing.assert_array_equal(found.assign(X)[0], found.assign(list(X))[0])
    with pytest.warns(vhem.VhemWarning, match="pass layout='ntd'") as told:
        vhem.fit_each(X, n_states=1)
    assert told[0].filename == __file__
    with pytest.raises(TypeError, match="covariance_type='poisson'"):
        vhem.fit_each(X, emission="poisson")


def test_help_tells_the_defaults():
    for cls in (vhem.VHEM, vhem.VHEMTree, vhem.ModelClustering):
        assert "default 10000; shem: 10" in cls.__doc__ and "labels_ : array" in cls.__doc__


def test_help_without_indent():
    """As Python 3.13 has docstrings, and none at all, as python -OO."""
    about, doc = inspect.cleandoc(vhem.ModelClustering.__doc__), "In short.\n\nExamples\n--------\n>>> 1\n"
    merged = _with_parameters(doc, about)
    assert merged.startswith("In short.\n\nParameters\n---") and merged.endswith("\nExamples\n--------\n>>> 1\n")
    assert _with_parameters(None, None) is None


def test_first_parameter_by_place():
    assert vhem.HMM(3).n_states == 3 and vhem.HMMMixture(4).n_components == 4
    assert clone(vhem.HMM(3)).n_states == 3


def test_scaler(trials):
    scaler = vhem.SequenceScaler().fit(trials)
    scaled = scaler.transform(trials)
    np.testing.assert_allclose(scaled.y.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled.y.std(axis=0), 1)
    assert scaled.groups == trials.groups and scaled.columns == trials.columns
    np.testing.assert_allclose(scaler.inverse_transform(scaled).y, trials.y)
    with_gap = [np.array([[1.0, 5.0], [np.nan, 5.0], [3.0, 5.0]])]
    gap = vhem.SequenceScaler().fit(with_gap)
    assert gap.mean_.tolist() == [2, 5] and gap.scale_.tolist() == [1, 1]
    pipe = make_pipeline(vhem.SequenceScaler(), vhem.VHEM(2, n_states=1, random_state=0)).fit(trials)
    assert len(pipe[-1].labels_) == 12                       # persons
    with pytest.raises(vhem.InputError, match="1 channels"):
        scaler.transform([np.zeros((3, 1))])


def test_files_of_estimators(trials, tmp_path):
    data = list(trials)
    for estimator in (vhem.HMM(2), vhem.HMMMixture(2, n_states=1), vhem.VHEM(2, n_states=1),
                      vhem.VHEMTree((3, 2), n_states=1)):
        estimator.set_params(random_state=0).fit(data)
        path = tmp_path / f"{type(estimator).__name__}.json"
        estimator.save(path)
        again = type(estimator).load(path)
        assert type(again) is type(estimator)
        got, want = again.predict(data), estimator.predict(data)
        assert all(np.array_equal(a, b) for a, b in zip(got, want))
        assert again.score(data) == estimator.score(data)
        assert json.loads(path.read_text())["format"].startswith("vhem-")
    labels = ["low", "high"] * 24
    for made, fitted in ((vhem.HMMClassifier, vhem.HMMClassifier(n_components=1, n_states=1).fit(data, labels)),
                         (vhem.TagModel, vhem.TagModel(n_components=1, n_states=1).fit(data, [[x] for x in labels]))):
        fitted.save(tmp_path / "classes.json")
        again = made.load(tmp_path / "classes.json")
        assert np.array_equal(again.predict_proba(data), fitted.predict_proba(data))
    assert vhem.HMMClassifier.load(tmp_path / "classes.json").predict(data[:1])[0] in labels
    with pytest.raises(vhem.InputError, match="must hold one"):
        vhem.HMM.load(tmp_path / "HMMMixture.json")


def test_statistics_are_those_of_the_command(trials, tmp_path):
    people = vhem.fit_each(trials, n_states=1, random_state=0)
    found = vhem.VHEM(2, random_state=0).fit(people)
    s = vhem.metrics.stats(found, trials, models=people)
    assert s.loglik.shape == (12, 2) and s.names == [f"s{i}" for i in range(12)] and s.clustered.all()
    np.testing.assert_allclose(s.scale[:, 0], -s.scale[:, 1])
    assert {t["kind"] for t in s.tests} == {"paired-t", "t", "mann-whitney"}
    t, p = vhem.metrics.paired_t(*s.loglik[s.cluster == 0].T)
    assert s.tests[0]["statistic"] == pytest.approx(t) and s.tests[0]["p"] == pytest.approx(p)
    found.save(tmp_path / "c.json")
    people.save(tmp_path / "m.json")
    trials.save(tmp_path / "d.h5")
    command = [os.environ["VHEM"], "stats", "c.json", "d.h5", "--group", "group", "-m", "m.json", "--json", "--quiet"]
    got = json.loads(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout)
    assert [q["loglik"] for q in got["persons"]] == s.loglik.tolist()
    assert [q["p"] for q in got["tests"]] == [q["p"] for q in s.tests]
    assert [q["entropy"] for q in got["persons"]] == s.entropy.tolist()
    page = tmp_path / "r.html"
    found.report(page, X=trials, stats=s, frame_name="fixations", plane=("x", "y"))
    assert "Who fits which centre" in page.read_text() and "fixations" in page.read_text()
    left = vhem.metrics.stats(found, trials, models=people, leave_out=True)
    assert left.left_out and not np.array_equal(left.loglik, s.loglik)
    each = vhem.metrics.stats(found, trials, groups=False)
    assert len(each.names) == 48
    others = vhem.Sequences.from_arrays([y + 1 for y in trials], groups=trials.groups, columns=trials.columns)
    with pytest.raises(vhem.Error, match="not the data it was fitted to"):
        vhem.metrics.stats(found, others)
    assert not vhem.metrics.stats(found, others, persons="new").clustered.any()
    assert vhem.metrics.stats(vhem.Tree.load(tmp_path / "c.json"), others, persons="same").clustered.all()


def test_types_are_real():
    assert inspect.signature(vhem.VHEM.fit).return_annotation != "Any"
    assert "labels_" in vhem.ModelClustering.__annotations__


def parameters(estimator):
    return {key: value for key, value in estimator.get_params().items() if value is not None}


@pytest.mark.parametrize("estimator", [
    vhem.VHEM(3), vhem.VHEM(np.int64(3), n_states=1, n_init=np.int64(4), tau=7, nv=50.0, random_state=5, search="fast",
                            options={"soft": 3}),
    vhem.VHEMTree((3, 2), n_states=1, preset="emhmm"), vhem.ModelClustering(3, method="ppk-sc", tau=4),
    vhem.VBHEM(5, 2, prior={"nu": 5}, n_init=3, prune=False, options={"soft": 3})], ids=lambda e: type(e).__name__)
def test_parameters_of_a_file_of_clusters(estimator, trials, tmp_path):
    estimator.fit(list(trials)).save(tmp_path / "c.json")
    again = type(estimator).load(tmp_path / "c.json")
    expected = parameters(estimator)
    if "prior" in expected:
        expected["prior"] = "nu=5"                           # as the file has it
    assert parameters(again) == expected
    assert np.array_equal(again.fit(list(trials)).labels_, estimator.labels_)


def test_parameters_of_a_file_of_the_command(flock, command, tmp_path):
    flock.save(tmp_path / "m.json")
    for method, made in ("vhem", vhem.VHEM), ("vbhem", vhem.VBHEM):
        subprocess.run([command, "cluster", "m.json", "-k", "3", "--method", method, "--restarts", "4", "--tau", "7",
                        "--seed", "6", "-o", "c.json", "--quiet"], cwd=tmp_path, check=True)
        found = made.load(tmp_path / "c.json")
        has = found.get_params()
        assert (has["tau"], has["n_init"], has.get("n_clusters", has.get("n_clusters_max"))) == (7, 4, 3)
        assert np.array_equal(found.labels_, made.load(tmp_path / "c.json").fit(flock).labels_)


@pytest.mark.parametrize("given", [
    {"n_components": 1, "n_states": 1},
    {"n_components": 1, "n_states": 2, "covariance_type": "full", "n_init": 3, "tau": 5, "nv": 20.0, "prior": "counts",
     "fit_prior": "none", "random_state": 4,
     "options": {"min_items": 2, "piece": {"max_iter": 50}, "reduce": {"S": 1, "tol": 0.01}}},
    {"n_components": 1, "model": "dtm", "n_states": 1}])
def test_parameters_of_a_file_of_classes(given, trials, tmp_path):
    data, labels = list(trials), ["low", "high"] * 24
    for fitted in (vhem.HMMClassifier(**given).fit(data, labels),
                   vhem.TagModel(**given).fit(data, [[x] for x in labels])):
        fitted.save(tmp_path / "c.json")
        assert parameters(type(fitted).load(tmp_path / "c.json")) == parameters(fitted)
        file = json.loads((tmp_path / "c.json").read_text())
        del file["provenance"]                               # the options that were used remain
        (tmp_path / "c.json").write_text(json.dumps(file))
        again = type(fitted).load(tmp_path / "c.json")
        assert (again.n_components, again.n_states, again.tau) == (1, given["n_states"], given.get("tau"))
        assert again.covariance_type == (None if "model" in given else given.get("covariance_type", "diag"))


def test_clusters_of_a_file_of_models_are_refused(flock, tmp_path):
    flock.save(tmp_path / "m.json")
    for made in (vhem.VHEM, vhem.VBHEM, vhem.VHEMTree):
        with pytest.raises(vhem.InputError, match="m.json is a file of models, 12 HMMs, must be one of clusters"):
            made.load(tmp_path / "m.json")
