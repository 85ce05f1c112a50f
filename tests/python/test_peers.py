# SPDX-License-Identifier: BSD-3-Clause
"""What users of hmmlearn, scikit-learn and pandas type, and what the command says: no answer is silently another."""
import logging

import numpy as np
import pytest
import vhem


@pytest.fixture
def stacked(rng):
    """Two sequences of 50 frames, one after the other: around 0, and around 5."""
    return np.concatenate([rng.normal(0, 1, (50, 2)), rng.normal(5, 1, (50, 2))])


def frame_of(y, names="ab"):
    return pytest.importorskip("pandas").DataFrame(y, columns=list(names))


# ---- lengths as the second argument, as in hmmlearn

def test_lengths_by_position(stacked):
    hmm = vhem.HMM(2, prior="none")
    want = hmm.fit(stacked, lengths=[50, 50]).startprob_.copy()
    assert np.array_equal(hmm.fit(stacked, [50, 50]).startprob_, want) and want.min() > 0.4
    assert hmm.score(stacked, [50, 50]) == hmm.score(stacked, lengths=[50, 50]) == hmm.score_samples(
        stacked, [50, 50]).mean()
    for estimator in vhem.VHEM(2, n_states=1, n_init=2), vhem.HMMMixture(2, n_states=1):
        assert np.array_equal(estimator.fit_predict(stacked, [25] * 4),
                              estimator.fit(stacked, lengths=[25] * 4).labels_)
        assert len(estimator.labels_) == 4


def test_what_is_no_lengths_is_y_or_refused(stacked):
    hmm = vhem.HMM(2, prior="none")
    assert hmm.fit(stacked, np.zeros(100)).startprob_.max() > 0.99       # classes, ignored: one sequence
    for wrong in [50, 49], [1.5, 98.5], [100, 0]:
        with pytest.raises(vhem.InputError, match="has 2 values, but X has 100 rows"):
            hmm.fit(stacked, wrong)


# ---- names of columns

def test_a_frame_without_id_keeps_its_names(stacked):
    frame = frame_of(stacked * [1, 9])
    hmm = vhem.HMM(2).fit(frame)
    assert [column["name"] for column in hmm.model_.columns] == ["a", "b"]
    assert hmm.score(frame[["b", "a"]]) == hmm.score(frame) == hmm.score(frame.to_numpy())
    with pytest.raises(vhem.InputError, match="no column 'a'"):
        hmm.score(frame.rename(columns={"a": "c"}))


def test_scaler_finds_channels_by_name(stacked):
    frame = frame_of(stacked * [1, 9]).assign(id=np.repeat([1, 2], 50))
    scaler = vhem.SequenceScaler().fit(frame)
    straight, turned = scaler.transform(frame), scaler.transform(frame[["id", "b", "a"]])
    assert turned.columns == ["b", "a"] and np.array_equal(straight.y, turned.y[:, ::-1])
    with pytest.raises(vhem.InputError, match="channels a, c, but SequenceScaler is expecting a, b"):
        scaler.transform(frame.rename(columns={"b": "c"}))


def test_scaler_leaves_symbols_alone():
    frame = frame_of(np.array([[1.0, 2, 3, 4], [0, 0, 0, 0]]).T).assign(b=list("xyzx"), id=[1, 1, 2, 2])
    given = vhem.Sequences.from_frame(frame, symbols="b")
    scaler = vhem.SequenceScaler().fit(given)
    found = scaler.transform(given)
    assert found.symbols == given.symbols and np.array_equal(found.y[:, 1], given.y[:, 1])
    assert found.y[:, 0].mean() == pytest.approx(0) and np.allclose(scaler.inverse_transform(found).y, given.y)


def test_scaler_gives_an_array_for_an_array(rng):
    X = rng.normal(3, 2, size=(5, 2, 9))
    X[2, :, 7:] = np.nan                                     # padding
    for layout, given in (None, X), ("ntd", X.transpose(0, 2, 1)):
        scaler = vhem.SequenceScaler(layout=layout).fit(given)
        found = scaler.transform(given)
        assert found.shape == given.shape and np.isnan(found).sum() == 4
        assert np.allclose(scaler.inverse_transform(found), given, equal_nan=True)
        assert np.nanmean(found) == pytest.approx(0)
    assert vhem.SequenceScaler().fit_transform(X[:, 0, :7]).shape == (5, 7)
    assert vhem.SequenceScaler().fit_transform(X[0].T, [4, 5]).shape == (9, 2)


# ---- what the command says

@pytest.mark.parametrize("said, settings, make", [
    ("1 covariance held at cov_floor", {"prior": "none"}, lambda rng: np.r_[np.zeros(50), rng.normal(9, 1, 50)]),
    ("all columns look like counts.*covariance_type='poisson'", {}, lambda rng: rng.poisson(2.0, 200) * 1.0),
    ("all columns look like bits.*'bernoulli'", {}, lambda rng: rng.integers(0, 2, 200) * 1.0),
    ("all columns look like angles.*'von-mises'", {}, lambda rng: rng.uniform(-np.pi, np.pi, 200)),
    ("about 2 frames for each state are few for 1 dimension", {"prior": "none"}, lambda rng: rng.normal(size=4)),
])
def test_what_may_be_wrong_is_a_warning(rng, said, settings, make):
    with pytest.warns(vhem.VhemWarning, match=said):
        vhem.HMM(2, **settings).fit(make(rng)[:, None])


def test_measurements_give_no_warning(sequences, recwarn):
    vhem.HMM(2).fit(sequences)
    vhem.VHEM(2).fit(sequences)
    vhem.HMM(2, covariance_type="poisson").fit([np.arange(40) % 7])
    vhem.HMM(2).fit(np.clip(np.random.default_rng(1).normal(size=(300, 2)), -3.1, 3.1))      # within a turn, as angles
    assert not [str(w.message) for w in recwarn.list if isinstance(w.message, vhem.VhemWarning)]


