#!/usr/bin/env python3
# Tests ./workbook explain as a student calls it: a file compiled, counted and shown.
from html.parser import HTMLParser

from shared import BUILD, TOP, in_a_folder, main, workbook

LAB = "02_coalescing"


class tags(HTMLParser):
    """Collects the tags of a page, and errors if a tag is not closed."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], set()

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()


class explaining(in_a_folder):
    def setUp(self):
        super().setUp()
        if not any(lab["lab"] == LAB for lab in BUILD["labs"]):
            self.skipTest(f"this edition has no {LAB}")

    def explain(self, *words):
        return workbook("explain", *words, cwd=TOP)

    def test_a_column_walk_is_explained_in_text_and_on_a_page(self):
        naive = TOP / "reference" / LAB / "naive.cu"
        line = next(n for n, text in enumerate(naive.read_text().splitlines(), 1) if "= in[i] * factor" in text)
        page = self.folder / "page.html"
        done = self.explain("2", "--case", "scale_columns: speed", "--submission", naive, "--html", page)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        text = " ".join(done.stdout.split())
        self.assertIn(f"line {line}, load: At worst a warp touches 32 sectors of `in` where 4 would do: "
                      "neighbouring threads read addresses 256 bytes apart.", text)
        self.assertIn(f"line {line}, store: ", text)
        for shown in done.stdout.splitlines():
            self.assertTrue(len(shown) <= 80 or str(page) in shown or str(naive) in shown, shown)
        reader = tags()
        reader.feed(page.read_text())
        reader.close()
        self.assertEqual(reader.open, [])
        self.assertLessEqual({"svg", "style", "table", "details"}, reader.seen)
        self.assertNotIn("script", reader.seen)

    def test_wrong_use_is_named(self):
        # The file is the same as above, whose object is cached.
        naive = TOP / "reference" / LAB / "naive.cu"
        done = self.explain("2", "--case", "no such case", "--submission", naive)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("no case's name holds", done.stderr)
        done = self.explain("2", "--html", "/no/such/folder/page.html")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("--html /no/such/folder/page.html: no file can be written there", done.stderr)


if __name__ == "__main__":
    main()
