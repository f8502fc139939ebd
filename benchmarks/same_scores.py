"""Comparison with the scores of earlier versions, in all ten digits that files hold.

    python benchmarks/same_scores.py SHARED [--only WORD] [--jobs 2] [--write FILE]

Runs the command line, as users do, on the real data below SHARED: metrics and settings on COCO
val2017, agreement with people on PASCAL-50S and Flickr8k and the scores of the captions judged
there one by one, TIGEr and ViLBERTScore on the small networks of their oracles. The numbers are
compared with those in `scores_of_0.1.0.json`: for each run, system and column the corpus score and
a SHA-256 of all scores, image by image. Signatures, counts, layout, and columns or keys that are
new do not matter. Prints one line per run; the exit status is 1 if a number differs.

SHARED/data holds ``coco/{captions,instances}_val2017*.json``, ``coco/mini``, ``pascal50s`` and
``flickr8k``; SHARED/oracles holds ``tiger`` and ``vilbertscore``. Java, PyTorch and NLTK are
needed. Processors differ in the last bits of some scores, which the ten digits rarely show but for
ViLBERTScore, which computes in single precision: in doubt, write the numbers again on the same
machine, with ``--write`` and version 0.1.0.
"""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click

RECORDED = Path(__file__).with_name("scores_of_0.1.0.json")
OF_TEXT = "WMD,WMD-worst,WMD-mean,BLEU,ROUGE_L,CIDEr"

# The last digits of ViLBERTScore depend on the number of threads.
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

# The command lines by the name of the run.
Runs = dict[str, list[Any]]
# System to column to [corpus score, digest of its image scores]; of agreement with people, metric
# to what is measured to [number].
Numbers = dict[str, dict[str, list[Any]]]


class CommandError(click.ClickException):
    """A command ended with an error, whose last line is the message."""


def package() -> Path:
    """Return the folder of the package that is measured: of what is installed, or PYTHONPATH."""
    return Path(importlib.util.find_spec("vifidel_eval").origin).parent


def vifidel_eval(arguments: Sequence[Any], folder: Path) -> None:
    """Run the command line in `folder`, where no checkout is picked up by accident."""
    start = ["-m", "vifidel_eval"]
    if not (package() / "__main__.py").exists():  # 0.1.0
        start = ["-c", "from vifidel_eval.cli import main; main()"]
    command = [sys.executable, *start, *map(str, arguments)]
    done = subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CommandError(done.stderr.strip().rpartition("\n")[2])


def write_json(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), "utf-8")
    return path


def read_json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def coco_runs(coco: Path, folder: Path) -> Runs:
    """Return the runs on val2017, and one on official annotations with masks and crowds."""
    human, shuffled, degenerate = (
        coco / f"captions_val2017_{name}_results.json"
        for name in ("human", "shuffled", "degenerate")
    )
    gold = ["--objects", coco / "instances_val2017.json"]
    found = ["--objects", coco / "instances_val2017_simulated_results.json"]
    found += ["--categories", coco / "instances_val2017.json"]
    # As then: a caption of people says that it cannot see an image, and others are empty.
    two = ["score", "--as-written", human, shuffled]
    three = [*two, degenerate]
    three += ["--allow-subset"]  # the degenerate system lacks 11 images
    with_references = ["--references", coco / "captions_val2017_references.json"]
    both = [*with_references, "--metrics", "VIFIDEL,WMD"]
    alone = ["--no-references"]
    every = ["--metrics", f"VIFIDEL,{OF_TEXT},METEOR,VIFIDEL+CIDEr"]

    mini = read_json(coco / "mini" / "captions_val2017.json")
    images = {image["id"] for image in mini["images"]}
    few = [result for result in read_json(human) if result["image_id"] in images]
    official = ["--objects", coco / "mini" / "instances_val2017.json"]
    few_alone = ["--as-written", write_json(folder / "mini.json", few)]
    of_mini = ["score", *few_alone, "--allow-subset", *both, *official]
    return {
        "val2017": [*three, *with_references, *gold, *every],
        "val2017, no references": [*three, *alone, *gold],
        "val2017, presence": [*two, *both, *gold, "--presence"],
        "val2017, p 1": [*two, *both, *gold, "--p", 1],
        "val2017, p 2": [*two, *both, *gold, "--p", 2],
        "val2017, raw vectors": [*two, *both, *gold, "--raw-vectors"],
        "val2017, raw vectors, presence, p 1, no references": [
            *(*two, *alone, *gold, "--raw-vectors", "--presence", "--p", 1)
        ],
        "val2017, detections": [*two, *both, *found],
        "val2017, detections from .4, no references": [*two, *alone, *found, "--threshold", 0.4],
        "val2017, union of gold and detections": [*two, *both, *gold, *found],
        "val2017, masks and crowds": of_mini,
    }


