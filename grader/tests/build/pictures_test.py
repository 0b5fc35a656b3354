#!/usr/bin/env python3
# Tests that README's pictures are those that handouts/pictures/draw.py draws today.
import sys

from shared import BUILD_ROOT, TOP, in_a_folder, main, run

PICTURES = TOP / "handouts/pictures"


class readme_pictures(in_a_folder):
    def test_they_show_the_message_and_the_times_of_today(self):
        if (TOP / "edition.txt").exists():
            self.skipTest("a student's stub is not as it was handed out")
        done = run(sys.executable, PICTURES / "draw.py", BUILD_ROOT / "cuda-workbook", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        drawn = sorted(path.name for path in self.folder.iterdir())
        self.assertEqual(drawn, sorted(path.name for path in PICTURES.glob("*.svg")))
        for name in drawn:
            self.assertIn(f"handouts/pictures/{name}", (TOP / "README.md").read_text())
            self.assertEqual((PICTURES / name).read_text(), (self.folder / name).read_text(),
                             f"draw anew: handouts/pictures/draw.py {BUILD_ROOT}/cuda-workbook handouts/pictures")


if __name__ == "__main__":
    main()
