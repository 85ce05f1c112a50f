# SPDX-License-Identifier: BSD-3-Clause
"""vhem.datasets: the sequences of ``vhem demo``, and kinds that are found exactly."""
import os
import subprocess

import pytest
import vhem
from conftest import SOURCE
from vhem import datasets

SETS = {"gaze": {}, "motions": {}, "courses": {"covariance_type": "categorical"},
        "tracks": {"covariance_type": "step:gamma,turn:von-mises"}}


def test_there_is_one_for_each():
    assert {f"load_{name}" for name in SETS} == set(datasets.__all__)


@pytest.mark.parametrize("name", SETS)
def test_same_as_the_command(name, tmp_path):
    command = os.environ.get("VHEM", str(SOURCE / "build" / "vhem"))
    subprocess.run([command, "demo", name, tmp_path, "--seed", "3"], check=True, stdout=subprocess.DEVNULL)
    getattr(datasets, f"load_{name}")(random_state=3).save(tmp_path / "here.csv")
    assert (tmp_path / "here.csv").read_bytes() == (tmp_path / f"{name}.csv").read_bytes()


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("seed", range(3))
def test_kinds_are_found(name, seed):
    data = getattr(datasets, f"load_{name}")()
    truth = dict(zip(data.groups or data.names, data.labels))
    found = vhem.cluster(data, random_state=seed, **SETS[name])
    assert found.labels_.max() + 1 == len(set(truth.values()))
    assert vhem.metrics.agreement(found.labels_, list(truth.values()))["adjusted_rand"] == 1
