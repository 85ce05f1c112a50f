# SPDX-License-Identifier: BSD-3-Clause
"""Reports in a real browser: no error, no request, every control does what it says.

Opens the reports of the demo, of motion capture and of eye fixations (the last two where VHEM_DATA has them), and one on
three thousand models.  Without Chromium: skipped.  VHEM_SHOTS names a folder that keeps the pictures.
"""
import os
import pathlib
import subprocess
import sys
import time
import unittest

from browser import CHROMIUM, Browser
from report_files import base_models, clustering, large, sequences, tree, write
from support import SOURCE, Case

DATA = pathlib.Path(os.environ.get("VHEM_DATA", SOURCE / ".." / "shared" / "data")).resolve()
MOCAP = DATA / "cmu_mocap" / "mocap_xyz_local.npy"
EYES = DATA / "eye_fixations" / "jov_fixations.csv"
SEEN = "e.checkVisibility() && e.getClientRects().length > 0"


class InBrowser(Case):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def seen(self, selector):
        return self.browser.js(f"Array.from(document.querySelectorAll({selector!r})).filter((e) => {SEEN}).length")

    def text(self, selector):
        return self.browser.js(f"document.querySelector({selector!r}).textContent")

    def quiet(self):
        """Nothing on the console, and nothing asked for but the file itself."""
        self.browser.js("new Promise((done) => setTimeout(done, 120))")
        self.assertEqual(self.browser.errors, [])
        self.assertEqual([r for r in self.browser.requests if not r.startswith(("file:", "data:", "blob:"))], [])
        self.assertEqual(len([r for r in self.browser.requests if r.startswith("file:")]), 1)

    def shots(self, path, name):
        """At two widths, in the light and in the dark: it fits, and there is something to see."""
        keep = pathlib.Path(os.environ.get("VHEM_SHOTS", self.dir))
        keep.mkdir(parents=True, exist_ok=True)
        for width in (1280, 420):
            for dark in (False, True):
                self.browser.open(path, width, 900, dark)
                shot = keep / f"{name}-{width}-{'dark' if dark else 'light'}.png"
                self.browser.screenshot(shot, whole=True)
                self.assertGreater(shot.stat().st_size, 30000)
                self.assertLessEqual(self.browser.js("document.documentElement.scrollWidth"), width)
                self.assertEqual(self.browser.js("document.documentElement.dataset.theme"), "dark" if dark else "light")
                self.quiet()

    def through_levels(self, K):
        for l, n in enumerate(K):
            if len(K) > 1:
                self.browser.click(f".seg label:nth-child({l + 1})")
            self.assertEqual(self.seen(".card"), n)
            self.assertEqual(self.seen(f'figure[data-level="{l}"]'), self.seen("figure[data-level]"))
            self.assertEqual(self.seen("#bound figure"), 1)
        self.quiet()

    def make_report(self, *args):
        self.ok("report", *args, "-o", "r.html", "-q")
        self.browser.open(self.path("r.html"))
        self.quiet()
        return self.path("r.html")


