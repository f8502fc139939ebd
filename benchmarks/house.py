"""The size of the house, and what one caption passes in it.

    python benchmarks/house.py [--verbose]

Counts in the checkout that this file is in, and fails where a figure grows past its bound, of
``[tool.house]`` in ``pyproject.toml``: a new feature pays for its lines. Lines are those of Python
files, with docstrings and blank lines; the core is everything but ``vifidel_eval/plugins/``. A file
is passed if a function in it is called; the same call was made once before, so that imports and
vectors do not count. How long a row takes is printed and has no bound.
"""

from __future__ import annotations

import inspect
import re
import sys
import time
from collections.abc import Callable
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

CAPTION = "a dog catches a frisbee"
REFERENCES = ["a dog catches a frisbee", "a brown dog jumps"]
LABELS = ["dog", "frisbee"]
TWO_SENTENCES = "A dog catches a frisbee. A cat sleeps."

#: What adding one costs: an example, and how other files may name it.
EXAMPLES = {
    "a metric": ("scorers/wmd.py", r"\.wmd import"),
    "a format of objects": ("annotations/folders.py", r"folders\.VOC\b"),
    "a layout of captions": ("vifidel_eval/captions/datasets.py", r"datasets\.KARPATHY\b"),
}


def source_lines() -> dict[str, list[str]]:
    """Return the lines of all source files of Python, by their paths in the checkout."""
    return {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8").splitlines()
        for folder in SOURCES
        for path in sorted((ROOT / folder).rglob("*.py"))
    }


def entries_of_package() -> list[str]:
    """Return what is directly below ``vifidel_eval/``, without modules that only hand on names."""
    left_out = ("__init__.py", "__main__.py", "__pycache__", "project.py", "py.typed")
    return [
        path.name
        for path in sorted((ROOT / "vifidel_eval").iterdir())
        if path.name not in left_out
        and (path.is_dir() or len(path.read_text(encoding="utf-8").splitlines()) >= 12)
    ]


def passed(call: Callable[[], object]) -> list[str]:
    """Return the source files in which a call calls functions."""
    call()
    folders = tuple(str(Path(one.__file__).parent) for one in (vifidel_eval, annotations, scorers))
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
        one = seconds(lambda scorer=scorer: scorer.score([CAPTION], **row), 100)
        print(f"one row of {name}: {one * 1e6:.0f} us, {one / bare:.1f} times ot.emd")


@click.command()
@click.option("--verbose", is_flag=True, help="List files too.")
def main(verbose: bool) -> None:
    """Print all figures; end with status 1 if one is past its bound."""
    lines = source_lines()
    counts = {file: len(content) for file, content in lines.items()}
    core = sum(n for file, n in counts.items() if not file.startswith("vifidel_eval/plugins/"))
    looked_for = [file for file, content in lines.items() if "looked_for" in "\n".join(content)]
    figures: dict[str, tuple[int, list[str]]] = {
        "lines": (sum(counts.values()), []),
        "lines_of_the_core": (core, []),
        "files": (len(counts), []),
        "lines_of_the_largest_file": (max(counts.values()), [max(counts, key=counts.__getitem__)]),
        "entries_of_the_package": (len(entries_of_package()), entries_of_package()),
        "files_that_say_looked_for": (len(looked_for), looked_for),
        "letters_of_the_signature_of_evaluate": (
            len(str(inspect.signature(vifidel_eval.evaluate))),
            [],
        ),
    }
    for name, call in calls().items():
        figures[f"files_that_{name}_passes"] = (len(files := passed(call)), files)
    for what, (example, pattern) in EXAMPLES.items():
        naming = [
            f"{file}: {line.strip()}"
            for file, content in lines.items()
            for line in content
            if file not in (example, "scorers/__init__.py", "annotations/__init__.py")
            and re.search(pattern, line)
        ]
        figures[f"lines_elsewhere_for_{what.replace(' ', '_')}"] = (len(naming), naming)

    bounds = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["house"]
    for name, (figure, listed) in figures.items():
        past = "  PAST ITS BOUND" if figure > bounds[name] else ""
        print(f"{name}: {figure} (bound {bounds[name]}){past}")
        if verbose:
            print("".join(f"    {one}\n" for one in listed), end="")
    print_times()
    sys.exit(any(figure > bounds[name] for name, (figure, _) in figures.items()))


if __name__ == "__main__":
    main()
