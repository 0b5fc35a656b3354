#!/usr/bin/env python3
# Draws the pictures of README: a failure message and a ladder.
"""usage: draw.py PROGRAM FOLDER

Draws README's pictures into FOLDER: failure.svg, as PROGRAM (build/cuda-workbook) reports the race that the stub of lab 00
is handed out with, and ladder.svg, the measured times of lab 04. A test draws them anew, so they stay true.
"""
import json
import re
import subprocess
import sys
from html import escape
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
MEASURED = TOP / "data/measured/nvidia_h200/04_tiled_matmul.json"
CASE = "matmul: speed"
# Pixels of a character and of a line. Every text is stretched to its number of characters, so any font of fixed width fits.
WIDTH, HEIGHT, MARGIN = 8, 18, 16
STYLE = """
text { font: 13px ui-monospace, "DejaVu Sans Mono", Consolas, monospace; fill: #1f2328; white-space: pre }
.page { fill: #f6f8fa; stroke: #d1d9e0 } .bold { font-weight: 700 } .bad { font-weight: 700; fill: #b3261e }
.faint { fill: #59636e } .bar { fill: #4c8f00 } .other { fill: #8c959f }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .page { fill: #161b22; stroke: #30363d }
.bad { fill: #ff8a80 } .faint { fill: #9198a1 } .bar { fill: #76b900 } .other { fill: #6e7681 } }
"""


def text(words, column, line, style=""):
    if not words.strip():
        return ""
    at = f'x="{MARGIN + column * WIDTH}" y="{MARGIN + line * HEIGHT + 13}"'
    return f'<text {at} textLength="{len(words) * WIDTH}" lengthAdjust="spacingAndGlyphs" class="{style}">{escape(words)}</text>'


def picture(title, columns, lines, parts):
    w, h = 2 * MARGIN + columns * WIDTH, 2 * MARGIN + lines * HEIGHT
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img">',
                      f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>",
                      f'<rect class="page" x="0.5" y="0.5" width="{w - 1}" height="{h - 1}" rx="8"/>',
                      *filter(None, parts), "</svg>", ""])


def failure(program):
    """The report on a stub that nobody has edited, up to its points."""
    command = [program, "grade", "00", "--case", "reverse_block", "--backend", "sim", "--seed", "1"]
    report = subprocess.run(command, capture_output=True, text=True, cwd=TOP, check=False).stdout.splitlines()
    verdict = next(i for i, line in enumerate(report) if line.startswith("RACE"))
    shown = report[verdict:report.index("", verdict)]
    parts = [text("$ ./workbook grade 00", 0, 0, "faint")]
    for n, line in enumerate(shown, 2):
        begins = re.match(r"(RACE|    Try:)?", line).end()
        parts += [text(line[:begins], 0, n, "bad" if n == 2 else "bold"), text(line[begins:], begins, n, "bold" if n == 2 else "")]
    return picture(" ".join(" ".join(shown).split()), 80, len(shown) + 2, parts)


def ladder():
    measured = json.loads(MEASURED.read_text())
    took = {run["submission"]: case["measured"]["ms"] for run in measured["labs"] for case in run["cases"] if case["name"] == CASE}
    slowest, name, bar = took["naive"], max(map(len, took)), 36
    title = f"The ladder of lab 04 on an {measured['gpu']}: {CASE}"
    parts = [text(title, 0, 0, "bold")]
    for n, (version, ms) in enumerate(took.items(), 2):
        y = MARGIN + n * HEIGHT + 2
        parts += [text(version, 0, n),
                  f'<rect class="{"other" if version == "library" else "bar"}" x="{MARGIN + (name + 2) * WIDTH}" y="{y}" '
                  f'width="{bar * WIDTH * ms / slowest:.1f}" height="{HEIGHT - 5}"/>',
                  text(f"{ms:6.2f} ms {slowest / ms:5.1f} x", name + bar + 4, n)]
    parts.append(text(f"driver {measured['driver']}, CUDA {measured['cuda']}; library: cuBLAS", 0, len(took) + 3, "faint"))
    alt = title + ": " + ", ".join(f"{version} {ms:.2f} ms" for version, ms in took.items())
    return picture(alt, name + bar + 22, len(took) + 4, parts)


def main():
    program, folder = sys.argv[1], Path(sys.argv[2])
    (folder / "failure.svg").write_text(failure(program))
    (folder / "ladder.svg").write_text(ladder())


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main()
