# SPDX-License-Identifier: BSD-3-Clause
"""vhem.distributed: the same result with threads, processes, Dask, a worker that is killed, and one process."""
import concurrent.futures
import json
import multiprocessing
import os
import platform
import signal
import subprocess
import threading
import time

import numpy as np
import pytest

import vhem
import vhem.distributed
from vhem import _tasks

MANY = 5000   # fewer than 4096 are clustered by one process
PARAMS = {"n_init": 1, "search": "restarts", "max_iter": 3, "tau": 3, "options": {"soft": 0}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models in one file and in shards, and what one process makes of them."""
    place = tmp_path_factory.mktemp("distributed")
    rng = np.random.default_rng(1)
    mean = rng.normal(3 * (np.arange(MANY) % 3)[:, None, None], 1, (MANY, 2, 1))
    models = [vhem.Model([0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]], m, np.ones((2, 1)), name=f"m{i}")
              for i, m in enumerate(mean)]
    vhem.H3M(models).save(place / "one.h5")
    command = os.environ.get("VHEM", "build/vhem")
    subprocess.run([command, "convert", "one.h5", "--shards", "7", "-o", "shards", "-q"], cwd=place, check=True)
    vhem.VHEM(3, random_state=5, **PARAMS).fit(place / "one.h5").save(place / "plain.json")
    return place


def result(path):
    found = json.loads(path.read_text())
    found.pop("provenance")
    return found


def check(folder, executor, models="shards", **more):
    found = vhem.distributed.cluster(folder / models, 3, executor, random_state=5, **PARAMS, **more)
    assert isinstance(found, vhem.VHEM) and len(found.labels_) == MANY
    found.save(folder / "found.json")
    assert result(folder / "found.json") == result(folder / "plain.json")


def test_threads(folder):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        check(folder, pool)
        check(folder, pool, "one.h5", tasks=3)


def test_processes(folder):
    with concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        check(folder, pool)
    with multiprocessing.get_context("spawn").Pool(1) as pool:      # map alone
        assert vhem.distributed._workers(pool) == 1
        class Maps:
            map = pool.map
        check(folder, Maps(), tasks=2)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors have other kernels")
def test_kernels_of_blas(folder, monkeypatch):
    """Workers whose OpenBLAS has chosen other kernels would give other last bits: nothing is made of both."""
    refusals = []
    for kernel in "Nehalem", "Haswell":       # one of them is not ours
        monkeypatch.setenv("OPENBLAS_CORETYPE", kernel)
        with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            try:
                check(folder, pool)
            except vhem.Error as problem:
                refusals.append(str(problem))
    assert refusals
    for text in refusals:
        assert "the task was made with the kernels of OpenBLAS for '" in text
        assert "set OPENBLAS_CORETYPE to one that all have" in text


def test_joblib(folder):
    loky = pytest.importorskip("joblib.externals.loky", reason="joblib is not installed")
    check(folder, loky.get_reusable_executor(max_workers=1), tasks=2)


class Dies:
    """An executor whose tasks fail."""

    def submit(self, function, job):
        future = concurrent.futures.Future()
        future.set_exception(RuntimeError("the machine is gone"))
        return future


def test_wrong(folder, tmp_path):
    with pytest.raises(RuntimeError, match="the machine is gone"):
        vhem.distributed.cluster(folder / "shards", 3, Dies(), **PARAMS)
    with pytest.raises(vhem.Error, match="must have a method submit or map"):
        vhem.distributed.cluster(folder / "shards", 3, 7)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with pytest.raises(vhem.Error, match="nowhere"):
            vhem.distributed.cluster(tmp_path / "nowhere", 3, pool)
        with pytest.raises(vhem.Error, match="no files"):
            vhem.distributed.fit_each([], pool, tmp_path / "m")
    subprocess.run(["cp", "-r", folder / "shards", tmp_path / "bad"], check=True)
    last = sorted((tmp_path / "bad").glob("*.h5"))[-1]
    data = bytearray(last.read_bytes())
    for k in range(len(data) // 3, len(data) - 64, 64):
        data[k] ^= 1
    last.write_bytes(data)
    with concurrent.futures.ThreadPoolExecutor(1) as pool, pytest.raises(vhem.Error, match=last.name):
        vhem.distributed.cluster(tmp_path / "bad", 3, pool, **PARAMS)


def test_written_anew(folder, tmp_path):
    """A worker that has a file open sees that it was written anew."""
    subprocess.run(["cp", folder / "one.h5", tmp_path / "m.h5"], check=True)
    session = _tasks._session(vhem.backends()[0], 1)
    first = _tasks._open(session, str(tmp_path / "m.h5"))
    assert _tasks._open(session, str(tmp_path / "m.h5")) is first
    vhem.H3M([vhem.Model([1], [[1]], [[0.0]], [[1.0]])]).save(tmp_path / "m.h5")
    assert _tasks._open(session, str(tmp_path / "m.h5")) is not first


def test_fit_each(tmp_path):
    rng = np.random.default_rng(2)
    paths = []
    for k in range(3):
        paths.append(tmp_path / f"part{k}.csv")
        rows = [f"s{k}_{n},{x:.6f}" for n in range(4) for x in rng.normal(n, 1, 30)]
        paths[-1].write_text("id,x\n" + "\n".join(rows) + "\n")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        models = vhem.distributed.fit_each(paths, pool, tmp_path / "models", n_states=2, n_init=2)
        with pytest.raises(vhem.Error, match="already exists"):
            vhem.distributed.fit_each(paths, pool, tmp_path / "models", n_states=2)
    assert [m.name for m in models] == [f"s{k}_{n}" for k in range(3) for n in range(4)]
    assert not (tmp_path / "models.parts").exists()
    alone = vhem.fit_each(str(paths[1]), n_states=2, n_init=2)
    assert all(np.array_equal(models[4 + n].mu, alone[n].mu) for n in range(4))


def parts_of(path, k, mean=0.0):
    rng = np.random.default_rng(k)
    rows = [f"s{k}_{n},{x:.6f}" for n in range(3) for x in rng.normal(n + mean, 1, 20)]
    path.write_text("\n".join(["id,x", *rows]) + "\n")
    return path


def test_fit_each_goes_on(tmp_path, monkeypatch):
    """After a failure what is finished is kept, but only for the same data and parameters."""
    a, b, c = (parts_of(tmp_path / f"{name}.csv", k) for k, name in enumerate("abc"))
    out, fitted = tmp_path / "m", []
    plain = vhem.distributed._fit_each
    monkeypatch.setattr(vhem.distributed, "_fit_each", lambda data, **how: fitted.append(data) or plain(data, **how))

    def fit(paths, **params):
        fitted.clear()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            return vhem.distributed.fit_each(paths, pool, out, n_init=1, **params)

    def fails(paths, **params):
        with pytest.raises(vhem.Error, match="nowhere"):
            fit([*paths, tmp_path / "nowhere.csv"], **params)

    fails([a], n_states=2)
    assert [m.name for m in fit([b, c], n_states=2)] == [f"s{k}_{n}" for k in (1, 2) for n in range(3)]
    assert not (tmp_path / "m.parts").exists()
    out.rename(tmp_path / "first")

    fails([a, b], n_states=2)
    fit([a, b, c], n_states=2, n_jobs=2)
    assert fitted == [str(c)]
    out.rename(tmp_path / "second")

    start, other = (vhem.Model([0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]], [[0.0], [x]], [[1.0], [1.0]]) for x in (1.0, 2.0))
    plain(str(a), n_states=2, n_init=1).save(tmp_path / "prior.json")
    for params, others in (({"n_states": 2}, {"n_states": 3}), ({"random_state": 1}, {"random_state": 2}),
                           ({"init": start}, {"init": other}),
                           ({"prior": str(tmp_path / "prior.json")}, {"prior": "none"})):
        fails([a], **params)
        assert not fails([a], **params) and fitted == [str(tmp_path / "nowhere.csv")], params
        fails([a], **others)
        assert str(a) in fitted, others
    parts_of(a, 0, mean=9.0)
    fails([a], n_states=2)
    assert str(a) in fitted
    plain(str(b), n_states=2, n_init=1).save(tmp_path / "prior.json")
    fails([a], prior=str(tmp_path / "prior.json"))
    assert str(a) in fitted


def test_dask(folder):
    """Two processes, of which one is killed in mid-iteration: its tasks run again."""
    distributed = pytest.importorskip("distributed", reason="'scripts/setup dask' installs Dask")
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None,
                                  silence_logs=50) as local, distributed.Client(local) as client:
        check(folder, client)
        local.scale(2)
        client.wait_for_workers(2)
        killed = []

        def kill():
            while not killed:
                busy = [where for where, tasks in client.processing().items() if tasks]
                if busy and not killed:
                    pid = client.run(os.getpid, workers=[busy[0]])[busy[0]]
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
                time.sleep(0.002)

        thread = threading.Thread(target=kill, daemon=True)
        thread.start()
        check(folder, client, tasks=5)
        killed.append(0)
        thread.join()
        assert killed[0] > 0


def test_refused(tmp_path, folder):
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        with pytest.raises(vhem.InputError, match="method is 'kl-sc', must be 'vhem'"):
            vhem.distributed.cluster(folder / "one.h5", 2, pool, method="kl-sc")
        (tmp_path / "d.csv").write_text("id,x\na,1\na,2\n")
        with pytest.raises(vhem.InputError, match="d.csv is not a model file; vhem.distributed.fit_each makes"):
            vhem.distributed.cluster(tmp_path / "d.csv", 2, pool)
