#!/usr/bin/env python3
# Checks that every lab has its parts, every part its lab, and every file a first line that says what it is for.
"""usage: check_layout.py --rows LAB...     the labs that meson.build lists against the files that are there
       check_layout.py --files LAB...    the same, and every tracked file: first lines, TODOs, words, sources, rungs

LAB is a lab's name, or `NAME:RUNG,RUNG`, which also compares its rungs. Files of labs that git does not know yet are
checked like tracked ones.
"""

import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "grader/build"))
import make_glue  # noqa: E402

VERDICT = re.compile(r"// (?:Fails|On gpu): (.+?) \| ([A-Z_]+) \|(.*)")
RIGHT = re.compile(r"// Right: .+\n")
SCHEDULES = re.compile(r"^// Schedules:(?! (?:late|random|late random|random late)$)", re.M)
PASSES = re.compile(r"// Passes: .+")
EXEMPT = {"LICENSE", ".gitignore"}  # files of a prescribed form
# A comment is a sentence with a subject, and names use the field's words: limits are max_ and min_, rates _per_.
OPENING = re.compile(r"^\s*// (?:What|Whatever|Whoever|Of|Whether|Those|Nobody)\b", re.M)
BANNED_NAME = re.compile(r"\b(?:(?:most|least)_[a-z]\w*|\w+s_an?_(?:block|call|element|interaction|launch|multiprocessor"
                         r"|request|second|thread|tick|warp)\w*)")
# A gate counts `bytes per element`, not `bytes an element`; a rung is `4_copy_per_warp`.
UNIT = ("access|block|body|byte|call|column|device|element|interaction|key|lane|launch|member|multiply-add|pair|particle|pass|pixel"
        "|request|row|sample|second|step|stream|thread|tile|value|warp")
RATE = re.compile(rf"\b(?!(?:as|before|behind|by|for|from|in|of|on|or|per|than|to|with)\b)\w+,? an? (?:\w+ )?(?:{UNIT})\b")
RATE_IN_STEM = re.compile(rf"_an?_(?:{UNIT})$")
GATE_NAME = re.compile(r'\b(?:at_most|at_least)\(\s*(?:fmt::format\(\s*)?"([^"]*)"')
MAX_TODOS, MAX_TODO_LINES = 12, 3
VERDICTS_PAGE = TOP / "handouts/verdicts.md"
NOTE_TO_WRITER = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")

problems = []


def problem(path, text):
    shown = path.relative_to(TOP) if isinstance(path, Path) and path.is_absolute() else path
    problems.append(f"{shown}: {text}")


def required(lab):
    """Returns the paths of a lab's parts; without those of solutions/ in a student edition, which lacks the folder."""
    parts = [f"labs/{lab}/{name}" for name in ("lab.hpp", "stub.cu", "grade.cpp", "hints.md")]
    parts += [f"reference/{lab}/{name}" for name in ("naive.cu", "oracle.hpp", "oracle.cpp")]
    parts += [f"handouts/{lab}.md"]
    if (TOP / "solutions").is_dir():
        parts += [f"solutions/{lab}/{name}" for name in ("solution.cu", "filled.cu")]
    return parts


def check_rows(rows):
    labs = [row.partition(":")[0] for row in rows]
    for row in rows:
        lab, lists_rungs, rungs = row.partition(":")
        for part in required(lab):
            if not (TOP / part).is_file():
                problem(part, f"is missing; meson.build lists {lab}, so write it or take the row out")
        if lists_rungs and (TOP / "solutions").is_dir():
            listed = set(filter(None, rungs.split(",")))
            found = {path.stem for path in (TOP / "solutions" / lab).glob("[0-9]_*.cu")}
            for rung in sorted(listed ^ found):
                problem(f"solutions/{lab}/{rung}.cu", f"is missing; the row of {lab} in meson.build lists it in `rungs`"
                        if rung in listed else f"is no rung of its row in meson.build; add '{rung}' to `rungs`")
    for root in ("labs", "reference", "solutions"):
        for folder in sorted((TOP / root).glob("*/")):
            if folder.name not in labs:
                problem(folder, "has no row in meson.build; add one or remove the folder")
    for handout in sorted((TOP / "handouts").glob("*.md")):
        if handout.stem not in labs and handout != VERDICTS_PAGE:
            problem(handout, "belongs to no lab that meson.build lists")