def test_clusters_without_members_are_told():
    with pytest.warns(vhem.VhemWarning, match="1 cluster of 2 has no members"):
        vhem.VHEM(2).fit([vhem.Model([1], [[1]], [[0.0]], [[1.0]])] * 4)


def test_agreement_and_missing_values_are_logged(sequences, caplog, capsys):
    sequences[0][3, 0] = np.nan
    with caplog.at_level(logging.INFO, logger="vhem"):
        vhem.VHEM(2).fit(sequences)
        vhem.HMMMixture(2, n_states=1).fit(sequences)
    values = sum(y.size for y in sequences)
    for line in (f"1 of {values} values was missing and integrated out", "of 12 HMMs at least 2 of 10 starts agree",
                 "agree on these groups", "of 4 starts reached this likelihood"):
        assert line in caplog.text, line
    assert capsys.readouterr().err == ""
    vhem.HMM(2, verbose=2).fit(sequences)
    assert "starts agree on the best" in capsys.readouterr().err


# ---- threads

def test_threads_follow_the_environment(monkeypatch):
    from vhem._run import threads_of
    monkeypatch.setattr("vhem._run._cores", lambda: 8)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert [threads_of(n) for n in (None, -1, 5)] == [3, 8, 5]
    monkeypatch.setenv("OMP_NUM_THREADS", "64")
    assert threads_of(None) == 8
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert threads_of(None) == 8
    assert vhem.HMM().n_jobs is None


# ---- tables of others, and objects that are not understood

class Polars:
    """What vhem uses of a table of polars or pyarrow."""

    def __init__(self, frame):
        self.frame, self.columns, self.schema, self.shape = frame, list(frame.columns), {}, frame.shape

    def to_pandas(self):
        return self.frame


def test_tables_of_polars_and_pyarrow(stacked):
    frame = frame_of(stacked).assign(id=np.repeat(["s", "t"], 50))
    found = vhem.Sequences.from_frame(Polars(frame))
    assert found.names == ["s", "t"] and found.columns == ["a", "b"] and np.array_equal(found.y, stacked)
    assert len(vhem.fit_each(Polars(frame), n_states=1)) == 2
    hmm = vhem.HMM(1).fit(Polars(frame_of(stacked)))
    assert [column["name"] for column in hmm.model_.columns] == ["a", "b"]


def test_a_list_of_frames(stacked):
    first, second = frame_of(stacked[:50]), frame_of(stacked[50:])[["b", "a"]]
    models = vhem.fit_each([first, second], n_states=1)
    assert [column["name"] for column in models.columns] == ["a", "b"]
    assert np.allclose(models[1].mu[0, 0], stacked[50:].mean(axis=0), atol=0.1)
    with pytest.raises(vhem.InputError, match="frame 1 has no column 'a'"):
        vhem.fit_each([first, second.rename(columns={"a": "c"})])
    whole = frame_of(stacked).assign(id=np.repeat(["s", "t"], 50))
    assert vhem.fit_each([part for _, part in whole.groupby("id")], n_states=1).names == ["s", "t"]


def test_objects_that_are_not_understood():
    class Dataset:
        data_vars = {}

    for X, said in ([vhem.HMM(2)], "item 0 is of type HMM, which is neither a sequence nor a fitted HMM"), (
            Dataset(), "X is of type Dataset, must be a list of arrays"):
        with pytest.raises(vhem.InputError, match=said):
            vhem.VHEM(1).fit(X)
    with pytest.raises(vhem.InputError, match="layout is 'x'"):
        vhem.VHEM(1, layout="x").fit([np.zeros((5, 1))])


def test_a_label_that_changes_within_a_sequence_is_told(stacked):
    frame = frame_of(stacked).assign(id=np.repeat([1, 2], 50), label=["x"] * 20 + ["y"] * 80)
    with pytest.warns(vhem.VhemWarning, match="'label' changes within a sequence, from 'x'"):
        vhem.Sequences.from_frame(frame)


def test_samples_differ_unless_there_is_a_seed(stacked):
    hmm = vhem.HMM(2).fit(stacked)
    assert not np.array_equal(hmm.sample(1, 5).y, hmm.sample(1, 5).y)
    assert np.array_equal(hmm.sample(1, 5, random_state=3).y, hmm.sample(1, 5, random_state=3).y)


def test_models_of_classes_that_are_numbers(stacked):
    X = [stacked[:20], stacked[60:80], stacked[20:40], stacked[80:]]
    found = vhem.HMMClassifier(n_states=1).fit(X, [0, 1, 0, 1])
    assert found.models_[found.classes_[1]] is not None and found.models_[0] is not None
    with pytest.raises(KeyError, match="there is no class '7'"):
        found.models_[7]


def test_a_prior_may_be_symmetric_to_rounding(stacked):
    W = [[2.0, 0.3], [np.nextafter(0.3, 1), 1.0]]
    prior = {"format": "vhem-prior", "version": 1, "emission": "gaussian-full", "d": 2, "alpha": 1.0, "eta": 1.0,
             "eps": 1.0, "kappa": 1.0, "lambda": 0.1, "nu": 4.0, "m": [0.0, 0.0], "W": W, "variance": [1.0, 1.0]}
    assert vhem.HMM(1, covariance_type="full", prior=prior).fit(stacked).converged_
    with pytest.raises(vhem.InputError, match="W is not symmetric"):
        vhem.HMM(1, covariance_type="full", prior={**prior, "W": [[2.0, 0.3], [0.4, 1.0]]}).fit(stacked)
