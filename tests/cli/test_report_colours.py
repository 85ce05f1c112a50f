# SPDX-License-Identifier: BSD-3-Clause
"""Colours of reports can be told apart, in both themes and by colour-blind readers, and figures carry those of the page.

The difference of two colours is CIEDE2000; colour blindness is simulated by the matrices of Machado, Oliveira and
Fernandes (2009) for its strongest forms.
"""
import itertools
import math
import re
import unittest

from support import SOURCE

VIEWS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))


def times(matrix, v):
    return [sum(a * b for a, b in zip(row, v)) for row in matrix]


def lab(colour, view):
    """CIE Lab of "#rrggbb" as a reader sees it."""
    rgb = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    seen = [min(1, max(0, c)) for c in times(VIEWS[view], linear)]
    x, y, z = [c ** (1 / 3) if c > 216 / 24389 else (24389 / 27 * c + 16) / 116
               for c in (value / white for value, white in zip(times(XYZ, seen), (0.95047, 1, 1.08883)))]
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(one, two):
    """CIEDE2000."""
    (l1, a1, b1), (l2, a2, b2) = one, two
    c7 = ((math.hypot(a1, b1) + math.hypot(a2, b2)) / 2) ** 7
    g = 1 + 0.5 * (1 - math.sqrt(c7 / (c7 + 25 ** 7)))
    c1, c2 = math.hypot(a1 * g, b1), math.hypot(a2 * g, b2)
    h1, h2 = (math.degrees(math.atan2(b, a * g)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180
    light, chroma, hue = (l1 + l2) / 2 - 50, (c1 + c2) / 2, (h1 + turn / 2) % 360

    def wave(times_, shift):
        return math.cos(math.radians(times_ * hue + shift))

    t = 1 - 0.17 * wave(1, -30) + 0.24 * wave(2, 0) + 0.32 * wave(3, 6) - 0.2 * wave(4, -63)
    dl = (l2 - l1) / (1 + 0.015 * light ** 2 / math.sqrt(20 + light ** 2))
    dc = (c2 - c1) / (1 + 0.045 * chroma)
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2)) / (1 + 0.015 * chroma * t)
    rotation = -math.sin(math.radians(60 * math.exp(-((hue - 275) / 25) ** 2))) * 2 * math.sqrt(
        chroma ** 7 / (chroma ** 7 + 25 ** 7))
    return math.sqrt(max(0, dl ** 2 + dc ** 2 + dh ** 2 + rotation * dc * dh))


def themes():
    css = (SOURCE / "src" / "report" / "report.css").read_text()
    blocks = re.findall(r"--k0: .*?--none", css, re.S)
    assert len(blocks) == 2, "a light and a dark theme"
    return dict(zip(("light", "dark"), (dict(re.findall(r"--([ks]\d+): (#\w{6})", block)) for block in blocks)))


class Colours(unittest.TestCase):
    def nearest(self, palette, view):
        seen = [lab(colour, view) for colour in palette]
        return min(difference(a, b) for a, b in itertools.combinations(seen, 2))

    def test_the_measure_is_right(self):
        """Two pairs of the data that was published with the formula."""
        self.assertAlmostEqual(difference((50, 2.6772, -79.7751), (50, 0, -82.7485)), 2.0425, places=4)
        self.assertAlmostEqual(difference((50, 2.5, 0), (73, 25, -18)), 27.1492, places=4)

    def test_colours_are_apart(self):
        """The ones that are used first more than the rest."""
        for theme, colour in themes().items():
            for letter, few, many in (("k", 8, 16), ("s", 6, 10)):
                palette = [colour[f"{letter}{i}"] for i in range(many)]
                for view in VIEWS:
                    with self.subTest(theme=theme, palette=letter, view=view):
                        normal = view == "normal"
                        self.assertGreater(self.nearest(palette[:few], view), 15 if normal else 9.5)
                        self.assertGreater(self.nearest(palette, view), 9 if normal else 5)

    def test_figures_carry_the_colours_of_the_light_page(self):
        light = themes()["light"]
        code = (SOURCE / "src" / "report" / "svg.c").read_text()
        for letter, name, count in (("k", "CLASS", 16), ("s", "STATE", 10)):
            found = re.findall(name + r'\("(\d+)", +"(#\w{6})"\)', code)
            self.assertEqual(len(found), count)
            for number, colour in found:
                self.assertEqual(light[letter + number], colour, letter + number)


if __name__ == "__main__":
    unittest.main()
