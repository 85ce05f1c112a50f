#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Takes the picture of a report for the gallery: report_picture.py REPORT.html PICTURE.png.

The picture in docs/images is of the report that `make demo` writes.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "cli"))
from browser import CHROMIUM, Browser  # noqa: E402

WIDTH, HEIGHT = 1180, 830


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    if not CHROMIUM:
        sys.exit("report_picture: needs Chromium")
    with Browser() as browser:
        browser.open(sys.argv[1], WIDTH, HEIGHT)
        # What one sees first, and below it the first centres, which are further down the page.
        browser.js("for (const id of ['tree', 'members']) document.getElementById(id).remove();"
                   "document.querySelector('#centers .lead').remove();"
                   "document.querySelectorAll('.bar nav a').forEach((a) => a.classList.remove('here'))")
        browser.screenshot(sys.argv[2], clip=(0, 0, WIDTH, 1345))


if __name__ == "__main__":
    main()
