# SPDX-License-Identifier: BSD-3-Clause
"""From the parameters every estimator has (random_state, n_jobs, verbose, progress) to a session."""
from __future__ import annotations

import numbers
import os
import sys
import warnings
from typing import Any, Callable, Dict, Mapping, Optional

import numpy as np

from . import _ffi, _lib, _told
from .errors import InputError

_backend: Optional[str] = None


def set_backend(name: Optional[str]) -> None:
    """Uses this set of kernels, one of :func:`vhem.backends`, from now on; None for the best one.

    >>> import vhem
    >>> vhem.set_backend("ref")
    >>> vhem.set_backend(None)
    """
    global _backend
    if name is not None and name not in _lib.backends():
        raise InputError(_lib.backend_problem(name))
    _backend = name


def seed_of(random_state: Any) -> int:
    """None is seed 0: the same answer every time.  A generator of NumPy gives a new seed at each call."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**53))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, (int, np.integer)) and 0 <= int(random_state) < 2**63:
        return int(random_state)
    raise InputError(
        f"random_state is {random_state!r}, must be None, a whole number from 0 to 2^63 - 1, or a generator")


def seed_of_sample(random_state: Any) -> int:
    """None is another seed at each call: whoever draws twice wants two samples."""
    return seed_of(np.random.default_rng() if random_state is None else random_state)


_MOST_THREADS = 1024                            # of the library


def _cores() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _MOST_THREADS)


def threads_of(n_jobs: Optional[int]) -> int:
    """None is all cores, or fewer where OMP_NUM_THREADS says so, as joblib does for its workers; -1 is all cores, -2
    all but one, as in scikit-learn."""
    if n_jobs is None:
        said = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        return min(_cores(), int(said)) if said.isdigit() and int(said) > 0 else _cores()
    if not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0 or n_jobs > _MOST_THREADS:
        raise InputError(f"n_jobs is {n_jobs!r}, must be a whole number up to {_MOST_THREADS} other than 0, or None")
    return int(n_jobs) if n_jobs > 0 else max(1, _cores() + 1 + int(n_jobs))


class Bar:
    """Progress on stderr: with tqdm when it is there, else a line that is written again."""

    def __init__(self) -> None:
        self.bars: Dict[str, Any] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        try:
            with warnings.catch_warnings():                  # of a notebook without widgets, where bars are text
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm  # type: ignore[import-untyped]
        except ImportError:
            end = "\n" if done >= total else ""
            sys.stderr.write(f"\r{what}: {done} of {total}{end}")
            sys.stderr.flush()
            return
        bar = self.bars.get(what)
        if bar is None or bar.total != total or done < bar.n:
            self.close(what)
            bar = self.bars[what] = tqdm(total=total, desc=what, file=sys.stderr, leave=False)
        bar.update(done - bar.n)
        if done >= total:
            self.close(what)

    def close(self, what: str) -> None:
        bar = self.bars.pop(what, None)
        if bar is not None:
            bar.close()

    def end(self) -> None:
        """When the work is done, or has failed: some of it may have ended before its last step."""
        for what in list(self.bars):
            self.close(what)


def session(random_state: Any = None, n_jobs: Optional[int] = None, verbose: int = 0,
            progress: Optional[Callable[[str, int, int], Any]] = None, backend: Optional[str] = None) -> _lib.Session:
    """The context for one piece of work; its backend is this one, or that of set_backend."""
    if progress is None and verbose:
        progress = Bar()
    def tell(line: str) -> None:
        _told.say(line, verbose)

    made = _lib.Session(seed_of(random_state), threads_of(n_jobs), backend or _backend, progress, tell)
    if isinstance(progress, Bar):
        made.at_end = progress.end
    return made


def made_by(command: str, options: Dict[str, Any], random_state: int) -> Dict[str, Any]:
    """The record of what made a file."""
    return {"program": "vhem (Python)", "version": _ffi.version(), "command": command, "options": _plain(options),
            "seed": random_state}


def _plain(options: Mapping[str, Any]) -> Dict[str, Any]:
    """The options that are numbers and texts, also those of a piece and of a reduction."""
    found: Dict[str, Any] = {}
    for key, value in options.items():
        if isinstance(value, Mapping):
            found[key] = _plain(value)
        elif isinstance(value, (str, int, float)):
            found[key] = value
        elif isinstance(value, numbers.Real):                # of NumPy
            found[key] = int(value) if isinstance(value, numbers.Integral) else float(value)
    return found
