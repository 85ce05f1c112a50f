# SPDX-License-Identifier: BSD-3-Clause
"""The estimators: what they find, what they keep, and that they behave as scikit-learn's do."""
import json
import pickle

import numpy as np
import pytest
import support
import vhem
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler


KINDS = [0, 1] * 6


def test_hmm(sequences):
    hmm = vhem.HMM(n_states=2, random_state=1).fit(sequences)
    assert sorted(hmm.means_.mean(axis=1).round()) == [0, 8]
    assert hmm.startprob_.shape == (
        2, ) and hmm.transmat_.shape == hmm.means_.shape == hmm.covars_.shape == (2, 2)
    assert hmm.log_likelihood_ == pytest.approx(hmm.score_samples(sequences).sum(), rel=1e-6)
    assert hmm.score(sequences) == pytest.approx(hmm.score_samples(sequences).mean())
    paths = hmm.predict(sequences)
    assert [len(p) for p in paths] == [len(y) for y in sequences]
    assert support.same_partition([p[0] for p in paths], KINDS)
    stacked, lengths = np.concatenate(sequences), [len(y) for y in sequences]
    np.testing.assert_array_equal(hmm.predict(stacked, lengths), np.concatenate(paths))
    assert hmm.predict_proba(stacked, lengths).shape == (len(stacked), 2)
    again = vhem.HMM(n_states=2, random_state=1).fit(stacked, lengths=lengths)
    np.testing.assert_array_equal(again.means_, hmm.means_)
    assert hmm.sample(2, 30).y.shape == (60, 2)
    assert hmm.model_.name == "" and len(hmm.runs_) >= 1 and hmm.converged_


def test_hmm_options(sequences):
    lr = vhem.HMM(n_states=3, topology="left-right").fit(sequences[0])
    assert np.tril(lr.transmat_, -1).max() == 0
    half = vhem.HMM(n_states=2, fixed_transmat=[[np.nan, np.nan], [0.5, 0.5]]).fit(sequences[0])
    np.testing.assert_allclose(half.transmat_[1], 0.5)
    full = vhem.HMM(n_states=1, n_mix=2, covariance_type="full", prior="none").fit(sequences[0])
    assert full.covars_.shape == (1, 2, 2, 2) and full.weights_.shape == (1, 2)
    again = vhem.HMM(n_states=1, n_mix=2, covariance_type="full", init=full).fit(sequences[0])
    assert again.n_iter_ < 3 and again.model_.mu == pytest.approx(full.model_.mu, rel=1e-2)
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 iterations"):
        vhem.HMM(n_states=3, init="random", max_iter=1).fit(sequences[0])
    heavy = vhem.HMM(n_states=1).fit(sequences[:2], weights=[1, 1000])
    assert heavy.means_.mean() == pytest.approx(8, abs=0.5)


def test_wrong_parameters_have_the_librarys_sentence(sequences):
    for wrong, text in [(dict(n_states=0), "n_states is 0"), (dict(n_states=2.5), "whole number"),
                        (dict(n_states=(1, 2, 3)), r"n_states is \(1, 2, 3\), must be a whole number, a pair"),
                        (dict(covariance_type="round"), "'round' is unknown"), (dict(topology="ring"), "ring"),
                        (dict(n_jobs=0), "n_jobs is 0"), (dict(random_state=-1), "random_state is -1"),
                        (dict(tol="x"), "tol")]:
        with pytest.raises(vhem.Error, match=text) as caught:
            vhem.HMM(**wrong).fit(sequences)
        assert isinstance(caught.value, ValueError)
    with pytest.raises(vhem.Error, match="1 features, but HMM is expecting 2"):
        vhem.HMM(n_states=1).fit(sequences).score(np.zeros((3, 1)))
    with pytest.raises(vhem.Error, match="missing"):
        vhem.fit_textures([np.array([[1.0], [np.nan], [2.0]])])
    whole = vhem.HMM(n_states=1, covariance_type="full").fit([np.array([[1.0], [np.nan], [3.0]])])
    assert 1 < whole.means_[0, 0] < 3
    with pytest.raises(vhem.Error, match="nonsense"):
        vhem.ModelClustering(method="nonsense").fit(sequences)
    with pytest.raises(vhem.Error, match="no option 'colour'"):
        vhem.VHEM(options={"colour": 1}).fit(sequences)
    with pytest.raises(NotFittedError):
        vhem.VHEM().predict(sequences)


