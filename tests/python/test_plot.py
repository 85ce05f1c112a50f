# SPDX-License-Identifier: BSD-3-Clause
"""Every picture can be drawn, shows what it should, and says so when it cannot."""
import numpy as np
import pytest
import vhem

matplotlib = pytest.importorskip("matplotlib")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture
def found(sequences):
    return vhem.VHEMTree((3, 2), n_states=2, n_init=5).fit(sequences)


def test_bound(found):
    ax = vhem.plot.bound(found, level=1)
    [best] = [line for line in ax.lines if line.get_label() == "best start"]
    np.testing.assert_array_equal(best.get_ydata(), found.result_[1].bound)


def test_membership(found):
    ax = vhem.plot.membership(found)
    image = ax.images[0].get_array()
    assert image.shape == (12, 3)
    np.testing.assert_allclose(np.sort(image, axis=0), np.sort(found.result_[0].z, axis=0))


def test_levels(found):
    ax = vhem.plot.levels(found, classes=["a", "b"] * 6)
    assert len(ax.patches) == 2 * (3 + 2)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["a", "b"]
    vhem.plot.levels(found)
    with pytest.raises(vhem.Error, match="2 classes, but 12"):
        vhem.plot.levels(found, classes=["a", "b"])


@pytest.mark.parametrize("covariance", ["diag", "full"])
def test_models(sequences, covariance):
    hmm = vhem.HMM(n_states=2, n_mix=2, covariance_type=covariance).fit(sequences)
    ax = vhem.plot.model(hmm, background=np.zeros((4, 4)))
    assert len(ax.patches) >= 4
    ellipse = vhem.plot._ellipse([0, 0], np.diag([4.0, 1.0]))
    assert (ellipse.width, ellipse.height) == pytest.approx(
        (8, 4)) and ellipse.angle % 180 == pytest.approx(0)
    vhem.plot.transitions(hmm)
    line = vhem.HMM(n_states=2).fit([y[:, :1] for y in sequences])
    assert len(vhem.plot.model(line).lines) == 2


def test_names_of_columns_and_numbers_apart():
    same = [[0.0, 0.0]] * 3
    m = vhem.Model.from_params("gaussian-diag", [1, 0, 0], np.full((3, 3), 1 / 3), mu=same, cov=[[1.0, 1.0]] * 3,
                               columns=["x", "y"])
    ax = vhem.plot.model(m, y_down=True)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y") and ax.yaxis_inverted()
    ax.figure.canvas.draw()
    at = [matplotlib.text.Text.get_window_extent(t) for t in ax.texts if t.get_text() in "012"]
    assert len(at) == 3 and not any(a.overlaps(b) for k, a in enumerate(at) for b in at[:k])
    assert vhem.plot.model(m, dims=("y", "x")).get_xlabel() == "y"
    with pytest.raises(vhem.Error, match="no column 'z'; the columns are x, y"):
        vhem.plot.model(m, dims=("x", "z"))
    with pytest.raises(vhem.Error, match="no dimension 2"):
        vhem.plot.model(m, dims=(0, 2))


def test_without_matplotlib(found, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    for draw in (vhem.plot.centers, vhem.plot.bound, vhem.plot.levels):
        with pytest.raises(vhem.Error, match=r"pip install 'vhem\[plot\]'"):
            draw(found)


def test_centers_and_dendrogram(found):
    assert len(vhem.plot.centers(found)) == 3 and len(vhem.plot.centers(found.models_[:2])) == 2
    ax = vhem.plot.dendrogram(found)
    assert len(ax.get_xticklabels()) == 12


def test_refusals(sequences):
    with pytest.raises(vhem.Error, match="list objects have no clusters"):
        vhem.plot.bound(sequences)


def test_background_of_a_file(found, tmp_path):
    picture = np.random.default_rng(0).random((4, 6, 3))
    plt.imsave(tmp_path / "face.png", picture)
    for path in (tmp_path / "face.png", str(tmp_path / "face.png")):
        axes = vhem.plot.centers(found, background=path)
        assert [ax.images[0].get_array().shape[:2] for ax in axes] == [(4, 6)] * 3
    assert vhem.plot.model(found.centers_[0], background=tmp_path / "face.png").images
    (tmp_path / "face.txt").write_text("no picture")
    for name in ("face.txt", "none.png"):
        with pytest.raises(vhem.InputError, match=f"background is .*{name}"):
            vhem.plot.centers(found, background=tmp_path / name)
