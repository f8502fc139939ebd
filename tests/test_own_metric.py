"""The package of docs/python.md, whose metric is ranked by its direction in every output."""

import json
import multiprocessing
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor

import pytest
from conftest import call
from own_metric import example, install, mean, package, scores

import vifidel_eval
from vifidel_eval import VifidelError
from vifidel_eval.scorers.registry import METRICS, parse

# The captions of one system repeat, as no model's do.
pytestmark = pytest.mark.filterwarnings("ignore:.* captions of system .* are the same")

# The characters of a caption, the fewer the better.
CAPTIONS = {
    "terse": dict.fromkeys(range(1, 31), "a dog"),
    "wordy": {image: f"a dog and {'x' * image} cats" for image in range(1, 31)},
}
MEANS = {"terse": 5.0, "wordy": 10 + 15.5 + 5}


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The folder where the package is installed; the registry is restored afterwards."""
    folder = tmp_path / "installed"
    module, project = example()
    install(folder, {"caption_length": module}, project)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(METRICS, "data", dict(METRICS))
    monkeypatch.setattr(METRICS, "_problems", {})
    yield folder
    sys.modules.pop("caption_length", None)


@pytest.fixture
def files(tmp_path, installed):
    """Result files of both systems, the worse one first, and references."""
    for name, captions in CAPTIONS.items():
        content = [{"image_id": image, "caption": text} for image, text in captions.items()]
        (tmp_path / f"{name}_results.json").write_text(json.dumps(content))
    references = {image: ["a dog runs", f"cats and a dog {image}"] for image in range(1, 31)}
    (tmp_path / "references.json").write_text(json.dumps(references))
    return tmp_path


def command(*arguments):
    result = call(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def score(files, *arguments, metrics="LETTERS,ROUGE_L"):
    results = [files / f"{name}_results.json" for name in ("wordy", "terse")]
    references = ("--references", files / "references.json")
    return command("score", *results, *references, "--metrics", metrics, *arguments)


def test_help_lists_its_name_without_importing_it(installed):
    usual = " ".join(command("score", "--help").split())
    assert "METEOR (Java)" in usual
    assert ", LETTERS." in usual
    assert "caption_length" not in sys.modules
    complete = " ".join(command("score", "--help-all").split())
    assert "--letters-weight INTEGER What a character counts. [default: 1]" in complete
    assert "caption_length" in sys.modules


def test_info_has_it_with_what_is_to_be_known_of_it(installed):
    rows = [line.split() for line in command("info").splitlines()]
    line = "LETTERS yes Lower is better in LETTERS. The characters of a caption."
    assert line.split() in rows


@pytest.mark.filterwarnings("ignore:captions of system 'wordy' have")
def test_its_option_is_parsed_and_its_default_is_there(files):
    doubled = json.loads(score(files, "--letters-weight", "2", "--format", "json"))
    assert doubled["systems"]["terse"]["overall"]["LETTERS"] == 2 * MEANS["terse"]
    run = vifidel_eval.evaluate(CAPTIONS, metrics="letters", letters_weight=3)
    assert list(run.signatures) == ["LETTERS", "Words"]
    assert run.signatures["LETTERS"] == "LETTERS|weight:3|caption-length:1.0|captions:answers-1"
    assert {name: of["LETTERS"] for name, of in run.scores.items()} == {
        name: 3 * mean for name, mean in MEANS.items()
    }
    assert run.compare().metrics["LETTERS"].systems["terse"].rank == 1
    run = vifidel_eval.evaluate(CAPTIONS, metrics="LETTERS")
    assert run.scores["terse"]["LETTERS"] == MEANS["terse"]
    with pytest.raises(
        TypeError, match=r"no argument 'letters_wight'. Did you mean letters_weight"
    ):
        vifidel_eval.evaluate(CAPTIONS, metrics="LETTERS", letters_wight=3)


def test_worker_processes_import_it_by_name_and_by_pickle(installed):
    parse("LETTERS")
    scorer = sys.modules["caption_length"].Length(2)
    assert scores(pickle.loads(pickle.dumps(scorer)), ["abc"]) == [6.0]
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawned) as pool:
        assert pool.submit(mean, CAPTIONS["wordy"]).result() == MEANS["wordy"]
    with ProcessPoolExecutor(1, mp_context=spawned) as pool:
        assert pool.submit(scores, scorer, ["abc", ""]).result() == [6.0, 0.0]


def test_a_loaded_run_imports_it(files):
    path = files / "saved.json"
    run = vifidel_eval.evaluate(
        {"terse": files / "terse_results.json"}, files / "references.json",
        metrics="LETTERS,VIFIDEL-H",
    )  # fmt: skip
    run.save(path)
    del METRICS["LETTERS"], sys.modules["caption_length"]  # as in a new process
    METRICS._problems = {}
    loaded = vifidel_eval.load(path)
    assert loaded.inventions() == run.inventions()


BROKEN = """
import sys

