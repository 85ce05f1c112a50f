# SPDX-License-Identifier: BSD-3-Clause
"""Any file of vhem, opened and read once."""
from __future__ import annotations

from typing import Any, Dict, Union

from . import _lib
from ._frames import as_text
from ._inputs import of_mat
from ._mat import is_mat
from ._run import session
from .classify import Classes
from .data import TABLES, Sequences
from .model import H3M, Models
from .result import Tree
from .texture import Textures


def load(path: Any, **options: Any) -> Union[H3M, Textures, Tree, Classes, Sequences]:
    """Whatever is in a file: models, clusters, models of classes, or sequences.

    Options say how to read sequences; they are those of :meth:`vhem.Sequences.load`.

    >>> import tempfile, vhem
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     vhem.H3M([vhem.Model([1], [[1]], [[0.0]], [[1.0]])]).save(folder + "/m.json")
    ...     vhem.load(folder + "/m.json")
    <H3M: 1 HMMs, S = 1, d = 1, gaussian-diag>
    """
    if is_mat(path):
        found: Union[H3M, Sequences] = of_mat(path, **options)
        return found
    if str(path).lower().endswith(TABLES):
        return Sequences.load(path, **options)
    with session() as s:
        kind, handle = _lib.load(s, path, as_text(options))
    made: Dict[str, Any] = {"models": Models._of, "tree": Tree._of, "classes": Classes, "data": Sequences._from_handle}
    return made[kind](handle)
