#!/usr/bin/env python3
# Writes the table of a contract's functions from the header that declares them.
"""usage: make_glue.py [--parent] [--table NAME] [--devices N] HEADER OUT
       make_glue.py --kept GLUE HEADER OUT
       make_glue.py --open HEADER OUT

Each free function declared at the left margin of HEADER, `TYPE NAME(TYPE NAME, ...);`, becomes a row of
`extern const grading::entry NAME[]; extern const int NAME_size;` in OUT; NAME is `contract` unless --table says otherwise.
With --parent the rows have no address, so that a program without the functions can link them.
`extern const int NAME_devices` is N: how many devices the functions may use, 1 unless --devices says otherwise.
With --kept OUT receives the linker names of HEADER's functions that GLUE, an object or archive of the table, refers to.
With --open OUT becomes a submission whose functions do nothing, for students who want to begin without a given design.

A contract is free functions without overloads, of pointers and trivially copyable values, each parameter
named; anything else is an error that says where. What is declared `extern` is no part of it: the worker offers that.
"""

import argparse
import re
import subprocess
import sys
import textwrap
from pathlib import Path

# The sizes of argument_descriptor::name, request::function and request::arguments in protocol.hpp.
NAME_ROOM, FUNCTION_ROOM, MAX_PARAMETERS = 24, 64, 16

TYPE_WORDS = set(
    "void bool char short int long signed unsigned float double const volatile struct enum size_t".split()
)
NO_DECLARATION = ("struct", "class", "enum", "union", "using", "typedef", "static_assert", "constexpr", "inline", "extern")


class contract_error(Exception):
    pass


def without_comments(text):
    """Blanks comments, preprocessor lines and literals; every line keeps its number."""

    def blank(match):
        kept = r"[^\n\"]" if match.group()[0] == '"' else r"[^\n]"
        return re.sub(kept, " ", match.group())

    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def statements(text):
    """Yields (line, text, has_body) of each statement outside braces."""
    depth, start, body = 0, 0, False
    for i, c in enumerate(text):
        if c == "{":
            depth, body = depth + 1, True
        elif c == "}":
            depth -= 1
        head = text[start:i].split("{")[0]
        ends_body = c == "}" and depth == 0 and (")" in head or head.split()[:1] == ["namespace"])
        if depth == 0 and (c == ";" or ends_body):
            piece = text[start : i + 1]
            line = text.count("\n", 0, start + len(piece) - len(piece.lstrip())) + 1
            if piece.strip(" \n\t;"):
                yield line, piece.strip(), body
            start, body = i + 1, False


def split_parameters(text):
    parts, depth = [""], 0
    for c in text:
        depth += c in "(<["
        depth -= c in ")>]"
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    parts = [" ".join(p.split()) for p in parts]
    return [] if parts in ([""], ["void"]) else parts


def parameter(text, place):
    """Returns (type, name) of one parameter."""
    if "=" in text:
        raise contract_error(f"{place}: `{text}` has a default; a contract's parameters have none")
    if "(" in text or "[" in text:
        raise contract_error(f"{place}: `{text}` is a function or array; write a plain pointer")
    if "&" in text:
        raise contract_error(f"{place}: `{text}` is a reference; pass a pointer or a value")
    match = re.fullmatch(r"(.*?)(\w+)", text)
    type_, name = (match[1].strip(), match[2]) if match else (text, "")
    only_qualifiers = not set(re.findall(r"\w+", type_)) - {"const", "volatile", "struct", "enum"}
    if not match or name in TYPE_WORDS or only_qualifiers:
        raise contract_error(f"{place}: parameter `{text}` has no name; messages to the student need one")
    if len(name) >= NAME_ROOM:
        raise contract_error(f"{place}: parameter name `{name}` is longer than {NAME_ROOM - 1} characters")
    return type_, name


def functions(header):
    """Returns [(line, result, name, [(type, name), ...]), ...] in the order of the header."""
    found = {}
    for line, text, body in statements(without_comments(header.read_text(encoding="utf-8"))):
        first = text.split("(")[0].split()[0] if text.split("(")[0].split() else ""
        place = f"{header}:{line}"
        if first in ("template", "namespace", "static") or re.match(r'extern\s+"', text):
            raise contract_error(
                f"{place}: `{first}` in a contract; it declares free functions outside namespaces, without templates"
            )
        if first in NO_DECLARATION or "(" not in text:
            continue
        match = re.fullmatch(r"(.*?[\s*])(\w+)\s*\((.*)\)\s*(noexcept\s*)?;", text, flags=re.S)
        if body or not match:
            raise contract_error(f"{place}: cannot read `{' '.join(text.split())[:70]}`; write `TYPE NAME(TYPE NAME, ...);`")
        name = match[2]
        if name in found:
            raise contract_error(
                f"{place}: `{name}` is declared again (first in line {found[name][0]}); a contract has no overloads"
            )
        if len(name) >= FUNCTION_ROOM:
            raise contract_error(f"{place}: `{name}` is longer than {FUNCTION_ROOM - 1} characters")
        parameters = [parameter(p, place) for p in split_parameters(match[3])]
        if len(parameters) > MAX_PARAMETERS:
            raise contract_error(f"{place}: `{name}` has {len(parameters)} parameters; at most {MAX_PARAMETERS} fit a call")
        found[name] = (line, " ".join(match[1].split()), name, parameters)
    if not found:
        raise contract_error(f"{header}: declares no function; a contract needs one at the left margin")
    return list(found.values())