import numpy as np

from vifidel_eval import Column, Evaluation, Metric, Scorer, VifidelError, register
from vifidel_eval.scorers import Statistics


class Broken(Scorer):
    columns = (Column("BROKEN"),)

    def method(self):
        return "BROKEN"

    def signature(self, image_ids=None):
        return "BROKEN|version:1"

    def _evaluate(self, rows, on_progress):
        n, ids = len(rows), rows.ids
        scores = np.arange(n, dtype=float)
        {body}


def make(settings):
    return Broken()


register(Metric("BROKEN", "Breaks", Broken, make, references=False))
"""


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Install a metric whose `_evaluate` has a certain last line."""

    def install(body, module=BROKEN):
        package(tmp_path, "BROKEN", "broken", module.replace("{body}", body), "a-package")
        monkeypatch.setattr(METRICS, "data", dict(METRICS))
        monkeypatch.setattr(METRICS, "_problems", {})
        monkeypatch.syspath_prepend(tmp_path)

    yield install
    sys.modules.pop("broken", None)


def fails(tmp_path, *arguments):
    """Return what a run of the broken metric beside another one says, which loses nothing."""
    results = tmp_path / "mine.json"
    results.write_text(json.dumps({"1": "a dog runs", "2": "a cat"}))
    references = tmp_path / "references.json"
    references.write_text(json.dumps({"1": ["a dog runs"], "2": ["a dog"]}))
    saved = tmp_path / "scores.json"
    run = ("score", results, "--references", references, "--metrics", "BROKEN,ROUGE_L")
    result = call(*run, "--output", saved, *arguments)
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    document = json.loads(saved.read_text())
    overall = document["systems"]["mine"]["overall"]
    assert list(overall) == ["ROUGE_L"]
    assert overall["ROUGE_L"] == pytest.approx((1 + 0.5) / 2)
    assert f"{overall['ROUGE_L']:.3f}".lstrip("0") in result.stdout  # printed too
    message = result.stderr.splitlines()[-1]
    assert message.startswith("Error: the metric BROKEN of the package a-package 1.0 failed")
    assert document["unavailable"] == {"BROKEN": message.removeprefix("Error: ")}
    return message.partition(" failed")[2]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return {'BROKEN': Evaluation(ids, np.ones(n + 3))}", "of 2 captions; found 5 scores."),
        ("return {'BROKEN': Evaluation(ids, np.ones((n, 1)))}", "found the shape (2, 1)."),
        ("return {'BROKEN': Evaluation(ids, ['a'] * n)}", "a finite number, and NaN where it is"),
        ("return {'BROKEN': Evaluation(ids, [True] * n)}", "found bool [True, True]."),
        ("return {'BROKEN': Evaluation(ids, [1j] * n)}", "found complex128 [1j, 1j]."),
        ("return {'BROKEN': Evaluation(ids, [None] * n)}", "found NoneType [None, None]."),
        ("return {'BROKEN': Evaluation(ids, np.full(n, np.inf))}", "that of 1 is infinite."),
        ("return {'BROKEN': Evaluation([7, 8], scores)}",
         "of the images 7, 8, and the captions of"),
        ("return {'BROKEN': Evaluation(ids[::-1], scores)}",
         "of the images 2, 1, and the captions"),
        ("return {'BROKEN': Evaluation(ids, scores, True)}", "another direction than its Column"),
        ("return {'BROKEN': Evaluation(ids, scores, ranked=False)}", "another direction than its"),
        ("return {'BROKEN': Evaluation(ids, scores, corpus_score='.5')}",
         "must be a finite number"),
        ("return {'BROKEN': Evaluation(ids, scores, corpus_score=[1])}", "found the shape (1, 1)."),
        ("return {'BROKEN': Evaluation(ids, scores, statistics=Statistics(scores, max))}",
         "BROKEN: the statistics must be a finite number"),
        (
            "return {'BROKEN': Evaluation(ids, scores, statistics=Statistics(np.ones((n, 2)), "
            "lambda sums: 1.0))}",
            "one for each of 2 captions; found the shape ().",
        ),
        ("return {'BROKEN': Evaluation(ids, scores, counts={'no_words': 'x'})}",
         "its counts are {"),
        ("return {'BROKEN': Evaluation(ids, scores, details={'D': [1]})}", "must be 2 values, one"),
        ("return {'BROKEN': Evaluation(ids, scores, details={'BROKEN': [1, 2]})}",
         "that no column has"),
        ("return {'BROKEN': Evaluation(ids, scores, details={'D': [ids, {1}]})}", "TypeError"),
        ("return {'BROKEN': Evaluation(ids, scores, left_out=[1])}",
         "marks rows that are left out by NaN"),
        ("return {'OTHER': Evaluation(ids, scores)}", "its class are BROKEN, and it returned ['OT"),
        ("return {'BROKEN': scores}", "BROKEN: expected an Evaluation, found array("),
        ("return scores", "and it returned array("),
        ("pass", "and it returned None; return an Evaluation for each column."),
        ("1 / 0",
         "ZeroDivisionError (division by zero) in line 22 of broken.py; correct or update"),
        ("exit(0)", "SystemExit (0)"),
        ("raise BaseException('of no kind')", "BaseException (of no kind) in line 22 of broken.py"),
        ("raise OSError(32, 'Broken pipe')", "BrokenPipeError ([Errno 32] Broken pipe) in line 22"),
        ("raise VifidelError('the weights are damaged.')", "'mine': the weights are damaged."),
    ],
)  # fmt: skip
def test_what_it_does_wrong_is_one_sentence_and_no_other_metric_is_lost(
    tmp_path, broken, body, expected
):
    broken(body)
    assert expected in fails(tmp_path)


