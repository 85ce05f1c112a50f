# SPDX-License-Identifier: BSD-3-Clause
"""The archives of the fuzz targets' inputs: the same bytes for the same inputs."""
import zipfile


def pack(path, files):
    """files: name -> bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as z:
        for name in sorted(files):
            z.writestr(zipfile.ZipInfo(name), files[name], zipfile.ZIP_DEFLATED)


def unpack(path):
    if not path.exists():
        return {}
    with zipfile.ZipFile(path) as z:
        return {name: z.read(name) for name in z.namelist()}
