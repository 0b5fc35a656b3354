#!/usr/bin/env python3
# Fetches the headers of doctest, CLI11, nlohmann/json and fmt from the wheels that wheels/headers.txt pins.
"""usage: fetch_headers.py FOLDER"""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PINS = Path(__file__).resolve().parent / "wheels/headers.txt"
LIBRARIES = ("doctest", "CLI", "nlohmann", "fmt")


def fetch(folder):
    """Puts one folder per library into `folder`. Raises CalledProcessError where pip cannot get the wheels."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    # Work beside the destination, so that one rename makes a whole library appear.
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        subprocess.run([sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-input", "--no-deps",
                        "--require-hashes", "--requirement", PINS, "--dest", f"{work}/wheels"],
                       check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for wheel in Path(work, "wheels").glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                for name in archive.namelist():
                    _, found, inside = name.partition("/include/")
                    if found and inside.split("/")[0] in LIBRARIES and not inside.endswith("/"):
                        out = Path(work, "include", inside)
                        out.parent.mkdir(parents=True, exist_ok=True)
                        out.write_bytes(archive.read(name))
        for library in LIBRARIES:
            shutil.rmtree(folder / library, ignore_errors=True)
            Path(work, "include", library).rename(folder / library)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        fetch(sys.argv[1])
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error.output}\nfetch_headers.py: pip could not download the wheels that {PINS} names; it said the above")