class Controls(InBrowser):
    def setUp(self):
        super().setUp()
        write(self, "t.json", tree())
        write(self, "m.json", base_models())
        write(self, "d.csv", sequences())
        self.make_report("t.json", "--models", "m.json", "--data", "d.csv")

    def test_levels(self):
        self.through_levels([3, 2])

    def test_wide_charts_show_that_they_scroll(self):
        """On a phone; on a large screen nothing of it is seen."""
        self.assertEqual(self.seen(".hint"), 0)
        self.browser.open(self.path("r.html"), 360, 800)
        self.browser.js("new Promise((done) => setTimeout(done, 120))")
        self.assertEqual(self.seen("#levels .more-right"), 1)
        self.assertEqual(self.seen("#levels .hint"), 1)
        self.browser.js("document.querySelector('#levels .scroll').scrollLeft = 9999")
        self.browser.js("new Promise((done) => setTimeout(done, 120))")
        self.assertEqual(self.seen("#levels .more-right"), 0)
        self.assertEqual(self.seen("#levels .more-left"), 1)
        self.quiet()

    def test_click_filters(self):
        self.assertEqual(self.seen(".card"), 3)
        self.browser.click('#levels .pick[data-l="1"][data-c="0"]')
        self.assertEqual(self.seen(".card"), 2)          # the two clusters that it is made of
        self.assertEqual(self.seen(".example"), 4)
        self.assertEqual(self.seen("#list tbody tr"), 4)
        self.assertIn("Cluster 0 of level 2", self.text("#clear"))
        self.browser.click("#clear")
        self.assertEqual(self.seen(".card"), 3)
        self.assertEqual(self.seen("#list tbody tr"), 6)
        self.quiet()

    def test_keyboard(self):
        self.browser.js("""document.querySelector('#levels .pick[data-l="0"][data-c="2"]').focus()""")
        self.browser.key("Enter")
        self.assertEqual(self.seen(".card"), 1)
        self.browser.key("Escape")
        self.assertEqual(self.seen(".card"), 3)
        self.assertEqual(self.seen("#tip"), 0)
        self.quiet()

    def test_search(self):
        self.browser.js("""(() => { const e = document.querySelector('#find'); e.value = 'EE';
            e.dispatchEvent(new Event('input')); return new Promise((done) => setTimeout(done, 200)); })()""")
        self.assertEqual(self.seen("#list tbody tr"), 1)
        self.assertIn("bee", self.text("#list tbody tr"))
        self.browser.click("#list tbody tr")
        self.assertEqual(self.seen(".card"), 1)
        self.quiet()

    def test_hover(self):
        self.browser.hover('#fig-classes-1 rect[data-c="1"]')
        self.assertEqual(self.seen("#tip"), 1)
        self.assertIn("of class insect are in cluster 1", self.text("#tip"))
        self.browser.hover("h1")
        self.assertEqual(self.seen("#tip"), 0)

    def test_tree(self):
        closed = self.seen(".names")
        self.browser.click('[data-fold="1"]')
        self.assertEqual(self.seen(".names"), 3)
        self.browser.click('[data-fold="0"]')
        self.assertEqual((closed, self.seen(".names")), (0, 0))
        self.browser.click('[data-fold="1"]')
        self.browser.click('.to-center[href="#center-1-1"]')
        self.assertEqual(self.seen("#center-1-1"), 1)
        self.assertTrue(self.browser.js("document.querySelectorAll('input[name=level]')[1].checked"))

    def test_theme(self):
        before = self.browser.js("document.documentElement.dataset.theme")
        color = "getComputedStyle(document.querySelector('#fig-levels text.ink')).fill"
        light = self.browser.js(color)
        self.browser.click("#theme")
        self.assertNotEqual(self.browser.js("document.documentElement.dataset.theme"), before)
        self.assertNotEqual(self.browser.js(color), light)
        self.browser.click("#theme")

    def test_downloads(self):
        self.browser.js("URL.createObjectURL = (blob) => { window.kept = blob; return '#'; };"
                        "HTMLAnchorElement.prototype.click = function () { window.file = this.download; };")
        self.browser.click('#theme')                     # the file is light all the same
        self.browser.click('#fig-levels [data-get="svg"]')
        svg = self.browser.js("window.kept.text()")
        self.assertEqual(self.browser.js("window.file"), "levels.svg")
        self.assertIn('fill="#0072b2"', svg)
        self.assertNotIn("var(", svg)
        self.assertNotIn("data-c", svg)
        kind = "new DOMParser().parseFromString(%r, 'image/svg+xml').documentElement.tagName"
        self.assertEqual(self.browser.js(kind % svg), "svg")
        self.browser.click('#fig-center-1-0-emissions [data-get="png"]')
        self.browser.js("new Promise((done) => setTimeout(done, 400))")
        self.assertEqual(self.browser.js("window.file"), "center-1-0-emissions.png")
        self.assertEqual(self.browser.js("window.kept.type"), "image/png")
        self.browser.click('#theme')
        self.quiet()

    def test_print(self):
        self.browser.pdf(self.path("r.pdf"))
        self.assertEqual(self.path("r.pdf").read_bytes()[:5], b"%PDF-")
        self.browser.call("Emulation.setEmulatedMedia", media="print")
        self.assertEqual(self.seen(".card"), 5)          # every level on paper
        self.assertEqual(self.seen(".tools") + self.seen(".get"), 0)
        self.browser.call("Emulation.setEmulatedMedia", media="")

    def test_nasty_names(self):
        nasty = ["<script>window.hit = 1</script>", "<img src=x onerror='window.hit = 2'>", "</script><b>", "a\"b'c", "&lt;",
                 "\\"]
        write(self, "t.json", tree(nasty))
        write(self, "m.json", base_models(nasty, nasty))
        self.make_report("t.json", "--models", "m.json", "--title", nasty[1])
        for selector in ("#list tbody tr", "#fig-membership-1 text", "#fig-levels rect[fill^='#']"):
            self.browser.hover(selector)
        self.assertIsNone(self.browser.js("window.hit"))
        self.assertIn(nasty[0], self.browser.js("document.querySelector('#list').textContent"))
        self.assertEqual(self.browser.js("document.querySelectorAll('img, b > script').length"), 0)
        self.quiet()

    def test_without_script(self):
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        self.browser.reload()
        self.browser.call("Emulation.setScriptExecutionDisabled", value=False)
        self.assertEqual(self.seen(".card"), 5)          # all levels, one below the other
        self.assertEqual(self.seen(".tools") + self.seen(".get"), 0)