def judged_runs(data: Path, folder: Path) -> Runs:
    """Return the runs of agreement with people, and the scores of the captions judged there.

    In the latter each caption of ``--write-candidates`` is one of an image of its own.
    """
    pascal, flickr = data / "pascal50s", data / "flickr8k"
    entries = {}
    for source in (pascal, flickr):
        path = folder / f"{source.name}_candidates.json"
        vifidel_eval(["agreement", source.name, source, "--write-candidates", path], folder)
        entries[source] = read_json(path)
    labels = {
        path.stem: [name.text for name in ET.parse(path).iterfind("object/name")]
        for path in (pascal / "Annotations").glob("*.xml")
    }
    shown = {entry["id"]: labels[entry["image_id"]] for entry in entries[pascal]}
    objects = ["--objects", write_json(folder / "pascal50s_objects.json", shown)]

    def score(source: Path) -> list[Any]:
        captions = {entry["id"]: entry["caption"] for entry in entries[source]}
        return ["score", write_json(folder / f"{source.name}.json", captions)]

    def references(source: Path) -> list[Any]:
        five = {entry["id"]: entry["references"][:5] for entry in entries[source]}
        return ["--references", write_json(folder / f"{source.name}_references.json", five)]

    drawn = ["--references", "0,5", "--draws", 2, "--objects", pascal / "Annotations"]
    return {
        "Flickr8k, agreement": [
            *("agreement", "flickr8k", flickr, "--references", 5, "--metrics", "WMD,ROUGE_L,CIDEr")
        ],
        "Flickr8k, captions": [*score(flickr), *references(flickr), "--metrics", OF_TEXT],
        "PASCAL-50S, agreement": [
            *("agreement", "pascal50s", pascal, *drawn, "--metrics"),
            "VIFIDEL,WMD,BLEU,ROUGE_L,CIDEr",
        ],
        "PASCAL-50S, captions": [
            *(*score(pascal), *references(pascal), *objects, "--metrics", f"VIFIDEL,{OF_TEXT}")
        ],
        "PASCAL-50S, captions, no references": [*score(pascal), *objects, "--no-references"],
    }


