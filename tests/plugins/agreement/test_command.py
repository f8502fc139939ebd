"""The commands `vifidel-eval agreement` on small data in the published layouts."""

import csv
import hashlib
import io
import json
from functools import partial
from xml.etree import ElementTree

import pytest
from conftest import call, done
from judgement_files import FOILS, HAT, WRITERS

from vifidel_eval.scorers import RougeL
from vifidel_eval.words.tokenization import Tokenization

pytestmark = pytest.mark.usefixtures("fast")
DETECTIONS = {"nocaps-foil": FOILS, "hat": HAT}


agreement = partial(call, "agreement")


@pytest.fixture
def data(tmp_path):
    """Return what a command takes: the folder, or the file, of a small data set."""

    def data(command):
        folder = tmp_path / command
        folder.mkdir()
        return WRITERS[command](folder)

    return data


def refused(result, status=1):
    """Return the sentence of a refusal."""
    assert result.exit_code == status, result.output
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result.stderr.strip().splitlines()[-1]


#: What JSON has of each experiment, and which statistics CSV has of it.
FINDINGS = {
    "accuracies": ["accuracy", "tied"],
    "correlations": ["tau-b", "tau-c", "Spearman", "Pearson"],
    "detection": ["average precision", "share of positives"],
    "localization": ["localization accuracy"],
    "pairwise": ["pairwise accuracy"],
}


@pytest.mark.parametrize("command", WRITERS)
def test_every_data_set_has_its_result(data, tmp_path, command):
    output, figure = tmp_path / "result.json", tmp_path / "figure.svg"
    number = "1" if command in DETECTIONS else "1,all"
    arguments = (command, data(command), "--metrics", "VIFIDEL-PRF,ROUGE_L", "--references", number)
    outputs = ("--format", "csv", "--output", output, "--figure", figure)
    result = done("agreement", *arguments, *outputs)
    # CSV holds rows only: what must be said of them goes elsewhere.
    assert "References drawn 5 times" in result.stderr
    assert {path.name for path in tmp_path.iterdir()} == {command, "result.json", "figure.svg"}
    document = json.loads(
        output.read_text("utf-8"), parse_constant=lambda name: pytest.fail(f"{name} is no JSON")
    )
    columns = ["VIFIDEL-P", "VIFIDEL-R", "VIFIDEL-F", "ROUGE_L"]
    assert list(document["signatures"]) == columns
    assert (document["seed"], document["draws"]) == (0, 5)
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    for name, statistics in FINDINGS.items():
        for statistic in statistics:
            results = [row["metric"] for row in rows if row["statistic"] == statistic]
            assert results == [one["metric"] for one in document.get(name, [])]
    tests = sum(len(one["p_values"]) * (len(columns) - 1) for one in document.get("williams", []))
    assert sum(row["statistic"] == "Williams p" for row in rows) == tests
    if command in DETECTIONS:
        located = [(one["metric"], one["words"]) for one in document["localization"]]
        assert located == [("VIFIDEL-PRF", "all"), ("VIFIDEL-PRF", "things")]
        assert len(document["pairwise"]) == (0 if command == "hat" else 4)
    else:
        assert {row["references"] for row in rows if row["n"]} == {"1", "all"}
    drawn = "".join(ElementTree.fromstring(figure.read_bytes()).itertext())
    assert all(column in drawn for column in columns)


@pytest.mark.parametrize(
    ("command", "key"),
    [("pascal50s", "accuracies"), ("flickr8k", "correlations"), ("hat", "detection")],
)
def test_scores_of_another_tool(data, tmp_path, command, key):
    path, folder = tmp_path / "candidates.json", data(command)
    result = done("agreement", command, folder, "--write-candidates", path)
    entries = json.loads(path.read_text("utf-8"))
    assert result.stdout == f"{len(entries)} captions written to {path}\n"
    gts = {entry["id"]: entry["references"] for entry in entries}
    res = {entry["id"]: [entry["caption"]] for entry in entries}
    scores = RougeL(Tokenization()).compute_score(gts, res)[1].tolist()
    for entry, score in zip(entries, scores, strict=True):
        entry["score"] = float(f"{score:.10g}")  # ours are rounded
    path.write_text(json.dumps(entries), "utf-8")
    shared = ("--references", "all", "--format", "json")
    mine = ("--scores", f"mine={path}")
    both = done("agreement", command, folder, *mine, "--metrics", "ROUGE_L", *shared)
    document = json.loads(both.stdout)
    given = {"mine": "as given", "ROUGE_L": "all"}
    by_metric = {"mine": [], "ROUGE_L": []}
    for entry in document[key]:
        metric = entry.pop("metric")
        assert entry.pop("references", given[metric]) == given[metric]
        by_metric[metric].append(entry)
    assert str(by_metric["mine"]) == str(by_metric["ROUGE_L"])
    # Alone, no other metric is computed.
    alone = json.loads(agreement(command, folder, *mine, *shared).stdout)
    assert {entry["metric"] for entry in alone[key]} == {"mine"}
    # The same numbers under names of their own, and where the lower one is better.
    numbers = {e["id"]: {"ROUGE": e["score"], "far": -e["score"]} for e in entries}
    path.write_text(json.dumps({"ROUGE": 0.5, "per_item": numbers}), "utf-8")
    options = ("--scores", path, "--lower-is-better", "far")
    own = json.loads(agreement(command, folder, *options, *shared).stdout)
    assert own["lower_is_better"] == ["far"]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    assert own["signatures"]["ROUGE"] == f"ROUGE|scores:given|files:{digest}"
    for entry in alone[key]:
        for name in ("ROUGE", "far"):
            assert str(entry | {"metric": name}) in map(str, own[key])
    sentence = refused(agreement(command, folder, *options, *options))
    assert "there is another ROUGE: give these scores another name" in sentence
    sentence = refused(agreement(command, folder, *options[:2], "--lower-is-better", "no"))
    assert "lower is better for 'no', but no file of --scores has it" in sentence


