# SPDX-License-Identifier: BSD-3-Clause
"""Classes and tags, and reports."""
import json
import pickle
import subprocess

import numpy as np
import pytest
import vhem
from sklearn.model_selection import cross_val_score

KINDS = ["low", "high"] * 6


def test_classifier(sequences, tmp_path, command):
    clf = vhem.HMMClassifier(n_components=1, n_states=1, random_state=3).fit(sequences, KINDS)
    assert clf.classes_.tolist() == ["high", "low"] and clf.predict(sequences).tolist() == KINDS
    assert clf.score(sequences, KINDS) == 1
    np.testing.assert_allclose(clf.predict_proba(sequences).sum(axis=1), 1)
    assert clf.models_.n_items == [6, 6] and clf.models_["low"][0].S == 1 and len(clf.models_) == 2
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict_log_proba(sequences), clf.predict_log_proba(sequences))
    clf.save(tmp_path / "c.json")
    assert vhem.Classes.load(tmp_path / "c.json").names == ["high", "low"]
    assert json.loads((tmp_path / "c.json").read_text())["provenance"]["seed"] == 3
    vhem.Sequences.from_arrays(sequences, names=[f"s{n}" for n in range(12)]).save(tmp_path / "d.csv")
    told = subprocess.run([command, "classify", "predict", "c.json", "d.csv"], cwd=tmp_path, capture_output=True,
                          text=True, check=True).stdout.splitlines()
    assert [line.split("\t")[2] for line in told[1:]] == KINDS


def test_classes_of_any_kind(sequences):
    for y in ([3, -1] * 6, np.array([1.0, 2.0] * 6), [True, False] * 6):
        clf = vhem.HMMClassifier(n_components=1, n_states=1).fit(sequences, y)
        assert clf.predict(sequences).tolist() == list(y)
    labelled = vhem.Sequences.from_arrays(sequences, labels=KINDS)
    assert vhem.HMMClassifier(n_components=1, n_states=1).fit(labelled).score(sequences, KINDS) == 1
    with pytest.raises(ValueError, match="requires y"):
        vhem.HMMClassifier().fit(sequences)
    with pytest.raises(ValueError, match="inconsistent"):
        vhem.HMMClassifier().fit(sequences, [1, 2])


def test_classifier_of_groups_and_by_em(sequences):
    groups = [f"p{n % 4}" for n in range(12)]
    clf = vhem.HMMClassifier(n_components=1, n_states=1).fit(sequences, KINDS, groups=groups)
    assert clf.predict(sequences, groups=groups).tolist() == ["low", "high"] * 2
    em = vhem.HMMClassifier(estimator="em-h3m", n_components=1, n_states=1).fit(sequences, KINDS)
    assert em.score(sequences, KINDS) == 1
    assert cross_val_score(vhem.HMMClassifier(n_components=1, n_states=1), sequences, KINDS, cv=3).tolist() == [1] * 3


def test_tags(sequences, tmp_path):
    Y = [["low", "even"], ["high"]] * 6
    model = vhem.TagModel(n_components=1, n_states=1).fit(sequences, Y)
    assert model.tags_ == ["even", "high", "low"]
    assert [set(tags) for tags in model.annotate(sequences[:2], top=2)][0] == {"even", "low"}
    assert sorted(model.retrieve(sequences, "high", top=6)) == [1, 3, 5, 7, 9, 11]
    assert model.score(sequences, Y) == 1
    rows, p_at = model.measures(sequences, Y, top=1, at=(3, 12))
    assert rows["n"].tolist() == [6, 6, 6] and p_at.shape == (3, 2) and p_at[1].tolist() == [1, 0.5]
    assert rows["given"].tolist() == [6, 6, 0] and rows["precision"].tolist() == [1, 1, 0]
    assert model.measures(sequences, Y, top=1, never_given="base-rate")[0]["precision"].tolist() == [1, 1, 0.5]
    with pytest.raises(ValueError, match="'half' is unknown; known are zero, base-rate"):
        model.measures(sequences, Y, never_given="half")
    table = np.array([[1, 0, 1], [0, 1, 0]] * 6)
    same = vhem.TagModel(n_components=1, n_states=1).fit(sequences, table, tags=["even", "high", "low"])
    np.testing.assert_array_equal(same.predict_proba(sequences), model.predict_proba(sequences))
    model.save(tmp_path / "t.json")
    assert vhem.Classes.load(tmp_path / "t.json").names == model.tags_
    with pytest.raises(ValueError, match="no tag 'none'; the tags are even"):
        model.retrieve(sequences, "none")
    with pytest.raises(ValueError, match="tags of 2 items, but there are 12"):
        model.fit(sequences, Y[:2])


