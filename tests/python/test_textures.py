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
    direct = vhem.VHEM(2, method="hem-dtm", n_states=2, n_init=10).fit(turns)
    assert support.same_partition(direct.labels_, found.labels_)
    assert (direct.predict(turns) == direct.labels_).all()
    direct.result_.save(tmp_path / "c.json")
    assert vhem.Tree.load(tmp_path / "c.json")[0].textures.compare(direct.centers_) == 0
    tree = vhem.VHEMTree((3, 2), n_init=10).fit(textures)
    assert tree.level_labels_.shape == (10, 2)


def test_which_methods_take_textures():
    assert [name for name in vhem.methods() if vhem._lib.takes_textures(name)] == ["hem-dtm"]
    assert not vhem._lib.takes_textures("none")


def test_start_report_and_states(sequences):
    models, report = vhem.fit_textures(sequences, n=1, return_report=True)
    assert report["run"].shape == (12, 1) and models.provenance["command"] == "vhem.fit_textures"
    x, cov = models[0].smooth(sequences[:2], return_cov=True)
    assert x[1].shape == (31, 1) and cov[1].shape == (31, 1, 1) and (cov[1] > 0).all()
    found = vhem.VHEM(2, method="hem-dtm").fit(models)
    again = vhem.VHEM(2, method="hem-dtm", init=found.centers_).fit(models)
    assert again.labels_.tolist() == found.labels_.tolist()