def glue(header, table, parent, devices=1):
    rows, checks = [], []
    for line, result, name, parameters in functions(header):
        place = f"{header.name}:{line}: {name}"
        for type_, what in parameters + [(result, "the result")]:
            if type_ != "void" and not type_.endswith("*"):
                checks.append(
                    f'static_assert(std::is_trivially_copyable_v<{type_}>, "{place}: {what} is not'
                    f' trivially copyable; a contract passes pointers and plain values");'
                )
        address = "nullptr" if parent else f"&grading::local<&::{name}>::run"
        names = ",".join(p for _, p in parameters)
        rows.append(f'    {{"{name}", "{names}", {address}, grading::local<&::{name}>::result_bytes}},')
    whose = "as the parent knows them" if parent else "with their addresses"
    return "\n".join(
        [f"// The functions that {header.name} declares, {whose}. Generated: edit the header instead."]
        + ["#include <cstddef>", '#include "process/contract.hpp"', f'#include "{header.name}"', "#include <type_traits>", ""]
        + checks
        + ["", "namespace grading {", f"extern const entry {table}[];", f"extern const int {table}_size, {table}_devices;"]
        + [f"const entry {table}[] = {{"]
        + rows
        + ["};", f"const int {table}_size = {len(rows)}, {table}_devices = {devices};", "} // namespace grading", ""]
    )


def kept(header, glue_object):
    """Returns the linker names that the table refers to, one for each function of the header."""
    undefined = subprocess.run(["nm", "-u", glue_object], check=True, capture_output=True, text=True).stdout
    symbols = [line.split()[-1] for line in undefined.splitlines() if " U " in line]
    plain = subprocess.run(["c++filt"], input="\n".join(symbols), check=True, capture_output=True, text=True).stdout
    by_name = {p.split("(")[0]: s for p, s in zip(plain.splitlines(), symbols)}
    names = [name for _, _, name, _ in functions(header)]
    lost = [name for name in names if name not in by_name]
    if lost:
        raise contract_error(f"{glue_object}: does not refer to {', '.join(lost)} of {header}; is it this header's glue?")
    return "".join(by_name[name] + "\n" for name in names)


def empty_functions(header):
    """Returns a submission with an empty body for each function of the lab, in lines of at most 80 columns."""
    number, _, topic = header.resolve().parent.name.partition("_")
    about = (
        f"Lab {number}, {topic.replace('_', ' ')}: the file to edit, with nothing given. What each function must do: "
        f"lab.hpp. The lesson: handouts/{number}_{topic}.md. TODOs in messages and hints are those of the stub as it is "
        f"handed out; `./workbook start {number}` brings it back, and keeps this file."
    )
    lines = [f"// {line}" for line in textwrap.wrap(about, 77)]
    lines += ['#include "../check.hpp"', '#include "lab.hpp"', "", "#include <cuda_runtime.h>"]
    for _, result, name, parameters in functions(header):
        space = "" if result.endswith("*") else " "
        declared = [type_ + ("" if type_.endswith("*") else " ") + p for type_, p in parameters]
        unbroken = ", ".join(p.replace(" ", "\0") for p in declared)
        head = textwrap.wrap(f"{result}{space}{name}({unbroken})", 80, subsequent_indent="    ", break_long_words=False)
        lines += ["", *(line.replace("\0", " ") for line in head), "{"]
        lines += ["    return {};"] if result != "void" else []
        lines += ["}"]
    return "\n".join(lines + [""])


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--parent", action="store_true")
    parser.add_argument("--table", default="contract")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--kept", metavar="GLUE")
    parser.add_argument("--open", action="store_true")
    parser.add_argument("header", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    try:
        if options.kept:
            text = kept(options.header, options.kept)
        elif options.open:
            text = empty_functions(options.header)
        else:
            text = glue(options.header, options.table, options.parent, options.devices)
    except (contract_error, OSError) as error:
        sys.exit(f"make_glue.py: {error}")
    # Do not rewrite an unchanged file: its new time would make everything built from it stale.
    if not options.out.exists() or options.out.read_text(encoding="utf-8") != text:
        options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
