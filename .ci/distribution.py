"""Check the built distributions: `python .ci/distribution.py FOLDER` exits with 1 if they differ.

It prints what is missing and what is stray. The sdist has all that git tracks, except the
links in .ci/types; the wheel has the package, the two folders that are mapped into it, and the
example.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

MAPPED = ("annotations", "scorers", "examples")
DATA = (".py", ".typed", ".bib", ".css", ".j2", ".js", ".json", ".txt", ".yaml")
# What git tracks and the sdist lacks, and what setuptools adds to it.
EXCEPTIONS = {".gitignore", "setup.cfg", "PKG-INFO"}


def tracked() -> set[str]:
    """Return the files of the checkout."""
    listed = subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True)
    return {
        file for file in listed.stdout.split("\n") if file and not file.startswith(".ci/types/")
    }


def expected_in_wheel(files: set[str]) -> set[str]:
    """Return where the wheel has the files of the checkout that are installed."""
    inside = {file for file in files if file.startswith("vifidel_eval/")}
    mapped = {file for file in files if file.startswith(tuple(f"{name}/" for name in MAPPED))}
    # Of the examples, only the JSON files at the top are installed.
    left_out = {file for file in mapped if file.startswith("examples/")}
    left_out -= {file for file in left_out if file.count("/") == 1 and file.endswith(".json")}
    installed = inside | {f"vifidel_eval/{file}" for file in mapped - left_out}
    return {file for file in installed if file.endswith(DATA)}


def check(folder: Path) -> bool:
    """Print what is missing and what is stray in each distribution of a folder."""
    files = tracked()
    (source,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    with tarfile.open(source) as archive:
        names = {one.name.split("/", 1)[1] for one in archive if one.isfile()}
    in_source = {name for name in names if ".egg-info/" not in name} - EXCEPTIONS
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = {name for name in archive.namelist() if ".dist-info/" not in name}
    fine = True
    for name, got, wanted in (
        ("sdist", in_source, files - EXCEPTIONS),
        ("wheel", in_wheel, expected_in_wheel(files)),
    ):
        missing, stray = sorted(wanted - got), sorted(got - wanted)
        print(f"{name}: {len(got)} files; missing: {missing or 'none'}; stray: {stray or 'none'}")
        fine &= not missing and not stray
    return fine


if __name__ == "__main__":
    sys.exit(0 if check(Path(sys.argv[1])) else 1)
