"""The size of the package, and the way of one caption through it.

    python benchmarks/house.py [--verbose]

Counts in the checkout whose ``vifidel_eval`` this Python imports:

- lines of the core and of the satellites, which only `entry/` and `commands/` import, or the files
  of their metrics (`SATELLITES`), as the files have them: code, docstrings and blank lines of
  Python, scripts, styles and templates; also of the core together with the satellites that most
  people use: the report, tables, and companions, the metrics of others;
- what one caption passes in ``evaluate`` and in ``Scorer.score``: files in which a function is
  called, calls, and moves, which are calls that are in another file than the call before. The same
  call was made before, so that imports and vectors that are read once do not count;
- circles of imports between modules: of those that are made when code runs, also inside functions,
  and of these together with those for type checkers;
- lines that name an example of a metric, of a format of objects and of a layout of caption files
  in any file but its own: what adding one costs.

With ``--verbose`` it also lists the files that a caption passes, and the lines that name an
example.
"""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FrameType

import click

import vifidel_eval
from vifidel_eval.scorers import Vifidel
from vifidel_eval.scorers.registry import METRICS

ROOT = Path(vifidel_eval.__file__).parents[1]
SOURCES = ("vifidel_eval", "scorers", "annotations")
ENDINGS = (".py", ".js", ".css", ".j2")

#: What the core can do without: only the two entries, `entry/` and `commands/`, and the files of
#: metrics import it (contracts in pyproject.toml say so). Folders and files, with their commands.
SATELLITES = {
    "agreement": ("vifidel_eval/agreement/", "vifidel_eval/commands/agreement"),
    "companions": (
        "vifidel_eval/companions/",
        "scorers/chair.py",
        "scorers/meteor.py",
        "scorers/ngram_metrics.py",
        "scorers/spice.py",
    ),
    "detect and questions": (
        "vifidel_eval/detect",
        "vifidel_eval/plugins/detect/detect_command.py",
        "vifidel_eval/asking/",
        "vifidel_eval/plugins/detect/questions_command.py",
        "vifidel_eval/plugins/detect/detected_objects.py",
    ),
    "integrations and rewards": ("vifidel_eval/integrations", "vifidel_eval/rewards"),
    "networks": (
        "vifidel_eval/networks/",
        "vifidel_eval/plugins/networks/convert_command.py",
        "vifidel_eval/plugins/networks/train_command.py",
        "plugins/networks/lm.py",
        "plugins/networks/tiger.py",
        "plugins/networks/vilbertscore.py",
    ),
    "report": ("vifidel_eval/report/",),
    "spark": ("vifidel_eval/plugins/tables/spark.py",),
    "submission": ("vifidel_eval/submission/", "vifidel_eval/plugins/submission/command.py"),
    "tables": ("vifidel_eval/tables/", "vifidel_eval/plugins/tables/command.py"),
}

CAPTION = "a dog catches a frisbee"
REFERENCES = ["a dog jumps for a frisbee", "the dog is playing outside"]
LABELS = ["dog", "frisbee"]

#: What adding one costs, by an example: the file of each, and files that may name it for free.
EXAMPLES = (
    ("metric", "scorers/wmd.py", ("scorers/__init__.py",)),
    ("format of objects", "annotations/voc.py", ()),
    ("layout of captions", "vifidel_eval/captions/lmms_eval.py", ()),
)


def source_files() -> list[str]:
    """Return the paths of all files of source, relative to the checkout."""
    return sorted(
        path.relative_to(ROOT).as_posix()
        for folder in SOURCES
        for path in (ROOT / folder).rglob("*")
        if path.suffix in ENDINGS and path.is_file()
    )


def lines_of(files: Iterable[str]) -> int:
    """Return how many lines files have together."""
    return sum(len((ROOT / file).read_text(encoding="utf-8").splitlines()) for file in files)


