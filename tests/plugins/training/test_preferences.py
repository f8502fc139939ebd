"""Preference pairs: the best and the worst of several captions, chosen by hand and by force."""

import itertools
import json

import numpy as np
import pytest
from conftest import call, done

from vifidel_eval import evaluate
from vifidel_eval.errors import VifidelError, VifidelWarning
from vifidel_eval.plugins.training.preferences import preference_pairs, write_pairs

SAMPLES = {
    "a.jpg": ["A dog.", "A dog and a zebra.", "A dog and a cat sit."],
    "b.jpg": ["A zebra, a zebra.", "A cat."],
    "c.jpg": ["A cat.", "A cat."],
}
OBJECTS = {name: {"dog": 1, "cat": 1, "zebra": 0} for name in ("a", "b", "c")}


def test_best_and_worst_are_those_of_a_run_with_samples():
    pairs = preference_pairs(SAMPLES, objects=OBJECTS)
    run = evaluate({"mine": SAMPLES}, objects=OBJECTS, metrics="VIFIDEL-PRF", samples=True)
    of_images = run.per_image("mine")
    assert [pair.image_id for pair in pairs] == ["a.jpg", "b.jpg"]  # c has no two texts
    for pair in pairs:
        of_image = of_images[pair.image_id]
        assert pair.chosen == SAMPLES[pair.image_id][of_image["VIFIDEL-F best sample"]]
        assert pair.rejected == SAMPLES[pair.image_id][of_image["VIFIDEL-F worst sample"]]
        assert pair.chosen_score == of_image["VIFIDEL-F best"]
        assert pair.rejected_score == of_image["VIFIDEL-F worst"]
    assert pairs[0].rejected_made_up == ["zebra"]
    assert pairs[1].rejected_made_up == ["zebra", "zebra"]
    assert pairs[0].chosen_made_up == []


def test_answers_in_messages_are_found_by_their_path(write, tmp_path):
    answers = [(name, text) for name, texts in SAMPLES.items() for text in texts]
    rows = [{"picture": n, "messages": [{"content": "?"}, {"content": t}]} for n, t in answers]
    path, output = write("\n".join(map(json.dumps, rows)), "chats.jsonl"), tmp_path / "pairs.jsonl"
    objects = write(json.dumps(OBJECTS), "objects.json")
    asked = ["--objects", objects, "--output", output, "--id-field", "picture"]
    shown = call("preference-pairs", path, *asked)
    assert "--caption-field 'messages[-1].content'" in shown.stderr
    asked += ["--caption-field", "messages[-1].content"]
    done("preference-pairs", path, *asked)
    pairs = preference_pairs(SAMPLES, objects=OBJECTS)
    written = [json.loads(line)["chosen"] for line in output.read_text("utf-8").splitlines()]
    assert written == [pair.chosen for pair in pairs]


def test_what_claims_nothing_is_said_once():
    samples = {"a.jpg": ["A dog.", "Sorry, I can't help with that."], "b.jpg": ["", "A cat."]}
    with pytest.warns(VifidelWarning) as shown:
        pairs = preference_pairs(samples, objects=OBJECTS)
    assert [pair.rejected for pair in pairs] == ["Sorry, I can't help with that.", ""]
    assert [str(one.message)[:34] for one in shown] == ["2 of 4 captions claim nothing (ref"]


def test_columns_of_score_table_are_known_by_the_names_of_metrics(write):
    rows = [{"image_id": 1, "caption": c, "VIFIDEL_Hn": n} for c, n in (("a", 2), ("b", 0))]
    path = write("\n".join(map(json.dumps, rows)), "scored.jsonl")
    for column in ("VIFIDEL-Hn", "VIFIDEL_Hn"):
        [pair] = preference_pairs(path, column)
        assert (pair.chosen, pair.rejected) == ("b", "a")


def rows_of(seed=2, images=30, samples=7):
    random = np.random.default_rng(seed)
    return [
        {
            "image_id": image,
            "caption": " ".join(["word"] * random.integers(1, 9)) + f" {number}",
            "judge": None if random.random() < 0.2 else int(random.integers(6)),
        }
        for image, number in itertools.product(range(images), range(samples))
    ]


@pytest.mark.parametrize("equal_length", [None, 0.25])
@pytest.mark.parametrize("lower", [False, True])
def test_rows_against_all_pairs(write, equal_length, lower):
    rows = rows_of()
    pairs = preference_pairs(
        write(rows), "judge", least_difference=2, equal_length=equal_length, lower_is_better=lower
    )
    by_image = {pair.image_id: pair for pair in pairs}
    for image in range(30):
        apart = []
        for one, other in itertools.combinations(rows, 2):
            if one["image_id"] == other["image_id"] == image:
                lengths = [len(row["caption"].split()) for row in (one, other)]
                scored = None not in (one["judge"], other["judge"])
                if scored and abs(np.diff(lengths)[0]) <= (equal_length or 1) * max(lengths):
                    apart.append(abs(one["judge"] - other["judge"]))
        if max(apart, default=0) < 2:
            assert image not in by_image
        else:
            pair = by_image[image]
            gain = pair.chosen_score - pair.rejected_score
            assert (-gain if lower else gain) == max(apart)
    assert len(pairs) > 0


