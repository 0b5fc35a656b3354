#!/usr/bin/env python3
# Writes compile_commands.json beside the sources, with the .cu files that Meson's own leaves out, for editors.
"""usage: write_database.py BUILD"""

import json
import os
import sys
from pathlib import Path


def main():
    build = Path(sys.argv[1])
    tools = json.loads((build / "toolchain.json").read_text())
    top = Path(tools["source_root"])
    entries = json.loads((build / "compile_commands.json").read_text())
    # The command is clang's, because editors do not know nvcc's options.
    command = ["clang++", "-xcuda", f"--cuda-path={Path(tools['nvcc']).parents[1]}", "--cuda-gpu-arch=sm_80"]
    command += ["-nocudalib", "-Wno-unknown-cuda-version", "-std=c++20", "-Wall", "-Wno-unused"]
    for lab in tools["labs"]:
        name = lab["lab"]
        folders = [f"grader/tests/labs/{name}"] if lab["test"] else [f"{part}/{name}" for part in ("labs", "reference", "solutions")]
        for source in sorted(path for folder in folders for path in (top / folder).rglob("*.cu")):
            entries.append({"directory": str(top), "file": str(source), "arguments": [*command, f"-I{top / folders[0]}", str(source)]})
    temporary = top / f"compile_commands.json.{os.getpid()}"
    temporary.write_text(json.dumps(entries, indent=1) + "\n")
    temporary.rename(top / "compile_commands.json")


if __name__ == "__main__":
    main()
