# SPDX-License-Identifier: BSD-3-Clause
"""The same seed gives the same bytes from C, from the command and from Python."""
import json
import os
import shutil
import subprocess

import pytest
import support
import vhem
from conftest import SOURCE


def without_provenance(path):
    """The file without the line that says who made it."""
    content = json.loads(path.read_text())
    content.pop("provenance", None)
    for level in content.get("levels", []):
        level.pop("provenance", None)
    content.get("centers", {}).pop("provenance", None)
    return content


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text(support.two_level(8))
    return path


def vhem_command(command, folder, *args):
    subprocess.run([command, *map(str, args), "--quiet"], cwd=folder, check=True)


def test_models_of_the_command(table, tmp_path, command):
    vhem_command(command, tmp_path, "fit", table, "--states", 2, "--restarts", 3, "--seed", 5, "-o",
                 "cli.json")
    vhem.fit_each(table, n_states=2, n_init=3, random_state=5).save(tmp_path / "py.json")
    assert without_provenance(tmp_path / "py.json") == without_provenance(tmp_path / "cli.json")
    vhem_command(command, tmp_path, "fit", table, "--group", "label", "--cov", "full", "-o", "g.json")
    data = vhem.Sequences.load(table, group="label")
    vhem.fit_each(data, covariance_type="full").save(tmp_path / "pg.json")
    assert without_provenance(tmp_path / "pg.json") == without_provenance(tmp_path / "g.json")


def test_arrays_and_files_are_one(table):
    data = vhem.Sequences.load(table)
    loose = vhem.Sequences.from_arrays([y.copy() for y in data], names=data.names, labels=data.labels)
    assert vhem.fit_each(loose, n_states=2) == vhem.fit_each(data, n_states=2)


def test_clusters_and_trees_of_the_command(tmp_path, command):
    (tmp_path / "m.json").write_text(support.flock())
    models = vhem.H3M.load(tmp_path / "m.json")
    vhem_command(command, tmp_path, "cluster", "m.json", "-k", 3, "--tau", 5, "--seed", 9, "-o", "c.json")
    vhem.VHEM(3, tau=5, random_state=9).fit(models).result_.save(tmp_path / "pc.json")
    assert without_provenance(tmp_path / "pc.json") == without_provenance(tmp_path / "c.json")
    vhem_command(command, tmp_path, "tree", "m.json", "-k", "3,2", "--seed", 9, "-o", "t.json")
    vhem.VHEMTree((3, 2), random_state=9).fit(models).result_.save(tmp_path / "pt.json")
    assert without_provenance(tmp_path / "pt.json") == without_provenance(tmp_path / "t.json")


def test_samples_of_the_command(tmp_path, command):
    (tmp_path / "m.json").write_text(support.flock())
    vhem_command(command, tmp_path, "sample", "m.json", "-n", 3, "-T", 20, "--seed", 4, "-o", "cli.csv")
    vhem.H3M.load(tmp_path / "m.json").sample(3, 20, random_state=4).save(tmp_path / "py.csv")
    assert (tmp_path / "py.csv").read_bytes() == (tmp_path / "cli.csv").read_bytes()


def test_clusters_of_c(tmp_path):
    """The example in C, linked with the library that is in use here: byte for byte but for the provenance."""
    compiler, library = os.environ.get("CC", "cc"), vhem._header.library_path().resolve()
    if not shutil.which(compiler):
        pytest.skip("no C compiler")
    subprocess.run([compiler, f"-I{SOURCE / 'include'}", SOURCE / "examples/c/cluster.c", library,
                    f"-Wl,-rpath,{library.parent}", "-o", "cluster"], cwd=tmp_path, check=True)
    (tmp_path / "m.json").write_text(support.flock())
    subprocess.run(["./cluster", "m.json", "3", "c.json"], cwd=tmp_path, check=True,
                   stdout=subprocess.DEVNULL)
    found = vhem.VHEM(3).fit(vhem.H3M.load(tmp_path / "m.json"))
    found.result_.save(tmp_path / "py.json")
    assert without_provenance(tmp_path / "py.json") == without_provenance(tmp_path / "c.json")
    found.centers_.save(tmp_path / "centers.json")
    again = vhem.Tree.load(tmp_path / "c.json")[0].centers
    again.save(tmp_path / "c-centers.json")
    assert (tmp_path / "centers.json").read_bytes() == (tmp_path / "c-centers.json").read_bytes()
