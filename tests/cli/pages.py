# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of code in pages, and whether what they print is what the page shows.

The output of a block is the block ```text``` or the indented block that follows it.  Spaces and line ends count alike.  A line `...`
stands for any lines, `[...]` for any text; numbers may differ by half a unit of their last digit.  Hints of the command
(": next: ") need not be shown.
"""
import re
import typing

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$\n?(?:\n*^```text\n(.*?)^```$|\n+((?:^    [^\n]*\n)(?:\n*^    [^\n]*\n)*))?", re.M | re.S)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
ANY = "\0"


class Block(typing.NamedTuple):
    language: str
    code: str
    shown: typing.Optional[str]


def blocks(text):
    """The blocks of a page, each with its output."""
    return [Block(m[1], m[2], m[3] or m[4]) for m in BLOCK.finditer(text)]


def _plain(text):
    return " ".join(text.split())


def _pattern(shown):
    """What is shown, as an expression in which each number is a group; the numbers."""
    shown = re.sub(r"^\s*\.\.\.\s*$", ANY, shown, flags=re.M).replace("[...]", ANY)
    numbers, out = [], ""
    for part in re.split(f"({NUMBER.pattern}|{ANY})", _plain(shown).replace(f" {ANY}", ANY).replace(f"{ANY} ", ANY)):
        if part == ANY:
            out += ".*"
        elif NUMBER.fullmatch(part):
            numbers.append(part)
            out += f"({NUMBER.pattern})"
        else:
            out += re.escape(part)
    return out, numbers


def _agrees(shown, printed):
    digits = len(re.sub(r"e.*", "", shown).partition(".")[2])
    unit = 10.0 ** (int(shown.partition("e")[2] or 0) - digits)
    exact = "." not in shown and "." not in printed and "e" not in shown
    return shown == printed if exact else abs(float(shown) - float(printed)) <= 0.51 * unit


def differs(shown, printed):
    """Why what is printed is not what is shown; None where it is."""
    printed = _plain("\n".join(line for line in printed.splitlines() if ": next: " not in line))
    pattern, numbers = _pattern(shown)
    found = re.fullmatch(pattern, printed)
    if not found:
        return f"shown: {_plain(shown)}\nprinted: {printed}"
    wrong = [f"{a} is shown, {b} printed" for a, b in zip(numbers, found.groups()) if not _agrees(a, b)]
    return "; ".join(wrong) or None
