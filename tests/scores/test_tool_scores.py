"""Scores of other tools: every layout, every refusal, every output, beside NumPy and SciPy."""

import csv
import hashlib
import io
import json
import math
import pickle
import re

import numpy as np
import pytest
from frames import LIBRARIES, frame_of

import vifidel_eval
from vifidel_eval import VifidelError

IMAGES = range(1, 31)
CAPTIONS = {
    "good": {image: f"a dog near tree {image}" for image in IMAGES},
    "bad": {image: f"a cat near tree {image}" for image in IMAGES},
}
_random = np.random.default_rng(4)
#: CLIPlike of all images; Errors, of which fewer are better, of all but one.
NUMBERS = {
    name: {
        image: {"CLIPlike": round(middle + 0.1 * _random.normal(), 4),
                "Errors": None if image == 7 else int(_random.poisson(lam))}
        for image in IMAGES
    }
    for name, middle, lam in (("good", 0.7, 1), ("bad", 0.62, 3))
}  # fmt: skip
CLIP = {name: np.array([of["CLIPlike"] for of in NUMBERS[name].values()]) for name in NUMBERS}
ERRORS = {
    name: np.array([np.nan if of["Errors"] is None else of["Errors"] for of in numbers.values()])
    for name, numbers in NUMBERS.items()
}
MEANS = {name: {"CLIPlike": CLIP[name].mean(), "Errors": np.nanmean(ERRORS[name])} for name in CLIP}


def evaluate(scores, systems=CAPTIONS, **options):
    return vifidel_eval.evaluate(systems, scores=scores, **options)


def records(numbers):
    return [{"image_id": image, "caption": "a dog", **of} for image, of in numbers.items()]


def table(numbers, separator=","):
    names = list(dict.fromkeys(name for of in numbers.values() for name in of))
    text = io.StringIO()
    rows = csv.writer(text, delimiter=separator, lineterminator="\n")
    rows.writerow(["", "image_id", *names])  # as pandas writes its index
    for at, (image, of) in enumerate(numbers.items()):
        rows.writerow([at, image, *("" if of.get(n) is None else of[n] for n in names)])
    return text.getvalue()


def parquet(numbers):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(records(numbers)), sink)
    return sink.getvalue()


def per_item(numbers, key="per_item"):
    return json.dumps({"CLIPlike": 0.7, key: {str(image): of for image, of in numbers.items()}})


LAYOUTS = {
    "by_id.json": json.dumps,
    "per_item.json": per_item,
    "coco.json": lambda numbers: per_item(
        {image: {"image_id": image, **of} for image, of in numbers.items()}, "imgToEval"
    ),
    "list.json": lambda numbers: json.dumps(records(numbers)),
    "lines.jsonl": lambda numbers: "\n".join(map(json.dumps, records(numbers))),
    "table.csv": table,
    "table.tsv": lambda numbers: table(numbers, "\t"),
    "table.parquet": parquet,
}


@pytest.fixture(scope="module")
def expected():
    return evaluate(NUMBERS, lower_is_better="Errors")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_scores(expected, layout, tmp_path):
    files = {}
    for name, numbers in NUMBERS.items():
        content = LAYOUTS[layout](numbers)
        files[name] = tmp_path / f"{name}_{layout}"
        files[name].write_bytes(content if isinstance(content, bytes) else content.encode())
    result = evaluate(files, lower_is_better=["Errors"])
    assert result.scores == expected.scores
    assert result.counts == expected.counts
    for name in NUMBERS:
        assert result.per_image(name) == expected.per_image(name)
    digests = [hashlib.sha256(file.read_bytes()).hexdigest()[:8] for file in files.values()]
    assert result.signatures["CLIPlike"] == f"CLIPlike|scores:given|files:{','.join(digests)}"


def test_scores_are_means_of_what_there_is(expected):
    for name, of_column in MEANS.items():
        assert expected.scores[name] == pytest.approx(of_column, rel=1e-12)
        assert expected.counts[name] == {"scored": 29, "missing": 0, "undefined": 1}
    assert [column.lower_is_better for column in expected.detail.columns()] == [False, True]
    other = {**NUMBERS["bad"], 1: {"CLIPlike": 0.5, "Errors": 3}}
    changed = evaluate({**NUMBERS, "bad": other}).signatures["CLIPlike"]
    assert changed != expected.signatures["CLIPlike"]
    assert evaluate(NUMBERS).signatures == expected.signatures
    assert pickle.loads(pickle.dumps(expected)).scores == expected.scores


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_data_frame_has_no_score_where_it_has_nan(expected, library):
    frames = {name: frame_of(library, records(numbers)) for name, numbers in NUMBERS.items()}
    assert evaluate(frames, lower_is_better=["Errors"]).scores == expected.scores


