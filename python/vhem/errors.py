# SPDX-License-Identifier: BSD-3-Clause
"""What vhem raises and warns with.  The sentence is the library's own."""
from __future__ import annotations

import logging
import sys
import warnings
from typing import Type

LOG = logging.getLogger("vhem")


class Error(Exception):
    """Something vhem could not do; the text names the thing, the value found and the value needed."""


class InputError(Error, ValueError):
    """A wrong option, wrong data, or a file that is not what it should be."""


class FileError(Error, OSError):
    """A file that could not be read or written."""


class VhemWarning(UserWarning):
    """The library did what was asked, and has something to say about it."""


def warn(text: str, category: Type[Warning] = VhemWarning) -> None:
    """Warns about the line that called this package, directly or through scikit-learn."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in ("vhem", "sklearn"):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)
