# SPDX-License-Identifier: BSD-3-Clause
"""The front door, vhem.cluster, and ModelClustering of sequences without a method: what it finds, says and refuses."""
import importlib
import inspect
import json
import logging
import pickle
import subprocess

import numpy as np
import pytest
import support
import vhem
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

KINDS = [0, 1] * 10
QUICK = {"topology": "linear", "n_states": 5}                # three graphs instead of thirteen


def hills(rng, n=20):
    """Up and then down, or down and then up, with the same values in another order."""
    hill = 4 * np.sin(np.linspace(0, np.pi, 24))[:, None]
    return [rng.normal(hill if k % 2 else 4 - hill, 0.3) for k in range(n)]


@pytest.fixture(scope="module")
def X():
    return hills(np.random.default_rng(0))


@pytest.fixture(scope="module")
def found(X):
    return vhem.cluster(X, 2)


@pytest.fixture(scope="module")
def chooses(X):
    """Skips where the library cannot choose the number of clusters."""
    try:
        vhem.cluster(X, **QUICK)
    except vhem.InputError as error:
        if "n_clusters is 0, must be at least 1" in str(error):
            pytest.skip("the library does not choose the number of clusters")
        raise


# ---- what it finds -----------------------------------------------------------------------------------------

def test_groups_that_differ_in_order(found, X):
    assert type(found) is vhem.ModelClustering and found.result_[0].method == "auto"
    assert found.labels_.tolist() == KINDS                   # numbered by first appearance
    assert len(found.centers_) == 2 and found.centers_.names == ["cluster_0", "cluster_1"]
    np.testing.assert_allclose(found.z_.sum(axis=1), 1)
    np.testing.assert_allclose(found.score_samples(X), found.centers_.score(X).max(axis=1))
    assert found.result_[0].items == "sequences" and found.n_features_in_ == 1
    assert found.predict_proba(hills(np.random.default_rng(5), 4)).argmax(axis=1).tolist() == [0, 1, 0, 1]
    assert not hasattr(found, "models_") and found.converged_ and found.n_iter_ == 1 and np.isnan(found.lower_bound_)


def test_the_estimator_does_the_same(found, X):
    again = vhem.ModelClustering(2).fit(X)
    np.testing.assert_array_equal(again.z_, found.z_)
    assert again.graphs_ == found.graphs_ and (again.fit_predict(X) == found.labels_).all()
    explicit = vhem.ModelClustering(2, method="auto").fit(X)
    np.testing.assert_array_equal(explicit.z_, found.z_)


def test_one_seed_one_answer(X):
    runs = [vhem.cluster(X, 2, random_state=3, n_jobs=j, **QUICK) for j in (1, 2, 5)]
    assert len({run.z_.tobytes() for run in runs}) == 1 and runs[0].graphs_ == runs[1].graphs_ == runs[2].graphs_


def test_labels_are_the_partition_and_predict_asks_the_centres(X):
    """Four groups where there are two: the centres would move some sequences."""
    four = vhem.cluster(X, 4, **QUICK)
    kept = [run for run in four.result_[0].runs if run["as_good"]]
    assert len(kept) == 1 and kept[0]["agreement"] == 1 and kept[0]["label"] is None
    assert set(four.labels_) == set(range(4)) and (four.result_[0].labels == four.labels_).all()
    assert (four.predict(X) == four.z_.argmax(axis=1)).all()
    assert "predict" in inspect.getdoc(vhem.ModelClustering).split("labels_")[1]


def test_graphs(found):
    assert [graph for graph in found.graphs_ if graph.kept] == [max(found.graphs_, key=lambda g: g[1] + g[2])]
    assert found.graphs_[0]._fields == ("graph", "modularity", "stability", "agreement", "kept")
    assert "free models of 3 states" in [graph.graph for graph in found.graphs_] and len(found.graphs_) == 6
    level = found.result_[0]
    assert level.graphs == found.graphs_ and [run["init"] for run in level.runs] == [g.graph for g in found.graphs_]
    for run in level.runs:
        assert np.isnan(run["bound"]) and run["bounds"] is None and (run["as_good"] or len(run["label"]) == 20)
    assert found.share_.shape == (20,) and 0 <= found.share_.min() <= found.share_.max() <= 1


