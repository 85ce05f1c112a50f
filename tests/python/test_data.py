# SPDX-License-Identifier: BSD-3-Clause
"""Sequences in every form, from every file, and without copies."""
import pickle
import warnings

import numpy as np
import pytest
import support
import vhem
from conftest import SOURCE
from vhem.data import as_sequences


def same(a, b):
    assert len(a) == len(b)
    for x, y in zip(a, b):
        np.testing.assert_array_equal(x, y)


def test_forms_mean_the_same(sequences):
    stacked, lengths = np.concatenate(sequences), [len(y) for y in sequences]
    same(as_sequences(sequences), sequences)
    same(as_sequences(tuple(y.tolist() for y in sequences)), sequences)
    same(as_sequences(stacked, lengths), sequences)
    same(as_sequences(vhem.Sequences(stacked, lengths)), sequences)
    same(vhem.Sequences.from_arrays([y.T for y in sequences], channels_first=True), sequences)


def test_arrays_of_equal_lengths(rng):
    aeon = rng.normal(size=(5, 3, 20))
    same(as_sequences(aeon), [x.T for x in aeon])
    table = rng.normal(size=(5, 20))
    same(as_sequences(table), [x[:, None] for x in table])
    same(as_sequences(table.tolist()), [x[:, None] for x in table])
    same(as_sequences(table, single=True), [table])
    same(as_sequences(table.tolist(), single=True), [table])
    same(as_sequences([[1.0, 2.0], [3.0]]), [[[1], [2]], [[3]]])


def test_frames_are_not_copied(rng):
    y = rng.normal(size=(50, 2))
    assert np.shares_memory(as_sequences(y, [20, 30]).y, y)
    assert np.shares_memory(as_sequences([y]).y, y)
    assert np.shares_memory(as_sequences([y[:20], y[20:]]).y, y)
    assert np.shares_memory(as_sequences(list(as_sequences(y, [20, 30]))).y, y)
    apart = as_sequences([y[20:], y[:20]])
    assert not np.shares_memory(apart.y, y)
    np.testing.assert_array_equal(apart.y, np.concatenate([y[20:], y[:20]]))
    time_first = rng.normal(size=(4, 10, 3))
    assert np.shares_memory(as_sequences(time_first.transpose(0, 2, 1)).y, time_first)


def test_library_sees_the_same_memory(rng):
    seqs = vhem.Sequences(rng.normal(size=(10, 2)), [4, 6], names=["a", "b"], labels=["p", "q"],
                          groups=["g", "g"], weights=[1, 2.5], columns=["x", "y"])
    with vhem._run.session() as session:
        parts = vhem._lib.data_parts(seqs.handle(session))
    assert np.shares_memory(parts["y"], seqs.y)
    assert (parts["names"], parts["labels"], parts["groups"]) == (["a", "b"], ["p", "q"], ["g", "g"])
    assert (parts["weights"], parts["columns"], parts["lengths"]) == ([1, 2.5], ["x", "y"], [4, 6])


def test_picking(sequences):
    seqs = vhem.Sequences.from_arrays(sequences, names=[f"s{n}" for n in range(12)], weights=np.arange(1, 13))
    part = seqs[[3, 1]]
    same(part, [sequences[3], sequences[1]])
    assert part.names == ["s3", "s1"] and part.weights.tolist() == [4, 2]
    same(seqs[2:4], sequences[2:4])
    same(seqs[-1], sequences[-1])
    assert np.shares_memory(seqs[2:5].y, seqs.y)
    with pytest.raises(IndexError):
        seqs[12]
    again = pickle.loads(pickle.dumps(seqs))
    same(again, seqs)
    assert again.names == seqs.names
    assert repr(seqs) == "<Sequences: 12 of 30 to 41 frames, d = 2>"