def test_ids_are_matched_as_those_of_captions_are():
    captions = {"one": {1: "a dog", "images/b.jpg": "a cat", "COCO_val2014_000000000042": "a cow"}}
    for ids in (
        ["1", "b.jpg", 42],
        ["000000000001.jpg", "x/images/b.png", "42"],
        [np.int64(1), "b", "000000000042"],
    ):
        given_scores = dict(zip(ids, (0.1, 0.2, 0.3), strict=True))
        result = evaluate({"one": given_scores}, captions)
        assert [of["score"] for of in result.per_image("one").values()] == [0.1, 0.2, 0.3]
    # What objects say of ids of the references, they say of those of the scores too.
    result = evaluate(
        {"one": {"val/7.jpg": 0.5}}, {"one": {"val/7.jpg": "a dog"}},
        references={"refs/7.jpg": ["a dog"]}, objects={7: ["dog"]}, metrics="VIFIDEL",
    )  # fmt: skip
    assert result.scores["one"]["score"] == 0.5


def test_names_are_those_of_the_file_or_of_the_user(tmp_path):
    names = {"one": CAPTIONS["good"]}
    bare = dict.fromkeys(IMAGES, 0.5)
    assert evaluate({"one": bare}, names).columns == ["score"]
    assert evaluate({"one: CLIP": bare}, names).columns == ["CLIP"]
    several = [NUMBERS["good"], bare]
    assert evaluate({"one": several}, names).columns == ["CLIPlike", "Errors", "score"]
    assert evaluate({"one: Errors": NUMBERS["good"]}, names).columns == ["Errors"]
    ours = {image: {"CIDEr": 0.5, "SPICE": 0.25} for image in IMAGES}
    assert evaluate({"one: theirs": ours}, names).columns == ["theirs CIDEr", "theirs SPICE"]
    # A column that is asked for is read beside others that are no numbers.
    mixed = {image: {"CLIP": 0.5, "split": "val"} for image in IMAGES}
    assert evaluate({"one: CLIP": mixed}, names).columns == ["CLIP"]
    many = {f"CLIP{number}": number for number in range(100)}  # the most that are read
    assert evaluate({"one": {1: many}}, names).columns == [*many]
    with_colon = {"a: b": CAPTIONS["good"]}
    assert evaluate({"a: b": bare}, with_colon).columns == ["score"]
    assert evaluate({"a: b: c": bare}, with_colon).columns == ["c"]
    line = tmp_path / "one.jsonl"
    line.write_text('{"image_id": 1, "CLIP": 0.25}\n', "utf-8")
    assert evaluate({"one": line}, {"one": {1: "a dog"}}).scores == {"one": {"CLIP": 0.25}}


def test_only_the_images_of_the_run_count():
    half = {name: dict(list(captions.items())[:10]) for name, captions in CAPTIONS.items()}
    result = evaluate(NUMBERS, image_ids=list(range(1, 11)))
    assert result.scores["good"]["CLIPlike"] == pytest.approx(CLIP["good"][:10].mean(), rel=1e-12)
    first = {name: {i: NUMBERS[name][i] for i in range(1, 11)} for name in NUMBERS}
    with_references = {
        "references": {i: ["a dog is near it", "a cow is near it"] for i in IMAGES},
        "metrics": "ROUGE_L",
    }
    subset = evaluate(first, half, allow_subset=True, **with_references)
    assert subset.scores["good"]["CLIPlike"] == result.scores["good"]["CLIPlike"]
    assert subset.detail.uncaptioned == 20
    people = evaluate(NUMBERS, people=True, **with_references)
    assert people.scores["good"]["CLIPlike"] == pytest.approx(MEANS["good"]["CLIPlike"])
    assert math.isnan(people.scores["people"]["CLIPlike"])


BLEU = {"metrics": "BLEU", "references": {image: ["a dog", "a tree"] for image in IMAGES}}