def check_first_line(path, lines):
    # A csv file begins with its columns' names, and a golden file is compared byte for byte.
    if path.suffix in (".json", ".in", ".ptx", ".csv", ".svg") or "golden" in path.parts:
        return
    line = next((line for line in lines[:2] if not line.startswith("#!")), "").strip()
    words = re.findall(r"[A-Za-z]{2,}", line)
    if path.suffix == ".md":
        good = line.startswith("# ")
    else:
        good = line.startswith(("//", "#", "/*", "<!--", "option(")) and not line.startswith(("#include", "#pragma"))
    if not good or len(words) < (1 if path.suffix == ".md" else 3):
        problem(path, f"its first line does not say what it is for: `{line[:60]}`")


def lengths_of_todos(text):
    """Yields the number of each TODO and how many lines of comment it has."""
    number, length = 0, 0
    for line in text.splitlines() + [""]:
        begun = re.match(r"\s*// TODO (\d+) \(", line)
        if number and not begun and re.match(r"\s*// *\S", line):
            length += 1
            continue
        if number:
            yield number, length
        number, length = (int(begun[1]), 1) if begun else (0, 0)


def is_case_or_step(label, cases):
    """The timed case of a case, and a step of its points, which states its limit, count too."""
    steps = [label[len(case) + 2:] for case in cases if label.startswith(case + ", ")]
    return label in cases or any(re.search(r"^timed$|\d", step) for step in steps)


def check_stub(path, text):
    """Checks the TODOs, and that each has a hint. The program finds them by `TODO 2 (FUNCTION)`, or
    `TODO 3 (FUNCTION: CASE)`, `(FUNCTION: CASE, LIMIT)` or `(FUNCTION: CASE, timed)`, and the hints by their headings; it ignores any other form without a word."""
    if "maybe_unused" in text:
        problem(path, "has [[maybe_unused]]; nothing warns of unused names")
    numbers = {int(n) for n in re.findall(r"\bTODO (\d+)", text)}
    named = re.findall(r"\bTODO (\d+) \((\w[^)\n]*)\)", text)
    if not numbers:
        problem(path, "has no numbered TODO")
    elif numbers != set(range(1, max(numbers) + 1)):
        problem(path, f"its TODOs are numbered {sorted(numbers)}, not 1 to {max(numbers)}")
    if len(numbers) > MAX_TODOS:
        problem(path, f"has {len(numbers)} TODOs; at most {MAX_TODOS} make a lab")
    for number, length in lengths_of_todos(text):
        if length > MAX_TODO_LINES:
            problem(path, f"TODO {number} has {length} lines; it says in {MAX_TODO_LINES} what must hold, hints.md says how")
    for number in sorted(numbers - {int(n) for n, _ in named}):
        problem(path, f"no line has `TODO {number} (FUNCTION): ...` or `TODO {number} (FUNCTION: CASE): ...`")
    contract, cases = contract_of(path.parent), case_names(path.with_name("grade.cpp"))
    for number, of in named:
        if of.partition(":")[0] not in contract:
            problem(path, f"TODO {number} is of `{of}`, which begins with no function of lab.hpp")
        elif ":" in of and not is_case_or_step(of, cases):
            problem(path, f"TODO {number} is of `{of}`, a case that grade.cpp does not have")
    check_hints(path.with_name("hints.md"), numbers)


def check_hints(path, numbers):
    if not path.is_file():
        return
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    hinted = set()
    for heading in re.findall(r"^## (.*)", text, re.M):
        match = re.match(r"TODO (\d+): \S", heading)
        if not match:
            problem(path, f"`## {heading}` is never shown: a hint's heading is `## TODO n: title`")
        elif int(match[1]) not in numbers:
            problem(path, f"has a hint for TODO {match[1]}, which the stub does not have")
        else:
            hinted.add(int(match[1]))
    for number in sorted(numbers - hinted):
        problem(path, f"has no hint for TODO {number}; add `## TODO {number}: title`")


def contract_of(folder):
    return [name for _, _, name, _ in make_glue.functions(folder / "lab.hpp")]


def check_cases(path):
    """A case belongs to the function before its colon: points, TODOs and the report go by that."""
    contract = contract_of(path.parent)
    for case in sorted(case_names(path)):
        if case.partition(":")[0] not in contract:
            problem(path, f"the case `{case}` does not begin with a function of lab.hpp, as `{contract[0]}: one row`")