def test_finding_takes_one_number_of_references(data):
    path = data("hat")
    sentence = refused(agreement("hat", path, "--references", "1,2", "--metrics", "BLEU"), status=2)
    assert "--references takes one number here, or 'all'." in sentence
    options = ("--references", "1", "--metrics", "VIFIDEL-PRF", "--draws", 2)
    result = done("agreement", "hat", path, *options)
    assert "References drawn 2 times" in result.stdout


def test_figures_of_ratings_need_two_metrics(data, tmp_path):
    figure, folder = tmp_path / "matrix.svg", data("flickr8k")
    result = agreement("flickr8k", folder, "--metrics", "ROUGE_L", "--figure", figure)
    assert result.exit_code == 1
    assert "ROUGE_L" in result.stdout  # nothing that was computed is lost
    assert f"{figure}: a matrix needs two metrics; name more --metrics." in result.stderr
    assert not figure.exists()
    result = agreement("flickr8k", folder, "--metrics", "ROUGE_L,BLEU", "--figure", figure)
    assert result.exit_code == 0, result.output
    drawn = "".join(ElementTree.fromstring(figure.read_bytes()).itertext())
    for text in ("Bleu_4", "ROUGE_L", "without own references"):
        assert text in " ".join(drawn.split())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--references", "x"], "'x' is neither a list of numbers such as 0,1,5 nor 'all'"),
        (["--references", "-1"], "is neither a list of numbers"),
        (["--references", "²"], "is neither a list of numbers"),
        (["--scores", "=file.json"], "has no name before '='"),
        (["--ablation", "a=x", "--ablation", "a=y"], "a name is given twice"),
        (["--ablation", "objects.json"], "is not NAME=OBJECTS"),
        (["--metrics", "VIFIDEL"], "VIFIDEL needs --objects; give it, or name other metrics."),
    ],
)
def test_wrong_options_are_usage_errors(data, arguments, expected):
    assert expected in refused(agreement("pascal50s", data("pascal50s"), *arguments), status=2)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--metrics", "CIDEr", "--references", "0"], "all of them need references; try"),
        (["--metrics", "BLEU", "--figure", "figure.jpg"], "a figure is a .png, .svg, .pdf file"),
        (["--scores", "a=none.json"], "none.json: no such file"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(data, tmp_path, monkeypatch, arguments, expected):
    folder = data("pascal50s")
    monkeypatch.chdir(tmp_path)
    sentence = refused(agreement("pascal50s", folder, *arguments))
    assert sentence.startswith("Error: ")
    assert expected in sentence
    assert [path.name for path in tmp_path.iterdir()] == ["pascal50s"]


def test_combinations_are_shown_and_written(data, tmp_path):
    output = tmp_path / "result.json"
    asked = (data("flickr8k"), "--metrics", "WMD,ROUGE_L,CIDEr", "--combinations")
    result = done("agreement", "flickr8k", *asked, "--output", output)
    assert "Flickr8k: combinations" in result.stdout
    results = json.loads(output.read_text("utf-8"))["combinations"]
    assert {one["kind"] for one in results} == {"combination", "single"}
    alone = agreement("flickr8k", asked[0], "--metrics", "WMD", "--combinations")
    assert "--combinations takes 2 to 12 columns" in refused(alone)
    marked = agreement("hat", data("hat"), "--metrics", "WMD,CIDEr", "--combinations")
    assert "--combinations needs people's choices or ratings." in refused(marked, 2)
