"""Times of whole commands: beside version 0.1.0, beside POT's import, and after the scoring.

    python benchmarks/run.py COCO [--before CHECKOUT] [--since CHECKOUT] [--pascal50s FOLDER]
        [--flickr8k FOLDER] [--without-torch PYTHON]

COCO holds ``captions_val2017_{references,human_results,shuffled_results,degenerate_results}.json``
and ``instances_val2017.json``; CHECKOUT is a checkout of version 0.1.0 (``git worktree add CHECKOUT
v0.1.0``), and of 0.2.0 after ``--since``. Everything is measured in processes of their own, which
alternate: seconds of CPU with those of the Java processes that they start, medians of
``--repeats``. Other work on the machine makes both sides slower, so read the ratios.

- *three systems*: ``score --metrics VIFIDEL,WMD,BLEU,ROUGE_L,CIDEr`` on val2017, and 0.1.0's.
- *pascal50s*: ``agreement pascal50s`` with VIFIDEL, WMD, BLEU, METEOR and CIDEr at 0 and 5
  references, and 0.1.0's. FOLDER is PASCAL-50S with its ``Annotations``. Once: it takes minutes.
- *default run*: ``score`` of the three systems with ``--output``, and 0.2.0's; *saving* is what
  ``--output`` adds to it, beside all of it.
- *stock pycocoevalcap*: the three systems under the default metrics without ``--output``, and under
  BLEU, ROUGE-L and CIDEr; and a script with pycocoevalcap's own tokenizer and these three classes.
- *agreement with n-grams*: ``agreement pascal50s`` and ``flickr8k`` under BLEU, ROUGE-L and CIDEr
  with the numbers of references and draws that are the default, and 0.2.0's.
- *first score, PyTorch installed*: ``score --metrics VIFIDEL`` on this repository's
  example, and the same where ``import torch`` fails.
- *first score*: the same command in an environment without PyTorch, and ``import numpy, ot`` there.
  PYTHON is that environment's, in which this package is installed.
- *comparison*: intervals, tests and ranks of the three systems, and their scoring, both in one
  process.
- *metrics together*: the three systems under VIFIDEL, VIFIDEL-PRF and WMD in one run, and in a run
  for each metric, all in one process that knows the words.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tabulate import tabulate

HERE = Path(__file__).resolve().parents[1]
METRICS = "VIFIDEL,WMD,BLEU,ROUGE_L,CIDEr"
COMMAND = """
try:
    from vifidel_eval.commands.main import main
except ImportError:  # 0.1.0
    from vifidel_eval.cli import main
main()
"""
WITHOUT_TORCH = f"""
import sys
class NoTorch:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, NoTorch())
{COMMAND}"""
SCORING = """
import os, statistics, sys
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the command does
from pathlib import Path
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.run.reading import with_labels
from vifidel_eval.scorers.registry import METRICS, build
from vifidel_eval.scores.comparison import compare
from vifidel_eval.scores.systems import score_aligned
from vifidel_eval.scores.alignment import System, align
from vifidel_eval.words.settings import Settings

METRICS.load()
metrics, references, objects, *results = sys.argv[1:]
systems = [System(path, read_results(Path(path))) for path in results]
gold = read_references(Path(references))
def made():
    return build(metrics.split(","), with_labels(Settings(objects=Path(objects))))[0]
def seconds():
    return sum(os.times()[:4])  # user, system, children's user, children's system
"""
STOCK = """
import sys
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer
from pycocotools.coco import COCO

references, *results = sys.argv[1:]
truth = COCO(references)
for path in results:
    found = truth.loadRes(path)
    ids = found.getImgIds()
    gts, res = (PTBTokenizer().tokenize({i: s.imgToAnns[i] for i in ids}) for s in (truth, found))
    for scorer in (Bleu(4), Rouge(), Cider()):
        scorer.compute_score(gts, res)
"""
AFTER_SCORING = f"""{SCORING}
scorers = made()
start = seconds()
scores = score_aligned(align(systems, gold), scorers)
scored = seconds()
compare(scores)
print(seconds() - scored, scored - start)
"""
TOGETHER = f"""{SCORING}
def score(scorers):
    start = seconds()
    score_aligned(align(systems, gold), scorers)
    return seconds() - start
first = made()
score(first)
one_run, run_of_each = [], []
for _ in range(7):
    one_run.append(score(made()))
    run_of_each.append(sum(score({{name: scorer}}) for name, scorer in made().items()))