def check_wrong(path, lines, cases, verdicts):
    if lines and PASSES.fullmatch(lines[0]):
        return
    match = VERDICT.fullmatch(lines[0]) if lines else None
    if not match:
        problem(path, "its first line is not `// Fails: <case> | <VERDICT> | <words of the message>`, nor `// Passes: <why>`")
        return
    if match[2] not in verdicts:
        close = difflib.get_close_matches(match[2], sorted(verdicts), 1, 0)[0]
        problem(path, f"names the verdict {match[2]}; is it {close}? grader/text/verdict.hpp lists all")
    if cases and match[1] != "build" and not any(match[1] in case or case in match[1] for case in cases):
        problem(path, f"names the case `{match[1]}`, which its lab's grade.cpp does not have")


def case_names(grade):
    if not grade.is_file():
        return set()
    text = re.sub(r'"\s*\n\s*"', "", grade.read_text(encoding="utf-8"))
    return set(re.findall(r'\w*CASE\w*\(\s*"((?:[^"\\]|\\.)*)"', text))


def listed_by_git(*what):
    listing = subprocess.run(["git", "ls-files", "-z", *what], cwd=TOP, capture_output=True, text=True)
    return listing.returncode, [name for name in listing.stdout.split("\0") if name]


def tracked_files():
    """Includes the parts of labs that are not tracked yet, but no student's file beside a stub that is."""
    status, names = listed_by_git()
    if status == 0:
        new = listed_by_git("--others", "--exclude-standard", "labs", "reference", "solutions", "handouts")[1] if names else []
        names += [n for n in new if not n.startswith("labs/") or str(Path(*Path(n).parts[:2]) / "stub.cu") not in names]
    else:  # an unpacked archive has no git index
        ignored = (".venv/", "build", ".workbook/", ".git/")
        names = [str(p.relative_to(TOP)) for p in TOP.rglob("*") if p.is_file()]
        names = [n for n in names if not n.startswith(ignored) and "__pycache__" not in n]
    return [TOP / name for name in names if (TOP / name).is_file()]


def original(name):
    """Returns a stub from git's index, because a student may have edited the file; None without git. A stub that is not
    in the index is a new lab's."""
    if listed_by_git("meson.build")[1] and not listed_by_git(name)[1]:
        return (TOP / name).read_text(encoding="utf-8")
    blob = subprocess.run(["git", "cat-file", "blob", f":./{name}"], cwd=TOP, capture_output=True, text=True)
    return blob.stdout if blob.returncode == 0 else None


def check_files():
    verdicts = set(re.findall(r"\bX\(([A-Z_]+)\)", (TOP / "grader/text/verdict.hpp").read_text(encoding="utf-8")))
    tracked = tracked_files()
    build = "\n".join(path.read_text(encoding="utf-8") for path in tracked if path.name == "meson.build")
    for path in tracked:
        name = path.relative_to(TOP).as_posix()
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            if not name.startswith("data/"):
                problem(path, "is no UTF-8 text")
            continue
        stub = name.startswith("labs/") and path.name == "stub.cu"
        if name.startswith("data/") or (stub and (text := original(name)) is None):
            continue
        lines = text.splitlines()
        if path.name not in EXEMPT:
            check_first_line(path, lines)
        if text and not text.endswith("\n"):
            problem(path, "has no newline at its end")
        if stub:
            check_stub(path, text)
        elif path.suffix in (".cpp", ".hpp", ".cu", ".h") and "hints" not in name:
            check_todo_words(path, lines)
        if re.fullmatch(r"labs/\w+/grade\.cpp", name):
            check_cases(path)
        if path.parent.name == "right" and path.suffix == ".cu" and (not RIGHT.match(text) or SCHEDULES.search(text)):
            problem(path, "its first line is not `// Right: <in what it differs from the solution>`, or `// Schedules:` "
                          "names others than late and random")
        if path.parent.name == "wrong" and path.suffix == ".cu":
            lab = path.parents[1].name
            grade = path.parents[1] / "grade.cpp" if "tests/labs" in name else TOP / "labs" / lab / "grade.cpp"
            check_wrong(path, lines, case_names(grade), verdicts)
        if path.suffix in (".cpp", ".hpp", ".h", ".cu"):
            check_names(path, lines)
            if name.startswith("grader/") and "/tests/labs/" not in name:
                check_openings(path, lines)
        if path.suffix == ".cpp" and name.startswith(("labs/", "grader/speed/")):
            check_rates(path, text)
        if re.fullmatch(r"solutions/\w+/\d_\w+\.cu", name):
            check_rung(path, text)
            if RATE_IN_STEM.search(path.stem):
                problem(path, "name the rung with `_per_`, as 4_copy_per_warp")
        if path.suffix == ".cpp" and name.startswith("grader/") and "/labs/" not in name:
            stem = path.stem.removesuffix("_test")
            if not re.search(rf"\b{re.escape(stem)}\b", build):
                problem(path, "is not listed in meson.build")


