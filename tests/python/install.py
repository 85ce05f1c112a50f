# SPDX-License-Identifier: BSD-3-Clause
"""The package as a new user gets it: pip, an empty folder, the example of README.  Skipped without a network."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def run(*command, **more):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """An interpreter with the package, installed by pip, on top of the libraries this one has."""
    folder = tmp_path_factory.mktemp("venv")
    if run(sys.executable, "-m", "venv", "--system-site-packages", folder).returncode != 0:
        pytest.skip("no venv")
    made = folder / "bin" / "python"
    pip = [made, "-m", "pip", "--disable-pip-version-check"]
    if run(*pip, "download", "-q", "--no-deps", "-d", folder / "d", "scikit-build-core", timeout=60).returncode != 0:
        pytest.skip("pip cannot reach its packages")
    build = os.path.join(os.environ.get("VHEM_BUILD", str(folder)), "wheel")
    quick = ["--config-settings", f"build-dir={build}", "--config-settings", "cmake.build-type=Debug"]
    done = run(*pip, "install", "--no-deps", *quick, SOURCE)
    assert done.returncode == 0, done.stdout + done.stderr
    return made


def clean_environment():
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VHEM_LIBRARY")}


def test_example_of_readme(python, tmp_path):
    examples = re.findall(r"```python\n(.*?)```", (SOURCE / "README.md").read_text(), re.S)
    done = run(python, "-c", "\n".join(examples), cwd=tmp_path, env=clean_environment())
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert examples and (tmp_path / "groups.json").exists() and (tmp_path / "groups.html").exists()


def test_installed_package_is_its_own(python, tmp_path):
    done = run(python, "-c", "import vhem; print(vhem.__file__); print(vhem._header.library_path())", cwd=tmp_path,
               env=clean_environment())
    package, library = done.stdout.split()
    assert "site-packages" in package and pathlib.Path(library).parent == pathlib.Path(package).parent, done.stderr
    assert (pathlib.Path(package).parent / "py.typed").exists()


def test_installed_command_starts_at_once(python, tmp_path):
    """Without NumPy and scikit-learn, which take a second or more."""
    program = python.parent / "vhem"
    done = run(program, "--version", cwd=tmp_path, env={**clean_environment(), "PYTHONPROFILEIMPORTTIME": "1"})
    assert done.returncode == 0 and done.stdout.startswith("vhem "), done.stderr
    assert "vhem_command" in done.stderr and "numpy" not in done.stderr
