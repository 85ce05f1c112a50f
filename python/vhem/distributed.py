# SPDX-License-Identifier: BSD-3-Clause
"""Clusters of very many HMMs, and fits of very many sequences, in many processes or on many machines.

An executor is anything with ``submit``, such as a pool of :mod:`concurrent.futures`, a ``Client`` of Dask or
``mpi4py.futures``, or with ``map`` alone, such as a pool of :mod:`multiprocessing` or of Ray.  Tasks are pure
functions of a path and some bytes, so that it does not matter where they run, nor how often: a scheduler that
loses a worker runs its tasks again.  Results have the same bits as those of one process.
"""
from __future__ import annotations

import copy
import hashlib
import json
import os
import pickle
import re
from typing import Any, Callable, List, Sequence, Tuple

from . import _ffi, _lib, _run, _tasks
from ._inputs import as_models
from .cluster import VHEM
from .errors import Error, InputError
from .estimate import HMM, fit_each as _fit_each
from .model import H3M
from .result import Tree

__all__ = ["cluster", "fit_each"]

_TASKS = 16   # where nobody knows how many workers there are
_DATA = (".csv", ".tsv", ".txt", ".npy", ".npz", ".ts", ".xlsx")
_HOW = ("n_jobs", "verbose", "progress")   # parameters that make no difference to a model
_PART = re.compile(r"[0-9]{5,}(-[0-9a-f]{16})?\.h5$")
_EACH = 3     # tasks for each worker: one that is slower than the others has fewer of them


def _workers(executor: Any) -> int:
    """How many tasks the executor runs at a time; 0: it does not tell."""
    count = getattr(executor, "_max_workers", None) or getattr(executor, "_processes", None)
    if count is None and hasattr(executor, "scheduler_info"):
        count = sum(worker["nthreads"] for worker in executor.scheduler_info()["workers"].values())
    return count if isinstance(count, int) else 0


def _run_all(executor: Any, function: Callable[[Any], Any], jobs: Sequence[Any]) -> List[Any]:
    """function of each job, in their order."""
    if not hasattr(executor, "submit"):
        return list(executor.map(function, jobs))
    futures = [executor.submit(function, job) for job in jobs]
    try:
        return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()


def _check(executor: Any) -> None:
    if not callable(getattr(executor, "submit", None)) and not callable(getattr(executor, "map", None)):
        raise InputError(f"executor is {executor!r}, must have a method submit or map, like a ProcessPoolExecutor or "
                         "a Dask Client")


def _models(path: Any, place: str) -> Any:
    """The models of a file; of a file of data it says what to do with that."""
    try:
        return as_models(place)
    except Error as problem:
        if place.lower().endswith(_DATA):
            raise InputError(f"{path} is not a model file; vhem.distributed.fit_each makes models of "
                             "sequences") from problem
        raise