def passed(call: Callable[[], object]) -> tuple[list[str], int]:
    """Return the files of the functions that a call calls, call after call; and moves."""
    call()
    files: list[str] = []
    folders = tuple(f"{ROOT / folder}/" for folder in SOURCES)

    def note(frame: FrameType, event: str, _: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(folders):
            files.append(Path(path).relative_to(ROOT).as_posix())

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return files, sum(a != b for a, b in itertools.pairwise(files))


def evaluated(metrics: list[str]) -> None:
    """Evaluate one caption."""
    vifidel_eval.evaluate(
        {"mine": {1: CAPTION}}, {1: REFERENCES}, {1: LABELS}, metrics, progress=False
    )


def print_way(what: str, call: Callable[[], object], verbose: bool) -> None:
    """Print what one caption passes."""
    files, moves = passed(call)
    distinct = sorted(set(files))
    print(f"{what}: {len(distinct)} files, {len(files)} calls, {moves} moves")
    if verbose:
        for file in distinct:
            print(f"    {file} ({files.count(file)} calls)")


def module_of(file: str) -> str:
    """Return the dotted name of a file of Python."""
    dotted = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return dotted if dotted.startswith("vifidel_eval") else f"vifidel_eval.{dotted}"


def imports(
    file: str, known: dict[str, str], for_types: bool = False
) -> Iterator[tuple[str, ast.alias]]:
    """Yield the files that a file imports from, with what is imported."""
    package = module_of(file)
    if not file.endswith("__init__.py"):
        package = package.rpartition(".")[0]
    waiting: list[ast.AST] = [ast.parse((ROOT / file).read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if not for_types and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from ((known[alias.name], alias) for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*(above if node.level else []), *filter(None, [node.module])])
            for alias in node.names:
                name = f"{base}.{alias.name}"
                if name in known or base in known:
                    yield known.get(name) or known[base], alias


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of files of which each imports, directly or not, all others."""
    arrows = {file: to - {file} for file, to in arrows.items()}

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        waiting = [start]
        while waiting:
            new = arrows[waiting.pop()] - found
            found |= new
            waiting += new
        return found

    of_file = {file: reached(file) for file in arrows}
    groups = {
        tuple(sorted(other for other in of_file[file] if file in of_file[other]))
        for file in arrows
        if file in of_file[file]
    }
    return [list(group) for group in sorted(groups)]


def named_in(example: str, free: Iterable[str], known: dict[str, str]) -> list[str]:
    """Return the lines of other files that import an example or use what they imported."""
    lines: list[str] = []
    for file in known.values():
        names = {alias.asname or alias.name for at, alias in imports(file, known) if at == example}
        if file == example or file in free or not names:
            continue
        text = (ROOT / file).read_text(encoding="utf-8")
        found = {
            node.lineno
            for node in ast.walk(ast.parse(text))
            if (isinstance(node, ast.Name) and node.id in names)
            or (isinstance(node, ast.alias) and (node.asname or node.name) in names)
        }
        lines += [f"{file}:{at}: {text.splitlines()[at - 1].strip()}" for at in sorted(found)]
    return lines


@click.command()
@click.option("--verbose", is_flag=True, help="List files and lines too.")
def main(verbose: bool) -> None:
    """Print all figures."""
    files = source_files()
    of_satellites = tuple(itertools.chain.from_iterable(SATELLITES.values()))
    core = [file for file in files if not file.startswith(of_satellites)]
    print(f"core: {lines_of(core)} lines in {len(core)} files")
    near = list(core)
    for name in ("report", "tables", "companions"):
        near += [file for file in files if file.startswith(SATELLITES[name])]
        print(f"    and {name}: {lines_of(near)}")
    print(f"satellites: {lines_of(files) - lines_of(core)} lines in {len(files) - len(core)} files")
    for name, folders in SATELLITES.items():
        print(f"    {name}: {lines_of(f for f in files if f.startswith(folders))}")

    defaults = [m.name for m in METRICS.values() if m.default and "Java" not in m.needs]
    print_way("evaluate, VIFIDEL", lambda: evaluated(["VIFIDEL"]), verbose)
    print_way(f"evaluate, {', '.join(defaults)}", lambda: evaluated(defaults), verbose)
    scorer = Vifidel()
    print_way(
        "Vifidel().score",
        lambda: scorer.score([CAPTION], objects=[LABELS], references=[REFERENCES]),
        verbose,
    )

    known = {module_of(file): file for file in files if file.endswith(".py")}
    for what, for_types in (("imports", False), ("imports and types", True)):
        found = circles(
            {file: {at for at, _ in imports(file, known, for_types)} for file in known.values()}
        )
        print(f"circles of {what}: {len(found)}")
        for circle in found:
            print(f"    {', '.join(circle)}")
    for what, example, free in EXAMPLES:
        if (ROOT / example).exists():
            lines = named_in(example, free, known)
            in_others = f"{len(lines)} line{'s' if len(lines) != 1 else ''} in others"
            print(f"another {what}, as {example}: 1 file and {in_others}")
            if verbose:
                print("".join(f"    {line}\n" for line in lines), end="")


if __name__ == "__main__":
    main()