@pytest.mark.parametrize("ending", ["csv", "tsv", "npy", "npz", "ts", "h5"])
def test_files(tmp_path, sequences, ending):
    path = tmp_path / f"d.{ending}"
    names = [f"s{n}" for n in range(12)]
    vhem.Sequences.from_arrays(sequences, names=names, labels=["a", "b"] * 6).save(path)
    back = as_sequences(path)
    same(back, sequences)
    assert back.labels == ["a", "b"] * 6
    same(as_sequences(str(path)), sequences)


def test_files_by_columns(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("subject,trial,kind,x,y,t\n" + "".join(
        f"s{s},{t},{'ab'[s]},{s},{t},{k}\n" for s in range(2) for t in range(3) for k in range(4)))
    seqs = vhem.Sequences.load(path, id="subject,trial", group="subject", label="kind", columns="x,y")
    assert len(seqs) == 6 and seqs.d == 2 and seqs.columns == ["x", "y"]
    assert seqs.groups == ["s0"] * 3 + ["s1"] * 3 and seqs.names[1] == "s0/1"
    assert len(vhem.Sequences.load(path, id="subject,trial", columns="x", where="subject=s1")) == 3
    with pytest.raises(vhem.FileError, match="none.csv"):
        vhem.Sequences.load(tmp_path / "none.csv")
    with pytest.raises(vhem.Error, match="no option|unknown|format"):
        vhem.Sequences.load(path, format="xls")


def test_frames_of_pandas(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "d.csv"
    path.write_text(support.two_level())
    frame = pandas.read_csv(path)
    seqs = as_sequences(frame)
    same(seqs, vhem.Sequences.load(path))
    assert seqs.names == ["seq0", "seq1", "seq2", "seq3"] and seqs.labels == ["even", "odd"] * 2
    mixed = frame.sort_values("x", kind="stable").sort_index(level=0)
    same(as_sequences(mixed), seqs)
    shuffled = pandas.concat([frame[frame.id == "seq1"], frame[frame.id != "seq1"]])
    assert as_sequences(shuffled).names[0] == "seq1"
    woven = frame.assign(t=frame.groupby("id").cumcount()).sort_values(["t", "id"])
    same(vhem.Sequences.from_frame(woven, columns=["x", "y"]), seqs)
    frame["trial"] = 1
    named = vhem.Sequences.from_frame(frame, id=["id", "trial"], group="label", columns=["y"])
    assert named.names[0] == "seq0/1" and named.d == 1 and named.groups == ["even", "odd"] * 2
    with pytest.raises(ValueError, match="no column 'z'"):
        vhem.Sequences.from_frame(frame, columns=["z"])
    with pytest.raises(ValueError, match="id="):
        vhem.Sequences.from_frame(frame[["x"]])


@pytest.mark.parametrize("wrong, text", [
    ([np.zeros((3, 2)), np.zeros((3, 4))], "sequence 1 has 4 columns, but sequence 0 has 2"),
    ([np.zeros((0, 2))], r"shape \(0, 2\)"),
    ([np.zeros((1, 2, 3))], r"shape \(1, 2, 3\)"),
    ([np.array([{}])], "must be numbers"),
    ([np.zeros(3) + 1j], "Complex"),
    ([], "."),
    (np.zeros((2, 2)) * np.nan, "NaN"),
    (np.zeros(3), "1D"),
])
def test_refusals(wrong, text):
    with pytest.raises(ValueError, match=text):
        as_sequences(wrong)


def test_refusals_of_lengths():
    for lengths in ([3, 3], [5, 0], [-1, 6]):
        with pytest.raises(ValueError, match="they must sum to 5, the number of frames$"):
            vhem.Sequences(np.zeros((5, 1)), lengths)
    with pytest.raises(ValueError, match="2 names, must be 1"):
        vhem.Sequences(np.zeros((5, 1)), names=["a", "b"])
    with pytest.raises(ValueError, match="weight is -1"):
        vhem.HMM(n_states=1).fit(np.arange(5.0)[:, None], weights=[-1])


def test_more_data_than_memory(tmp_path):
    rng = np.random.default_rng(1)
    given = vhem.Sequences(rng.normal(size=(300, 3)), [100, 50, 150], names=["a", "b", "c"])
    given.save(tmp_path / "y.npz")
    held, mapped = (vhem.Sequences.load(tmp_path / "y.npz", memory=memory) for memory in (0, 8))
    same(held, mapped)
    assert not mapped.y.flags.writeable
    fits = [vhem.fit_each(seqs, n_states=2, random_state=1) for seqs in (held, mapped)]
    for a, b in zip(*fits):
        assert a.mu.tobytes() == b.mu.tobytes() and a.A.tobytes() == b.A.tobytes()


def test_every_file_of_the_data_folder_opens():
    import os
    folder = os.environ.get("VHEM_DATA", SOURCE.parent / "shared" / "data")
    path = os.path.join(str(folder), "basic_motions", "BasicMotions_TRAIN.ts")
    if not os.path.exists(path):
        pytest.skip("no data folder")
    seqs = vhem.Sequences.load(path)
    assert len(seqs) == 40 and seqs.d == 6 and set(seqs.lengths) == {100}


def test_mat_files(tmp_path):
    """Cells of matrices, cells of cells as the EMHMM toolbox has its data, and what is neither."""
    io = pytest.importorskip("scipy.io")
    rng, path = np.random.default_rng(1), tmp_path / "d.mat"
    trials = [rng.normal(size=(T, 2)) for T in (3, 1, 4, 2)]

    def cell(items):
        made = np.empty((1, len(items)), dtype=object)
        for k, item in enumerate(items):
            made[0, k] = item
        return made

    io.savemat(path, {"data": cell(trials), "fs": 100.0, "note": "pixels"})
    for read in (vhem.Sequences.load, vhem.load):
        data = read(path)
        assert data.names == ["1", "2", "3", "4"] and data.groups is None and data.lengths.tolist() == [3, 1, 4, 2]
        assert (data[1] == trials[1]).all()
    io.savemat(path, {"data": cell([cell(trials[:2]), cell([*trials[2:], np.zeros((0, 0))])])})
    with pytest.warns(vhem.VhemWarning, match="empty cells left out: 1 of 5"):
        data = vhem.Sequences.load(path)
    assert data.names == ["1/1", "1/2", "2/1", "2/2"] and data.groups == ["1", "1", "2", "2"]
    io.savemat(path, {"X": np.concatenate(trials), "lengths": [3, 1, 4, 2]})
    assert vhem.fit_each(path, n_states=1, prior="none", cov_floor=0.1)[0].d == 2
    for read in (vhem.Sequences.load, vhem.load):
        with pytest.raises(vhem.InputError, match="id= does not apply to a .mat file"):
            read(path, id="subject")
    for wrong, sentence in [({"x": 1.0}, "no variable is a cell array of matrices .*; the file holds x"),
                            ({"a": cell(trials), "b": cell(trials)}, "several variables are .*: a, b; save the one"),
                            ({"a": cell([np.zeros((0, 0))])}, "all cells are empty")]:
        io.savemat(path, wrong)
        with pytest.raises(vhem.InputError, match=sentence):
            vhem.load(path)


def test_mat_files_are_read_once(tmp_path, monkeypatch):
    io = pytest.importorskip("scipy.io")
    data, models = tmp_path / "d.mat", tmp_path / "m.mat"
    io.savemat(data, {"X": np.arange(12.0).reshape(6, 2), "lengths": [3, 3]})
    vhem.H3M([vhem.Model([1], [[1]], [[x]], [[1.0]]) for x in (0.0, 9.0)]).save(models)
    read, load = [], io.loadmat
    monkeypatch.setattr(io, "loadmat", lambda path, **how: read.append(path) or load(path, **how))
    assert len(vhem.load(data)) == len(vhem.load(models)) == 2
    assert vhem.VHEM(1, hmm=vhem.HMM(1)).fit(data).labels_.shape == (2,)
    assert vhem.VHEM(1).fit(models).labels_.shape == (2,)
    assert read == [data, models, data, models]


def test_columns_as_a_list_or_a_text(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"who": ["a", "a", "b", "b"], "trial": [1, 1, 2, 2], "x": [1.0, 2, 3, 4], "y": [5.0, 6, 7, 8],
                          "z": [0.0, 0, 1, 1]})
    frame.to_csv(tmp_path / "d.csv", index=False)
    reads = (lambda **how: vhem.Sequences.from_frame(frame, **how),
             lambda **how: vhem.Sequences.load(tmp_path / "d.csv", **how),
             lambda **how: vhem.load(tmp_path / "d.csv", **how))
    for read in reads:
        for id, columns in (["who", "trial"], ["x", "y"]), ("who,trial", "x,y"), (("who", "trial"), ("x", "y")):
            made = read(id=id, columns=columns)
            assert made.names == ["a/1", "b/2"] and made.columns == ["x", "y"]
        assert read(id="who", columns="x,z", symbols=["z"]).symbols == {"z": ["0", "1"]}
    with pytest.raises(vhem.InputError, match="columns has the name 'x,y', must be without a comma"):
        vhem.Sequences.load(tmp_path / "d.csv", id="who", columns=["x,y", "z"])
    with pytest.raises(vhem.InputError, match="no column 'id' or 'seq'.*Sequences.from_frame"):
        vhem.fit_each(frame)


def test_a_frame_with_text_needs_an_id():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"who": ["a", "a", "b", "b"], "x": [1.0, 2, 3, 4]})
    with pytest.raises(vhem.InputError, match="no column 'id' or 'seq'.*Sequences.from_frame.*the columns are who, x$"):
        vhem.cluster(frame)


