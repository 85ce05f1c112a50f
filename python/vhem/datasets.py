# SPDX-License-Identifier: BSD-3-Clause
"""Small made-up data sets for examples; the command ``vhem demo`` writes the same sequences.

Each function returns :class:`vhem.Sequences` with the true kinds as labels, which clustering does not use.
``random_state`` is 0 by default; another number gives other sequences of the same kinds.
"""
from __future__ import annotations

from typing import Any

from . import _lib
from ._run import session
from .data import Sequences

__all__ = ["load_courses", "load_gaze", "load_motions", "load_tracks"]


def _load(name: str, random_state: Any) -> Sequences:
    with session(random_state) as s:
        return Sequences._from_handle(_lib.demo(s, name))


def load_gaze(random_state: Any = None) -> Sequences:
    """Fixations on a face, x and y in pixels: 60 trials of 12 viewers, who are the groups, with 2 strategies.

    >>> import vhem
    >>> gaze = vhem.datasets.load_gaze()
    >>> gaze
    <Sequences: 60 of 10 to 19 frames, d = 2>
    >>> vhem.cluster(gaze).labels_.tolist()
    [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1]
    """
    return _load("gaze", random_state)


def load_motions(random_state: Any = None) -> Sequences:
    """Drawings in the plane, x and y: 60 of 6 kinds."""
    return _load("motions", random_state)


def load_courses(random_state: Any = None) -> Sequences:
    """Life courses, a symbol for each year: 60 people of 3 kinds, for ``covariance_type="categorical"``."""
    return _load("courses", random_state)


def load_tracks(random_state: Any = None) -> Sequences:
    """Steps and turns of animals: 36 tracks of 3 kinds, for ``covariance_type="step:gamma,turn:von-mises"``."""
    return _load("tracks", random_state)
