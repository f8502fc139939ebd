"""The weight of an installation: what each direct dependency adds to it, and each extra.

    python benchmarks/weight.py [CHECKOUT]

Installs the checkout, then one extra after the other, each into a virtual environment of its own,
and prints the megabytes of packages and how many there are. Of the installation without extras it
prints for each direct dependency its own megabytes, those that would go if we did without it, and
which other packages need it anyway (docs/benchmarks.md).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tabulate import tabulate

EXTRAS = ("", "pandas", "plots", "tables", "spark", "docs")
OURS = "vifidel-eval"


def installed(checkout: Path, extra: str) -> tuple[float, int]:
    """Return the megabytes and the number of packages of an installation."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        what = f"{checkout}[{extra}]" if extra else str(checkout)
        subprocess.run([python, "-m", "pip", "install", "--quiet", what], check=True)
        if not extra:
            site = next(path.parent for path in Path(folder).rglob("vifidel_eval-*.dist-info"))
            print(dependencies(site), flush=True)
        files = (path for path in Path(folder).rglob("*") if path.is_file())
        packages = len(list(Path(folder).rglob("*.dist-info")))
        return sum(path.stat().st_size for path in files) / 1e6, packages


def dependencies(site: Path) -> str:
    """Return a table of our direct dependencies in a folder of installed packages."""
    packages = {canonicalize_name(one.metadata["Name"]): one for one in distributions(path=[site])}
    needs = {name: needed(one, {""}) for name, one in packages.items()}
    for requirement in map(Requirement, packages[OURS].requires or []):  # tabulate[widechars]
        name = canonicalize_name(requirement.name)
        if name in needs[OURS]:
            needs[name] |= needed(packages[name], requirement.extras)
    megabytes = {name: size(one) for name, one in packages.items()}
    rows = []
    for name in sorted(needs[OURS], key=lambda one: -megabytes[one]):
        goes = reached([name], needs) - reached(needs[OURS] - {name}, needs)
        others = sorted(one for one in packages if one != OURS and name in needs[one])
        weight = sum(megabytes[one] for one in goes)
        rows.append([name, f"{megabytes[name]:.1f}", f"{weight:.1f}", ", ".join(others)])
    return tabulate(rows, ["dependency", "MB", "MB that go with it", "needed by"], "github")


def needed(package: Distribution, extras: Iterable[str]) -> set[str]:
    """Return the names of what a package, or one of its extras, needs here."""
    requirements = map(Requirement, package.requires or [])
    return {
        canonicalize_name(one.name)
        for one in requirements
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in extras)
    }


def reached(names: Iterable[str], needs: dict[str, set[str]]) -> set[str]:
    """Return packages with all that they need, and what that needs."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in needs and name not in found:
            found.add(name)
            waiting += needs[name]
    return found


def size(package: Distribution) -> float:
    """Return the megabytes of a package's files."""
    files = (Path(str(package.locate_file(file))) for file in package.files or ())
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


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
