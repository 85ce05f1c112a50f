# SPDX-License-Identifier: BSD-3-Clause
"""What cffi needs to know of the C library, read from its own header: nothing is mirrored by hand.

The headers lie in ``include`` beside this file in an installed package, in ``include`` of a source tree; the library
lies beside this file, where ``VHEM_LIBRARY`` points, or in the folder ``build`` of the source tree.
"""
from __future__ import annotations

import os
import re
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parent.parent
_LIBRARY = {"win32": "libvhem.dll", "darwin": "libvhem.dylib"}.get(sys.platform, "libvhem.so")
_HEADERS = ("vhem/types.h", "vhem.h", "vhem/distributed.h", "vhem/classes.h", "vhem/analysis.h")


def header_text() -> str:
    """The headers that describe the library in use, records first."""
    for folder in (_HERE / "include", _ROOT / "include"):
        paths = [folder / name for name in _HEADERS]
        if all(path.exists() for path in paths):
            return "\n".join(path.read_text(encoding="utf-8") for path in paths)
    raise ImportError(f"vhem: the headers are missing in {_HERE / 'include'}; reinstall the package")


def library_path() -> Path:
    """The shared library to open."""
    named = os.environ.get("VHEM_LIBRARY")
    if named:
        return Path(named)
    for path in (_HERE / _LIBRARY, _ROOT / "build" / "src" / _LIBRARY):
        if path.exists():
            return path
    raise ImportError(
        f"vhem: {_LIBRARY} is missing next to {__file__}; install the package with 'pip install .', build the library "
        "with 'make', or set VHEM_LIBRARY to its path"
    )


def declarations(text: str) -> str:
    """The declarations of the header without preprocessor lines, the part for C++ and export marks."""
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    text = text.replace("\\\n", " ")
    text = re.sub(r"^[ \t]*#[ \t]*ifdef[ \t]+__cplusplus\b.*?^[ \t]*#[ \t]*endif[^\n]*", "", text,
                  flags=re.S | re.M)
    text = re.sub(r"^[ \t]*#[^\n]*", "", text, flags=re.M)
    return re.sub(r"\bVHEM_(?:API|RESULT)\b", "", text)


def number(text: str, name: str) -> int:
    """The value of a constant of the header."""
    found = re.search(rf"#define\s+{name}\s+(\w+)", text)
    if not found:
        raise ImportError(f"vhem: vhem.h has no {name}; reinstall the package")
    return int(found[1], 0)


def version(text: str) -> str:
    """The version the header says it is."""
    found = re.search(r'#define\s+VHEM_VERSION\s+"([^"]+)"', text)
    return found[1] if found else ""