def test_the_library_warns_in_python():
    with pytest.warns(vhem.VhemWarning, match="column 'y1' never varies"):
        vhem.HMM(n_states=1).fit([np.column_stack([np.arange(9.0), np.ones(9)])])


def test_shape(sequences):
    models = vhem.fit_each(sequences, shape="auto", random_state=2)
    level = vhem.cluster(sequences, random_state=2).result_[0]
    kept = [run for run in level.runs if run["as_good"]][0]
    shape = kept if kept["topology"] else level.options      # time warping has no models: the shape of the centres
    S, topology = shape["S"], shape["topology"]
    again = vhem.fit_each(sequences, n_states=S, topology=topology, random_state=2)
    assert all((a.A == b.A).all() and (a.means == b.means).all() for a, b in zip(models, again))
    for wrong in ({"n_states": 2}, {"topology": "linear"}):
        with pytest.raises(vhem.InputError, match="exclude each other"):
            vhem.fit_each(sequences, shape="auto", **wrong)
    with pytest.raises(vhem.InputError, match="must be 'auto'"):
        vhem.fit_each(sequences, shape="linear")


def test_fit_each(sequences):
    models, report = vhem.fit_each(sequences, n_states=2, n_init=3, prior="none", return_report=True)
    assert len(models) == 12 and report["run"].shape == (12, 3) and report["frames"].sum() == 426
    best = report["run"]["loglik"][np.arange(12), report["best"]]
    np.testing.assert_allclose(np.diag(models.score(sequences)), best, rtol=1e-6)
    one = vhem.HMM(n_states=2, n_init=3, prior="none").fit(sequences[0])
    assert one.log_likelihood_ == pytest.approx(best[0], rel=1e-6)
    groups = vhem.fit_each(sequences, groups=["a", "b"] * 6, hmm=vhem.HMM(n_states=1, prior="none"))
    assert groups.names == ["a", "b"]
    np.testing.assert_allclose(groups[1].mu[0, 0], np.concatenate(sequences[1::2]).mean(axis=0))
    assert groups.provenance["command"] == "vhem.HMM" and groups.provenance["options"]["S"] == 1


def test_prior(sequences, tmp_path):
    models, report = vhem.fit_each(sequences, n_states=2, return_report=True)
    assert models.prior["format"] == "vhem-prior" and models.prior["nu"] >= 1
    assert (report["run"]["bound"] < report["run"]["loglik"]).all()
    assert all(m.A.min() > 0 for m in models)
    models.save(tmp_path / "m.json")
    named = vhem.Sequences.from_arrays(sequences[4:6], names=["4", "5"])
    for prior in (models, models.prior, tmp_path / "m.json"):
        again = vhem.fit_each(named, n_states=2, prior=prior)
        assert again.prior == models.prior
    one = vhem.fit_each(named, n_states=1, prior=models)[1]     # one state: no start to hang on
    assert np.array_equal(one.cov, vhem.fit_each(sequences, n_states=1, prior=models)[5].cov)
    none = vhem.fit_each(sequences, n_states=2, prior="none")
    assert none.prior is None and min(m.A.min() for m in none) < 1e-3
    with pytest.raises(vhem.InputError, match="fitted without a prior"):
        vhem.fit_each(sequences, n_states=2, prior=none)
    for prior in ("vb:nu0=7,frames=all", "nu0=7,frames=all", {"nu0": 7, "frames": "all"}):
        assert vhem.fit_each(sequences, n_states=2, n_init=1, prior=prior).prior["nu"] == 7
    for prior in ("vb:nu=1", {"nu": 1}):
        with pytest.raises(vhem.Error, match="there is no setting 'nu'"):
            vhem.fit_each(sequences, n_states=2, prior=prior)


def test_prior_of_classes(sequences):
    short = [y[:6] for y in sequences]
    clf = vhem.HMMClassifier(n_components=1, n_states=1).fit(short, KINDS)
    none = vhem.HMMClassifier(n_components=1, n_states=1, fit_prior="none").fit(short, KINDS)
    assert clf.score(short, KINDS) == none.score(short, KINDS) == 1
    assert (clf.predict_log_proba(short) != none.predict_log_proba(short)).any()
    with pytest.raises(vhem.FileError, match="bayes"):
        vhem.fit_each(short, prior="bayes")


