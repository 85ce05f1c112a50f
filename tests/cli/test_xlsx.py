# SPDX-License-Identifier: BSD-3-Clause
"""Excel workbooks: read as tables, written here part by part and, where it is installed, by openpyxl."""
import datetime
import unittest
import zipfile

from support import Case

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
ROWS = [["id", "x", "y"], ["a", "0.5", "1"], ["a", "1.25", "-2e-3"], ["b", "3", "4"], ["b", "5", "6"]]


def cell(place, value):
    if isinstance(value, int):
        return f'<c r="{place}" t="s"><v>{value}</v></c>'
    try:
        float(value)
        return f'<c r="{place}"><v>{value}</v></c>'
    except ValueError:
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'


def sheet(rows):
    return "".join(f'<row r="{r}">' + "".join(cell(f"{'ABCDEFG'[c]}{r}", v) for c, v in enumerate(row) if v != "") + "</row>"
                   for r, row in enumerate(rows, 1))


class Workbooks(Case):
    def book(self, rows, strings=None, sheets=("Data",), states=("visible",) * 9, head="", **parts):
        """A workbook d.xlsx with these rows of XML in every sheet."""
        wrap = '<?xml version="1.0" encoding="UTF-8"?>' + head
        parts = {
            "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{REL}"><sheets>' + "".join(
                f'<sheet name="{s}" sheetId="{k}" state="{states[k]}" r:id="rId{k}"/>' for k, s in enumerate(sheets)) + "</sheets></workbook>",
            "xl/_rels/workbook.xml.rels": "<Relationships>" + "".join(
                f'<Relationship Id="rId{k}" Type="{REL}/worksheet" Target="worksheets/sheet{k}.xml"/>' for k in range(len(sheets)))
            + f'<Relationship Id="s" Type="{REL}/sharedStrings" Target="/xl/sharedStrings.xml"/></Relationships>',
            "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{strings or ""}</sst>',
            **{f"xl/worksheets/sheet{k}.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{rows[k] if isinstance(rows, list) else rows}'
               "</sheetData></worksheet>" for k in range(len(sheets))},
            **parts}
        with zipfile.ZipFile(self.path("d.xlsx"), "w", zipfile.ZIP_DEFLATED) as z:
            for name, text in parts.items():
                if text is not None:
                    z.writestr(name, wrap + text)
        return "d.xlsx"

    def same(self, csv, *more):
        """The workbook holds what this table holds."""
        self.write("want.csv", csv)
        self.ok("convert", "want.csv", "want.tsv", *more)
        done = self.ok("convert", "d.xlsx", "got.tsv", *more)
        self.assertEqual(self.path("got.tsv").read_text(), self.path("want.tsv").read_text())
        return done

    def fails(self, sentence, *more):
        r = self.run_vhem("info", "d.xlsx", *more)
        self.assertEqual(r.code, 1, r.err)
        self.assertIn("d.xlsx", r.err)
        self.assertIn(sentence, r.err)

    def test_same_as_csv(self):
        self.book(sheet(ROWS))
        done = self.same("\n".join(map(",".join, ROWS)) + "\n")
        self.assertEqual(done.err.count("warning"), 0, done.err)
        self.assertEqual(self.ok("info", "d.xlsx", "--json").json()["format"], "xlsx")

    def test_texts(self):
        """Shared, with formats and with how they are spoken; quotes and line ends inside."""
        strings = ("<si><t>id</t></si><si><r><t>s</t></r><r><t xml:space=\"preserve\">ize x</t></r><rPh><t>no</t></rPh></si>"
                   '<si><t>q "1", &amp;\nz</t></si>')
        self.book(sheet([[0, 1], [2, "1"], [2, "2"]]), strings)
        self.same('id,size x\n"q ""1"", & z",1\n"q ""1"", & z",2\n')

    def test_gaps_and_kinds(self):
        rows = ('<row r="3"><c r="B3" t="inlineStr"><is><t>id</t></is></c><c r="C3" t="str"><v>x</v></c>'
                '<c r="D3" t="inlineStr"><is><t>y</t></is></c></row>'
                '<row r="5"><c r="B5" t="str"><f>A1</f><v>a</v></c><c r="C5" t="b"><v>1</v></c><c r="D5" t="e"><v>#N/A</v></c></row>'
                '<row><c r="B6" t="str"><v>a</v></c><c r="D6"><f>1/8</f><v>0.125</v></c><c r="E6" s="3"/></row>'
                '<row r="9"><c r="B9" t="str"><v>a</v></c><c r="C9"><f>A1</f></c></row>')
        self.book(rows)
        r = self.same("id,x,y\na,1,\na,,0.125\na,,\n")
        self.assertIn("column 1 has no name", r.err)
        self.assertIn("formulas without a stored value, which count as missing: 1", r.err)
        self.book(rows.replace("#N/A", "#DIV/0!"))
        self.fails("line 5, column 'y': found '#DIV/0!'", "--columns", "x,y")

    def test_old_format(self):
        self.path("d.xlsx").write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600))
        self.fails("an Excel file in the old .xls format, or one with a password; save it as plain .xlsx or CSV first")

    def test_number_as_text(self):
        """A cell of text with a decimal comma: how to write it, and not that it is missing."""
        self.book(sheet([["id", "x"], ["a", "1.5"], ["a", "3,5"], ["a", "2"]]))
        self.fails("line 3, column 'x': found '3,5', expected a number as in other rows; decimal commas? write 1.5")
        self.assertNotIn("--missing", self.run_vhem("info", "d.xlsx").err)

    def test_titles(self):
        self.book(sheet([["Eyes, spring"], ["", "places"], *ROWS]))
        done = self.same("\n".join(map(",".join, ROWS)) + "\n")
        self.assertIn('line 1 looks like a title and is left out: "Eyes, spring"', done.err)

    def test_no_titles(self):
        """A header with a word for missing values, and symbols in a column of their own."""
        self.write("na.csv", "id,NA\na,go\na,stop\na,go\n")
        self.path("one").mkdir()
        self.write("one/a.csv", "state\nA\nB\nleft;right\nA\nB\n")
        for name, frames in (("na.csv", 3), ("one", 5)):
            done = self.ok("fit", name, "-S", 1, "--emission", "categorical", "-o", "m.json", "--force")
            self.assertNotIn("title", done.err)
            self.assertIn(f"({frames} frames)", done.err)

    def test_sheets(self):
        two = sheet([["id", "x"], ["b", "9"], ["b", "8"]])
        self.book([two, sheet(ROWS), two], sheets=("Old", "Trials", "9"), states=("hidden", "visible", "visible"))
        r = self.ok("info", "d.xlsx")
        self.assertIn("reading sheet 'Trials' of Old, Trials, 9; --sheet chooses another", r.err)
        self.assertIn("2 sequences", r.out)
        for chosen in "Old", "1", "3", "9":
            r = self.ok("info", "d.xlsx", "--sheet", chosen)
            self.assertIn("1 sequence ", r.out)
            self.assertEqual(r.err, "")
        self.fails("--sheet asks for 'Trial'; the sheets are Old, Trials, 9", "--sheet", "Trial")
        self.write("d.csv", "id,x\na,1\n")
        self.assertIn("--sheet", self.run_vhem("info", "d.csv", "--sheet", "Old").err)

    def test_broken(self):
        for sentence, rows, more in (
                ("a row has the number '2', must be from 3 to 1048576", '<row r="2"/><row r="2"/>', {}),
                ("a row has the number '1048577', must be from 1 to 1048576", '<row r="1048577"/>', {}),
                ("there is no cell 'XFE1'", '<row><c r="XFE1"><v>1</v></c></row>', {}),
                ("row 2: there is no cell 'A7' in it", '<row r="2"><c r="A7"><v>1</v></c></row>', {}),
                ("row 1: there is no cell 'A' in it", '<row><c r="A"><v>1</v></c></row>', {}),
                ("column 1 comes after column 2", '<row><c r="B1"><v>1</v></c><c r="A1"><v>1</v></c></row>', {}),
                ("a cell has the text number '7', must be below 0, their count", '<row><c t="s"><v>7</v></c></row>', {}),
                ("mismatched tag", "<row>", {}),
                ("there are no rows", "", {}),
                ("has a DOCTYPE", sheet(ROWS), {"head": '<!DOCTYPE a [<!ENTITY b "c">]>'}),
                ("has no sheets", "", {"sheets": ()}),
                ("the archive has no 'xl/workbook.xml': this is not an Excel workbook", "", {"xl/workbook.xml": None, "xl/a": ""}),
                ("does not say where sheet 'Data' is", "", {"xl/_rels/workbook.xml.rels": "<a/>"})):
            with self.subTest(sentence):
                self.book(rows, **more)
                self.fails(sentence)

    def test_bombs(self):
        """Small files that would unpack into large ones."""
        self.book(f'<row r="1"><c r="A1" t="s"><v>0</v></c></row>' + "<row>" + '<c t="s"><v>0</v></c>' * 16384 + "</row>",
                  f"<si><t>{'x' * 1000000}</t></si>")
        self.fails("more than 64 times as large as this part")
        self.book("<row><c t=\"str\"><v>" + "x" * 2000000 + "</v></c></row>")
        self.fails("a cell has more than 1048576 bytes")

    def test_openpyxl(self):
        try:
            import openpyxl
        except ImportError:
            self.skipTest("no openpyxl")
        book = openpyxl.Workbook()
        rows = [["id", "when", "x"], ["a", datetime.datetime(2026, 1, 2, 12), 0.1], ["a", datetime.datetime(2026, 1, 1), None],
                ["b", datetime.datetime(2026, 1, 3), -1e-300]]
        for row in rows:
            book.active.append(row)
        book.save(self.path("d.xlsx"))
        self.same("id,when,x\na,46024.5,0.1\na,46023,\nb,46025,-1e-300\n", "--order", "when", "--columns", "x")


if __name__ == "__main__":
    unittest.main()