def test_graphs_as_a_table(found):
    table = pytest.importorskip("pandas").DataFrame(found.graphs_)
    assert table.columns.tolist() == list(found.graphs_[0]._fields) and table["kept"].sum() == 1


@pytest.mark.parametrize("given, graphs", [
    ({"topology": "linear"}, {"linear models of 5 states", "linear models of 8 states"}),
    ({"topology": "free", "n_states": 4}, {"free models of 4 states"}),
    ({"n_states": 6}, {"free models of 6 states", "linear models of 6 states, with differences"})])
def test_shapes_can_be_restricted(X, given, graphs):
    found = vhem.cluster(X, 2, **given)
    names = {graph.graph for graph in found.graphs_}
    assert graphs <= names and not any("elastic" in name for name in names)
    assert all(given.get("topology", "") in name and f"of {given.get('n_states', '')}" in name for name in names)
    assert "n_states" not in given or found.centers_[0].S == given["n_states"]


def test_emission_and_mixtures(X):
    full = vhem.cluster(X, 2, n_mix=2, covariance_type="full", **QUICK)
    assert full.centers_.emission == "gaussian-full" and full.centers_[0].M == 2
    words = [(["a"] * 4 + ["b"] * 5 + ["c"] * 4)[::1 if k % 2 else -1] for k in range(20)]
    lives = vhem.cluster(words, 2, covariance_type="categorical", n_states=3)
    assert lives.labels_.tolist() == KINDS and lives.predict([words[1]]).tolist() == [1]
    counts = [np.random.default_rng(k).poisson(2 + 20 * (k % 2), (30, 1)) for k in range(20)]
    with pytest.warns(vhem.VhemWarning, match="look like counts.*covariance_type='poisson'"):
        vhem.cluster(counts, 2, **QUICK)


def test_number_of_clusters(X, chooses):
    found = vhem.cluster(X)
    assert found.labels_.tolist() == KINDS and found.result_[0].n_clusters == 2
    assert vhem.ModelClustering().fit(X).labels_.tolist() == KINDS
    assert clone(found).n_clusters is None


def test_levels(X):
    """The lowest level by the front door, those above by VHEM of its centres."""
    found = vhem.cluster(X, [4, 2], **QUICK)
    assert [level.method for level in found.result_] == ["auto", "vhem"]
    assert [level.n_clusters for level in found.result_] == [4, 2] and found.level_labels_.shape == (20, 2)
    assert (found.result_[0].parents[found.level_labels_[:, 0]] == found.labels_).all()
    assert found.predict_levels(X).shape == (20, 2) and len(found.centers_) == 4
    assert found.graphs_ == found.result_[0].graphs and found.result_[1].graphs is None
    assert np.isnan(found.lower_bound_) and found.result_[1].bound is not None
    with pytest.raises(vhem.InputError, match=r"n_clusters is \[2, 0.5\], must be a whole number for each level"):
        vhem.cluster(X, [2, 0.5])


# ---- what goes in ------------------------------------------------------------------------------------------

def test_groups(rng):
    trials = hills(rng, 60)
    who = [f"s{k // 4}" + "du"[k % 2] for k in range(60)]
    found = vhem.cluster(trials, 2, groups=who, **QUICK)
    names = list(dict.fromkeys(who))
    assert found.result_[0].names == names and found.result_[0].items == "groups"
    assert support.same_partition(found.labels_, [name[-1] for name in names])
    data = vhem.Sequences.from_arrays(trials, groups=who)
    np.testing.assert_array_equal(vhem.cluster(data, 2, **QUICK).labels_, found.labels_)
    assert (found.predict(data, groups=True) == found.z_.argmax(axis=1)).all() and found.predict(data).shape == (60,)


def test_sequences_in_every_form(X, tmp_path):
    want = vhem.cluster(X, 2, **QUICK).z_
    data = vhem.Sequences.from_arrays(X)
    data.save(tmp_path / "d.csv")
    table = np.stack([y[:, 0] for y in X])
    for given in ((data, None), (str(tmp_path / "d.csv"), None), (tmp_path / "d.csv", None), (table, None),
                  (table[:, None], None), (np.concatenate(X), [24] * 20)):
        np.testing.assert_allclose(vhem.cluster(given[0], 2, lengths=given[1], **QUICK).z_, want, atol=1e-12)


def test_frames(X):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": np.repeat(np.arange(20), 24), "y": np.concatenate(X)[:, 0]})
    found = vhem.cluster(frame, 2, **QUICK)
    assert found.labels_.tolist() == KINDS and found.result_[0].names[:2] == ["0", "1"]