def test_whatever_output_is_asked_for_has_the_others(tmp_path, broken):
    broken("1 / 0")
    outputs = {"--report": "page.html", "--leaderboard": "board.json", "--per-image": "images.csv"}
    paths = [str(part) for name, path in outputs.items() for part in (name, tmp_path / path)]
    fails(tmp_path, "--columns", "broken,ROUGE_L", "--require", "BROKEN <= 1", *paths)
    for path in outputs.values():
        assert "ROUGE_L" in (tmp_path / path).read_text("utf-8")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("return Broken()", "exit(0)", ": SystemExit (0) in line 26"),
        ("return Broken()", "return None", ": a scorer was expected, not None."),
        ('return "BROKEN|version:1"', "return 5", ": a signature must be one line of text, not 5."),
        ('return "BROKEN|version:1"', "exit(0)", ": SystemExit (0) in line 17"),
        ("def method", "def judge(self, found):\n        1 / 0\n\n    def method", "ZeroDivision"),
    ],
)
def test_so_it_is_whatever_part_of_it_breaks(tmp_path, broken, before, after, expected):
    broken("return {'BROKEN': Evaluation(ids, scores)}", BROKEN.replace(before, after))
    assert expected in fails(tmp_path)


def test_what_breaks_on_import_is_one_sentence(tmp_path, broken):
    broken("pass", "class Odd(BaseException):\n    pass\n\n\nraise Odd('gone')")
    with pytest.raises(VifidelError, match=r"importing broken fails \(Odd: gone\); update or unin"):
        parse("BROKEN")


def test_an_interrupt_ends_it(tmp_path, broken):
    broken("raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        vifidel_eval.evaluate({"x": {1: "a dog"}}, metrics="BROKEN")


def test_in_python_it_is_a_warning_beside_the_others_and_an_error_alone(tmp_path, broken):
    broken("exit(0)")
    captions, references = {"x": {1: "a dog"}}, {1: ["a dog", "a dog runs"]}
    with pytest.warns(vifidel_eval.VifidelWarning, match=r"BROKEN is not available: the metric BR"):
        run = vifidel_eval.evaluate(captions, references, metrics="BROKEN,ROUGE_L")
    assert run.scores["x"] == {"ROUGE_L": 1.0}
    assert "SystemExit (0)" in run.unavailable["BROKEN"]
    with pytest.raises(
        vifidel_eval.MetricFailed, match=r"BROKEN of the package a-package 1\.0 fai"
    ):
        vifidel_eval.evaluate(captions, references, metrics="BROKEN")


@pytest.mark.parametrize("name", ["", " ", 5, None])
def test_a_column_has_a_name_and_a_direction(name):
    with pytest.raises(VifidelError, match="a column's name is text, not"):
        vifidel_eval.Column(name)
    with pytest.raises(
        VifidelError, match="the column X: lower_is_better is True or False, not 'n"
    ):
        vifidel_eval.Column("X", lower_is_better="no")