def test_tags_of_groups(sequences):
    groups = [f"song{n % 3}" for n in range(12)]
    model = vhem.TagModel(n_components=1, n_states=1).fit(sequences, [["a"], ["b"], ["a"]], groups=groups)
    assert model.predict_proba(sequences, groups=groups).shape == (3, 2)


def test_report(flock, tmp_path):
    found = vhem.VHEMTree((3, 2), tau=5).fit(flock)
    found.report(tmp_path / "r.html", X=flock.sample(6, 30), title="A <flock>", tables=tmp_path / "numbers",
                 distance=vhem.metrics.distance(flock, tau=5), choice=vhem.metrics.choose(flock, [2, 3], tau=5))
    page = (tmp_path / "r.html").read_text()
    assert "<html" in page and "A &lt;flock&gt;" in page and "k0_1" in page
    assert any((tmp_path / "numbers").iterdir())
    vhem.Tree._of(found.result_._handle).report(tmp_path / "plain.html", classes=flock.labels)
    assert (tmp_path / "plain.html").stat().st_size > 1000
    with pytest.raises(vhem.FileError, match=r"no[/\\]such"):
        found.report(tmp_path / "no/such/r.html")


def test_measures_in_a_report(flock, tmp_path, monkeypatch, recwarn):
    found = vhem.VHEM(3, tau=5).fit(flock)

    def page(**more):
        found.report(tmp_path / "r.html", **more)
        return (tmp_path / "r.html").read_text()

    with_all = page()
    assert with_all == page(measures=True) != page(measures=False) and not recwarn
    monkeypatch.setattr("vhem.result.MOST_MODELS", 11)
    with pytest.warns(vhem.VhemWarning, match="measures=True computes them"):
        assert page() == page(measures=False)
    assert page(measures=True) == with_all
    gaps = flock.sample(3, 20).y.copy()
    gaps[5] = np.nan
    told = found.result_._measured(None, vhem.Sequences(gaps, [20, 20, 20]), False)
    assert np.isfinite(told[0]["loglik"])
    broken = vhem.Sequences(np.hstack([gaps, gaps]), [20, 20, 20])
    with pytest.warns(vhem.VhemWarning, match="no measures: .*dimension"):
        assert found.result_._measured(None, broken, False) is None
    with pytest.raises(ValueError, match="dimension"):
        found.result_._measured(None, broken, True)


def test_more_data(sequences, tmp_path):
    clf = vhem.HMMClassifier(n_components=1, n_states=1, fit_prior="none", store=tmp_path / "store")
    clf.fit(sequences[:8], KINDS[:8])
    before = clf.models_
    clf.update(sequences[8:], KINDS[8:])
    whole = vhem.HMMClassifier(n_components=1, n_states=1, fit_prior="none").fit(sequences, KINDS)
    assert [a.compare(b) for a, b in zip(clf.models_.models, whole.models_.models)] == [0, 0]
    assert before.n_items == [4, 4] and before["high"][0].mu.min() > 5      # still there, and unchanged
    clf.update([s - 30 for s in sequences[:2]], ["deep", "deep"])
    assert clf.classes_.tolist() == ["deep", "high", "low"]
    assert clf.predict([sequences[0] - 30, sequences[1]]).tolist() == ["deep", "high"]
    with pytest.raises(ValueError, match="is not in the store"):
        whole.update([s - 30 for s in sequences[:2]], KINDS[:2])
    with pytest.raises(ValueError, match="new classes are"):
        clf.update(sequences[:2], [1, 2])
    tags = vhem.TagModel(n_components=1, n_states=1, store=tmp_path / "tags").fit(sequences[:4], [["a"], ["b"]] * 2)
    names = [f"more{n}" for n in range(8)]
    more = vhem.Sequences.from_arrays(sequences[4:], names=names)
    assert tags.update(more, [["a", "c"], ["b"]] * 4).tags_ == ["a", "b", "c"]
    assert tags.models_.n_items == [6, 6, 4]


def test_cross_validation(sequences):
    clf = vhem.HMMClassifier(n_components=1, n_states=1, random_state=1)
    found = clf.cross_validate(sequences, [1, 0] * 6, folds=3)
    assert found.accuracy == 1 and found.predictions.tolist() == [1, 0] * 6 and found.classes.tolist() == [0, 1]
    assert np.bincount(found.fold).tolist() == [4, 4, 4]
    rows, p_at = found.measures(at=(6,))
    assert rows["n"].tolist() == [6, 6] and p_at.tolist() == [[1], [1]]
    once = clf.cross_validate(sequences, KINDS, holdout=0.5)
    assert sorted(once.fold) == [-1] * 6 + [0] * 6 and once.accuracy == 1
    assert not hasattr(clf, "models_")
    judged = pickle.loads(pickle.dumps(found)).judge(at=(6,))
    assert judged.confusion.tolist() == [[6, 0], [0, 6]] == found.confusion.tolist() and judged.names == ["0", "1"]
    assert (judged.n, judged.unknown, judged.accuracy, judged.MAP, judged.F) == (12, 0, 1, 1, 1)
    assert judged.p_at.tolist() == [1] and judged.each["given"].tolist() == [6, 6] and once.judge().n == 6
    with pytest.raises(ValueError, match="1 folds"):
        clf.cross_validate(sequences, KINDS, folds=1)