def test_models_are_clustered_by_vhem(flock):
    found = vhem.cluster(flock, 3, tau=5)
    assert found.result_[0].method == "vhem" and support.same_partition(found.labels_, flock.labels)
    np.testing.assert_array_equal(found.z_, vhem.VHEM(3, tau=5).fit(flock).z_)
    assert vhem.cluster(flock, tau=5).result_[0].n_clusters == 2 and found.graphs_ is None


def test_centres_can_be_clustered_again(X):
    few = vhem.cluster(X, 4, **QUICK)
    again = vhem.cluster(few, 2)                             # an estimator is the set of its centres
    assert again.result_[0].method == "vhem" and len(again.labels_) == 4


# ---- what is refused ---------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, value, sentence", [
    ("tau", 5, "tau is the length of the virtual samples by which models are compared; groups of sequences are found "
     "without it: leave it out, or give method='vhem', which takes it"),
    ("nv", 10.0, "nv is the number of virtual samples for each model; "),
    ("init", "base", "init is how a run starts; "),
    ("search", "fast", "search is which starts and candidates are tried; "),
    ("n_init", 5, "n_init is the number of starts, "), ("hmm", vhem.HMM(2), "hmm is how sequences become models; "),
    ("candidate", 2, "candidate is "), ("refine", 2, "refine is "), ("max_iter", 5, "max_iter is "),
    ("tol", 0, "tol is "), ("cov_floor", 0.1, "cov_floor is ")])
def test_parameters_of_vhem(X, name, value, sentence):
    with pytest.raises(vhem.InputError) as caught:
        vhem.cluster(X, 2, **{name: value})
    assert str(caught.value).startswith(sentence) and "method='vhem'" in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_other_things_that_are_refused(X):
    for wrong, text in (({"neighbours": 3}, "neighbours is .*method='knn-sc', which takes it"),
                        ({"method": "auto", "tau": 3}, "method auto does not use tau"),
                        ({"method": "auto", "hmm": vhem.HMM(2)}, "hmm is how sequences become models"),
                        ({"options": {"linkage": "single"}}, "method auto does not use linkage"),
                        ({"topology": "ergodic"}, "topology 'ergodic' is unknown; known are free, left-right, linear"),
                        ({"method": "em-h3m", "topology": "linear"}, "method em-h3m does not use topology"),
                        ({"n_states": "auto"}, "n_states is 'auto', must be a whole number"),
                        ({"n_clusters": 0}, "n_clusters is 0, must be at least 1; without it the number .* is chosen"),
                        ({"n_clusters": 99}, "n_clusters is 99, but there are only 20 sequences"),
                        ({"n_clusters": 2.5}, "n_clusters is 2.5, must be a whole number")):
        with pytest.raises(vhem.InputError, match=text):
            vhem.cluster(X, **{"n_clusters": 2, **wrong})
    for name, value in (("covariance_type", "full"), ("topology", "linear")):
        with pytest.raises(vhem.InputError, match=rf"{name} and hmm are both given; give vhem.HMM\({name}='{value}'\)"):
            vhem.VHEM(2, hmm=vhem.HMM(2), **{name: value}).fit(X)
    with pytest.raises(TypeError, match="it is called covariance_type here"):
        vhem.cluster(X, 2, emission="poisson")
    with pytest.raises(vhem.InputError, match="there are no sequences"):
        vhem.cluster([], 2)


def test_models_have_their_own_emission(flock):
    for wrong, text in (({"covariance_type": "full"}, "does not use emission"), ({"topology": "free"}, "use topology")):
        with pytest.raises(vhem.InputError, match="method vhem .*" + text):
            vhem.cluster(flock, 3, **wrong)


def test_an_exception_ends_it(X):
    def stop(what, done, total):
        raise KeyboardInterrupt

    estimator = vhem.ModelClustering(2, progress=stop)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X)
    with pytest.raises(NotFittedError):
        estimator.predict(X)


# ---- other methods are what they were ----------------------------------------------------------------------

@pytest.mark.parametrize("given", [{"method": "vhem"}, {"preset": "emhmm"}, {"options": {"preset": "emhmm"}},
                                   {"options": {"method": "vhem"}}])
