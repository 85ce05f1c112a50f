# SPDX-License-Identifier: BSD-3-Clause
"""What vhem raises and warns with.  The sentence is the library's own."""
from __future__ import annotations


class Error(Exception):
    """Something vhem could not do; the text names the thing, the value found and the value needed."""


class InputError(Error, ValueError):
    """A wrong option, wrong data, or a file that is not what it should be."""


class FileError(Error, OSError):
    """A file that could not be read or written."""


class VhemWarning(UserWarning):
    """The library did what was asked, and has something to say about it."""
