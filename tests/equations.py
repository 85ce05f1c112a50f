# SPDX-License-Identifier: BSD-3-Clause
"""Fails when the table of docs/algorithm.md, equation -> function, does not hold.

Every row names a function and its file: the function must be defined there, and the comment above it, or the function itself,
must name the equations of the row as `eq. 46` or `eqs. 69, 70`.
"""
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| ([\d, ]+) \| [^|]* \| `(\w+)` \| \[?`?(src/[\w/.]+)", re.M)


def part(text, function):
    """The function with the comment above it; None when it is not defined here."""
    found = re.search(rf"((?:/\*(?:(?!\*/).)*\*/\n)?)(?:[a-z][^\n;{{}}]*\n)?[a-z][^\n;{{}}]*\b{function}\([^;{{]*\)\n\{{.*?\n\}}\n", text, re.S)
    return found[0] if found else None


def named(text):
    numbers = set()
    for listed in re.findall(r"eqs?\. ((?:\d+(?:, | and | to )?)+)", text):
        numbers |= set(re.findall(r"\d+", listed))
        for a, b in re.findall(r"(\d+) to (\d+)", listed):
            numbers |= {str(k) for k in range(int(a), int(b) + 1)}
    return numbers


def main():
    wrong = []
    rows = ROW.findall((SOURCE / "docs/algorithm.md").read_text())
    for numbers, function, name in rows:
        path = SOURCE / name
        text = part(path.read_text(), function) if path.exists() else None
        if text is None:
            wrong.append(f"{name} does not define {function}")
            continue
        missing = set(re.findall(r"\d+", numbers)) - named(text)
        if missing:
            wrong.append(f"{name}: {function} does not name eq. {', '.join(sorted(missing, key=int))}")
    if len(rows) < 10:
        wrong.append(f"the table of docs/algorithm.md has {len(rows)} rows that can be read")
    print("\n".join(wrong) or f"{len(rows)} functions name their equations")
    return 1 if wrong else 0


sys.exit(main())
