# SPDX-License-Identifier: BSD-3-Clause
"""How a call into the library runs: off the main thread, with the interpreter lock released.

A call from the main thread is made by a worker thread while the main thread waits, because only a waiting
main thread hears Ctrl-C.  On an interrupt the library is asked to end soon, what it has so far is kept, and
then KeyboardInterrupt is raised.  A child made by fork starts a worker of its own, so that it does not
inherit a team of OpenMP threads that exist in the parent only.
"""
from __future__ import annotations

import atexit
import os
import queue
import threading
from typing import Any, Callable, Optional


class Job:
    """One call, and where its result or its exception is put."""

    def __init__(self, work: Callable[[], Any]):
        self.work = work
        self.done = threading.Lock()
        self.done.acquire()
        self.value: Any = None
        self.error: Optional[BaseException] = None
        self.finished = False

    def run(self) -> None:
        try:
            self.value = self.work()
        except BaseException as error:  # raised again where the job was given
            self.error = error
        self.finished = True
        self.done.release()


class Worker:
    """A thread that runs the jobs of the main thread, begun when it is first needed."""

    def __init__(self) -> None:
        self.jobs: "queue.SimpleQueue[Optional[Job]]" = queue.SimpleQueue()
        self.thread: Optional[threading.Thread] = None

    def _loop(self) -> None:
        for job in iter(self.jobs.get, None):
            job.run()

    def give(self, job: Job) -> None:
        if self.thread is None:
            self.thread = threading.Thread(target=self._loop, name="vhem", daemon=True)
            self.thread.start()
        self.jobs.put(job)

    def end(self) -> None:
        """Before the process ends: what libraries keep for a thread goes with the thread."""
        if self.thread is not None:
            self.jobs.put(None)
            self.thread.join(1)


_worker = Worker()
atexit.register(lambda: _worker.end())


def _after_fork() -> None:
    global _worker
    _worker = Worker()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def run(work: Callable[[], Any], stop: Callable[[], None]) -> "tuple[Any, Optional[BaseException]]":
    """The value of work(), and the exception of a signal handler that came while it ran, or None.

    An exception in a signal handler, of which KeyboardInterrupt is one, makes stop() ask the work to end
    soon.
    """
    if threading.current_thread() is not threading.main_thread():
        return work(), None
    job = Job(work)
    interrupt: Optional[BaseException] = None
    _worker.give(job)
    while not job.finished:
        try:
            job.done.acquire()
        except BaseException as error:
            interrupt = interrupt or error
            stop()
    if job.error is not None:
        raise job.error
    return job.value, interrupt