def test_vhem_of_sequences(sequences):
    found = vhem.VHEM(2, n_states=2, random_state=5).fit(sequences)
    assert support.same_partition(found.labels_, KINDS)
    np.testing.assert_allclose(found.z_.sum(axis=1), 1)
    assert (found.z_.argmax(axis=1) == found.labels_).all()
    assert len(found.centers_) == 2 and len(found.models_) == 12
    assert found.lower_bound_ == found.result_[0].bound[-1] and len(
        found.result_[0].bound) == found.n_iter_ + 1
    assert (np.diff(found.result_[0].bound[1:]) > -1e-6 * abs(found.lower_bound_)).all()
    assert (found.predict(sequences) == found.labels_).all()
    assert (found.predict(found.models_) == found.labels_).all()
    assert (found.fit_predict(sequences) == found.labels_).all()
    assert found.predict_proba(sequences).shape == (12, 2)
    assert found.score(sequences) == pytest.approx(found.score_samples(sequences).mean())
    loglik = found.centers_.score(sequences)
    np.testing.assert_allclose(found.score_samples(sequences), loglik.max(axis=1), rtol=1e-9)
    runs = {run["init"]: run for run in found.result_[0].runs}
    assert {"ppk-sc", "kl-sc", "settled"} <= set(runs) and len(runs["kl-sc"]["label"]) == 12
    assert {r["init"] for r in found.set_params(search="fast").fit(sequences).result_[0].runs} == {"ppk-sc"}
    assert found.set_params(search=None, tau="auto").fit(sequences).result_[0].options["tau"] == min(
        100, sorted(len(y) for y in sequences)[(len(sequences) - 1) // 2])
    found.set_params(tau=None).fit(sequences)
    assert all(len(m) == 2 for m in found.result_[0].state_map)


def test_vhem_of_models(flock):
    found = vhem.VHEM(3, tau=5).fit(flock)
    assert support.same_partition(found.labels_, flock.labels)
    again = vhem.VHEM(3, tau=5).fit(list(flock))
    np.testing.assert_array_equal(found.z_, again.z_)
    assert found.result_[0].names == flock.names
    np.testing.assert_allclose(found.score_samples(flock), found.result_[0].L_hmm.max(axis=1), rtol=1e-9)
    start = vhem.VHEM(3, init=found.centers_, max_iter=0, n_init=1, options={"soft": 0, "repair": 0},
                      cov_floor=0, tol=0).fit(flock)
    assert start.centers_.compare(found.centers_) == 0 and start.n_iter_ == 0
    emhmm = vhem.VHEM(3, preset="emhmm", tau=5).fit(flock)
    assert emhmm.centers_.emission == "gaussian-full" and emhmm.result_[0].options["preset"] == "emhmm"


def test_share_of_the_starts(tmp_path):
    """Models without groups: other starts are as good.  A single start says nothing of others."""
    rng = np.random.default_rng(1)
    models = [vhem.Model([0.5, 0.5], [[0.7, 0.3], [0.3, 0.7]], rng.normal([[0, 0], [3, 0]], 1), np.ones((2, 2)))
              for _ in range(20)]
    found = vhem.VHEM(2, preset="emhmm", n_init=100, random_state=1).fit(models)
    good = [run for run in found.result_[0].runs if run["as_good"]]
    assert 2 <= len(good) and found.share_.shape == (20,)
    np.testing.assert_allclose(found.share_ * len(good), np.round(found.share_ * len(good)))
    assert 0 < found.share_.min() < 1 and found.share_.max() <= 1
    found.save(tmp_path / "c.json")
    np.testing.assert_array_equal(vhem.VHEM.load(tmp_path / "c.json").share_, found.share_)
    assert vhem.VHEM(2, preset="emhmm", n_init=1, search="restarts").fit(models).share_ is None


def test_vhem_of_groups(sequences):
    people = vhem.VHEM(2, hmm=vhem.HMM(n_states=1)).fit(sequences, groups=[f"p{n % 4}" for n in range(12)])
    assert people.result_[0].names == ["p0", "p1", "p2", "p3"]
    assert support.same_partition(people.labels_, [0, 1, 0, 1])


def test_one_seed_one_answer(sequences):
    runs = [vhem.VHEM(2, n_states=2, random_state=s, n_jobs=j).fit(sequences)
            for s, j in ((3, 1), (3, 2), (3, None), (np.int64(3), 3))]
    assert len({r.lower_bound_ for r in runs}) == 1 and len({r.z_.tobytes() for r in runs}) == 1
    drawn = [
        vhem.HMM(random_state=np.random.RandomState(1)).fit(sequences[0]).log_likelihood_ for _ in range(2)
    ]
    assert drawn[0] == drawn[1]
    vhem.HMM(random_state=np.random.default_rng(1)).fit(sequences[0])


def test_tree(flock, sequences, tmp_path):
    tree = vhem.VHEMTree((3, 2), tau=5).fit(flock)
    assert [level.n_clusters for level in tree.result_] == [3, 2]
    assert support.same_partition(tree.level_labels_[:, 0], flock.labels)
    assert (tree.labels_ == tree.level_labels_[:, 1]).all()
    assert (tree.predict(flock) == tree.labels_).all()
    assert (tree.predict_levels(flock) == tree.level_labels_).all()
    tree.result_.save(tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text())["format"] == "vhem-tree"
    back = vhem.Tree.load(tmp_path / "t.json")
    assert (back.base_labels == tree.level_labels_).all() and back.provenance["command"] == "vhem.VHEMTree"
    assert repr(back) == "<Tree: 12 in 3, 2 clusters>" and "members" in back._repr_html_()
    assert vhem.VHEMTree((4, 2), n_states=1).fit(sequences).predict(sequences).shape == (12,)


def test_levels_of_any_method(flock):
    found = vhem.ModelClustering((3, 2), method="ppk-ac", tau=5).fit(flock)
    assert found.level_labels_.shape == (12, 2) and (found.labels_ == found.level_labels_[:, 1]).all()
    assert support.same_partition(found.level_labels_[:, 0], flock.labels)
    lowest, highest = found.result_
    assert (lowest.parents[lowest.labels] == highest.base_labels).all() and highest.parents is None
    assert lowest.items == "models"


def test_vhem_is_vhem(flock, recwarn):
    assert isinstance(vhem.VHEM(), vhem.ModelClustering) and isinstance(vhem.VHEMTree(), vhem.ModelClustering)
    for quiet in (vhem.VHEM(3, tau=5), vhem.VHEM(3, tau=5, method="vhem"), vhem.ModelClustering(3, tau=5)):
        assert quiet.fit(flock).result_[0].method == "vhem" and not recwarn
    with pytest.warns(DeprecationWarning, match="use vhem.ModelClustering"):
        assert vhem.VHEM(3, tau=5, method="ppk-sc").fit(flock).result_[0].method == "ppk-sc"
    assert [level.n_clusters for level in vhem.VHEMTree(tau=5).fit(flock).result_] == [4, 2]


def test_one_level_of_a_tree_as_a_file(flock, tmp_path):
    tree = vhem.VHEMTree((3, 2), tau=5).fit(flock).result_
    tree[1].save(tmp_path / "c.json")
    again = vhem.Tree.load(tmp_path / "c.json")
    assert len(again) == 1 and (again[0].labels == tree[1].labels).all()
    assert again[0].centers.compare(tree[1].centers) == 0 and again.provenance["command"] == "vhem.VHEMTree"


def test_groups_are_assigned_and_scored_as_one(sequences):
    found = vhem.VHEM(2, n_states=1, n_init=5).fit(sequences)
    pairs = [f"p{n // 2}" for n in range(12)]                        # one of each kind: the sum decides
    data = vhem.Sequences.from_arrays(sequences, groups=pairs)
    assert data.group_names == [f"p{n}" for n in range(6)] and data.group_of.tolist() == [n // 2 for n in range(12)]
    each, together = found.centers_.score(sequences), found.centers_.score(data, groups=True)
    np.testing.assert_allclose(together, each[::2] + each[1::2])
    assert found.predict(data).shape == (12,) and found.predict(data, groups=True).shape == (6,)
    assert (found.predict(sequences, groups=pairs) == together.argmax(axis=1)).all()
    np.testing.assert_allclose(found.score_samples(data, groups=True), together.max(axis=1))
    assert found.result_.assign(data, groups=True)[1].shape == (6, 2)
    alone = vhem.Sequences.from_arrays(sequences[:3], names=["a", "b", "c"], groups=["x", "", "x"])
    assert alone.group_of.tolist() == [0, 1, 0] and alone.group_names[0] == "x" and len(alone.group_names) == 2
    with pytest.raises(ValueError, match="have no groups"):
        found.predict(sequences, groups=True)


def test_files_of_any_kind(sequences, flock, tmp_path):
    found = vhem.VHEM(3, tau=5).fit(flock)
    clf = vhem.HMMClassifier(n_components=1, n_states=1).fit(sequences, KINDS)
    data = vhem.Sequences.from_arrays(sequences)
    for made, name in ((flock, "m.json"), (flock, "m.h5"), (found.result_, "c.json"), (clf.models_, "k.json"),
                       (data, "d.csv"), (data, "d.h5")):
        made.save(tmp_path / name)
        assert type(vhem.load(tmp_path / name)) is type(made), name
    assert vhem.load(tmp_path / "d.csv", columns="y0").d == 1
    assert vhem.H3M.load(tmp_path / "c.json") == found.centers_
    assert (vhem.VHEM(3, tau=5).fit(tmp_path / "m.h5").labels_ == found.labels_).all()
    assert found.predict(str(tmp_path / "m.h5")).shape == (12,)
    with pytest.raises(ValueError, match="models of classes"):
        vhem.VHEM(3).fit(tmp_path / "k.json")


def test_sequences_into_a_mixture(sequences, tmp_path):
    """The file of a mixture is a level of clusters without items."""
    mix = vhem.HMMMixture(n_components=2, n_states=1, random_state=2).fit(sequences)
    mix.centers_.save(tmp_path / "mix.json")
    tree = vhem.Tree.load(tmp_path / "mix.json")
    assert len(tree[0].labels) == 0 and tree[0].centers == mix.centers_ and "2 clusters" in repr(tree[0])
    labels, z, score = tree.assign(sequences)
    assert (labels[:, 0] == mix.predict(sequences)).all()
    np.testing.assert_allclose(z, mix.predict_proba(sequences), atol=1e-12)
    groups = [f"p{n % 2}" for n in range(12)]
    assert mix.predict(sequences, groups=groups).tolist() == mix.labels_[:2].tolist()
    with pytest.raises(ValueError, match="n_components is 0"):
        vhem.HMMMixture(n_components=0).fit(sequences)


def test_choice_by_either_name(flock):
    rows = [vhem.metrics.choose(flock, [2, 3], [1], tau=5, **starts) for starts in ({"n_init": 2}, {"restarts": 2})]
    assert rows[0].tobytes() == rows[1].tobytes() and rows[0]["S"].tolist() == [1, 1]


def test_what_has_no_label_does_not_count():
    assert vhem.metrics.agreement([0, 0, 1, 1], ["a", "a", "b", ""])["purity"] == 1
    assert vhem.metrics.agreement([0, 0, 1, 1], [-1, -1, 1, 1])["rand"] == 1


def test_mixture(sequences):
    mix = vhem.HMMMixture(n_components=2, n_states=1, random_state=2).fit(sequences)
    assert support.same_partition(mix.labels_, KINDS)
    assert (mix.predict(sequences) == mix.labels_).all()
    np.testing.assert_allclose(mix.weights_, 0.5)
    assert mix.score_samples(sequences).sum() == pytest.approx(mix.log_likelihood_, rel=1e-6)
    np.testing.assert_allclose(mix.predict_proba(sequences).sum(axis=1), 1)
    groups = vhem.HMMMixture(n_components=2, n_states=1).fit(sequences, groups=["x"] * 3 + ["y"] * 9)
    assert len(set(groups.labels_[:3])) == len(set(groups.labels_[3:])) == 1
    assert mix.sample(3, 10).lengths.tolist() == [10] * 3


def test_every_method(sequences):
    for method in [name for name in vhem.methods() if name != "auto"]:   # that is in test_cluster.py
        n_init = None if method.endswith("-ac") else 5
        found = vhem.ModelClustering(2, method=method, n_states=1, n_init=n_init).fit(sequences)
        assert support.same_partition(found.labels_, KINDS), method
        assert found.result_[0].method == method and found.result_[0].n_clusters == 2
        if found.centers_ is not None:
            assert support.same_partition(found.predict(sequences), KINDS), method


def test_no_option_is_ignored(flock):
    for method, given in (("kl-ac", {"n_init": 5}), ("kl-sc", {"tol": 0}), ("ppk-ac", {"n_states": 2})):
        with pytest.raises(vhem.InputError, match=f"method {method} does not use"):
            vhem.ModelClustering(2, method=method, **given).fit(flock)


def test_results_are_files(flock, tmp_path):
    found = vhem.VHEM(3, tau=5, random_state=7).fit(flock)
    found.result_.save(tmp_path / "c.json")
    file = json.loads((tmp_path / "c.json").read_text())
    assert file["format"] == "vhem-clustering" and file["labels"] == found.labels_.tolist()
    assert file["provenance"]["seed"] == 7 and file["provenance"]["command"] == "vhem.VHEM"
    back = vhem.Tree.load(tmp_path / "c.json")
    np.testing.assert_array_equal(back[0].z, found.z_)
    assert back[0].centers == found.centers_ and (back.assign(flock)[0][:, 0] == found.labels_).all()
    assert "3 clusters by vhem" in repr(back[0]) and "members" in back[0]._repr_html_()


@pytest.mark.parametrize("estimator", [vhem.HMM(n_states=2), vhem.VHEM(2, n_states=1, n_init=3),
                                       vhem.VHEMTree((2, 1), n_states=1, n_init=3)])
def test_pickles(sequences, estimator):
    fitted = clone(estimator).fit(sequences)
    again = pickle.loads(pickle.dumps(fitted))
    for a, b in zip(again.predict(sequences), fitted.predict(sequences)):
        np.testing.assert_array_equal(a, b)
    assert again.get_params().keys() == estimator.get_params().keys()
    assert pickle.loads(pickle.dumps(getattr(fitted, "result_", [1])[0])) is not None


def test_in_scikit_learn(rng, sequences):
    grid = GridSearchCV(vhem.HMM(n_init=2), {"n_states": [1, 2]}, cv=3).fit(sequences)
    assert grid.best_params_["n_states"] == 2
    nested = GridSearchCV(vhem.VHEM(2, hmm=vhem.HMM(),
                                    n_init=2), {"hmm__n_states": [1, 2], "n_clusters": [1, 2]},
                          cv=2).fit(vhem.Sequences.from_arrays(sequences))
    assert nested.best_params_["n_clusters"] == 2
    table = np.stack([y[:30, 0] for y in sequences])
    pipe = make_pipeline(StandardScaler(with_std=False), vhem.VHEM(2, n_states=1, n_init=2)).fit(table)
    assert pipe.predict(table).shape == (12,)
    half = make_pipeline(FunctionTransformer(lambda X: [y[::2] for y in X]),
                         vhem.VHEM(2, n_states=1, n_init=2))
    assert support.same_partition(half.fit_predict(sequences), KINDS)
    assert len(cross_val_score(vhem.VHEM(2, n_states=1, n_init=2), rng.normal(size=(8, 2, 30)), cv=2)) == 2


def test_metrics(flock, tmp_path, command):
    assert vhem.metrics.agreement([0, 0, 1, 1], [1, 1, 0, 0])["adjusted_rand"] == 1
    with pytest.raises(ValueError, match="3 and 2 labels"):
        vhem.metrics.agreement([1, 2, 3], [1, 2])
    rows = vhem.metrics.choose(flock, [2, 3], n_splits=2, tau=5, restarts=5, random_state=1)
    assert rows["K"].tolist() == [2, 3] and rows["bic"][1] < rows["bic"][0] and rows["stability"][1] == 1
    D = vhem.metrics.distance(flock, tau=5, symmetric=True)
    kinds = np.array(flock.labels)
    same = kinds[:, None] == kinds
    assert D.shape == (12, 12) and D[same].max() < D[~same].min()
    D, error = vhem.metrics.distance(flock[:2], flock[2:4], kind="kl-sampled", samples=50, return_error=True)
    assert (error > 0).all() and D.shape == (2, 2)


def test_measures(flock):
    found = vhem.VHEM(3, tau=5).fit(flock)
    said = vhem.metrics.measures(found)
    assert said["expected_loglik"] == pytest.approx(found.result_[0].L_hmm.max(axis=1).mean(), rel=1e-6)
    assert 0 < said["compactness"] <= 3 and np.isnan(said["loglik"])
    assert np.isfinite(vhem.metrics.measures(found, X=flock.sample(5, 20))["loglik"])


def test_curves_of_all_starts(flock):
    level = vhem.VHEM(3, tau=5, n_init=4).fit(flock).result_[0]
    known = [run for run in level.runs if run["bounds"] is not None]
    assert known and all(len(run["bounds"]) == run["n_iter"] + 1 for run in known)
    assert all(run["bounds"][-1] == run["bound"] for run in known)


def test_variational_bayes(flock, tmp_path):
    found = vhem.VBHEM(n_clusters_max=6, n_states_max=3, nv=10, random_state=1).fit(flock)
    kinds = [model.label for model in flock]
    assert found.n_clusters_ == len(set(kinds)) and support.same_partition(found.labels_, kinds)
    assert len(found.n_states_) == found.n_clusters_ and found.n_states_.max() <= 3
    assert found.posterior_["format"] == "vhem-posterior" and found.prior_["format"] == "vhem-prior"
    assert len(found.posterior_["alpha"]) == found.n_clusters_ and found.result_[0].n_clusters_max == 6
    assert (np.diff(found.result_[0].bound) >= -1e-6 * np.abs(found.lower_bound_)).all()
    again = vhem.VBHEM(6, 3, nv=10, prior=found.prior_, random_state=1).fit(flock)
    assert again.lower_bound_ == pytest.approx(found.lower_bound_, rel=1e-9)
    found.result_.save(tmp_path / "c.json")
    assert vhem.load(tmp_path / "c.json")[0].posterior == found.posterior_
    with pytest.raises(vhem.Error, match="nu is -1, must be more than 0"):
        vhem.VBHEM(3, prior={**found.prior_, "nu": -1.0}).fit(flock)
    for prior in ("nu=7,lambda=0.5", {"nu": 7, "lambda": 0.5}, {"nu": np.int64(7), "lambda": np.float64(0.5)}):
        given = vhem.VBHEM(3, prior=prior, search="restarts", n_init=1).fit(flock).prior_
        assert (given["nu"], given["lambda"]) == (7, 0.5)
    with pytest.raises(vhem.InputError, match=r"prior\['m'\] is \[0, 1\], must be a number .* needs 'format'"):
        vhem.VBHEM(3, prior={"m": [0, 1]}).fit(flock)
    for wrong in ({"n_clusters_max": 0}, {"n_clusters_max": 2.5}, {"n_states_max": -1}, {"n_states_max": "many"}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} is .*, must be a whole number of at least 1"):
            vhem.VBHEM(**wrong).fit(flock)


def test_states_are_chosen():
    rng = np.random.default_rng(3)
    one = [rng.normal(size=(80, 1)) for _ in range(3)]
    two = [rng.normal(8 * (np.arange(80) // 10 % 2)[:, None], 1) for _ in range(3)]
    assert [len(m.pi) for m in vhem.fit_each(one + two, n_states="auto")] == [1] * 3 + [2] * 3
    assert (vhem.HMM(n_states="auto").fit(one).n_states_, vhem.HMM(n_states=(1, 3)).fit(two).n_states_) == (1, 2)
    assert [len(m.pi) for m in vhem.fit_each(two, n_states=(2, 4))] == [2] * 3
    counts = [rng.poisson(np.where(np.arange(80) // 20 % 2, 2, 30))[:, None] for _ in range(4)]
    found = vhem.VBHEM(3, hmm=vhem.HMM(n_states=(1, 3), covariance_type="poisson")).fit(counts)
    assert (found.n_clusters_, found.n_states_.tolist()) == (1, [2])
    assert np.shape(found.posterior_["hmms"][0]["a"]) == (2, 1, 1) and found.prior_["frames"] == 1
    for wrong in ("2..4", "atuo", 2.5, (2,), (1, 2.5)):
        with pytest.raises(vhem.InputError, match=r"n_states is .*, must be a whole number, .*\(2, 4\).*'auto'"):
            vhem.HMM(n_states=wrong).fit(one)
    for wrong in ("2..4", "auto", (2, 4)):
        with pytest.raises(vhem.InputError, match="n_states is .*, must be a whole number$"):
            vhem.VHEM(2, n_states=wrong).fit(one)
    with pytest.raises(vhem.InputError, match=r"n_states is '2..4', must be whole numbers such as \[2, 3, 4\]"):
        vhem.metrics.choose(found.models_, [1, 2], n_states="2..4")
    with pytest.raises(vhem.Error, match=r"n_states is \(4, 2\), must begin with the smaller number"):
        vhem.fit_each(one, n_states=(4, 2))
    with pytest.raises(vhem.Error, match="needs a prior"):
        vhem.fit_each(one, n_states="auto", prior="none")
