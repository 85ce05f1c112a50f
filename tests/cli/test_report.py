# SPDX-License-Identifier: BSD-3-Clause
"""vhem report: the file, its tables, its text, and small figures to the last character.

VHEM_UPDATE=1 writes the figures in snapshots/ anew; look at them before they are kept.
"""
import html.parser
import json
import math
import os
import re
import shlex
import shutil
import struct
import subprocess
import unittest
import xml.etree.ElementTree as ET
import zlib

from report_files import KINDS, NAMES, base_models, clustering, large, sequences, tree, write
from support import SOURCE, Case

SNAPSHOTS = SOURCE / "tests" / "cli" / "snapshots"


def png(width, height):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b"".join(b"\0" + b"\xd0" * width for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class Page(html.parser.HTMLParser):
    """What a browser would find: elements, their attributes, and the text outside of scripts and styles."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.words, self.open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self.open.pop()

    def handle_data(self, data):
        if not self.open:
            self.words.append(data)

    def count(self, tag):
        return sum(t == tag for t, _ in self.elements)

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


class WithTree(Case):
    def setUp(self):
        super().setUp()
        write(self, "t.json", tree())
        write(self, "m.json", base_models())
        write(self, "d.csv", sequences())

    def report(self, *args, name="t.json"):
        self.ok("report", name, *args, "-o", "r.html", "-q")
        return self.path("r.html").read_text()


class Command(WithTree):
    def test_alone(self):
        r = self.ok("report", "t.json", "-o", "r.html")
        self.assertIn("a report on 6 models and 2 levels of clusters in r.html", r.err)
        page = Page(self.path("r.html").read_text())
        for words in ("Clusters of hidden Markov models", "Level 2", "Cluster 2", "ant"):
            self.assertIn(words, page.text)
        self.leftovers("t.json", "m.json", "d.csv", "r.html")

    def test_a_clustering(self):
        write(self, "c.json", clustering(NAMES, [0, 0, 1, 1, 2, 2], 3))
        page = Page(self.report(name="c.json"))
        self.assertEqual(sum(e.get("class") == "card" for _, e in page.elements), 3)
        self.assertNotIn("Level 2", page.text)

    def test_what_is_not_there_is_left_out(self):
        bare = clustering(NAMES, [0, 0, 1, 1, 2, 2], 3)
        for key in ("z", "L_hmm", "bound", "restarts", "centers"):
            del bare[key]
        write(self, "c.json", bare)
        page = Page(self.report("--data", "d.csv", name="c.json"))
        for words in ("there is no soft membership", "gives clusters no centres", "has no bound",
                      "does not say how it was made"):
            self.assertIn(words, page.text)

    def test_says_when_it_has_no_measures(self):
        note = "no measures of the clusters themselves"
        self.assertIn(note, Page(self.report()).text)
        self.assertIn(note, Page(self.report("--models", "m.json", "--measures", "none")).text)
        self.assertNotIn(note, Page(self.report("--models", "m.json")).text)
        self.assertNotIn(note, Page(self.report("--data", "d.csv")).text)

    def test_needs_nothing_else(self):
        text = self.report("--models", "m.json", "--data", "d.csv")
        text = text.replace("http://www.w3.org/2000/svg", "")
        self.assertNotRegex(text, r"https?://|@import|url\(|<link|<iframe")
        for tag, attrs in Page(text).elements:
            for key in ("src", "href"):
                self.assertTrue(attrs.get(key, "#").startswith("#"), (tag, attrs))
        self.assertIn("default-src 'none'", text)

    def test_classes(self):
        page = Page(self.report("--models", "m.json"))
        for words in ("mostly insect (2)", "Rand index", "Purity"):
            self.assertIn(words, page.text)
        write(self, "labels.csv", "id,label,x,y\nant,six,0,1\nant,six,0,2\nbee,six,0,1\nelk,four,6,0\nelk,four,6,2\n")
        self.assertIn("mostly six (2)", Page(self.report("--data", "labels.csv")).text)
        write(self, "truth.csv", "name,label\n" + "".join(f"{n},{k}\n" for n, k in zip(NAMES[:4], "ppqq")))
        r = self.ok("report", "t.json", "--truth", "truth.csv", "-o", "r.html")
        self.assertIn("2 of 6 models have no class in truth.csv", r.err)
        page = Page(self.path("r.html").read_text())
        self.assertIn("mostly p (2)", page.text)
        write(self, "quoted.csv", 'Label;Name\r\n\r\n"p\nq";"ant"\r\n"p\nq";bee\r\nz;cat\r\n')
        self.assertIn("mostly p q (2)", Page(self.report("--truth", "quoted.csv")).text)
        write(self, "quoted.csv", 'name,label\n\n"ant","p\nq"\nbee,q\nbee,r\n')
        self.fails(1, "quoted.csv: line 6: 'bee' is of class 'r', but 'q' before", "report", "t.json", "--truth",
                   "quoted.csv")
        self.fails(1, ".: cannot read", "report", "t.json", "--truth", ".")
        self.assertIn("Rand index 1.000", page.text)

    def test_counts_restarts_as_the_command_does(self):
        c = clustering(NAMES, [0, 0, 1, 1, 2, 2], 3)
        n = len(c["restarts"])
        write(self, "c.json", c)
        self.assertIn(f"of {n} restarts", Page(self.report(name="c.json")).text)
        for init in "settled", "knn5-sc":
            c["restarts"].append({**c["restarts"][1], "init": init})
        write(self, "c.json", c)
        self.assertIn(f"of {n + 2} runs: {n} restarts and 2 candidates", Page(self.report(name="c.json")).text)
        self.assertIn(f"restarts   {n} and 2 candidates; ", self.ok("info", "c.json").out)

    def test_curves_of_restarts(self):
        """A line for each that is known, cut at the lower edge, and none beyond the picture."""
        c = clustering(NAMES, [0, 0, 1, 1, 2, 2], 3)
        c["bound"] = [-9e9, -650.5, -600.25]
        c["restarts"][1]["bound"], c["restarts"][1]["bounds"] = -630.0, [-9e9, -8e9, -700.0, -640.0, -630.0]
        c["restarts"][2]["bound"], c["restarts"][2]["bounds"] = -640.0, [-8e9, -640.0]
        c["restarts"].append({**c["restarts"][2], "bound": -5e9, "bounds": [-8e9, -5e9]})    # no line of it
        write(self, "c.json", c)
        page = Page(self.report(name="c.json"))
        paths = [e for tag, e in page.elements if tag == "path" and e.get("stroke-linejoin")]
        self.assertEqual([e["class"] for e in paths], ["t1", "axis", "t0"])
        lowest = 320 - 42
        for e in paths:
            points = [tuple(map(float, p.split(","))) for p in re.findall(r"[-\d.]+,[-\d.]+", e["d"])]
            self.assertTrue(all(64 <= x <= 990 and 26 <= y <= lowest for x, y in points), points)
            self.assertEqual(points[0][1], lowest)       # where it comes in
        self.assertIn("hollow dots are runs that were stopped early", page.text)

    def test_provenance(self):
        page = Page(self.report("--models", "m.json", "--title", "Beasts"))
        self.assertIn("vhem tree m.json --clusters 3,2 --tau 10 --weighted-omega --seed 7 -o OUT", page.text)
        self.assertIn("vhem report t.json --models m.json --title Beasts -o r.html", page.text)
        self.assertIn("Beasts", page.text)

    def test_commands_are_quoted(self):
        """What the page says was typed, typed again, is the same."""
        args = ["t.json", "--title", "it's $HOME; \"all\" \\\\ of `it`", "-o", "r.html", "-q"]
        self.ok("report", *args)
        words = re.search(r"This report (.*?) The method", Page(self.path("r.html").read_text()).text).group(1)
        self.assertEqual(shlex.split(words), ["vhem", "report", *args])

    def test_choice(self):
        rows = [{"K": K, "S": 2, "bound": -1.0, "loglik": -2.0, "n_param": 3.0, "bic": 10.0 + (K - 3) ** 2,
                 "icl": 11.0 + (K - 4) ** 2, "stability": None} for K in range(2, 7)]
        write(self, "c.json", {"choices": rows})
        self.assertIn("Best by BIC: K = 3, S = 2. Best by ICL: K = 4, S = 2.",
                      Page(self.report("--choice", "c.json")).text)
        write(self, "c.tsv", "K\tS\tbic\ticl\tstability\tbest\n2\t2\t5\t6\t-\t\n3\t2\t4\t7\t0.5\tbic\n")
        self.assertIn("Best by BIC: K = 3, S = 2. Best by ICL: K = 2, S = 2. Best by stability: K = 3, S = 2.",
                      Page(self.report("--choice", "c.tsv")).text)

    def test_distances(self):
        order = NAMES[::-1]                              # found by name, not by place
        rows = [["name", *order]] + [[a, *(f"{abs(NAMES.index(a) - NAMES.index(b))}" for b in order)] for a in order]
        write(self, "d.tsv", "\n".join("\t".join(row) for row in rows) + "\n")
        text = self.report("--distances", "d.tsv")
        names = re.search(r"data-names='(.*?)' data-values=\"(.*?)\"", text)
        order, values = json.loads(names.group(1)), names.group(2).split()
        for i, a in enumerate(order):
            for k, b in enumerate(order):
                self.assertEqual(float(values[i * 6 + k]), abs(NAMES.index(a) - NAMES.index(b)))

    def test_dimensions_are_named_by_the_models(self):
        """Also without the data."""
        rows = "".join(f"s{n},{(n * 7 + t) % 5},{n % 2 + t % 3},{t * t % 7}\n" for n in range(4) for t in range(8))
        self.write("three.csv", "id,x,size,y\n" + rows)
        self.ok("fit", "three.csv", "-S", 1, "-r", 1, "--prior", "none", "-q", "-o", "three.json")
        self.ok("cluster", "three.json", "-k", 2, "-q", "-o", "c.json")
        self.ok("report", "c.json", "--plane", "x,y", "-q", "-o", "c.html", "--tables", "n")
        self.assertEqual(self.path("n/emissions.tsv").read_text().splitlines()[0].split("\t")[5:],
                         ["mu_x", "mu_size", "mu_y", "cov_x", "cov_size", "cov_y"])
        text = self.path("c.html").read_text()
        self.assertIn(">size<", text)
        self.assertNotIn(">y1<", text)

    def test_image(self):
        self.path("face.png").write_bytes(png(60, 40))
        text = self.report("--image", "face.png")
        self.assertIn('<image id="stimulus" width="60" height="40" href="data:image/png;base64,iVBORw0KGgo', text)
        self.assertIn('<use href="#stimulus"', text)
        self.path("face.jpg").write_bytes(b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x0b\x08\0\x28\0\x3c\x01\0\0\0")
        self.assertIn('width="60" height="40" href="data:image/jpeg', self.report("--image", "face.jpg"))

    def test_stdout_and_json(self):
        r = self.ok("report", "t.json", "-o", "-", "-q")
        self.assertTrue(r.out.startswith("<!DOCTYPE html>"))
        self.assertTrue(r.out.endswith("</html>\n"))
        r = self.ok("report", "t.json", "-o", "r.html", "--tables", "n", "--json", "-q")
        self.assertEqual(r.json(), {"command": "report", "input": "t.json", "output": "r.html", "tables": "n", "levels": 2,
                                    "models": 6})

    def test_same_bytes(self):
        args = ("--models", "m.json", "--data", "d.csv")
        one = self.ok("report", "t.json", *args, "-o", "-", "-q", "--threads", "1").out
        two = self.ok("report", "t.json", *args, "-o", "-", "-q", "--threads", "5").out
        self.assertEqual(one.replace("--threads 1", ""), two.replace("--threads 5", ""))

    def test_refused(self):
        cases = [
            ("m.json holds models, not clusters", ["m.json"]),
            ("d.csv is not a file of clusters", ["d.csv"]),
            ("few.json holds 2 HMMs, but the clusters of t.json were made of 6", ["t.json", "--models", "few.json"]),
            ("none of its 1 names is that of a model, 'ant' for instance", ["t.json", "--truth", "other.csv"]),
            ("one.csv: line 1 has no class", ["t.json", "--truth", "one.csv"]),
            ("other.csv: has 1 rows and 1 columns of distances, must have 6", ["t.json", "--distances", "other.csv"]),
            ("other.csv: has no column K;", ["t.json", "--choice", "other.csv"]),
            ("d.csv is neither a PNG nor a JPEG image", ["t.json", "--image", "d.csv"]),
            ("nowhere.csv", ["t.json", "--truth", "nowhere.csv"]),
            ("wide.csv", ["t.json", "--data", "wide.csv", "--columns", "x"]),
            ("no/such/r.html: cannot write", ["t.json", "-o", "no/such/r.html"]),
            ("m.json/", ["t.json", "--tables", "m.json"]),
        ]
        write(self, "few.json", base_models(NAMES[:2], KINDS[:2]))
        write(self, "other.csv", "name,label\nzebra,p\n")
        write(self, "one.csv", "name\nant\n")
        before = sorted(p.name for p in self.dir.iterdir())
        for text, args in cases:
            self.fails(1, text, "report", *args, *([] if "-o" in args else ["-o", "r.html"]))
        self.leftovers(*before)

    def test_sequences_that_were_not_clustered(self):
        write(self, "other.csv", "id,x,y\nyeti,1,2\nyeti,1,2\n")
        said = "vhem report: warning: no sequence of other.csv has a name that was clustered, 'ant' for instance: each is " \
               "shown in the cluster that fits it best"
        self.assertIn(said + "; did you mean --group?\n", self.ok("report", "t.json", "--data", "other.csv").err)
        write(self, "other.csv", "id,x,y\nyeti,1,2\nant,1,2\n")
        self.assertNotIn("was clustered", self.ok("report", "t.json", "--data", "other.csv").err)

    def test_sequences_of_another_dimension(self):
        write(self, "wide.csv", "id,x,y,w\nant,1,2,3\nant,1,2,3\n")
        self.fails(1, "the sequences have dimension 3, but the centres have 2", "report", "t.json", "--data", "wide.csv")


class Tables(WithTree):
    def rows(self, name):
        lines = self.path(f"n/{name}.tsv").read_text().splitlines()
        return [line.split("\t") for line in lines]

    def test_all(self):
        self.report("--models", "m.json", "--tables", "n")
        self.assertEqual(sorted(p.stem for p in self.path("n").iterdir()),
                         ["bound", "clusters", "emissions", "measures", "members", "membership", "restarts", "states"])
        clusters = self.rows("clusters")
        self.assertEqual(clusters[0], ["level", "cluster", "parent", "models", "omega", "insect", "mammal"])
        self.assertEqual(clusters[1], ["1", "0", "0", "2", "0.3333333333333333", "2", "0"])
        self.assertEqual([row[:4] for row in clusters[4:]], [["2", "0", "-1", "4"], ["2", "1", "-1", "2"]])
        self.assertEqual(self.rows("members")[4], ["3", "dog", "mammal", "0.75", "1", "0"])
        pairs = {tuple(row[:2] + row[3:4]): row[4:] for row in self.rows("membership")}
        self.assertEqual(pairs["1", "3", "0"], ["0.25", "-33.0"])
        self.assertEqual(self.rows("bound")[3], ["1", "2", "-600.25"])
        self.assertEqual(self.rows("restarts")[3], ["1", "2", "3", "far", "1", "0", "0", "-700.0", "nan", "nan"])
        states = self.rows("states")[1]
        self.assertEqual(states[:4], ["1", "0", "0", "0.75"])
        self.assertAlmostEqual(float(states[5]), 5)      # 1 / (1 - 0.8) frames
        self.assertEqual(self.rows("emissions")[2], ["1", "0", "1", "0", "1.0", "0.0", "2.0", "0.04", "0.16"])
        head, low, high = self.rows("measures")
        self.assertEqual(head[:5], ["level", "rand", "adjusted_rand", "nmi", "purity"])
        self.assertEqual((low[4], high[4]), ("1.0", "0.6"))          # above: two insects with two mammals, a mammal

    def test_measures_are_those_of_eval(self):
        self.report("--models", "m.json", "--data", "d.csv", "--tables", "n")
        want = self.ok("eval", "t.json", "--models", "m.json", "--data", "d.csv", "--json").json()
        head, *rows = self.rows("measures")
        for row, level in zip(rows, want["levels"], strict=True):
            self.assertEqual(set(head[1:]), set(level["measures"]))
            for name, value in zip(head[1:], row[1:], strict=True):
                self.assertAlmostEqual(float(value), level["measures"][name]["mean"], places=9, msg=name)

    def test_folder_is_there_already(self):
        self.path("n").mkdir()
        self.report("--tables", "n")
        self.assertTrue(self.path("n/members.tsv").exists())


class Things(Case):
    """What is not a hidden Markov model is not called one."""

    def page(self, name):
        self.ok("report", name, "-o", "r.html", "--tables", "n", "-q")
        return Page(self.path("r.html").read_text())

    def test_textures(self):
        """Two speeds of turning; the modes of a centre show them."""
        rows = ["id,x,y"]
        for i in range(8):
            w = 0.5 if i < 4 else 1.5
            rows += [f"t{i},{math.cos(w * t + i) + 0.01 * math.sin(7 * t * (i + 1)):.4f},{math.sin(w * t + i):.4f}"
                     for t in range(60)]
        write(self, "d.csv", "\n".join(rows) + "\n")
        self.ok("fit", "d.csv", "--model", "dtm", "-S", "2", "-o", "x.json", "-q")
        self.ok("tree", "x.json", "-k", "2,1", "-r", "4", "-o", "t.json", "-q")
        page = self.page("t.json")
        for words in ("Clusters of dynamic textures", "Textures 8", "4 textures, 50 % of all",
                      "dimension of the state, n 2 dimension of a frame, d 2 spectral radius of A",
                      "by method hem-dtm", "swings once in"):
            self.assertIn(words, page.text)
        self.assertNotRegex(page.text.split("How to reproduce this")[0], r"hidden Markov|\bmodels?\b")
        self.assertEqual(sum(e.get("class") == "card" for _, e in page.elements), 3)
        text = self.path("r.html").read_text()
        for figure in re.findall(r'<div class="scroll">(<svg class="fig".*?)</div>\n<figcaption>', text, re.S):
            ET.fromstring(figure)
        modes = [line.split("\t") for line in self.path("n/modes.tsv").read_text().splitlines()[1:]]
        speeds = sorted(2 * math.pi / float(m[6]) for m in modes if m[0] == "1")
        for speed, want in zip(speeds, (0.5, 0.5, 1.5, 1.5), strict=True):
            self.assertAlmostEqual(speed, want, delta=0.05)
        self.assertFalse(self.path("n/states.tsv").exists())

    def test_sequences(self):
        write(self, "d.csv", sequences())
        self.ok("cluster", "d.csv", "--method", "em-h3m", "-k", "3", "-S", "2", "-r", "2", "-o", "c.json", "-q")
        page = self.page("c.json")
        for words in ("Clusters of sequences", "Sequences 6", "The centre of a cluster is a hidden Markov model.",
                      "its log-likelihood under the centre, in nats."):
            self.assertIn(words, page.text)
        self.assertNotIn("per frame", page.text)


class OddNames(WithTree):
    NASTY = ["<script>alert(1)</script>", "\"quotes\" & 'more'", "emoji \U0001F600 \u202eturned", "long " + "x" * 10000,
             "</script><img src=x onerror=alert(2)>", "tab\tand\nline"]

    def page(self):
        write(self, "t.json", tree(self.NASTY))
        classes = ["<b>bold</b>", "'); alert(3) //", "]]>", "-->", "\\u003c/script>", ""]
        write(self, "m.json", base_models(self.NASTY, classes))
        return self.report("--models", "m.json", "--title", "<script>title</script> & 'co'", "--tables", "n")

    def test_escaped_and_cut(self):
        text = self.page()
        page = Page(text)
        self.assertEqual(page.count("script"), 2)        # the data, the script
        self.assertEqual(page.count("img") + page.count("b>bold"), 0)
        self.assertFalse([e for e in page.elements if any(k.startswith("on") for k in e[1])])
        self.assertIn("<script>alert(1)</script>", page.text)
        self.assertIn("<script>title</script> & 'co'", page.text)
        self.assertIn("emoji \U0001F600 turned", page.text)
        self.assertNotIn("x" * 500, text)
        self.assertIn("x" * 300, text)                   # the longer name, to hover over
        self.assertNotIn("\u202e", text)
        self.assertLess(len(text), 400000)

    def test_method(self):
        """Only a method of this version gets onto the page."""
        bare = clustering(NAMES, [0, 0, 1, 1, 2, 2], 3, method="<img src=x onerror=alert(4)> & co")
        write(self, "odd.json", bare)
        self.fails(1, "odd.json: method '<img src=x onerror=alert(4)> & co' is unknown", "report", "odd.json", "-o", "r.html")
        bare["method"] = "kl-ac"
        for key in ("z", "L_hmm", "bound", "restarts", "centers"):
            del bare[key]
        write(self, "bare.json", bare)
        self.assertGreaterEqual(Page(self.report(name="bare.json")).text.lower().count("method kl-ac"), 4)

    def test_data_for_the_script(self):
        body = re.search(r'<script type="application/json" id="data">(.*?)</script>', self.page(), re.S).group(1)
        data = json.loads(body)
        names = {m[0] for m in data["models"]}
        self.assertIn("</script><img src=x onerror=alert(2)>", names)
        self.assertIn("tab\tand\nline", names)
        self.assertEqual(max(map(len, names)), 81)       # eighty and an ellipsis
        self.assertIn("<b>bold</b>", data["classes"])

    def test_tables(self):
        self.page()
        lines = self.path("n/members.tsv").read_text().splitlines()
        self.assertEqual({line.count("\t") for line in lines}, {5})
        self.assertEqual(len(lines), 7)
        self.assertIn("x" * 10000, lines[4])

    def test_not_utf8(self):
        rows = sequences().encode().replace(b"ant", b"\xff\xfea\xc3")
        self.path("d.csv").write_bytes(rows)
        text = self.path("r.html")
        self.ok("report", "t.json", "--data", "d.csv", "-o", "r.html", "-q")
        text.read_bytes().decode("utf-8")


class Validity(WithTree):
    @unittest.skipUnless(shutil.which("tidy"), "no tidy")
    def test_html(self):
        self.report("--models", "m.json", "--data", "d.csv")
        r = subprocess.run(["tidy", "-q", "-e", "r.html"], cwd=self.dir, capture_output=True,
                           text=True)
        # Its tables know few of the attributes that SVG has.
        wrong = [line for line in r.stderr.splitlines() if "<svg> proprietary attribute" not in line]
        self.assertEqual(wrong, [])

    def test_ids_and_links(self):
        page = Page(self.report("--models", "m.json", "--data", "d.csv"))
        ids = [e["id"] for _, e in page.elements if "id" in e]
        self.assertEqual(len(ids), len(set(ids)))
        for tag, attrs in page.elements:
            target = attrs.get("href", "#")[1:]
            if target:
                self.assertIn(target, ids, tag)

    def test_text_alternatives(self):
        text = self.report("--models", "m.json", "--data", "d.csv")
        figures = re.findall(r'<svg class="fig".*?</desc>', text, re.S)
        self.assertGreater(len(figures), 12)
        for figure in figures:
            self.assertRegex(figure, r'role="(img|group)".*<title>[^<]{3,}</title><desc>[^<]{10,}</desc>')
        self.assertEqual(text.count("<figcaption>"), len(figures))

    def test_figures_are_xml(self):
        text = self.report("--models", "m.json", "--data", "d.csv")
        for figure in re.findall(r'<div class="scroll">(<svg class="fig".*?)</div>\n<figcaption>', text, re.S):
            ET.fromstring(figure)


    def test_numbers_of_states_keep_clear_of_each_other(self):
        """Four states with one mean: four numbers in four places, and a line from each that had to move."""
        clusters = clustering(["a", "b"], [0, 0], 1)
        hmm = clusters["centers"]["hmms"][0]
        hmm.update({"S": 4, "pi": [0.25] * 4, "A": [[0.25] * 4] * 4, "c": [[1.0]] * 4, "mu": [[[1.0, 1.0]]] * 4,
                    "cov": [[[1.0, 1.0]]] * 4})
        write(self, "t.json", clusters)
        text = self.report()
        figure = re.search(r'<figure id="fig-center-1-0-emissions".*?</figure>', text, re.S)[0]
        at = [(float(x), float(y)) for x, y in re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*halo', figure)]
        self.assertEqual(len(at), 4)
        for k, (x, y) in enumerate(at):
            for other in at[:k]:
                self.assertGreaterEqual(max(abs(x - other[0]), abs(y - other[1])), 12)
        self.assertEqual(figure.count('r="1.8"'), 3)


    def test_members_have_the_columns_that_name_them(self):
        """Where several do; a name that the table has already gets "id_" before it."""
        names = [f"{who}/{trial}" for who in "ab" for trial in "123"]
        write(self, "t.json", tree(names))
        rows = [line.replace("/", ",", 1) for line in sequences(names).splitlines()[1:]]
        for who in ("who", "level1"):
            self.write("d.csv", "\n".join([f"{who},trial,x,y", *rows]) + "\n")
            self.report("--data", "d.csv", "--id", f"{who},trial", "--tables", "n")
            head, first = (line.split("\t") for line in self.path("n/members.tsv").read_text().splitlines()[:2])
            self.assertEqual(head[-3:], ["level2", "who" if who == "who" else "id_level1", "trial"])
            self.assertEqual(first[1:2] + first[-2:], ["a/1", "a", "1"])


class Snapshots(WithTree):
    """Figures as they were when someone looked at them."""

    def test_figures(self):
        text = self.report("--models", "m.json", "--data", "d.csv")
        wrong = []
        for name in ("levels", "membership-1", "classes-1", "bound-1", "separation-1", "center-1-0-states",
                     "center-1-0-emissions", "example-0"):
            figure = re.search(rf'<figure id="fig-{name}".*?<div class="scroll">(.*?)</div>\n<figcaption>', text, re.S)
            kept = SNAPSHOTS / f"{name}.svg"
            if os.environ.get("VHEM_UPDATE"):
                kept.write_text(figure.group(1))
            if not kept.exists() or kept.read_text() != figure.group(1):
                wrong.append(name)
        self.assertEqual(wrong, [])


class Size(Case):
    def test_thousands_of_models(self):
        write(self, "t.json", large())
        self.ok("report", "t.json", "-o", "r.html", "-q")
        self.assertLess(self.path("r.html").stat().st_size, 5e6)
        page = Page(self.path("r.html").read_text())
        self.assertLess(len(page.elements), 15000)

    def test_tens_of_thousands(self):
        """The list is cut, each cluster keeps its share of it."""
        labels = [int(i % 10 == 0) for i in range(60000)]
        many = clustering([f"s{i}" for i in range(60000)], labels, 2)
        for key in ("z", "L_hmm", "bound", "restarts", "centers"):
            del many[key]
        write(self, "c.json", many)
        self.ok("report", "c.json", "-o", "r.html", "-q")
        text = self.path("r.html").read_text()
        data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))
        self.assertEqual((data["total"], len(data["models"])), (60000, 50000))
        self.assertEqual(sum(m[2] for m in data["models"]), 5000)

    def test_shapes(self):
        """One cluster, one model, one dimension, one state; many states."""
        for S, d in ((1, 1), (2, 1), (9, 3), (30, 2)):
            hmm = {"name": "a", "S": S, "M": 1, "pi": [1 / S] * S, "A": [[1 / S] * S] * S, "c": [[1]] * S,
                   "mu": [[[float(s)] * d] for s in range(S)], "cov": [[[1.0] * d]] * S}
            one = clustering(["a"], [0], 1)
            one["centers"] = {"format": "vhem-h3m", "version": 1, "emission": "gaussian-diag", "d": d, "omega": [1],
                              "hmms": [hmm]}
            write(self, "c.json", one)
            self.ok("report", "c.json", "-o", "r.html", "-q")
            self.assertNotRegex(self.path("r.html").read_text(), r'="-?(nan|inf)|[ML,]-?(nan|inf)')


if __name__ == "__main__":
    unittest.main()