def test_a_name_of_ours_is_a_tools_where_ours_is_not_computed():
    run = evaluate(
        {name: {i: {"CLIPScore": n["CLIPlike"]} for i, n in NUMBERS[name].items()} for name in CLIP}
    )
    assert run.columns == ["CLIPScore"]
    assert run.signatures["CLIPScore"].startswith("tool:CLIPScore|scores:given|files:")
    assert run.scores["good"]["CLIPScore"] == pytest.approx(CLIP["good"].mean())


@pytest.mark.parametrize(
    ("scores", "options", "sentence"),
    [
        ({"good": {1: 1}}, {}, "system 'bad' has no score called 'score'; give --scores bad=FILE"),
        ({"good": {1: None}, "bad": {1: 2}}, {}, "system 'good' has no score called 'score'"),
        ({"nobody": {1: 1}}, {}, "there is no system 'nobody'. "),
        ({"good": {1: "high"}}, {}, "(image 1): 'score' is 'high'; expected a finite number"),
        ({"good": {1: "0.5"}}, {}, "'score' is '0.5'; expected a finite number"),
        ({"good": {1: {"A": True}}}, {}, "scores of system 'good' (image 1): 'A' is True"),
        ({"good": {1: [1]}}, {}, "'score' is [1]; expected a finite number"),
        ({"good": {1: math.nan}}, {}, "(image 1): 'score' is nan; expected a finite number"),
        ({"good": {1: -math.inf}}, {}, "'score' is -inf; expected a finite number"),
        ({"good": {1: 10**400}}, {}, "expected a finite number"),
        ({"good": {1: 1, "1": 2}}, {}, "image 1 is listed twice; keep one entry"),
        ({"good": {1: 1, "000000000001": 2}}, {}, "1 and '000000000001' mean the same image"),
        ({"good": {1: 1, 99: 2}}, {}, "system 'good' lacks 1 image id of scores of system 'good': "
         "99; it has 30"),
        ({"good": {}}, {}, "scores of system 'good': has no scores"),
        ({"good": [{1: 1}, {2: 1}]}, {}, "another metric or column called 'score'; give"),
        ({"good": {1: {"words": 1}}}, {}, "another metric or column called 'words'"),
        ({"good": {1: {"bleu_4": 1}}}, BLEU, "another metric or column called 'bleu_4'"),
        ({"good: Undefined": {1: 1}}, {}, "another metric or column called 'Undefined'"),
        ({"good": {1: {"a\nb": 1}}}, {}, "scores cannot be called 'a\\nb'"),
        ({"good": {1: {"a|b": 1}}}, {}, "scores cannot be called 'a|b'"),
        ({"good: a|b": {1: 1}}, {}, "scores cannot be called 'a|b'"),
        ({"good": {1: {2: 1, " 2": 1}}}, {}, "scores cannot be called ' 2'"),
        ({"good": {i: {f"x{i}-{n}": 1 for n in range(9)} for i in IMAGES}}, {},
         "there are 270 names of scores in it"),
        ({"good": 5}, {}, "scores of system 'good' are a path, {image id: number} or a DataFrame"),
        ([1], {}, "scores"),
        ({"good": {1: 1}, "bad": {1: 1}}, {"lower_is_better": "no"}, "lower is better for 'no'"),
        ({}, {"lower_is_better": ["A"], "objects": {1: ["dog"]}, "metrics": "VIFIDEL"},
         "they are none"),
        ({"good": {1: 1}}, {"samples": True}, "samples=True takes several; leave one"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence(scores, options, sentence):
    with pytest.raises(VifidelError) as caught:
        evaluate(scores, **options)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_scores_need_the_name_of_a_system(write, run):
    path = write({"1": 1}, "s.json")
    done = run("score", write(CAPTIONS["good"], "good.json"), "--scores", path)
    assert done.exit_code == 2
    assert "names no system; write SYSTEM=FILE" in done.stderr


def test_no_output_destroys_scores(write, run):
    path = write({"1": 1}, "s.json")
    captions = write({"1": "a dog"}, "good.json")
    done = run("score", captions, "--scores", f"good={path}", "--output", path)
    assert done.exit_code != 0
    assert json.loads(path.read_text("utf-8")) == {"1": 1}


# Every output


@pytest.fixture(scope="module")
def folder(tmp_path_factory, run):
    """All outputs of a run of the command, with a metric of ours beside the scores."""
    folder = tmp_path_factory.mktemp("run")
    for name, captions in CAPTIONS.items():
        (folder / f"{name}.json").write_text(json.dumps(captions), "utf-8")
        (folder / f"{name}_scores.json").write_text(per_item(NUMBERS[name]), "utf-8")
    (folder / "objects.json").write_text(json.dumps({i: ["dog"] for i in IMAGES}), "utf-8")
    asked = ["score", folder / "good.json", folder / "bad.json", "--metrics", "VIFIDEL"]
    asked += ["--objects", folder / "objects.json", "--lower-is-better", "Errors", "--compare"]
    for name in CAPTIONS:
        asked += ["--scores", f"{name}={folder / name}_scores.json"]
    asked += ["--output", folder / "saved.json", "--per-image", folder / "images.csv"]
    asked += ["--report", folder / "report.html", "--leaderboard", folder / "board.json"]
    asked += ["--compare-output", folder / "compared.csv"]
    for style in ("table", "markdown", "csv", "latex", "json"):
        done = run(*asked, "--format", style)
        assert done.exit_code == 0, done.output
        (folder / f"printed.{style}").write_text(done.stdout, "utf-8")
        again = run("table", folder / "saved.json", "--format", style)
        assert again.stdout == done.stdout
    return folder


@pytest.mark.parametrize("style", ["table", "markdown", "csv", "latex"])
def test_tables_agree(folder, style):
    parts = (folder / f"printed.{style}").read_text("utf-8").split("\n\n")
    text = parts[{"table": 3, "csv": 0}.get(style, 1)]  # behind the verdict and who beats whom
    for name, of_column in MEANS.items():
        (row, *_) = [line for line in text.splitlines() if re.search(rf"\b{name}\b", line)]
        numbers = [float(number) for number in re.findall(r"\d+\.\d+", row)]
        for mean in of_column.values():
            assert min(abs(mean - number) for number in numbers) <= 5e-5


def test_files_agree(folder):
    saved = json.loads((folder / "saved.json").read_text("utf-8"))
    assert saved == json.loads((folder / "printed.json").read_text("utf-8"))
    assert saved["lower_is_better"] == ["Errors"]
    board = json.loads((folder / "board.json").read_text("utf-8"))
    rows = list(csv.DictReader((folder / "images.csv").read_text("utf-8").splitlines()))
    for name, numbers in NUMBERS.items():
        system = saved["systems"][name]
        assert {c: system["overall"][c] for c in MEANS[name]} == pytest.approx(MEANS[name])
        of_images = [row for row in rows if row["System"] == name]
        for image, of in numbers.items():
            assert {c: system["imgToEval"][str(image)][c] for c in of} == of
            row = next(row for row in of_images if row["Image"] == str(image))
            assert {c: float(row[c]) if row[c] else None for c in of} == of
        (of_board,) = [row["scores"] for row in board["runs"] if row["system"] == name]
        assert {c: of_board[c] for c in MEANS[name]} == pytest.approx(MEANS[name])
    assert board["signatures"]["Errors"] == "Errors|scores:given"  # other systems may join


def test_a_loaded_run_has_everything(folder, tmp_path):
    loaded = vifidel_eval.load(folder / "saved.json")
    files = {name: folder / f"{name}_scores.json" for name in CAPTIONS}
    captions = {name: folder / f"{name}.json" for name in CAPTIONS}
    built = vifidel_eval.evaluate(
        captions, objects=folder / "objects.json", metrics="VIFIDEL", scores=files,
        lower_is_better=["Errors"],
    )  # fmt: skip
    assert loaded.scores == built.scores
    assert loaded.compare(seed=2).to_json() == built.compare(seed=2).to_json()
    built.report(tmp_path / "made.html", resamples=50)
    loaded.report(tmp_path / "loaded.html", resamples=50)
    assert (tmp_path / "made.html").read_bytes() == (tmp_path / "loaded.html").read_bytes()
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (folder / "saved.json").read_bytes()


@pytest.mark.parametrize(("limit", "status"), [(".6", 0), (".65", 3)])
def test_a_requirement_on_scores(folder, limit, status, run):
    asked = ["score", folder / "bad.json", "--scores", f"bad={folder / 'bad_scores.json'}"]
    done = run(*asked, "--require", f"CLIPlike >= {limit}")
    assert done.exit_code == status, done.output
    assert ("bad: CLIPlike is" in done.stderr) == bool(status)