@pytest.mark.parametrize(
    ("samples", "arguments", "says"),
    [
        (SAMPLES, {}, "give objects or references"),
        (SAMPLES, {"objects": OBJECTS, "least_difference": 1.5}, "nothing to choose from: none of"),
        (SAMPLES, {"objects": OBJECTS, "column": "VIFIDEL-X"}, "VIFIDEL-X"),
        (SAMPLES, {"objects": OBJECTS, "column": "VIFIDEL-PRF"}, "no column 'VIFIDEL-PRF'"),
        (SAMPLES, {"objects": OBJECTS, "equal_length": 1}, "equal_length"),
        (SAMPLES, {"objects": OBJECTS, "least_difference": float("nan")}, "least_difference"),
    ],
)
def test_refusals(samples, arguments, says):
    with pytest.raises(VifidelError, match=says):
        preference_pairs(samples, **arguments)


def test_a_score_that_is_no_number(write):
    path = write("image_id,caption,judge\n1,a dog,good\n1,a cat,2\n", "rows.csv")
    with pytest.raises(VifidelError, match="'judge' is 'good'; expected a finite number"):
        preference_pairs(path, "judge")
    for score in ([1], True, {}, "1", 10**400):
        rows = [{"image_id": 1, "caption": text, "judge": score} for text in ("a dog", "a cat")]
        with pytest.raises(VifidelError, match="expected a finite number"):
            preference_pairs(write(rows), "judge")


def test_samples_in_memory_are_checked_like_those_of_files():
    with pytest.raises(VifidelError, match="none of 1 images has two captions"):
        preference_pairs({1: "a dog"}, objects={1: ["dog"]})  # a caption, not five
    for odd in (0, None, [1], [["a dog"]]):
        with pytest.raises(VifidelError):
            preference_pairs({1: ["a dog", "a zebra"], 2: odd}, objects={1: ["dog"], 2: ["cat"]})
    frame = pytest.importorskip("pandas").DataFrame(
        {"image_id": [1, 1], "caption": ["a dog", "a zebra"]}
    )
    for known in ({"objects": {1: ["dog"]}}, {"references": {1: ["a dog runs"]}}):
        [pair] = preference_pairs(frame, **known)
        assert pair.chosen == "a dog"


def test_ids_of_both_kinds_in_parquet(tmp_path):
    parquet, path = pytest.importorskip("pyarrow.parquet"), tmp_path / "pairs.parquet"
    pair, _ = preference_pairs(SAMPLES, objects=OBJECTS)
    write_pairs(path, [pair, pair._replace(image_id=7)])
    assert parquet.read_table(path)["image_id"].to_pylist() == ["a.jpg", "7"]


@pytest.mark.parametrize("more", [["--objects", "objects.json"], ["--column", "judge"]])
def test_fields_have_the_names_that_errors_ask_for(tmp_path, monkeypatch, more):
    monkeypatch.chdir(tmp_path)
    texts = enumerate(["a zebra", "a dog"])
    rows = [{"doc": {"pic": "b"}, "resps": [text], "judge": n} for n, text in texts]
    (tmp_path / "samples.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "objects.json").write_text(json.dumps(OBJECTS))
    arguments = ["samples.jsonl", "--output", "pairs.jsonl", *more]
    assert "--id-field" in call("preference-pairs", *arguments).stderr
    arguments += ["--id-field", "doc.pic", "--caption-field", "resps[0]"]
    done("preference-pairs", *arguments)
    assert json.loads((tmp_path / "pairs.jsonl").read_text())["chosen"] == "a dog"


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_the_command(write, tmp_path, suffix):
    samples = write([{"image_id": i, "caption": t} for i, ts in SAMPLES.items() for t in ts])
    output = tmp_path / f"pairs.{suffix}"
    arguments = [samples, "--objects", write(OBJECTS, "objects.json"), "--output", output]
    result = done("preference-pairs", *arguments)
    assert "2 pairs written" in result.stderr
    if suffix == "jsonl":
        rows = list(map(json.loads, output.read_text().splitlines()))
    else:
        rows = pytest.importorskip("pyarrow.parquet").read_table(output).to_pylist()
    assert rows[1]["chosen"] == "A cat."
    assert [*rows[0]][:3] == ["prompt", "chosen", "rejected"]
    assert rows[0]["rejected_made_up"] == ["zebra"]
