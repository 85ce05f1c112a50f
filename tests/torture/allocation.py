# SPDX-License-Identifier: BSD-3-Clause
"""Allocations of every command fail, one at a time, and from one on:  allocation.py --minutes N --vhem BIN"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fault"))
import faults  # noqa: E402

sys.exit(faults.torture("allocation", ["malloc"]))
