"""The size of the house, and what one caption passes in it.

    python benchmarks/house.py [--verbose]

Counts in the checkout that this file is in, and fails where a figure is past its bound, of
``[tool.house]`` in ``pyproject.toml``. Lines of code are those of Python files without blank lines,
comments and docstrings; the core is what stays if all plug-ins are deleted. A file is passed if a
function in it is called; the same call was made once before, so that imports and vectors do not
count. How long a row takes is printed and has no bound, because machines are not quiet.
"""

from __future__ import annotations

import ast
import io
import sys
import time
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import FrameType

import click
import numpy as np
import ot

import vifidel_eval
from vifidel_eval import annotations, scorers
from vifidel_eval.scorers import Vifidel, VifidelPRF

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
SOURCES = ("vifidel_eval", "scorers", "annotations")
PACKAGE = ROOT / "vifidel_eval"

CAPTION = "a dog catches a frisbee"
REFERENCES = ["a dog catches a frisbee", "a brown dog jumps"]
LABELS = ["dog", "frisbee"]
TWO_SENTENCES = "A dog catches a frisbee. A cat sleeps."

#: A longer function cannot be held in the head; its docstring does not count.
LONG_FUNCTION = 60
#: A module below the package with fewer lines only hands names on.
SHORT_MODULE = 14
#: What stays outside the core, as a folder or a module: the plug-ins and who hands on their names.
OUTSIDE = {"plugins", "asking", "detect", "integrations", "rewards", "spark"}
#: Attributes that are set, and functions that are defined, only to rewrite what a class shows.
REWRITTEN = {"__signature__", "__doc__", "__init__"}
REWRITING = {"__init_subclass__", "__dir__"}
#: Functions that take any number of like values: a starred tuple hides no name there.
VARIADIC = {"print", "max", "min", "zip", "map", "chain", "set"}
#: Names of starred tuples that only pass arguments on.
PASSED_ON = {"args", "arguments"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class SourceFile:
    """A source file of Python, by its path in the checkout."""

    path: str
    text: str

    @property
    def in_core(self) -> bool:
        """Whether the file stays if the plug-ins are deleted."""
        return OUTSIDE.isdisjoint(Path(self.path).with_suffix("").parts)

    @property
    def hands_names_on(self) -> bool:
        """Whether the file is a short module of the package that only imports."""
        folder, _, name = self.path.partition("/")
        is_module = folder == "vifidel_eval" and "/" not in name and not name.startswith("__")
        return is_module and 1 < self.lines < SHORT_MODULE

    @property
    def lines(self) -> int:
        """The number of lines of any kind."""
        return len(self.text.splitlines())

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the syntax tree."""
        return list(ast.walk(ast.parse(self.text)))

    def lines_of_code(self) -> int:
        """Return how many lines hold code, not only a comment or a docstring."""
        blank = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
        code: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type not in (*blank, tokenize.ENDMARKER):
                code.update(range(token.start[0], token.end[0] + 1))
        for docstring in map(docstring_of, self.nodes):
            if docstring is not None:
                code.difference_update(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
        return len(code)

    def places(self, is_counted: Callable[[ast.AST], bool]) -> Iterator[str]:
        """Yield file and line of each node that counts, and its name if it has one."""
        for line in sorted({node.lineno for node in self.nodes if is_counted(node)}):
            yield f"{self.path}:{line}"


def docstring_of(node: ast.AST) -> ast.Expr | None:
    """Return the docstring of a module, class or function, if it has one."""
    if not isinstance(node, ast.Module | ast.ClassDef | Function) or not node.body:
        return None
    first = node.body[0]
    is_text = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return first if is_text and isinstance(first.value.value, str) else None


def is_long(node: ast.AST) -> bool:
    """Return whether a node is a function that is longer than a page, without its docstring."""
    if not isinstance(node, Function):
        return False
    docstring = docstring_of(node)
    told = 0 if docstring is None else len(docstring.value.value.splitlines())
    return node.end_lineno - node.lineno + 1 - told > LONG_FUNCTION


def is_record(node: ast.AST) -> bool:
    """Return whether a node is a dataclass, a named tuple or a typed dictionary."""
    if not isinstance(node, ast.ClassDef):
        return False
    bases = {getattr(base, "id", "") for base in node.bases}
    decorated = any("dataclass" in ast.dump(decorator) for decorator in node.decorator_list)
    return decorated or not bases.isdisjoint({"NamedTuple", "TypedDict"})


def is_magic(node: ast.AST) -> bool:
    """Return whether a node rewrites what a class or function shows, or evaluates text."""
    if isinstance(node, ast.Attribute):
        return isinstance(node.ctx, ast.Store) and node.attr in REWRITTEN
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") in ("eval", "exec")
    return isinstance(node, ast.FunctionDef) and node.name in REWRITING


def is_starred(node: ast.AST) -> bool:
    """Return whether a node is a call that takes arguments from a tuple with a name."""
    if not isinstance(node, ast.Call) or getattr(node.func, "id", "") in VARIADIC:
        return False
    starred = (argument.value for argument in node.args if isinstance(argument, ast.Starred))
    return any(isinstance(value, ast.Name) and value.id not in PASSED_ON for value in starred)


def files_in(*folders: str) -> list[SourceFile]:
    """Return all files of Python in folders of the checkout."""
    return [
        SourceFile(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]


def entries_of_package() -> list[str]:
    """Return what is directly below ``vifidel_eval/``, without modules that hand names on."""
    left_out = ("__init__.py", "__main__.py", "__pycache__", "project.py", "py.typed")
    return [
        path.name
        for path in sorted(PACKAGE.iterdir())
        if path.name not in left_out
        and (path.is_dir() or len(path.read_text(encoding="utf-8").splitlines()) >= SHORT_MODULE)
    ]


def passed(call: Callable[[], object]) -> list[str]:
    """Return the source files in which a call calls functions."""
    call()
    rooms = (vifidel_eval, annotations, scorers)
    folders = tuple(str(Path(room.__file__).parent) for room in rooms)
    files: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(folders):
            files.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return sorted(files)


def calls() -> dict[str, Callable[[], object]]:
    """Return what one caption is followed through."""
    plain, judging = Vifidel(), VifidelPRF()
    explaining = Vifidel({1: LABELS})
    row = {"objects": [LABELS], "references": [REFERENCES]}
    return {
        "evaluate": lambda: vifidel_eval.evaluate(
            {"a": {1: CAPTION}},
            references={1: REFERENCES},
            objects={1: LABELS},
            metrics=["VIFIDEL"],
        ),
        "score": lambda: plain.score([CAPTION], **row),
        "judge_sentences": lambda: judging.judge_sentences(judging.rows([TWO_SENTENCES], **row)),
        "explain": lambda: explaining.explain(1, TWO_SENTENCES, REFERENCES),
    }


def seconds(call: Callable[[], object], times: int) -> float:
    """Return the CPU time of a call, the least of five measurements."""
    call()
    measured = []
    for _ in range(5):
        start = time.process_time()
        for _ in range(times):
            call()
        measured.append((time.process_time() - start) / times)
    return min(measured)


def print_times() -> None:
    """Print what one row takes, as a multiple of POT's own solver on a problem of its size."""
    row = {"objects": [LABELS], "references": [REFERENCES]}
    mass, costs = np.ones(4) / 4, np.random.default_rng(0).random((4, 4))
    bare = seconds(lambda: ot.emd(mass, mass, costs), 300)
    for name, scorer in (("VIFIDEL", Vifidel()), ("VIFIDEL-PRF", VifidelPRF())):
        row_seconds = seconds(lambda scorer=scorer: scorer.score([CAPTION], **row), 100)
        times = row_seconds / bare
        print(f"one row of {name}: {row_seconds * 1e6:.0f} us, {times:.1f} times ot.emd")


def figures() -> dict[str, tuple[int, list[str]]]:
    """Return each figure by the name of its bound, and what `--verbose` lists of it."""
    files, tests = files_in(*SOURCES), files_in("tests")
    core = [file for file in files if file.in_core]
    code = {file.path: file.lines_of_code() for file in files}
    largest = max(files, key=lambda file: file.lines)
    listed = {
        "functions_above_60_lines": [place for file in files for place in file.places(is_long)],
        "records": [place for file in files for place in file.places(is_record)],
        "places_that_rewrite_or_evaluate": [
            place for file in files for place in file.places(is_magic)
        ],
        "starred_calls_of_the_core": [place for file in core for place in file.places(is_starred)],
        "modules_that_hand_names_on": [file.path for file in files if file.hands_names_on],
        "entries_of_the_package": entries_of_package(),
        "files_that_say_looked_for": [file.path for file in files if "looked_for" in file.text],
    }
    listed |= {f"files_that_{name}_passes": passed(call) for name, call in calls().items()}
    return {
        "lines_of_code": (sum(code.values()), []),
        "lines_of_code_of_the_core": (sum(code[file.path] for file in core), []),
        "lines_of_tests": (sum(file.lines for file in tests), []),
        "source_files": (len(files), []),
        "lines_of_the_largest_file": (largest.lines, [largest.path]),
        **{name: (len(places), places) for name, places in listed.items()},
    }


@click.command()
@click.option("--verbose", is_flag=True, help="List files and places too.")
def main(verbose: bool) -> None:
    """Print all figures; end with status 1 if one is past its bound."""
    bounds = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["house"]
    is_past = False
    for name, (figure, listed) in figures().items():
        is_past = is_past or figure > bounds[name]
        past = "  PAST ITS BOUND" if figure > bounds[name] else ""
        print(f"{name}: {figure} (bound {bounds[name]}){past}")
        if verbose:
            print("".join(f"    {line}\n" for line in listed), end="")
    print_times()
    sys.exit(is_past)


if __name__ == "__main__":
    main()
