# SPDX-License-Identifier: BSD-3-Clause
"""Writing, reading, syncing, renaming, linking, mapping and cutting files fails, one call at a time:  io.py --minutes N --vhem BIN"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fault"))
import faults  # noqa: E402

sys.exit(faults.torture("io", faults.CALLS[1:]))
