# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the library: backends, methods of clustering and options, by name."""
from __future__ import annotations

import functools
from typing import Any, Dict, List, Optional

from ._ffi import ffi, lib, plain, text
from .errors import InputError


@functools.lru_cache(maxsize=None)
def backend_table() -> Dict[str, Optional[str]]:
    """Why each backend cannot be used here, None where it can; the best first."""
    facts = ffi.new("vhem_backend_facts *")
    found: Dict[str, Optional[str]] = {}
    while lib.vhem_backend_info(len(found), facts) == lib.VHEM_OK:
        found[text(facts.name)] = text(facts.problem) or None
    return found


def backends() -> List[str]:
    """The sets of kernels usable here, best first."""
    return [name for name, problem in backend_table().items() if problem is None]


def backend_problem(name: str) -> str:
    """A sentence that says why a backend cannot be used here."""
    why = backend_table().get(name, "there is no backend with this name")
    return f"the backend is {name!r}, must be one of {', '.join(backends())}: {why}"


@functools.lru_cache(maxsize=None)
def method_table() -> Dict[str, Dict[str, Any]]:
    """What each method of clustering takes, by name, the default first."""
    facts = ffi.new("vhem_method_facts *")
    found: Dict[str, Dict[str, Any]] = {}
    while lib.vhem_method_info(len(found), facts) == lib.VHEM_OK:
        found[text(facts.name)] = plain(facts[0])
    return found


def methods() -> List[str]:
    """The methods of clustering by name, the default first."""
    return list(method_table())


def method_facts(name: Optional[str]) -> Dict[str, Any]:
    """What a method takes, of None the default; one that is not there is an error."""
    if name is None:
        return next(iter(method_table().values()))
    if name not in method_table():
        raise InputError(f"there is no method {name!r}; the methods are {', '.join(methods())}")
    return method_table()[name]


@functools.lru_cache(maxsize=None)
def option_table(kind: str) -> Dict[str, Dict[str, Any]]:
    """The options of one kind (data, fit, cluster, distance, train, rank) by name, each a row of the table."""
    option, which = ffi.new("vhem_option *"), getattr(lib, f"VHEM_{kind.upper()}_OPTIONS")
    found: Dict[str, Dict[str, Any]] = {}
    while lib.vhem_option_info(which, len(found), option) == lib.VHEM_OK:
        found[text(option.name)] = plain(option[0])
    return found
