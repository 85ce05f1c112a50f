# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of sequences on disk, with the standard library alone: the .npy files below VHEM_DATA, and parts of them."""
import array
import csv
import struct
import sys


def read_npy(path):
    """parse_npy of a file."""
    return parse_npy(path.read_bytes(), path)


def parse_npy(raw, path):
    """The numbers of a 2-D float32 or int16 array of format version 1, all in a row, and its number of columns d; path
    is what sentences begin with."""
    size = struct.unpack("<H", raw[8:10])[0] if raw[:8] == b"\x93NUMPY\x01\x00" else 0
    head = raw[10:10 + size].decode(errors="replace")
    if "'<f4'" not in head and "'<i2'" not in head:
        sys.exit(f"{path}: not an array of float32 or int16 in .npy format version 1")
    d = int(head.split("(")[1].split(")")[0].split(",")[1])
    y = array.array("f" if "'<f4'" in head else "h")
    whole = 10 + size + y.itemsize * int(head.split("(")[1].split(",")[0]) * d
    if len(raw) != whole:
        sys.exit(f"{path}: {len(raw)} bytes, must be {whole}: the file is cut short")
    y.frombytes(raw[10 + size:])
    return y, d


def write_rows(path, y, d):
    """An array of float or double numbers as rows of d."""
    head = f"{{'descr': '<f{y.itemsize}', 'fortran_order': False, 'shape': ({len(y) // d}, {d}), }}"
    head = head.ljust(117).encode() + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + y.tobytes())


def write_npy(path, rows, d, sequences):
    """sequences: (first row, rows, {column: text}); the index stands beside the array."""
    y, at = array.array("d"), 0
    with open(path.with_name(path.stem + "_index.csv"), "w", newline="") as f:
        out = csv.writer(f)
        out.writerow(["seq", "start", "length", *sequences[0][2]])
        for n, (first, length, labels) in enumerate(sequences):
            out.writerow([f"s{n}", at, length, *labels.values()])
            y.extend(rows[d * first:d * (first + length)].tolist())
            at += length
    write_rows(path, y, d)