def test_a_method_or_a_preset_fits_models_first(X, given):
    found = vhem.cluster(X[:8], 2, n_states=2, tau=5, n_init=3, search="restarts", **given)
    assert found.result_[0].method == "vhem" and len(found.models_) == 8 and found.graphs_ is None
    assert found.lower_bound_ == found.result_[0].bound[-1]
    if given == {"method": "vhem"}:
        same = vhem.VHEM(2, n_states=2, tau=5, n_init=3, search="restarts").fit(X[:8])
        np.testing.assert_array_equal(same.z_, found.z_)


def test_vhem_is_vhem_of_sequences_too(X):
    found = vhem.VHEM(n_states=2, n_init=3).fit(X[:8])
    assert found.result_[0].method == "vhem" and found.result_[0].n_clusters == 2 and len(found.models_) == 8
    assert [level.n_clusters for level in vhem.VHEMTree(n_states=1, n_init=3).fit(X[:8]).result_] == [4, 2]


def test_models_of_sequences_have_the_shape_that_was_asked_for(X):
    found = vhem.VHEM(2, n_states=3, covariance_type="full", topology="linear", n_init=3).fit(X[:8])
    assert found.models_.emission == found.centers_.emission == "gaussian-full"
    assert all(model.A[0, 2] == 0 and not np.tril(model.A, -1).any() for model in found.models_)
    same = vhem.VHEM(2, hmm=vhem.HMM(3, covariance_type="full", topology="linear"), n_init=3).fit(X[:8])
    assert same.models_ == found.models_
    kernel = vhem.ModelClustering(2, method="ppk-sc", covariance_type="full", n_states=2).fit(X[:8])
    assert kernel.models_.emission == "gaussian-full" and kernel.models_[0].S == 2
    mixture = vhem.ModelClustering(2, method="em-h3m", covariance_type="full", n_init=2).fit(X[:8])
    assert mixture.centers_.emission == "gaussian-full" and not hasattr(mixture, "models_")


def test_what_an_earlier_fit_left(X, flock):
    estimator = vhem.ModelClustering(2, n_states=5).set_params(method="vhem").fit(X[:8])
    assert len(estimator.models_) == 8 and estimator.fit_report_["run"].shape[0] == 8
    estimator.set_params(method=None, topology="linear").fit(X)
    assert not hasattr(estimator, "models_") and not hasattr(estimator, "fit_report_") and estimator.graphs_


# ---- what goes out -----------------------------------------------------------------------------------------

def test_files(found, X, tmp_path):
    found.save(tmp_path / "c.json")
    file = json.loads((tmp_path / "c.json").read_text())
    assert file["method"] == "auto" and file["labels"] == KINDS and "bound" not in file
    assert [graph["graph"] for graph in file["graphs"]] == [graph.graph for graph in found.graphs_]
    again = vhem.ModelClustering.load(tmp_path / "c.json")
    assert again.graphs_ == found.graphs_ and again.method is None and again.n_clusters == 2
    np.testing.assert_array_equal(again.labels_, found.labels_)
    np.testing.assert_array_equal(again.predict(X), found.predict(X))
    assert (again.fit(X).labels_ == found.labels_).all()
    assert vhem.H3M.load(tmp_path / "c.json") == found.centers_
    restricted = vhem.cluster(X, 2, covariance_type="full", random_state=4, **QUICK)
    restricted.save(tmp_path / "r.json")
    back = vhem.ModelClustering.load(tmp_path / "r.json").get_params()
    assert {name: back[name] for name in ("covariance_type", "random_state", *QUICK)} == {
        "covariance_type": "full", "random_state": 4, **QUICK}


def test_pickles_and_clones(found, X):
    again = pickle.loads(pickle.dumps(found))
    assert again.graphs_ == found.graphs_ and (again.predict(X) == found.predict(X)).all()
    np.testing.assert_array_equal(again.labels_, found.labels_)
    assert clone(found).get_params() == found.get_params() and not hasattr(clone(found), "labels_")
    assert pickle.loads(pickle.dumps(found.result_[0])).graphs == found.graphs_
    assert pickle.loads(pickle.dumps(vhem.cluster)) is vhem.cluster


def test_pickles_from_before_there_were_topologies(X):
    old = vhem.VHEM(2, n_states=1, n_init=2).fit(X[:6])
    for name in ("topology", "covariance_type"):
        del old.__dict__[name]
    again = pickle.loads(pickle.dumps(old))
    assert again.get_params()["topology"] is None and clone(again).fit(X[:6]).graphs_ is None


