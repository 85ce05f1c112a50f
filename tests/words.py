# SPDX-License-Identifier: BSD-3-Clause
"""Fails when a page of docs/ is too long, not in plain English, or has a link to a heading that does not exist.

    words.py                 checks docs/*.md, CONTRIBUTING.md and SECURITY.md; prints what is wrong, with its line
    words.py --count         prints the words of each page
    words.py --self-test

Counted are words outside code and outside the tables that experiments/page.py writes.  A page has at most PAGE words beside its
hand-written tables, a sentence SENTENCE words, and all pages together TOTAL words, tables included.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE, TOTAL, SENTENCE = 1500, 35000, 40

LONGER = {"extending.md": 1900}     # a list of recipes for contributors
REFERENCES = ("formats", "python-names")  # their words do not count in TOTAL

# Phrase -> what to write.  The first letter may be a capital.
BANNED = {
    r"(tells?|says?|said|told)(?! you\b)": "prints, reports, warns, lists, shows, explains; 'the paper states'",
    r"what (it|is|was|were|there|they|the|a|has|of)\b(?![^.]*\?)": "name the thing: 'the fitted models'",
    r"(that|those) of": "repeat the noun, or a possessive",
    r"of (its|one's|their) own": "its own",
    r"has (it all|the rest|them all)|have the rest": "lists, documents, see X for",
    r"as (it is|they are)(?! not)": "unchanged, directly",
    r"so many|by itself alone": "n, the number of",
    r"so (does|do|has|have|is|are) \w+": "also",
    r"persons": "people, participants",
    r"(HMMs?|frames|fragments|samples|models|states|words) to an? (song|class|clip|tag|piece|state|person|recording)": "per",
    r"anew": "again",
    r"given up": "abandoned, stopped",
    r"to the last (bit|digit)": "bit for bit, identical",
    r"(?<!the )highest likelihood": "maximum likelihood",
    r"but for": "except for",
    r"beside(?! the point)": "next to, alongside, in addition to",
    r"learnt": "learned",
    r"as \w+ has (it|them)": "as in X",
    r"is no (number|file|model|table|symbol)": "is not a ...",
    r"Where (an?|the|there|it|no|they|all|both)": "If, When",
    r"no Gaussian (number|column)s?": "not Gaussian",
    r"(give|gave|gives) (away|back what)": "lose",
    r"nothing but": "only",
    r"a sentence for": "a message",
}


def text_of(page):
    """The lines of a page without code and generated tables, as (number, line)."""
    kept, fence, generated = [], False, False
    for number, line in enumerate(page.split("\n"), 1):
        if line.startswith("<!-- "):
            generated = not line.startswith("<!-- end")
        elif line.lstrip().startswith("```"):
            fence = not fence
        elif line.startswith("| instead of |"):
            break  # the examples of style.md
        elif not fence and not generated and not line.startswith("    ") and not line.startswith("!["):
            kept.append((number, line))
    return kept


def plain(line):
    """Code spans are not searched, and one word of a sentence; of a link the text counts."""
    return unlinked(re.sub(r"``?[^`]*``?", "CODE", line))


def unlinked(line):
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line)


def sentences(lines):
    """(number of the first line, sentence) of the running text: paragraphs and items of lists."""
    start, held = 0, ""
    for number, line in [*lines, (0, "")]:
        ends = not line.strip() or line.startswith(("|", "#")) or re.match(r" *([-*]|\d+\.) ", line)
        if ends and held:
            for part in re.split(r"(?<=[.?!])[)\"*]*\s+(?=[A-Z`*\"([])", held):
                yield start, part
            held = ""
        if line.strip() and not line.startswith(("|", "#")):
            start = start if held else number
            held = f"{held} {re.sub(r'^ *([-*]|[0-9]+[.]) ', '', plain(line)).strip()}".strip()


def count(page):
    lines = [unlinked(line) for _, line in text_of(page)]
    prose = sum(len(line.split()) for line in lines if not line.startswith("|"))
    return prose, sum(len(re.sub(r"[|]|---", " ", line).split()) for line in lines)


def check(name, page):
    wrong = []
    for number, line in text_of(page):
        for pattern, better in ({} if line.startswith("#") else BANNED).items():
            found = re.search(rf"\b(?:{pattern})", plain(line)) or re.search(rf"\b(?:{pattern[0].upper() + pattern[1:]})", plain(line))
            if found:
                wrong.append(f"{name}:{number}: '{found[0]}': {better}")
    for number, sentence in sentences(text_of(page)):
        if len(sentence.split()) > SENTENCE:
            wrong.append(f"{name}:{number}: a sentence of {len(sentence.split())} words: {sentence[:60]}...")
    most = LONGER.get(name, PAGE)
    if count(page)[0] > most:
        wrong.append(f"{name}: {count(page)[0]} words of text, at most {most}")
    return wrong


def anchors(page):
    """The headings of a page as links name them."""
    headings = [line for _, line in text_of(page) if line.startswith("#")]
    bare = [unlinked(line.lstrip("#")).replace("`", "").strip().lower() for line in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in bare}


def broken(path):
    """Links of a page to files or headings that are not there."""
    for target, _, heading in re.findall(r"\]\(([^)#\s]*)(#([^)\s]+))?\)", path.read_text()):
        page = (path.parent / target).resolve() if target else path
        if "://" not in target and (not page.exists() or heading and page.suffix == ".md" and heading not in anchors(page.read_text())):
            yield f"{path.relative_to(ROOT)}: there is no {target}{'#' if heading else ''}{heading}"


def self_test():
    assert check("a", "It says so.\n") and check("a", "The mean, and that of others.\n")
    assert not check("a", "`vhem says so`\n\n    that of\n\n```\nbeside\n```\n<!-- x y -->\nthat of\n<!-- end -->\n")
    assert check("a", "word " * 41 + ".\n") and not check("a", "word " * 20 + ".\n" + "Word " * 21 + ".\n")
    assert check("a", "Two words.\n" * 751) and count("| a | b |\n|---|---|\n\nc d\n") == (2, 4)
    assert not check("a", "# What is a state?\n")
    assert anchors("# The `a`: b, c\n") == {"the-a-b-c"}


def main():
    if "--self-test" in sys.argv:
        return self_test()
    pages = {path.name: path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))}
    words = {name: count(page) for name, page in pages.items()}
    if "--count" in sys.argv:
        print("\n".join(f"{name:32}{prose:6}{every:6}" for name, (prose, every) in words.items()))
    more = {name: (ROOT / name).read_text() for name in ("CONTRIBUTING.md", "SECURITY.md")}
    wrong = [line for name, page in {**pages, **more}.items() for line in check(name, page)]
    wrong += [line for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs/archive").glob("*.md")] for line in broken(path)]
    total = sum(every for name, (_, every) in words.items() if not name.startswith(REFERENCES))
    if total > TOTAL:
        wrong.append(f"docs/ has {total} words, at most {TOTAL}")
    print("\n".join(wrong) or f"{len(pages)} pages, {total} words of at most {TOTAL}")
    return 1 if wrong else 0


sys.exit(main())
