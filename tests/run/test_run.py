"""`vifidel_eval.evaluate`, `Run` and `load`: one entry, and the numbers of the command."""

import json
import math
import pickle
import re
import sys
import time

import pytest
from example_files import SIX
from fake_scorer import FakeScorer
from frames import LIBRARIES, frame_of
from pycocotools.coco import COCO

import vifidel_eval
from vifidel_eval import VifidelError, VifidelWarning
from vifidel_eval.scorers import Bleu, Vifidel, Wmd
from vifidel_eval.scores.verdict import shown_columns

CAREFUL, DREAMING, REFERENCES, OBJECTS = SIX
FEW = "ignore:.*too few for a significant:vifidel_eval.VifidelWarning"

pytestmark = pytest.mark.filterwarnings(FEW)


def evaluate(systems=(CAREFUL, DREAMING), metrics="VIFIDEL", **options):
    given = {"references": REFERENCES, "objects": OBJECTS, **options}
    return vifidel_eval.evaluate(systems, metrics=metrics, **given)


def records(path=CAREFUL):
    return json.loads(path.read_text("utf-8"))


def keyed(path=CAREFUL):
    return {entry["image_id"]: entry["caption"] for entry in records(path)}


def people():
    captions = {}
    for entry in json.loads(REFERENCES.read_text("utf-8"))["annotations"]:
        captions.setdefault(entry["image_id"], []).append(entry["caption"])
    return captions


@pytest.fixture(scope="module")
def evaluated():
    return evaluate(metrics=["VIFIDEL-PRF", "CHAIR", "BLEU"])


def test_a_run_has_the_numbers_of_the_command(tmp_path, run):
    arguments = ["score", CAREFUL, DREAMING, "--references", REFERENCES, "--objects", OBJECTS]
    by_command, by_python = tmp_path / "command.json", tmp_path / "python.json"
    options = ["--compare", "--seed", "3", "--resamples", "99", "--output", by_command]
    assert run(*arguments, *options).exit_code == 0
    result = evaluate(metrics=None)
    result.save(by_python, result.compare(seed=3, resamples=99))
    assert by_python.read_bytes() == by_command.read_bytes()


def test_scores_counts_and_signatures(evaluated):
    gts, res = people(), {i: [caption] for i, caption in keyed().items()}
    gts = {image_id: gts.get(image_id, []) for image_id in evaluated.per_image("careful")}
    score, scores = Vifidel(OBJECTS).compute_score(gts, res)
    one = evaluate()
    assert one.systems == ["careful", "dreaming"]
    assert one.columns == ["VIFIDEL"]
    assert one.scores["careful"] == {"VIFIDEL": pytest.approx(score, rel=1e-12)}
    assert one.signatures == {"VIFIDEL": Vifidel(OBJECTS).signature()}
    assert one.counts["careful"]["undefined"] == 1
    assert one.counts["careful"]["scored"] == 5
    of_image = one.per_image("careful")
    assert list(of_image) == list(gts)
    for (image_id, columns), expected in zip(of_image.items(), scores.tolist(), strict=True):
        if image_id == 105:
            assert columns == {"VIFIDEL": None}
            assert math.isnan(expected)
        else:
            assert columns == {"VIFIDEL": pytest.approx(expected, rel=1e-12)}