def test_the_module_has_the_name_of_the_function():
    module = importlib.import_module("vhem.cluster")
    assert module.VHEM is vhem.VHEM and module.cluster is vhem.cluster and inspect.isfunction(vhem.cluster)
    from vhem.cluster import VBHEM, VHEM, ModelClustering, VHEMTree
    assert (VBHEM, VHEM, ModelClustering, VHEMTree) == (vhem.VBHEM, vhem.VHEM, vhem.ModelClustering, vhem.VHEMTree)
    assert inspect.isfunction(vhem.cluster) and pickle.loads(b"cvhem.cluster\nVHEM\n.") is vhem.VHEM


def test_the_same_as_the_command(found, X, command, tmp_path):
    vhem.Sequences.from_arrays(X).save(tmp_path / "d.csv")
    subprocess.run([command, "cluster", "d.csv", "-k", "2", "-o", "c.json", "--quiet"], cwd=tmp_path, check=True)
    theirs = vhem.ModelClustering.load(tmp_path / "c.json")
    np.testing.assert_array_equal(theirs.labels_, found.labels_)
    np.testing.assert_allclose(theirs.z_, found.z_, atol=1e-12)
    assert [graph.graph for graph in theirs.graphs_] == [graph.graph for graph in found.graphs_]
    asked = {name: value for name, value in theirs.get_params().items() if value is not None}
    assert {"method", "n_states", "n_mix", "n_init", "tau", "tol"}.isdisjoint(asked) and asked["n_clusters"] == 2
    np.testing.assert_array_equal(theirs.fit(X).labels_, found.labels_)


def test_the_method_of_a_file_of_the_command(flock, X, command, tmp_path):
    """Of models, it stays when sequences are given next."""
    flock.save(tmp_path / "m.json")
    subprocess.run([command, "cluster", "m.json", "-k", "3", "--tau", "5", "--restarts", "4", "-o", "c.json",
                    "--quiet"], cwd=tmp_path, check=True)
    assert vhem.VHEM.load(tmp_path / "c.json").method is None
    loaded = vhem.ModelClustering.load(tmp_path / "c.json")
    assert loaded.method == "vhem" and loaded.fit(X[:8]).result_[0].method == "vhem"


def test_pages_and_pictures(found, X, tmp_path):
    found.report(tmp_path / "r.html", X)
    page = (tmp_path / "r.html").read_text()
    assert "auto" in page and "Example sequences" in page
    found.report(tmp_path / "short.html")
    html = found.result_._repr_html_()
    assert "members" in html and "free models of 3 states" in html and "stability" in html
    assert repr(found.result_[0]) == "<Clustering: 20 in 2 clusters by auto>"
    assert np.isfinite(vhem.metrics.measures(found, X)["loglik"])
    assert np.isnan(vhem.metrics.measures(found)["expected_loglik"])     # of models, which there are not
    assert vhem.metrics.stats(found, X).cluster.tolist() == found.predict(X).tolist()
    pytest.importorskip("matplotlib")
    for draw in (vhem.plot.membership, vhem.plot.levels, vhem.plot.centers):
        draw(found)
    with pytest.raises(vhem.InputError, match="method auto has no objective to plot"):
        vhem.plot.bound(found)
    pytest.importorskip("scipy")
    assert len(vhem.plot.dendrogram(found).get_xticklabels()) == 2       # centres


def test_what_is_said(found, X, caplog, capsys):
    with caplog.at_level(logging.INFO, "vhem"):
        vhem.cluster(X, 2, verbose=2)
    kept = [graph for graph in found.graphs_ if graph.kept][0]
    line = [text for text in caplog.messages if text.startswith("found by ")]
    assert len(line) == 1 and line[0].startswith(f"found by {kept.graph} (modularity {kept.modularity:.2f}, stability ")
    assert "; next " in line[0] and line[0].endswith(" with these)") and line[0] in capsys.readouterr().err
    assert "predict puts 100 % of the sequences back into their group" in caplog.messages
    caplog.clear()
    with caplog.at_level(logging.INFO, "vhem"):
        vhem.cluster(X, [4, 2], **QUICK)
    assert any(text.startswith("level 1: found by linear models of 5 states") for text in caplog.messages)
