# SPDX-License-Identifier: BSD-3-Clause
"""Fails when a file of the library asks which emission family it serves.

Families are told apart in their own files alone (src/emission).  Elsewhere neither their tables nor their
names may occur, except where options list the names and where the default is named.
"""
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "src"
OWN = re.compile(r"emission/(?!layout|component_split|independent_columns)\w+\.[ch]|core/options\.c")


def table():
    """The tables of the families, as emission.c lists them, and their names on disk."""
    listed = re.search(r"families\[\] = \{(.*?)\}", (SOURCE / "emission/emission.c").read_text(), re.S).group(1)
    tables = re.findall(r"&(\w+)", listed)
    names = re.findall(r'\.name = "([\w-]+)"', "".join(p.read_text() for p in SOURCE.glob("emission/*.c")))
    return tables, names


def main():
    tables, names = table()
    asks = re.compile("|".join([rf"\b{t}\b" for t in tables] + [rf'"{n}"' for n in names]))
    wrong = [f"src/{p.relative_to(SOURCE)}:{i}: {line.strip()}"
             for p in sorted(SOURCE.rglob("*.[ch]")) if not OWN.fullmatch(str(p.relative_to(SOURCE)))
             for i, line in enumerate(p.read_text().splitlines(), 1) if asks.search(line)]
    print("\n".join(wrong))
    print(f"{len(tables)} families; {len(wrong)} places ask which one it is")
    return 1 if wrong or len(tables) < 2 or len(names) < 2 else 0


sys.exit(main())