def tiger_runs(tiger: Path, folder: Path) -> Runs:
    """Return TIGEr on its oracle: as many systems as an image has candidates."""
    ids, captions = (
        (tiger / "precomp" / f"cand_{name}.txt").read_text("utf-8").splitlines()
        for name in ("ids", "caps")
    )
    references: dict[str, list[str]] = {}
    for image_id, caption in zip(ids, captions, strict=True):
        references.setdefault(image_id, []).append(caption)
    systems: list[dict[str, str]] = []
    with open(tiger / "usecase_score.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            system = next((s for s in systems if row["imgid"] not in s), None)
            if system is None:
                systems.append(system := {})
            system[row["imgid"]] = row["caption"]
    results = [write_json(folder / f"tiger{n}.json", s) for n, s in enumerate(systems, 1)]
    command = ["score", *results, "--allow-subset", "--metrics", "TIGEr"]
    command += ["--references", write_json(folder / "tiger_references.json", references)]
    command += ["--tiger-checkpoint", tiger / "model_best.pth"]
    command += ["--tiger-vocabulary", tiger / "coco_precomp_vocab.json"]
    command += ["--tiger-features", tiger / "precomp" / "cand_ims.npy"]
    return {"TIGEr": command}


def vilbertscore_runs(vilbert: Path, folder: Path) -> Runs:
    """Return ViLBERTScore on its oracle, whose features are converted, at both blocks."""
    features = folder / "vilbert_features"
    pickled = vilbert / "data" / "imgs_rcnn.pkl"
    vifidel_eval(["convert-features", "--trust-pickles", pickled, features], folder)
    texts = read_json(vilbert / "oracle.json")
    results = write_json(folder / "vilbert.json", dict(enumerate(texts["cand"])))
    references = write_json(folder / "vilbert_references.json", dict(enumerate(texts["refs"])))
    common = ["score", results, "--references", references, "--metrics", "ViLBERTScore"]
    common += ["--vilbert-checkpoint", vilbert / "multi_task_model.bin"]
    common += ["--vilbert-vocabulary", vilbert / "vocab.txt", "--vilbert-features", features]
    common += ["--vilbert-config", vilbert / "bert_base_6layer_6conect.json"]
    return {
        "ViLBERTScore, last block": common,
        "ViLBERTScore, first block": [*common, "--vilbert-layer", 0],
    }


def read_numbers(output: dict[str, Any]) -> Numbers:
    """Return the numbers of what ``score`` or ``agreement`` wrote."""
    numbers: Numbers = {}
    for name, system in output.get("systems", {}).items():
        images = sorted(system["imgToEval"].items())
        for column, score in system["overall"].items():
            scores = json.dumps([[image_id, of_image.get(column)] for image_id, of_image in images])
            digest = hashlib.sha256(scores.encode()).hexdigest()
            recorded = None if score is None else float(f"{score:.10g}")
            numbers.setdefault(name, {})[column] = [recorded, digest]
    for one in output.get("accuracies", []):
        what = f"{one['references']} references, {one['kind']}"
        numbers.setdefault(one["metric"], {})[what] = [one["accuracy"]]
    for one in output.get("correlations", []):
        what = "{references} references, {rating}, {judges}, {captions}".format(**one)
        for coefficient, value in one["coefficients"].items():
            numbers.setdefault(one["metric"], {})[f"{what}, {coefficient}"] = [value]
    return numbers


def first_difference(recorded: Numbers, found: Numbers) -> str | None:
    """Return what the first number is that is not the recorded one; None if there is none."""
    for system, columns in recorded.items():
        for column, before in columns.items():
            now = found.get(system, {}).get(column, ["nothing"])
            if now[0] != before[0]:
                return f"{system}, {column}: {before[0]} became {now[0]}"
            if now != before:
                return f"{system}, {column}: image scores (the corpus score {now[0]} is the same)"
    return None


@click.command()
@click.argument("shared", type=click.Path(exists=True, resolve_path=True, path_type=Path))
@click.option("--only", default="", metavar="WORD", help="Compare only runs with this in the name.")
@click.option("--jobs", default=2, show_default=True, help="Commands that run at a time.")
@click.option("--write", type=click.Path(path_type=Path), help="Write the numbers to this file.")
def main(shared: Path, only: str, jobs: int, write: Path | None) -> None:
    """Compare the scores on the data of SHARED with those of version 0.1.0."""
    if write and only:
        raise click.UsageError("--write needs all runs: leave --only out.")
    click.echo(f"Measuring {package()}")
    recorded = None if write else read_json(RECORDED)
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(jobs) as pool:
        folder = Path(name)
        runs = {
            **judged_runs(shared / "data", folder),  # the longest one is the first
            **coco_runs(shared / "data" / "coco", folder),
            **tiger_runs(shared / "oracles" / "tiger", folder),
            **vilbertscore_runs(shared / "oracles" / "vilbertscore", folder),
        }

        def numbers(run: str) -> tuple[Numbers, float]:
            output, start = folder / f"output {run}.json", time.perf_counter()
            vifidel_eval([*runs[run], "--output", output], folder)
            return read_numbers(read_json(output)), time.perf_counter() - start

        started = {run: pool.submit(numbers, run) for run in runs if only in run}
        found, failures = {}, 0
        for run, future in started.items():
            try:
                found[run], seconds = future.result()
            except CommandError as problem:
                failures += 1
                click.echo(f"FAILED     {run}: {problem}")
                continue
            different = recorded and first_difference(recorded[run], found[run])
            failures += bool(different)
            verdict = "DIFFERENT" if different else "same" if recorded else "written"
            click.echo(
                f"{verdict:9}  {run} ({seconds:.0f} s){f': {different}' if different else ''}"
            )
    if write and not failures:
        write.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
