#!/usr/bin/env python3
# Writes toolchain.json, which tells cuda-workbook how this build compiles and links a submission.
"""usage: write_toolchain.py OUT KEY=VALUE|KEY+=VALUE|KEY?=true|KEY?=false ...

A KEY is a path, `labs/02_coalescing/rungs`; += appends to a list (`KEY+=` alone makes an empty one).
Entries under `labs` become a list of objects with a `lab`, in the order given.
"""

import json
import re
import sys
from pathlib import Path


def main():
    out, *settings = sys.argv[1:]
    result = {"schema": 1}
    for setting in settings:
        path, how, value = re.match(r"([\w/.]+)(\+=|\?=|=)(.*)", setting, re.S).groups()
        *folders, key = path.split("/")
        at = result
        for folder in folders:
            at = at.setdefault(folder, {})
        if how == "+=":
            at.setdefault(key, []).extend([value] if value else [])
        else:
            at[key] = value == "true" if how == "?=" else value
    result["labs"] = [{"lab": name, **row} for name, row in result.get("labs", {}).items()]
    Path(out).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
