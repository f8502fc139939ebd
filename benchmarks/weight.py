"""The weight of an installation, and of each extra.

    python benchmarks/weight.py [CHECKOUT]

Installs the checkout, then one extra after the other, each into a virtual environment of its own,
and prints the megabytes of packages and how many there are.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

EXTRAS = ("", "pandas", "plots", "tables", "spark", "docs")


def installed(checkout: Path, extra: str) -> tuple[float, int]:
    """Return the megabytes and the number of packages of an installation."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        what = f"{checkout}[{extra}]" if extra else str(checkout)
        subprocess.run([python, "-m", "pip", "install", "--quiet", what], check=True)
        files = (path for path in Path(folder).rglob("*") if path.is_file())
        packages = len(list(Path(folder).rglob("*.dist-info")))
        return sum(path.stat().st_size for path in files) / 1e6, packages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("checkout", nargs="?", default=Path(__file__).parents[1], type=Path)
    checkout = parser.parse_args().checkout.resolve()
    base = 0.0
    for extra in EXTRAS:
        megabytes, packages = installed(checkout, extra)
        base = base or megabytes
        added = "" if megabytes == base else f", {megabytes - base:+.0f} MB"
        print(f"{extra or 'default':8} {megabytes:6.0f} MB, {packages} packages{added}", flush=True)


if __name__ == "__main__":
    main()
