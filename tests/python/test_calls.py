# SPDX-License-Identifier: BSD-3-Clause
"""Calls into the library: interrupts, threads, processes, progress, and what a call costs."""
import concurrent.futures
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import vhem
from vhem import _ffi, _lib


@pytest.fixture(autouse=True)
def hears_interrupts():
    """A shell that starts tests in the background makes them deaf to SIGINT."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def long_work(progress=None):
    """A clustering that takes minutes."""
    rng = np.random.default_rng(1)
    models = [vhem.Model([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], rng.normal(size=(2, 4)), np.ones((2, 4)))
              for _ in range(150)]
    return vhem.VHEM(20, n_init=60000, max_iter=1000, tol=0, nv=1, tau=20, progress=progress), models


def interrupt_soon():
    if sys.platform == "win32":
        pytest.skip("os.kill() ends a process of Windows")
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_interrupt_keeps_the_best_so_far():
    estimator, models = long_work()
    timer = interrupt_soon()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(models)
    timer.join()
    assert time.monotonic() - begun < 30
    assert estimator.labels_.shape == (150,) and len(estimator.centers_) == 20
    np.testing.assert_allclose(estimator.z_.sum(axis=1), 1)


def test_interrupt_before_there_is_anything(rng):
    class Slow(vhem.HMM):
        def _fit_all(self, data, seed, session):
            session.interrupt = KeyboardInterrupt()
            return super()._fit_all(data, seed, session)
    estimator = vhem.VHEM(2, hmm=Slow(n_states=1))
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(rng.normal(size=(4, 1, 20)))
    assert len(estimator.models_) == 4 and not hasattr(estimator, "labels_")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no SIGALRM")
def test_other_signals_end_the_work_too():
    class Late(Exception):
        pass

    def ring(number, frame):
        raise Late

    estimator, models = long_work()
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(Late):
            estimator.fit(models)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert estimator.labels_.shape == (150,)


def test_progress_is_told(sequences):
    told = []
    vhem.fit_each(sequences, n_states=1, prior="none", progress=lambda *step: told.append(step))
    assert told[0] == ("fit", 0, 12) and told[-1] == ("fit", 12, 12) and len(told) == 13


def test_progress_may_end_the_work():
    class Enough(Exception):
        pass

    def step(what, done, total):
        if done >= 3:
            raise Enough

    estimator, models = long_work(step)
    with pytest.raises(Enough):
        estimator.fit(models)
    assert estimator.labels_.shape == (150,)


def test_verbose(sequences, capsys):
    vhem.fit_each(sequences, n_states=1, verbose=1)
    assert "fit" in capsys.readouterr().err
    vhem.fit_each(sequences, n_states=1)
    assert capsys.readouterr().err == ""


def test_bars_end_with_the_work(sequences, capsys):
    """A search that ends before its last step leaves no bar behind, which would be drawn again later."""
    tqdm = pytest.importorskip("tqdm.auto").tqdm
    before = len(tqdm._instances)
    found = vhem.VHEM(2, tau=5, verbose=1, random_state=1).fit(sequences)
    assert len(tqdm._instances) == before and found.labels_.shape == (12,)
    assert capsys.readouterr().err.endswith("\r")        # nothing stays on the screen


def test_verbose_without_tqdm(sequences, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    vhem.fit_each(sequences, n_states=1, verbose=1)
    assert capsys.readouterr().err.endswith("\rfit: 12 of 12\n")


def test_other_python_threads_run_meanwhile():
    """Releasing the interpreter lock: a counter goes on while the library works."""
    counted, stop = [0], threading.Event()

    def count():
        while not stop.wait(0.001):
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    estimator, models = long_work()
    timer = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(models)
    timer.join()
    stop.set()
    thread.join()
    assert counted[0] > 20


def test_threads_of_the_caller(sequences):
    expected = vhem.VHEM(2, n_states=1, n_init=5).fit(sequences).z_
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda _: vhem.VHEM(2, n_states=1, n_init=5).fit(sequences), range(8)))
    for run in runs:
        np.testing.assert_array_equal(run.z_, expected)


def score_in_child(pipe, model, y):
    pipe.send((model.score(y).tolist(), vhem.HMM(n_states=2, n_jobs=2).fit(y).log_likelihood_))


@pytest.mark.parametrize("how", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_children(how, sequences):
    """A child works, with threads, also when its parent had threads at work before the fork."""
    hmm = vhem.HMM(n_states=2, n_jobs=2).fit(sequences[0])
    vhem.fit_each(sequences, n_states=2, n_jobs=2)
    if how not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {how}")
    context = multiprocessing.get_context(how)
    here, there = context.Pipe()
    child = context.Process(target=score_in_child, args=(there, hmm.model_, sequences[0]))
    child.start()
    assert here.poll(60), f"a child by {how} does not answer"
    assert here.recv() == (hmm.model_.score(sequences[0]).tolist(), hmm.log_likelihood_)
    child.join(10)
    assert child.exitcode == 0


def test_scikit_learns_processes(sequences):
    from sklearn.model_selection import GridSearchCV
    grid = GridSearchCV(vhem.HMM(n_init=1, n_jobs=1), {"n_states": [1, 2]}, cv=2, n_jobs=2).fit(sequences)
    assert grid.best_params_["n_states"] == 2


def run_alone(code, folder):
    """What another process prints: exit status, output, errors."""
    package = pathlib.Path(vhem.__file__).resolve().parents[1]   # the one under test, of the source or installed
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=folder, capture_output=True,
                          text=True, env={**os.environ, "PYTHONPATH": str(package)})
    return done.returncode, done.stdout, done.stderr


def test_errors_leave_silently(tmp_path):
    """A process that met an error, also in HDF5, ends without a word."""
    code = """
        import pathlib, vhem
        pathlib.Path("bad.h5").write_text("{}")
        for kind in (vhem.H3M, vhem.Sequences):
            try:
                kind.load("bad.h5")
            except vhem.Error as error:
                print("bad.h5" in str(error))
    """
    assert run_alone(code, tmp_path) == (0, "True\nTrue\n", "")


def test_damaged_hdf5_files_leave_silently(tmp_path):
    """HDF5 itself is not whole any more after some of them, and must not say so when the process ends."""
    rng = np.random.default_rng(4)
    vhem.Sequences.from_arrays([rng.normal(size=(20, 2)) for _ in range(5)]).save(tmp_path / "d.h5")
    A = [[0.9, 0.1], [0.1, 0.9]]
    vhem.H3M([vhem.Model([0.5, 0.5], A, [[k], [k + 1]], [[1], [1]]) for k in range(20)]).save(tmp_path / "m.h5")
    for name in ("d", "m"):
        whole = (tmp_path / f"{name}.h5").read_bytes()
        for k in range(4):
            (tmp_path / f"{name}{k}-short.h5").write_bytes(whole[:rng.integers(len(whole))])
            flipped = np.frombuffer(whole, np.uint8).copy()
            flipped[rng.integers(0, len(whole), 20)] ^= 255
            (tmp_path / f"{name}{k}-flipped.h5").write_bytes(flipped.tobytes())
    code = """
        import pathlib, vhem
        failed = 0
        for path in sorted(pathlib.Path().glob("*-*.h5")):
            for load in (vhem.H3M.load, vhem.Sequences.load, vhem.load):
                try:
                    load(path)
                except vhem.Error as error:
                    failed += path.name in str(error)
        print(failed > 24)
    """
    assert run_alone(code, tmp_path) == (0, "True\n", "")


def test_threads_read_hdf5_files(tmp_path):
    """At the same time, in a build of HDF5 that allows it, as Debian's and the wheel's do."""
    code = """
        import concurrent.futures, vhem
        A = [[0.9, 0.1], [0.1, 0.9]]
        vhem.H3M([vhem.Model([0.5, 0.5], A, [[k], [k + 1]], [[1], [1]]) for k in range(99)]).save("m.h5")
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            print({len(m) for m in pool.map(vhem.H3M.load, ["m.h5"] * 60)})
    """
    assert run_alone(code, tmp_path) == (0, "{99}\n", "")


def test_missing_function_is_a_sentence():
    with pytest.raises(vhem.Error, match="has no vhem_not_there"):
        _ffi.function("vhem_not_there")


def test_backend_of_an_estimator():
    models = [vhem.Model([1], [[1]], [[x]], [[1.0]]) for x in (0.0, 1.0, 20.0, 21.0)]
    found = vhem.VHEM(n_clusters=2, backend="ref").fit(models)
    assert found.get_params()["backend"] == "ref" and found.labels_[0] == found.labels_[1] != found.labels_[2]
    with pytest.raises(vhem.Error, match="'abacus', must be one of"):
        vhem.VHEM(n_clusters=2, backend="abacus").fit(models)


def test_arrays_on_a_gpu_are_refused():
    class OnDevice:
        __cuda_array_interface__ = {"version": 3}
        ndim = 2
        shape = (30, 1)

    with pytest.raises(vhem.Error, match="are on a GPU, must be in main memory: copy them with x.get\\(\\)"):
        vhem.HMM(n_states=2).fit([OnDevice(), OnDevice()])
    with pytest.raises(vhem.Error, match="are on a GPU"):
        vhem.HMM(n_states=2).fit(OnDevice())

    class DlpackAlone:
        ndim = 2
        shape = (30, 1)

        def __dlpack_device__(self):
            return (2, 0)

    with pytest.raises(vhem.Error, match="are on a GPU, must be in main memory: copy them with x.get\\(\\)"):
        vhem.HMM(n_states=2).fit([DlpackAlone(), DlpackAlone()])
    with pytest.raises(vhem.Error, match="are on a GPU"):
        vhem.HMM(n_states=2).fit(DlpackAlone())


def test_backend_by_name():
    with pytest.raises(vhem.Error, match="'abacus', must be one of .*ref: there is no backend with this name"):
        vhem.set_backend("abacus")
    if "cuda" not in vhem.backends():
        with pytest.raises(vhem.Error, match="'cuda', must be one of .*: (this vhem was built without|there is no)"):
            vhem.set_backend("cuda")
    with pytest.raises(vhem.Error, match="abacus"):
        _lib.Session(backend="abacus")
    vhem.set_backend("ref")
    try:
        m = vhem.Model([1], [[1]], [[0.0]], [[1.0]])
        assert m.score([[0.0]])[0] == pytest.approx(-0.5 * np.log(2 * np.pi))
    finally:
        vhem.set_backend(None)


def test_a_call_costs_less_than_a_millisecond():
    """The best of many, on one thread: what is left of a tiny score is the way in and out."""
    m = vhem.Model([1], [[1]], [[0.0]], [[1.0]])
    y = np.zeros((1, 1))
    took = []
    for _ in range(200):
        begun = time.perf_counter()
        m.score(y, n_jobs=1)
        took.append(time.perf_counter() - begun)
    assert min(took) < 1e-3