def check_rung(path, text):
    """Checks that a rung's header names the functions that it has from the rung below: one deleted by mistake would
    come from there, too. NAME_scratch or NAME_layout belongs to NAME."""
    contract = contract_of(TOP / "labs" / path.parent.name)
    whole = {name: re.sub(r"_(?:scratch|layout)$", "", name) for name in contract}
    whole = {name: base if base in contract else name for name, base in whole.items()}
    defined = set(re.findall(r"^(?!static\b|template\b)\w[^\n(;=]*\b(\w+)\(", text, re.M)) & set(contract)
    unchanged = {whole[name] for name in contract if name not in defined}
    for name in sorted(unchanged & {whole[name] for name in defined}):
        problem(path, f"defines {name} without its scratch or layout, or the reverse; one rung has both")
    header = re.match(r"(?://.*\n)*", text)[0].replace("\n// ", " ")
    named = re.search(r"\bUnchanged: ([^.]*)\.", header)
    if set(re.findall(r"\w+", named[1]) if named else ()) != unchanged:
        shown = ", ".join(name for name in contract if name in unchanged)
        problem(path, f"does not define {shown}, so they are the rung below's; say in the header `// Unchanged: {shown}.`"
                if shown else "says that functions are unchanged, but defines all")


def definitions(path):
    """Maps each name that a source defines outside braces to the texts of its definitions, without comments."""
    text = re.sub(r"^(?:namespace \w*\s*\{|\} // namespace.*)$", "", path.read_text(encoding="utf-8"), flags=re.M)
    found = {"#": re.findall(r"^#(?!include|pragma).*", text, re.M)}
    for _, piece, _ in make_glue.statements(make_glue.without_comments(text)):
        head = piece.split("{")[0].split("=")[0]
        for name in (re.findall(r"(\w+)\s*\(", head) or re.findall(r"\w+", head))[-1:]:
            found.setdefault(name, []).append(" ".join(piece.split()))
    return found


def all_it_uses(name, defined):
    """Returns the definitions of a function and of what it uses, directly or not."""
    used, todo = {"#": defined["#"]}, [name]
    while todo:
        name = todo.pop()
        if name in defined and name not in used:
            used[name] = defined[name]
            todo += re.findall(r"\w+", " ".join(defined[name]))
    return used


def check_steps(lab):
    """No rung defines again what it has from below. NAME_scratch and NAME_layout stand with their NAME."""
    below = {}
    for path in [TOP / "reference" / lab / "naive.cu", *sorted((TOP / "solutions" / lab).glob("[0-9]_*.cu"))]:
        defined = definitions(path)
        for name in set(contract_of(TOP / "labs" / lab)) & set(defined):
            is_now, (was, where) = all_it_uses(name, defined), below.get(name, (None, None))
            if is_now == was and not re.search(r"_(?:scratch|layout)$", name):
                problem(path, f"defines {name} just as {where.name} does; leave it out, and say `// Unchanged: {name}.`")
            below[name] = is_now, path


