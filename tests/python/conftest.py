# SPDX-License-Identifier: BSD-3-Clause
"""The library of the build folder, and small data sets every test of the package may use."""
import inspect
import os
import pathlib
import sys

import numpy as np
import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "cli"))        # the files the tests of the command are fed with
os.environ.setdefault("MPLBACKEND", "Agg")

import support  # noqa: E402
import vhem  # noqa: E402


def pytest_collection_modifyitems(items):
    """A library without HDF5, as on Windows and macOS, leaves out the tests that name its files."""
    try:
        vhem.Sequences.load(__file__, format="hdf5")
    except vhem.Error as error:
        if "built without HDF5" not in str(error):
            return
    for item in items:
        values = item.callspec.params.values() if hasattr(item, "callspec") else ()
        source = inspect.getsource(item.function) if hasattr(item, "function") else ""
        names = any(isinstance(v, str) and v == "h5" for v in values)
        if names or not values and (".h5" in source or '"h5"' in source):
            item.add_marker(pytest.mark.skip(reason="the library was built without HDF5"))


@pytest.fixture
def rng():
    return np.random.default_rng(20140101)


@pytest.fixture
def sequences(rng):
    """Twelve sequences of two kinds, alternating: around 0 and around 8, in two dimensions."""
    return [rng.normal(8 * (n % 2), 1, size=(30 + n, 2)) for n in range(12)]


@pytest.fixture
def flock(tmp_path):
    """Twelve HMMs of three kinds, far apart."""
    path = tmp_path / "flock.json"
    path.write_text(support.flock())
    return vhem.H3M.load(path)


@pytest.fixture
def command():
    """The program vhem, or a skip."""
    if not os.path.exists(support.VHEM):
        pytest.skip("the command is not built")
    return support.VHEM