def test_file_of_tags(sequences, tmp_path):
    path = tmp_path / "tags.csv"
    path.write_text("song,tag\n" + "".join(f"s{n},{'high' if n % 2 else 'low'}\n" for n in range(10)))
    named = vhem.Sequences.from_arrays(sequences, names=[f"s{n}" for n in range(12)])
    with pytest.warns(vhem.VhemWarning):                                     # s10 and s11 have none
        model = vhem.TagModel(n_components=1, n_states=1).fit(named, path)
    assert model.tags_ == ["high", "low"] and model.score(named, str(path)) == 1
    assert model.measures(named, path)[0]["n"].tolist() == [5, 5]
    with pytest.warns(vhem.VhemWarning):
        found = model.cross_validate(named, path, folds=2)
    assert found.accuracy == 1 and (found.fold == -1).sum() == 2
    with pytest.raises(ValueError, match="nothing to judge"):
        model.score(sequences, path)


def test_judgement(sequences):
    clf = vhem.HMMClassifier(n_components=1, n_states=1).fit(sequences, KINDS)
    wrong = ["high", *KINDS[1:]]
    said = clf.judge(sequences, wrong)
    assert said.names == ["high", "low"] and said.confusion.tolist() == [[6, 1], [0, 5]]
    assert said.accuracy == pytest.approx(11 / 12) == clf.score(sequences, wrong)
    assert said.each["recall"].tolist() == pytest.approx([6 / 7, 1])
    odd = clf.judge(sequences, ["other", *KINDS[1:]])
    assert (odd.n, odd.unknown, odd.accuracy) == (11, 1, 1)
    with pytest.raises(ValueError, match="nothing to judge"):
        clf.judge(sequences, ["other"] * 12)
    named = vhem.Sequences.from_arrays(sequences, labels=KINDS)
    assert clf.judge(named).accuracy == 1
    with pytest.warns(DeprecationWarning, match="n_items"):
        assert clf.models_.n_things == [6, 6]
    assert clf.models_.provenance["command"] == "vhem.HMMClassifier" and clf.models_.n_pieces == [6, 6]


def test_ranking():
    scores, truth = [[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], [[1, 0], [0, 1], [1, 1]]
    said = vhem.metrics.rank(scores, truth, names=["a", "b"], top=1, at=(1, 2))
    assert said.MAP == 1 and said.each["recall"].tolist() == [1, 0.5] and said.p_at.tolist() == [1, 1]
    assert said.each_p_at.shape == (2, 2) and said.names == ["a", "b"]
    with pytest.raises(ValueError, match="shape"):
        vhem.metrics.rank(scores, truth[:2])
    with pytest.raises(ValueError, match="1 names, must be 2"):
        vhem.metrics.rank(scores, truth, names=["a"])


def test_odd_classes(sequences):
    clf = vhem.HMMClassifier(n_components=1, n_states=1, options={"min_items": 3})
    clf.fit(sequences, ["a"] * 5 + ["b"] * 6 + ["c"])
    assert clf.classes_.tolist() == ["a", "b"] and clf.predict_proba(sequences).shape == (12, 2)
    nameless = vhem.HMMClassifier(n_components=1, n_states=1).fit(sequences, ["", "b"] * 6)
    assert nameless.score(sequences, ["", "b"] * 6) == 1


def test_classes_of_a_file_are_the_numbers_they_were(sequences, tmp_path):
    y = [10, -2, 3] * 4
    data = [a + 9 * n for n, a in zip(y, sequences)]
    clf = vhem.HMMClassifier(n_components=1, n_states=1).fit(data, y)
    clf.save(tmp_path / "c.json")
    again = vhem.HMMClassifier.load(tmp_path / "c.json")
    assert again.classes_.tolist() == clf.classes_.tolist() == [-2, 3, 10] and again.classes_.dtype.kind == "i"
    assert np.array_equal(again.predict_proba(data), clf.predict_proba(data))
    for truth in (y, np.array(y), [str(n) for n in y]):
        assert again.score(data, truth) == clf.score(data, truth) == 1
        assert again.judge(data, truth).accuracy == 1
    vhem.HMMClassifier(n_components=1, n_states=1).fit(data, [f"{n:02}" for n in y]).save(tmp_path / "t.json")
    assert vhem.HMMClassifier.load(tmp_path / "t.json").classes_.tolist() == ["-2", "03", "10"]
