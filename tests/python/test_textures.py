# SPDX-License-Identifier: BSD-3-Clause
"""Dynamic textures: sets, files, fits, clusters."""
import pickle

import numpy as np
import pytest
import support
import vhem


@pytest.fixture
def turns(rng):
    """Ten sequences of four channels that swing at one of two speeds."""
    found = []
    for k in range(10):
        t = np.arange(80)[:, None] * (0.2 if k % 2 else 0.8) + rng.uniform(0, 6)
        found.append(np.cos(t + np.arange(4)) + rng.normal(0, 0.05, size=(80, 4)))
    return found


def test_sets(turns, tmp_path):
    textures = vhem.fit_textures(vhem.Sequences.from_arrays(turns, names=[f"t{k}" for k in range(10)]), n=2)
    first = textures[0]
    assert (first.n, first.d, first.name) == (2, 4, "t0") and first.C.shape == (4, 2) and not first.C.flags.writeable
    turn = np.abs(np.angle(np.linalg.eigvals(first.A)))
    np.testing.assert_allclose(turn, 0.8, atol=0.05)
    for ending in ("json", "h5"):
        textures.save(tmp_path / f"t.{ending}")
        assert vhem.Textures.load(tmp_path / f"t.{ending}").compare(textures) == 0
    assert pickle.loads(pickle.dumps(textures)).compare(textures) == 0
    assert textures[2:4].names == ["t2", "t3"] and pickle.loads(pickle.dumps(first)).name == "t0"
    assert textures.score(turns).shape == (10, 10)
    assert first.smooth(turns[0])[0].shape == (80, 2)
    assert textures.sample(3, 20).y.shape == (60, 4)


def test_clusters(turns, tmp_path):
    textures = vhem.fit_textures(turns, n=2)
    found = vhem.VHEM(2, random_state=1, n_init=10).fit(textures)
    assert support.same_partition(found.labels_, [0, 1] * 5) and found.result_[0].method == "hem-dtm"
    assert (found.predict(textures) == found.labels_).all() and isinstance(found.centers_, vhem.Textures)
    direct = vhem.ModelClustering(2, method="hem-dtm", n_states=2, n_init=10).fit(turns)
    assert support.same_partition(direct.labels_, found.labels_)
    assert (direct.predict(turns) == direct.labels_).all()
    direct.result_.save(tmp_path / "c.json")
    again = vhem.Tree.load(tmp_path / "c.json")[0]
    assert again.centers.compare(direct.centers_) == 0
    with pytest.warns(DeprecationWarning, match="Clustering.centers"):
        assert again.textures.compare(again.centers) == 0
    tree = vhem.VHEMTree((3, 2), n_init=10).fit(textures)
    assert tree.level_labels_.shape == (10, 2)


def test_which_methods_take_what():
    table = vhem._lib.method_table()
    assert [name for name in vhem.methods() if table[name]["takes_textures"]] == ["hem-dtm"]
    assert table["vhem"]["takes_hmms"] and not table["vhem"]["takes_data"] and table["vhem"]["has_bound"]
    assert [name for name in vhem.methods() if table[name]["takes_data"]] == ["auto", "em-h3m"]
    assert all(row["about"] for row in table.values())
    with pytest.raises(ValueError, match="no method 'none'; the methods are vhem, "):
        vhem._lib.method_facts("none")


def test_made_of_arrays(turns, tmp_path):
    one = vhem.fit_textures(turns[0][None].transpose(0, 2, 1), n=2)[0]
    again = vhem.Texture(one.A, one.Q, one.mu, one.Sigma, one.C, one.ybar, one.R, name="again", label="l")
    assert (again.name, again.label, again.n, again.d) == ("again", "l", 2, 4)
    assert vhem.Textures([again]).compare(vhem.Textures([one])) == 0 and vhem.Textures([again]) != vhem.Textures([one])
    with pytest.raises(ValueError, match=r"mu has shape \(1,\), must be \(2,\)"):
        vhem.Texture(one.A, one.Q, [0.0], one.Sigma, one.C, one.ybar, one.R)
    with pytest.raises(ValueError, match="C has shape"):
        vhem.Texture(one.A, one.Q, one.mu, one.Sigma, [1.0], one.ybar, one.R)
    assert "again" in again._repr_html_() and "again" in vhem.Textures([again])._repr_html_()
    vhem.Textures([again]).save(tmp_path / "t.json")
    assert isinstance(vhem.load(tmp_path / "t.json"), vhem.Textures)
    with pytest.raises(ValueError, match="t.json: these are dynamic textures, must be HMMs"):
        vhem.H3M.load(tmp_path / "t.json")


def test_where_models_are_taken(turns, tmp_path):
    """A list of textures, a file, a report, measures: as with HMMs."""
    textures = vhem.fit_textures(turns, n=2)
    textures.save(tmp_path / "t.json")
    found = vhem.VHEM(2, n_init=5).fit(textures)
    for same in (list(textures), str(tmp_path / "t.json")):
        assert (vhem.VHEM(2, n_init=5).fit(same).labels_ == found.labels_).all()
        assert (found.predict(same) == found.labels_).all()
    found.report(tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size > 1000
    pairs = [f"p{k % 2}" for k in range(10)]
    assert found.predict(turns, groups=pairs).tolist() == found.labels_[:2].tolist()
    np.testing.assert_allclose(textures.score(turns, groups=pairs)[1], textures.score(turns)[1::2].sum(axis=0))
    with pytest.raises(ValueError, match="ppk-sc"):
        vhem.ModelClustering(2, method="ppk-sc").fit(textures)


def test_pieces_and_mixtures(turns, tmp_path):
    whole = vhem.fit_textures(turns, n=2, n_components=2, n_init=1, max_iter=20)
    assert len(whole) == 2
    pieces = vhem.fit_textures(turns, n=2, n_components=1, pieces=True, groups=["a", "b"] * 5, max_iter=20,
                               store=tmp_path / "s")
    assert len(pieces) == 2 and pieces.omega.tolist() == [0.5, 0.5]
    assert (tmp_path / "s").stat().st_size > 100


def test_classes(turns):
    kinds = ["fast", "slow"] * 5
    clf = vhem.HMMClassifier(model="dtm", n_components=1, n_states=2).fit(turns, kinds)
    assert clf.predict(turns).tolist() == kinds and isinstance(clf.models_["slow"], vhem.Textures)
    assert pickle.loads(pickle.dumps(clf)).predict(turns).tolist() == kinds
    tags = vhem.TagModel(model="dtm", n_components=1, n_states=2).fit(turns, [["quick"], ["slow", "calm"]] * 5)
    assert tags.score(turns, [["quick"], ["slow", "calm"]] * 5) == 1


def test_start_report_and_states(sequences):
    models, report = vhem.fit_textures(sequences, n=1, return_report=True)
    assert report["run"].shape == (12, 1) and models.provenance["command"] == "vhem.fit_textures"
    x, cov = models[0].smooth(sequences[:2], return_cov=True)
    assert x[1].shape == (31, 1) and cov[1].shape == (31, 1, 1) and (cov[1] > 0).all()
    found = vhem.ModelClustering(2, method="hem-dtm").fit(models)
    again = vhem.VHEM(2, init=found.centers_).fit(models)
    assert again.labels_.tolist() == found.labels_.tolist()