@pytest.mark.parametrize("shape", ["mapping", "listed", "records", "path", "coco", *LIBRARIES])
def test_captions_of_every_shape_give_the_same_scores(shape):
    if shape in LIBRARIES:
        captions = frame_of(shape, records())
    elif shape == "coco":
        captions = COCO(str(REFERENCES)).loadRes(records())
    else:
        captions = {
            "mapping": keyed(),
            "listed": {image_id: [caption] for image_id, caption in keyed().items()},
            "records": records(),
            "path": str(CAREFUL),
        }[shape]
    assert evaluate({"careful": captions}).scores["careful"] == evaluate().scores["careful"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_frame_with_a_column_twice_or_a_caption_missing(library):
    rows = records()
    rows[1]["caption"] = None
    with pytest.raises(VifidelError, match=r"row 1 \(image 102\): the caption is null, not a"):
        evaluate({"x": frame_of(library, rows)}, metrics=["VIFIDEL"])
    if library != "polars":  # which has no column twice
        twice = frame_of(library, records())
        twice = (
            twice.append_column("caption", twice["caption"])
            if library == "pyarrow"
            else twice[["image_id", "caption", "caption"]]
        )
        with pytest.raises(VifidelError, match="'x': the column 'caption' appears twice; keep one"):
            evaluate({"x": twice}, metrics=["VIFIDEL"])


@pytest.mark.parametrize("shape", ["mapping", "coco", *LIBRARIES])
def test_references_and_objects_of_every_shape(shape):
    if shape in LIBRARIES:
        rows = [(i, caption) for i, captions in people().items() for caption in captions]
        references = frame_of(shape, [{"image_id": i, "caption": text} for i, text in rows])
    else:
        references = people() if shape == "mapping" else COCO(str(REFERENCES))
    objects = COCO(str(OBJECTS)) if shape == "coco" else [OBJECTS]
    other = evaluate(references=references, objects=objects, metrics=["VIFIDEL", "BLEU"])
    assert other.scores == evaluate(metrics=["VIFIDEL", "BLEU"]).scores


def test_one_path_and_columns_of_other_names():
    assert evaluate(CAREFUL).systems == ["careful"]
    renamed = [{"picture": e["image_id"], "said": e["caption"]} for e in records()]
    got = evaluate({"x": renamed}, id_field="picture", caption_field=["said"])
    assert got.scores["x"] == evaluate().scores["careful"]


def test_options_are_those_of_the_command(tmp_path, run):
    output = tmp_path / "scores.json"
    arguments = ["score", CAREFUL, "--references", REFERENCES, "--objects", OBJECTS]
    flags = ["--no-references", "--presence", "--raw-vectors", "--p", "1", "--metrics", "VIFIDEL"]
    assert run(*arguments, *flags, "--output", output).exit_code == 0
    result = evaluate(CAREFUL, weighted=False, counts=False, normalize=False, p=1)
    assert result.signatures == vifidel_eval.load(output).signatures
    ids = list(people())[:2]
    assert list(evaluate(CAREFUL, image_ids=ids).per_image("careful")) == ids
    some = dict(list(keyed().items())[:3])
    with pytest.raises(VifidelError, match="allow_subset=True"):
        evaluate({"some": some})
    assert evaluate({"some": some}, allow_subset=True).detail.uncaptioned == 3


def test_an_option_that_no_metric_reads_is_said(recwarn):
    evaluate(metrics="VIFIDEL", drop_incomplete=True)
    assert "drop_incomplete has no effect: CHAIR reads it" in str(recwarn.pop(VifidelWarning))
    evaluate(metrics="VIFIDEL,CHAIR", drop_incomplete=True)
    assert not [w for w in recwarn if "no effect" in str(w.message)]


def test_scorers_serve_as_metrics():
    run = evaluate(metrics=["CIDEr", Wmd()])
    assert run.columns == ["CIDEr", "WMD"]
    two = evaluate(metrics={"near": Wmd("best"), "far": Wmd("worst")}, objects=None)
    assert two.columns == ["near", "far"]
    assert two.scores["careful"]["near"] == run.scores["careful"]["WMD"]
    assert evaluate(metrics=Bleu()).columns == ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4"]


@pytest.mark.parametrize(
    ("given", "kind", "expected"),
    [
        ({"treshold": 0.5}, TypeError, "no argument 'treshold'. Did you mean threshold?"),
        ({"presence": True}, TypeError, "no argument 'presence'. Use counts=False."),
        ({"metrics": ["TIGEr"]}, VifidelError, "TIGEr needs tiger_checkpoint"),
        ({"metrics": []}, VifidelError, "metrics is empty; leave it out"),
        ({"metrics": {"x": "WMD"}}, VifidelError, "metrics are names, scorers"),
        ({"metrics": [Wmd(), Wmd()]}, VifidelError, "two scorers of WMD; name them"),
        ({"metrics": ["WMD", Wmd()]}, VifidelError, "WMD is among the metrics by name and as"),
        ({"metrics": None, "references": None, "objects": None}, VifidelError,
         "give references=, objects=, or both; some metrics= need"),
        ({"metrics": "VIFIDEL", "objects": None}, VifidelError, "needs objects=; give it"),
        ({"systems": {101: "a dog"}}, VifidelError, "systems are {name: captions}"),
        ({"systems": [{"image_id": 1, "caption": "a"}]}, VifidelError, "give each system a name"),
        ({"systems": []}, VifidelError, "there is none"),
        ({"systems": {"x": 3}}, VifidelError, "system 'x': captions are a path"),
        ({"systems": {"x": {101: ["a", "b"]}}}, VifidelError, "system 'x': image 101: 2 captions"),
        ({"systems": [CAREFUL, CAREFUL]}, VifidelError, "given twice"),
        ({"references": {101: "a dog"}}, VifidelError, "references: image 101: expected a list"),
        ({"references": 7}, VifidelError, "references: captions are a path"),
        ({"image_ids": 7}, VifidelError, "image_ids are a path or a list"),
        ({"image_ids": []}, VifidelError, "image_ids are a path or a list of ids, not []."),
    ],
)  # fmt: skip
def test_mistakes_are_said_in_one_sentence(given, kind, expected):
    with pytest.raises(kind, match=re.escape(expected)) as raised:
        evaluate(**given)
    assert "\n" not in str(raised.value)


@pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")
def test_a_run_without_any_defined_score_is_shown():
    run = vifidel_eval.evaluate({"x": {1: "a dog"}}, objects={1: [], 2: ["cat"]}, metrics="VIFIDEL")
    assert math.isnan(run.scores["x"]["VIFIDEL"])
    assert "VIFIDEL" in repr(run)
    assert "VIFIDEL" in run._repr_html_()


def test_captions_compared_with_themselves_are_scored_with_a_warning():
    same = {i: [caption] for i, caption in keyed().items()}
    with pytest.warns(VifidelWarning, match="holds exactly the captions of system 'x', so each"):
        run = evaluate({"x": keyed()}, references=same, metrics="WMD,ROUGE_L")
    assert run.scores["x"] == {"WMD": 1, "ROUGE_L": 1}


def test_a_metric_that_is_not_available_is_said(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.warns(VifidelWarning, match="METEOR is not available"):
        run = evaluate(metrics=["VIFIDEL", "METEOR"])
    assert run.columns == ["VIFIDEL"]
    assert list(run.unavailable) == ["METEOR"]
    assert "METEOR not available" in run._repr_html_()


def test_data_frames(evaluated):
    pandas = pytest.importorskip("pandas")
    frame = evaluated.to_dataframe()
    assert list(frame.index) == evaluated.systems
    assert list(frame.columns) == evaluated.columns
    assert frame.attrs["signatures"] == evaluated.signatures
    for name, of_column in evaluated.scores.items():
        assert frame.loc[name].to_dict() == pytest.approx(of_column, nan_ok=True)
    images = evaluated.to_dataframe(per_image=True)
    assert list(images.columns) == ["system", "image_id", *evaluated.columns]
    assert len(images) == sum(len(evaluated.per_image(name)) for name in evaluated.systems)
    for row in images.to_dict("records"):
        of_image = evaluated.per_image(row["system"])[row["image_id"]]
        for column, score in of_image.items():
            assert pandas.isna(row[column]) if score is None else row[column] == score


def test_without_pandas(evaluated, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(VifidelError, match=r"pip install pandas\.$"):
        evaluated.to_dataframe()


def test_a_run_is_a_table(evaluated):
    lines = repr(evaluated).splitlines()
    assert len(lines) < 30
    assert "|version:" not in repr(evaluated)
    assert "Signatures" not in repr(evaluated)
    score = f"{evaluated.scores['careful']['VIFIDEL-F']:.3f}".lstrip("0")
    assert lines[0].startswith(f"careful describes the images best: VIFIDEL-F {score}, ")
    assert any(line.split()[:3] == ["1", "careful", score] for line in lines)
    assert "CHAIRs" in repr(evaluated)
    html = evaluated._repr_html_()
    assert html.count("<tr>") == 3
    assert "<b>" in html
    assert all(column in html for column in shown_columns(evaluated.columns))
    assert evaluated.signatures["CHAIRi"] in html


def test_a_table_of_many_systems_is_cut_and_names_are_escaped():
    systems = {f"<system {number}>": keyed() for number in range(15)}
    run = evaluate(systems)
    assert "&lt;system 14&gt;" in run._repr_html_()
    assert "<system" not in run._repr_html_()
    assert len(repr(run).splitlines()) < 30
    assert "... and 3 more systems." in repr(run)


def test_a_run_pickles_and_equals_itself(evaluated):
    again = pickle.loads(pickle.dumps(evaluated))
    assert again.scores == evaluated.scores
    assert again.signatures == evaluated.signatures
    assert again.compare() == evaluated.compare()
    assert (evaluated == evaluated, evaluated == again) == (True, False)  # noqa: PLR0124
    assert {evaluated: 1}[evaluated] == 1


def test_a_name_that_is_not_there_says_which_are(evaluated):
    there = "The systems are careful, dreaming."
    for look_up in (evaluated.scores, evaluated.counts):
        with pytest.raises(KeyError, match=r"'carful'\. Did you mean 'careful'\?") as caught:
            look_up["carful"]
        assert isinstance(caught.value, VifidelError)
        assert str(caught.value).endswith(there)
    with pytest.raises(VifidelError, match=r"no column 'VIFIDEL-Q'\. Did you mean 'VIFIDEL-"):
        evaluated.scores["careful"]["VIFIDEL-Q"]
    with pytest.raises(VifidelError, match=r"^there is no column 7\. The columns are VIFIDEL-P, "):
        evaluated.signatures[7]
    assert evaluated.scores.get("carful") is None
    assert "carful" not in evaluated.scores
    again = pickle.loads(pickle.dumps(evaluated.scores))
    assert again == evaluated.scores == dict(evaluated.scores)
    with pytest.raises(KeyError, match="no system 'x'"):
        again["x"]
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


def test_a_run_is_compared_with_a_baseline(evaluated, tmp_path):
    result = evaluated.compare(resamples=500, baseline="dreaming")
    head, *lines = repr(result).splitlines()
    assert head == "Comparisons(baseline='dreaming', seed=0, resamples=500, level=0.95)"
    assert len(lines) == len(evaluated.columns)
    score = evaluated.scores["careful"]["VIFIDEL-F"]
    gain = score - evaluated.scores["dreaming"]["VIFIDEL-F"]
    (line,) = (line for line in lines if line.startswith("VIFIDEL-F ("))
    assert line.startswith(f"VIFIDEL-F (6 images): careful {score:.3f} (+{gain:.3f} [")
    with pytest.raises(VifidelError, match="no system 'base'"):
        evaluated.compare(resamples=500, baseline="base")
    with pytest.raises(TypeError, match=r"Use run.compare\(baseline=...\)"):
        evaluate(baseline="dreaming")
    evaluated.save(tmp_path / "scores.json", result)
    loaded = vifidel_eval.load(tmp_path / "scores.json")
    assert loaded.compare(resamples=500, baseline="dreaming").to_json() == result.to_json()
    assert loaded.compare(resamples=500).baseline is None  # every two are not saved


def test_leaderboard_and_pictures(evaluated, tmp_path):
    board = tmp_path / "board.json"
    evaluated.add_to_leaderboard(board)
    assert len(json.loads(board.read_text("utf-8"))["runs"]) == 2
    with pytest.raises(VifidelError, match="no-such-folder"):
        evaluated.report(tmp_path / "r.html", images=tmp_path / "no-such-folder")
    with pytest.raises(VifidelError, match="images_mb must be a whole number of at least 1, not 0"):
        evaluated.report(tmp_path / "r.html", images_mb=0)


def test_the_bar_is_shown_when_asked_for(capsys):
    evaluate(progress=True)
    assert "captions" in capsys.readouterr().err
    evaluate(progress=False)
    evaluate()  # no terminal here
    assert capsys.readouterr().err == ""


def test_the_bar_names_the_metric(capsys):
    def slow(*_):
        time.sleep(0.11)  # it moves every tenth of a second
        return 1.0

    scorers = {name: FakeScorer(name, slow) for name in ("ONE", "OTHER")}
    vifidel_eval.evaluate({"mine": {1: "a"}}, {1: ["b"]}, metrics=scorers, progress=True)
    shown = capsys.readouterr().err
    assert 0 < shown.index("ONE: ") < shown.index("OTHER: ")


def test_the_report_has_a_bar_too(evaluated, tmp_path, capsys):
    evaluated.report(tmp_path / "r.html", progress=True)
    shown = capsys.readouterr().err
    captions = sum(len(evaluated.per_image(system)) for system in evaluated.systems)
    assert re.search(rf"report: .*/{captions} ", shown)
    evaluated.report(tmp_path / "r.html")
    assert capsys.readouterr().err == ""


def test_parts_of_a_system_are_joined_under_one_name(tmp_path, run):
    parts = [tmp_path / f"rank{number}.json" for number in range(2)]
    for part, captions in zip(parts, ({1: "a dog"}, {2: "a cat", 3: "a bus"}), strict=True):
        part.write_text(json.dumps(captions), "utf-8")
    objects = tmp_path / "objects.json"
    objects.write_text(json.dumps({"1": ["dog"], "2": ["dog"], "3": ["bus"]}), "utf-8")
    whole = {1: "a dog", 2: "a cat", 3: "a bus"}
    expected = vifidel_eval.evaluate({"mine": whole}, objects=objects, metrics="VIFIDEL-H")
    joined = vifidel_eval.evaluate({"mine": parts}, objects=objects, metrics="VIFIDEL-H")
    assert joined.per_image("mine") == expected.per_image("mine")
    named = [f"mine={part}" for part in parts]
    output = tmp_path / "scores.json"
    asked = ("--objects", objects, "--metrics", "VIFIDEL-H")
    assert run("score", *named, *asked, "--output", output).exit_code == 0
    loaded = vifidel_eval.load(output)
    assert loaded.scores["mine"]["VIFIDEL-Hn"] == 1 / 3  # the cat
    assert [invention.word for invention in loaded.inventions()] == ["cat"]
    parts[1].write_text(json.dumps({"1": "a cow", "2": "a cat"}), "utf-8")
    refused = run("score", *named, *asked)
    assert (
        f"rank1.json: image 1 has a caption in {parts[0]} too (1 image in both)" in refused.stderr
    )
    assert "join parts of it under one name" in run("score", *parts, *asked).stderr
    # Samples of an image may be in several files: a dog, and a cow in another one.
    samples = vifidel_eval.evaluate(
        {"mine": parts}, objects=objects, metrics="VIFIDEL-H", samples=True
    )
    assert samples.per_image("mine")[1]["VIFIDEL-Hn mean"] == 0.5