def cluster(path: Any, n_clusters: Any, executor: Any, random_state: Any = 0, *, tasks: Any = None, threads: int = 1,
            backend: Any = None, **params: Any) -> VHEM:
    """Clusters the HMMs of a file or of a folder of shards, with the workers of an executor.

    Parameters
    ----------
    path : str
        Models as ``vhem convert`` writes them; every worker must be able to read it under this path.
    n_clusters : int, or list of int
        As for :class:`vhem.VHEM`.
    executor
        See :mod:`vhem.distributed`.
    random_state : int, or generator
        As for :class:`vhem.VHEM`.
    tasks : int
        Tasks of each iteration; default three for each worker.
    threads : int
        Threads that each task may use.
    backend : str
        One of :func:`vhem.backends` that all workers have; default the best one here.
    **params
        Parameters of :class:`vhem.VHEM`, such as ``tau=5`` or ``options={"checkpoint": "run.ckpt"}``.

    Returns
    -------
    found : :class:`vhem.VHEM`
        Fitted; ``found.save(file)`` writes what ``vhem cluster`` writes.

    Notes
    -----
    Sets of up to 4096 models are clustered here, without the executor; of larger ones, starts are searched here on a
    sample of so many.

    Examples
    --------
    >>> import concurrent.futures, os, tempfile, vhem
    >>> import vhem.distributed
    >>> models = [vhem.Model([1], [[1]], [[x]], [[1.0]]) for x in (0.0, 1.0, 20.0, 21.0)]
    >>> with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
    ...     vhem.H3M(models).save(os.path.join(folder, "models.h5"))
    ...     found = vhem.distributed.cluster(os.path.join(folder, "models.h5"), 2, pool)
    >>> len(found.centers_)
    2
    """
    _check(executor)
    place = os.path.abspath(os.fspath(path))
    found = VHEM(n_clusters, random_state=random_state, backend=backend, **params)
    if found._method() is not None:
        raise InputError(f"method is {found.method!r}, must be 'vhem', the only one that workers can share; "
                         "vhem.ModelClustering runs the others")
    seed = _run.seed_of(random_state)
    options = found._options()
    models = _models(path, place)
    if not isinstance(models, H3M):
        raise InputError(f"{path} holds dynamic textures, must hold HMMs")
    with found._session(seed) as session:
        name = _tasks.backend_of(session)
        wanted = tasks or _EACH * _workers(executor) or _TASKS

        def run(task: bytes, chunks: int) -> List[bytes]:
            n = min(wanted, chunks)
            cuts = [chunks * k // n for k in range(n + 1)]
            jobs: List[Tuple[str, str, int, bytes, int, int, int]] = [
                (place, name, threads, task, chunks, a, b - a) for a, b in zip(cuts, cuts[1:])]
            return _run_all(executor, _tasks.work, jobs)

        tree = _tasks.cluster(session, _lib.source(models._handle), found._levels(), options, run)
        found.models_ = models
        found._fitted_to(models.d)
        found._take(Tree._of(tree, found._record(options, seed)))
    return found


def _digest_path(into: Any, path: str) -> None:
    """Adds the names and the bytes of a file, or of all files of a folder."""
    files = [path]
    if os.path.isdir(path):
        files = sorted(os.path.join(place, name) for place, _, names in os.walk(path) for name in names)
    elif path.endswith(".npy"):
        files.append(path[:-len(".npy")] + "_index.csv")
    for name in filter(os.path.isfile, files):
        into.update(f"{name}\0{os.path.getsize(name)}\0".encode("utf-8", "surrogateescape"))
        with open(name, "rb") as source:
            for block in iter(lambda: source.read(1 << 20), b""):
                into.update(block)


def _digest_value(into: Any, value: Any) -> None:
    """Adds a parameter; of one that names a file, such as prior="fitted.json" or "tied:FILE", the file too."""
    into.update(pickle.dumps(value, protocol=4))
    name = value.split(":", 1)[-1] if isinstance(value, str) else value
    if isinstance(name, (str, os.PathLike)) and os.path.isfile(name):
        _digest_path(into, os.path.abspath(os.fspath(name)))


def _part_key(data: str, hmm: HMM, groups: Any) -> str:
    """Differs when the HMMs of the file may: by its name and bytes, the parameters, the program."""
    into = hashlib.blake2b(digest_size=8)
    _digest_path(into, data)
    with hmm._session(0) as session:
        _digest_value(into, (_ffi.version(), _tasks.backend_of(session), groups))
    for name, value in sorted(hmm.get_params().items()):
        if name not in _HOW:
            into.update(name.encode())
            _digest_value(into, value)
    return into.hexdigest()


def _fit_one(job: Tuple[str, str, Any, Any]) -> str:
    """Fits the HMMs of a file of sequences and saves them, unless they are there; returns where."""
    data, part, hmm, groups = job
    models = f"{part}-{_part_key(data, hmm, groups)}.h5"
    if not os.path.exists(models):
        _fit_each(data, hmm=hmm, groups=groups).save(models)
    return models


def _remove_parts(parts: str) -> None:
    """Those of this call and of earlier ones with other files or parameters; what somebody else put there stays."""
    for name in os.listdir(parts):
        if _PART.match(name):
            os.remove(os.path.join(parts, name))
    if not os.listdir(parts):
        os.rmdir(parts)


def fit_each(paths: Sequence[Any], executor: Any, folder: Any, *, groups: Any = None, hmm: Any = None,
             **params: Any) -> H3M:
    """One HMM for each sequence of many files, a file for each task, in a folder of shards.

    Parameters
    ----------
    paths : list of str
        Files of sequences, which every worker must be able to read.
    executor
        See :mod:`vhem.distributed`.
    folder : str
        Where the models go; it must not be there yet.  Each task writes a file in ``folder.parts`` first.  Run again
        after something went wrong, the call goes on with what is missing; files whose data, parameters, version or
        backend have changed are fitted again.
    groups, hmm, **params
        As for :func:`vhem.fit_each`; n_jobs, the threads of each task, is 1 by default.

    Returns
    -------
    models : :class:`vhem.H3M`
        Those of the folder, in the order of the paths: the same as from ``vhem fit`` of each file and ``vhem
        convert`` of all.
    """
    _check(executor)
    listed = [os.path.abspath(os.fspath(path)) for path in paths]
    place = os.path.abspath(os.fspath(folder))
    if not listed:
        raise InputError("there are no files to fit; give at least one path")
    if os.path.exists(place):
        raise InputError(f"{folder} already exists; choose another folder")
    estimator = copy.copy(hmm) if hmm is not None else HMM(**{"n_jobs": 1, **params})
    estimator.random_state = seed = _run.seed_of(estimator.random_state)   # a generator gives one for all files
    parts = place + ".parts"
    os.makedirs(parts, exist_ok=True)
    jobs = [(path, os.path.join(parts, f"{k:05d}"), estimator, groups) for k, path in enumerate(listed)]
    made = [as_models(path) for path in _run_all(executor, _fit_one, jobs)]
    record = _run.made_by("vhem.distributed.fit_each", estimator.get_params(), seed)
    with _run.session() as session:
        _tasks.merge(session, [models._handle for models in made], json.dumps(record).encode(), place)
    _remove_parts(parts)
    return H3M.load(place)