print(statistics.median(one_run), statistics.median(run_of_each))
"""


def process(python: str, code: str, arguments: Sequence[object], tree: Path) -> tuple[float, str]:
    """Return the CPU seconds of a Python process and its children, and what it printed."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    for name in [name for name in environment if name.startswith("POT_BACKEND_")]:
        del environment[name]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [python, "-c", code, *map(str, arguments)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise SystemExit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def paired(
    one: tuple[str, str, Sequence[object], Path],
    other: tuple[str, str, Sequence[object], Path],
    repeats: int,
) -> tuple[float, float]:
    """Return the median CPU seconds of two processes that alternate."""
    times = [(process(*one)[0], process(*other)[0]) for _ in range(repeats)]
    first, second = zip(*times, strict=True)
    return statistics.median(first), statistics.median(second)


def since(
    given: argparse.Namespace, references: Path, objects: Path, results: Sequence[Path]
) -> Iterator[tuple[str, float, float, str]]:
    """Yield what version 0.2.0 and pycocoevalcap are beside: name, CPU seconds of both, which."""
    here = sys.executable

    def both(now: Sequence[object], before: tuple[str, str, Sequence[object], Path]) -> Any:
        return paired((here, COMMAND, now, HERE), before, given.repeats)

    default = ["score", *results, "--references", references, "--objects", objects]
    default += ["--allow-subset"]
    saving = [*default, "--output", "scores.json"]
    if given.since:
        then = given.since.resolve()
        yield "default run", *both(saving, (here, COMMAND, saving, then)), "0.2.0"
        for name, folder in (("pascal50s", given.pascal50s), ("flickr8k", given.flickr8k)):
            if folder:
                people = ["agreement", name, folder.resolve(), "--metrics", "BLEU,ROUGE_L,CIDEr"]
                times = both(people, (here, COMMAND, people, then))
                yield f"agreement {name} with n-grams", *times, "0.2.0"
    whole, plain = both(saving, (here, COMMAND, default, HERE))
    yield "saving", whole - plain, whole, "all of the run"
    companions = [*default, "--metrics", "BLEU,ROUGE_L,CIDEr"]
    stock = (here, STOCK, [references, *results], HERE)
    for name, now in (("default run, printed", default), ("BLEU, ROUGE-L, CIDEr", companions)):
        yield name, *both(now, stock), "stock pycocoevalcap"


def in_one_process(files: Sequence[Path], repeats: int) -> Iterator[tuple[str, float, float, str]]:
    """Yield what the comparison, and several metrics in one run, are beside."""
    here = sys.executable
    parts = [process(here, AFTER_SCORING, [METRICS, *files], HERE)[1] for _ in range(repeats)]
    times = [tuple(map(float, part.split())) for part in parts]
    compared, scored = (statistics.median(side) for side in zip(*times, strict=True))
    yield "comparison", compared, scored, "scoring"
    metrics = "VIFIDEL,VIFIDEL-PRF,WMD"
    together, apart = map(float, process(here, TOGETHER, [metrics, *files], HERE)[1].split())
    yield "metrics together", together, apart, "a run for each"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("coco", type=Path, metavar="COCO")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="a checkout of 0.1.0")
    parser.add_argument("--since", type=Path, metavar="CHECKOUT", help="a checkout of 0.2.0")
    parser.add_argument("--flickr8k", type=Path, metavar="FOLDER")
    parser.add_argument("--pascal50s", type=Path, metavar="FOLDER")
    parser.add_argument("--without-torch", metavar="PYTHON")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    coco = given.coco.resolve()
    references = coco / "captions_val2017_references.json"
    objects = coco / "instances_val2017.json"
    results = [
        coco / f"captions_val2017_{name}_results.json"
        for name in ("human", "shuffled", "degenerate")
    ]
    three = ["score", *results, "--references", references, "--objects", objects]
    three += ["--metrics", METRICS, "--allow-subset"]  # degenerate lacks 11 images
    examples = HERE / "examples"
    example = ["score", examples / "captions_example_careful_results.json"]
    example += ["--references", examples / "captions_example.json", "--metrics", "VIFIDEL"]
    example += ["--objects", examples / "instances_example.json"]

    rows: list[tuple[object, ...]] = []

    def add(name: str, now: float, than: float, what: str) -> None:
        rows.append((name, now, than, now / than, what))
        print(f"{name}: {now / than:.2f} times {what}", file=sys.stderr, flush=True)

    here = sys.executable
    if given.before:
        then = given.before.resolve()
        now = paired((here, COMMAND, three, HERE), (here, COMMAND, three, then), given.repeats)
        add("three systems", *now, "0.1.0")
        if given.pascal50s:
            people = given.pascal50s.resolve()
            agreement = ["agreement", "pascal50s", people, "--objects", people / "Annotations"]
            agreement += ["--metrics", "VIFIDEL,WMD,BLEU,METEOR,CIDEr", "--references", "0,5"]
            now = paired((here, COMMAND, agreement, HERE), (here, COMMAND, agreement, then), 1)
            add("agreement pascal50s", *now, "0.1.0")
    for row in since(given, references, objects, results):
        add(*row)
    now = paired(
        (here, COMMAND, example, HERE), (here, WITHOUT_TORCH, example, HERE), given.repeats + 2
    )
    add("first score, PyTorch installed", *now, "PyTorch not installed")
    if given.without_torch:
        python = given.without_torch
        imports = (python, "import numpy, ot", [], HERE)
        now = paired((python, COMMAND, example, HERE), imports, given.repeats + 2)
        add("first score", *now, "import numpy, ot")
    for row in in_one_process([references, objects, *results], given.repeats):
        add(*row)
    headers = ["", "CPU s", "beside CPU s", "ratio", "beside"]
    print(tabulate(rows, headers=headers, floatfmt=("", ".2f", ".2f", ".2f")))


if __name__ == "__main__":
    main()
