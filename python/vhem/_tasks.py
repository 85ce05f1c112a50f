# SPDX-License-Identifier: BSD-3-Clause
"""Sums over models that are made in other processes: the part of the binding that is about tasks and partial sums.

A task is bytes; :func:`work` makes the sums of some of its chunks, wherever it is called, from the path of the models
and the task alone.
"""
from __future__ import annotations

import os
import threading
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from . import _lib
from ._ffi import Handle, ffi, lib, options_of, path_bytes, text, whole_numbers

# (task, its chunks) -> partial sums as bytes, of all chunks together
Run = Callable[[bytes, int], Sequence[bytes]]

_here = threading.local()                    # sessions: a context serves one thread
_models: Dict[str, Tuple[Any, Handle]] = {}  # by path: sets that stay open, shared by all threads
_lock = threading.Lock()


def _session(backend: str, threads: int) -> _lib.Session:
    sessions: Dict[Tuple[str, int], _lib.Session] = vars(_here).setdefault("sessions", {})
    if (backend, threads) not in sessions:
        sessions[backend, threads] = _lib.Session(threads=threads, backend=backend)
    return sessions[backend, threads]


def _stamp(path: str) -> Any:
    """Changes when the file, or the manifest of the folder, is written anew."""
    inside = os.path.join(path, "manifest.json")
    about = os.stat(inside if os.path.isdir(path) else path)
    return about.st_mtime_ns, about.st_size, about.st_ino


def _open(session: _lib.Session, path: str) -> Handle:
    with _lock:
        stamp = _stamp(path)
        if _models.get(path, (None,))[0] != stamp:
            _models[path] = stamp, _lib.read(session, "models", path)
        return _models[path][1]


def work(job: Tuple[str, str, int, bytes, int, int, int]) -> bytes:
    """The sums of chunks first .. first+n-1: job is (path, backend, threads, task, chunks, first, n)."""
    path, backend, threads, task, chunks, first, n = job
    session = _session(backend, threads)
    models = _open(session, path)
    held = ffi.from_buffer(task)
    made = session.made("vhem_expect", "partial", models.pointer,
                        ffi.new("vhem_task *", {"bytes": held, "n": len(task), "chunks": chunks}), first, n)
    out, size = ffi.new("void **"), ffi.new("size_t *")
    session.call("vhem_partial_write", made.pointer, out, size)
    try:
        return bytes(ffi.buffer(out[0], size[0]))
    finally:
        lib.vhem_free(out[0])


class _Crew:
    """What the callback reaches: how tasks are run, and what went wrong there."""

    def __init__(self, run: Run):
        self.run = run
        self.session = _lib.Session(threads=1)
        self.error: Optional[BaseException] = None

    def merge(self, parts: Sequence[bytes]) -> Any:
        """The pointer of the merged sums, which are the caller's."""
        total = None
        for part in parts:
            more = self.session.made("vhem_partial_read", "partial", ffi.from_buffer(part), len(part))
            if total is None:
                total = more
            else:
                self.session.call("vhem_partial_merge", total.pointer, more.pointer)
        if total is None:
            return ffi.NULL
        ffi.gc(total.pointer, None)
        return total.pointer


@ffi.callback("vhem_status(void *, const vhem_task *, vhem_partial **, char *)")
def _expect(handle: Any, task: Any, total: Any, why: Any) -> int:
    crew: _Crew = ffi.from_handle(handle)
    try:
        parts = crew.run(bytes(ffi.buffer(task.bytes, task.n)), task.chunks)
        total[0] = crew.merge(parts)
        return int(lib.VHEM_OK)
    except BaseException as error:
        crew.error = error
        sentence = (str(error) or type(error).__name__).encode("utf-8", "replace")[:1000]
        ffi.memmove(why, sentence + b"\0", len(sentence) + 1)
        return int(lib.VHEM_EBACKEND)


def cluster(session: _lib.Session, of: Handle, K: Sequence[int], options: Mapping[str, Any], run: Run) -> Handle:
    """As :func:`vhem._lib.cluster`; sums over all models are made by run."""
    struct, keep = options_of("cluster_options", options)
    crew = _Crew(run)
    handle = ffi.new_handle(crew)
    keep.append(ffi.new("vhem_executor *", {"expect": _expect, "arg": handle}))
    struct.executor = keep[-1]
    try:
        return session.made("vhem_cluster", "tree", of.pointer, len(K), whole_numbers(K, "n_clusters"), struct)
    except _lib.Error:
        if crew.error is not None:
            raise crew.error from None
        raise


def backend_of(session: _lib.Session) -> str:
    """The backend that is in use."""
    return text(lib.vhem_ctx_backend(session.ctx))


def merge(session: _lib.Session, sets: Sequence[Handle], made: bytes, path: Any) -> None:
    """Puts sets of HMMs together in a folder, with a file for each."""
    pointers: List[Any] = [models.pointer for models in sets]
    session.call("vhem_models_merge", len(sets), ffi.new("const vhem_models *[]", pointers), len(sets), made,
                 path_bytes(path))