def test_counters_of_a_frame():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": list("aaabbb"), "n": [1, 2, 3, 0, 1, 2], "time": [.5, .7, 2, 1, 3, 4], "up": range(6),
                          "x": [3.0, 1, 2, 3, 1, 2]})
    with pytest.warns(vhem.VhemWarning) as told:
        vhem.Sequences.from_frame(frame)
    assert [str(w.message) for w in told] == [
        "column 'n' counts the rows of each sequence; leave it out with columns=['up', 'x']",
        "column 'time' is a time, which rises in each sequence; leave it out with columns=['up', 'x']"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vhem.Sequences.from_frame(frame, columns=["n", "x"])
        vhem.Sequences.from_frame(frame[["id", "up", "x"]])


def test_rows_of_a_frame_in_order():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": list("babab"), "time_ms": [3, 2, 1, 1, 2], "x": [30.0, -2, 10, -1, 20]})
    made = vhem.Sequences.from_frame(frame, order="time_ms")
    assert made.names == ["b", "a"] and made.columns == ["x"] and made.y.ravel().tolist() == [10, 20, 30, -1, -2]
    dated = frame.assign(time_ms=pd.to_datetime(frame["time_ms"], unit="ms"))
    assert np.array_equal(vhem.Sequences.from_frame(dated, order="time_ms").y, made.y)
    with pytest.warns(vhem.VhemWarning, match="row 2: column 'time_ms' falls from 3 to 1 .* with order='time_ms'"):
        assert vhem.Sequences.from_frame(frame).columns == ["time_ms", "x"]
    with pytest.raises(vhem.InputError, match="rows 0 and 2 are of one sequence and both have 1 in column 'time_ms'"):
        vhem.Sequences.from_frame(frame.assign(time_ms=1), order="time_ms")
    with pytest.raises(vhem.InputError, match="order= sorts by column 'w', must be numbers"):
        vhem.Sequences.from_frame(frame.assign(w="a"), order="w")
    with pytest.raises(vhem.InputError, match="there is no column 't'"):
        vhem.Sequences.from_frame(frame, order="t")