class Real(InBrowser):
    def test_demo(self):
        self.ok("demo", "motions")
        self.path("motions.csv").rename(self.path("d.csv"))
        self.ok("fit", "d.csv", "-S", "4", "-r", "1", "-o", "m.json", "-q")
        self.ok("tree", "m.json", "-k", "6,3", "-r", "4", "-o", "t.json", "-q")
        path = self.make_report("t.json", "--models", "m.json", "--data", "d.csv")
        self.through_levels([6, 3])
        self.assertIn(self.seen(".example"), range(6, 13))
        self.shots(path, "demo")

    @unittest.skipUnless(MOCAP.exists(), "no motion capture data")
    def test_mocap(self):
        self.ok("fit", MOCAP, "--where", "in56=1", "--label", "cls", "-S", "4", "-r", "1", "-o", "m.json", "-q")
        self.ok("tree", "m.json", "-k", "8,4,2", "-r", "4", "-o", "t.json", "-q")
        path = self.make_report("t.json", "--models", "m.json", "--data", MOCAP, "--where", "in56=1", "--label", "cls")
        self.through_levels([8, 4, 2])
        self.shots(path, "mocap")

    @unittest.skipUnless(EYES.exists(), "no eye fixations")
    def test_eye_fixations(self):
        how = ("--id", "subject,trial", "--group", "subject", "--columns", "x,y")
        self.ok("fit", EYES, *how, "-S", "3", "--cov", "full", "-r", "2", "-o", "m.json", "-q")
        self.ok("cluster", "m.json", "-k", "2", "--preset", "emhmm", "--tau", "3", "-r", "20", "-o", "c.json", "-q")
        path = self.make_report("c.json", "--models", "m.json", "--data", EYES, *how, "--y-down")
        self.through_levels([2])
        self.shots(path, "eyes")

    def test_textures(self):
        """Dynamic textures on two levels: their modes instead of states."""
        self.ok("demo", "motions")
        self.path("motions.csv").rename(self.path("d.csv"))
        self.ok("fit", "d.csv", "--model", "dtm", "-S", "3", "-o", "x.json", "-q")
        self.ok("tree", "x.json", "-k", "6,3", "-r", "4", "-o", "t.json", "-q")
        path = self.make_report("t.json")
        self.assertIn("All 60 textures", self.text("#count"))
        self.through_levels([6, 3])
        self.assertEqual(self.seen("#centers figure"), 3)
        self.shots(path, "textures")

    def test_every_method(self):
        """Sequences, HMMs, with and without a bound: nothing on the console."""
        write(self, "d.csv", sequences())
        write(self, "m.json", base_models())
        for method in ("em-h3m", "vhem", "shem", "hem-gmm", "ppk-sc", "kl-ac"):
            data = method == "em-h3m"
            self.ok("cluster", "d.csv" if data else "m.json", "--method", method, "-k", "3", "-o", "c.json", "-q",
                    *(("-S", "2", "-r", "3") if data else ()))
            self.make_report("c.json")
            self.assertIn("All 6 " + ("sequences" if data else "models"), self.text("#count"), method)
            self.assertEqual(self.seen(".card"), 3, method)
            self.assertEqual(self.seen("#bound figure, #bound .note"), 1, method)
            self.browser.click('#levels .pick[data-c="1"]')
            self.quiet()

    def test_cut_list(self):
        many = clustering([f"s{i}" for i in range(60000)], [i % 2 for i in range(60000)], 2)
        for key in ("z", "L_hmm", "bound", "restarts", "centers"):
            del many[key]
        write(self, "c.json", many)
        self.make_report("c.json")
        self.assertIn("50000 of 60000 models", self.text("#count"))
        self.assertIn("lists and searches the 50000 nearest to their centres", self.text("#count"))

    def test_thousands(self):
        write(self, "t.json", large())
        began = time.monotonic()
        self.make_report("t.json")
        self.assertLess(time.monotonic() - began, 20)
        self.through_levels([20, 4])
        took = self.browser.js("""(() => { const t = performance.now();
            document.querySelector('#levels .pick[data-l="1"][data-c="2"] rect').dispatchEvent(
                new MouseEvent('click', { bubbles: true }));
            document.body.getBoundingClientRect(); return performance.now() - t; })()""")
        self.assertLess(took, 1000)
        self.assertIn("750 of 3000 models", self.text("#count"))
        self.assertLess(self.browser.js("document.querySelectorAll('*').length"), 15000)


if __name__ == "__main__":
    if not CHROMIUM:
        print("skipped: there is no Chromium")
        sys.exit(77)
    unittest.main()