def check_version():
    """The newest entry of the changelog is the project's version."""
    version = re.search(r"version: '([^']+)'", (TOP / "meson.build").read_text(encoding="utf-8"))[1]
    entries = re.findall(r"^## (.+)$", (TOP / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    if not entries or entries[0] != version:
        problem("CHANGELOG.md", f"its newest entry is {entries[:1]}, but meson.build says version {version}")
    numbers = [[int(part) for part in entry.split(".")] for entry in entries if re.fullmatch(r"\d+\.\d+\.\d+", entry)]
    if len(numbers) != len(entries) or numbers != sorted(numbers, reverse=True):
        problem("CHANGELOG.md", f"its entries are not versions, newest first: {', '.join(entries)}")


def check_handouts():
    """A whole program is one that the tests run on the simulator, word for word. A handout links to no other lab's,
    because an edition may hold one lab alone."""
    programs = {path.read_text(encoding="utf-8") for path in (TOP / "grader/simulator/tests/programs").glob("*.cu")}
    for handout in sorted((TOP / "handouts").glob("*.md")):
        text = handout.read_text(encoding="utf-8")
        for link in re.findall(r"\]\((\d\d_\w+\.md)", text):
            problem(handout, f"links to {link}; name the lab by its number")
        for code in re.findall(r"^```cpp\n(.*?)^```$", text, re.M | re.S):
            if re.search(r"\bint main\(", code) and code not in programs:
                problem(handout, "has a program that is not in grader/simulator/tests/programs")


def check_folders():
    """The folders of grader/ include downwards only: none depends on one that depends on it."""
    files = {path.relative_to(TOP) for path in tracked_files()}
    files = {path for path in files if path.parts[0] == "grader" and "tests" not in path.parts}
    below = {}
    for path in files:
        if path.suffix not in (".cpp", ".hpp", ".cu", ".h") or len(path.parts) < 3:
            continue
        for name in re.findall(r'^#include "([^"]+)"', (TOP / path).read_text(), re.M):
            beside = (Path(os.path.normpath(folder / name)) for folder in (path.parent, Path("grader"), Path("grader/worker")))
            found = next((f for f in beside if f in files), None)
            if found and found.parent not in (path.parent, Path("grader")):
                below.setdefault(path.parent, {}).setdefault(found.parent, path)
    for folder in below:
        reached, todo = set(), [folder]
        while todo:
            new = set(below.get(todo.pop(), {})) - reached
            reached |= new
            todo += new
        if folder in reached:
            for to, path in below[folder].items():
                if folder in below.get(to, {}):
                    problem(path, f"includes a file of {to}, which includes files of {folder}")
                    break
            else:
                problem(folder, "depends on itself through other folders")


def check_verdicts():
    """The students' page explains each verdict once, and no other."""
    named = re.findall(r"\bX\(([A-Z_]+)\)", (TOP / "grader/text/verdict.hpp").read_text(encoding="utf-8"))
    explained = re.findall(r"^\| `([A-Z_]+)` \|", VERDICTS_PAGE.read_text(encoding="utf-8"), re.M)
    if sorted(named) != sorted(explained):
        differing = sorted(set(explained) ^ set(named)) or "one twice"
        problem(VERDICTS_PAGE, f"explains {differing}, unlike grader/text/verdict.hpp")


def check_openings(path, lines):
    for number, line in enumerate(lines, 1):
        if OPENING.match(line):
            problem(path, f"line {number}: begin the comment with its subject, not `{line.split()[1]}`")


def check_names(path, lines):
    for number, line in enumerate(lines, 1):
        for name in set(BANNED_NAME.findall(line)):
            problem(path, f"line {number}: name a limit max_ or min_ and a rate _per_, not `{name}`")


def check_rates(path, text):
    """Checks that a gate's name, in a lab's or the grader's source, says `per`."""
    for name in GATE_NAME.findall(text):
        if RATE.search(name):
            problem(path, f"name the gate's rate with `per`, not `{name}`")


def check_todo_words(path, lines):
    """Checks that only stubs have TODOs; graders may name a stub's TODO by its number."""
    for number, line in enumerate(lines, 1):
        if NOTE_TO_WRITER.search(line) and not re.search(r"\bTODO (?:\d|%|\{|@)|TODOs?\b", line):
            problem(path, f"line {number} has a note to its writer; only stubs have TODOs")


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in ("--rows", "--files"):
        sys.exit(__doc__)
    check_rows(sys.argv[2:])
    if sys.argv[1] == "--files":
        check_files()
        for row in sys.argv[2:]:
            check_steps(row.partition(":")[0])
        check_version()
        check_verdicts()
        check_handouts()
        check_folders()
    for text in problems:
        print(text)
    if sys.argv[1] == "--files":
        print(f"{0 if problems else 1} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
