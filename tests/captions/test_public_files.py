"""References that are not to be used, and what pandas writes for a missing caption."""

import json

import pytest

from vifidel_eval import VifidelWarning, evaluate
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.errors import CaptionError

pd = pytest.importorskip("pandas")

VIZWIZ = [
    *((1, "A dog.", 0, 0), (1, "Quality is too poor.", 0, 1), (1, "buy now", 1, 0)),
    *((2, "A cat.", 0, 0), (3, "Quality is too poor.", 0, 1)),
]


def vizwiz(image, caption, rejected, precanned):
    flags = {"is_rejected": bool(rejected), "is_precanned": bool(precanned)}
    return {"image_id": image, "caption": caption, **flags}


RECORDS = [vizwiz(*answer) for answer in VIZWIZ]
FILES = {
    "coco.json": {"images": [{"id": i} for i in (1, 2, 3)], "annotations": RECORDS},
    "list.json": RECORDS,
    "lines.jsonl": "".join(json.dumps(one) + "\n" for one in RECORDS),
    "table.csv": pd.DataFrame(RECORDS).to_csv(index=False),
}


@pytest.mark.parametrize("name", FILES)
def test_flagged_references_are_left_out(name, write):
    message = (
        r"3 references are left out \(2 flagged is_precanned, 1 flagged is_rejected\); "
        r"1 image has no other\."
    )
    with pytest.warns(VifidelWarning, match=message):
        read = read_references(write(FILES[name], name))
    assert read == {1: ["A dog."], 2: ["A cat."], 3: []}


def test_flagged_sentences_of_splits_are_left_out(write):
    sentences = [{"raw": "A dog."}, {"raw": "spam", "rejected": True}]
    content = {"images": [{"filename": "1.jpg", "split": "test", "sentences": sentences}]}
    with pytest.warns(VifidelWarning, match="1 reference is left out"):
        assert read_references(write(content, "k.json")) == {"1.jpg": ["A dog."]}


@pytest.mark.filterwarnings("ignore:.*references are left out")
def test_scores_are_those_of_the_other_references(write):
    captions = {1: "A zebra.", 2: "A cat."}
    path = write(FILES["coco.json"], "r.json")
    options = {"metrics": ["ROUGE_L"], "allow_subset": True}
    scores = evaluate({"x": captions}, references=path, **options).per_image("x")
    assert scores[1]["ROUGE_L"] == pytest.approx(0.5)  # one of two words, in both
    assert scores[2]["ROUGE_L"] == pytest.approx(1)


@pytest.mark.parametrize("nothing", ["nan", "NaN", "None", "<NA>", "NaT"])
def test_what_pandas_writes_for_nothing_is_empty_in_csv(nothing, write):
    text = f"image_id,caption\n1.0,{nothing}\n2.0,nan bread\n"
    with pytest.warns(VifidelWarning, match="1 caption is read as empty"):
        assert read_results(write(text, "r.csv")) == {1: "", 2: "nan bread"}


@pytest.mark.filterwarnings("ignore:.*(what pandas writes|references are left out)")
def test_missing_references_of_tables_are_left_out(write):
    text = "image_id,caption\n1,A dog.\n1,nan\n2,\n"
    assert read_references(write(text, "r.csv")) == {1: ["A dog."], 2: []}


def test_json_says_what_it_means(write):
    assert read_results(write({"1": "nan"}, "r.json")) == {1: "nan"}


@pytest.mark.parametrize("missing", [float("nan"), None, "nan", "<NA>"])
def test_a_missing_caption_of_a_data_frame_is_named(missing):
    frame = pd.DataFrame({"image_id": [1.0, 2.0], "caption": ["A dog.", missing]}, dtype=object)
    with pytest.raises(CaptionError, match=r"row 1 \(image 2\): the caption is (null|nan)"):
        evaluate({"x": frame}, references={1: ["a"], 2: ["b"]}, metrics=["ROUGE_L"])


def test_a_record_for_each_image(write):
    path = write({"1": {"caption": "A dog."}, "2": {"caption": "A cat."}}, "r.json")
    assert read_results(path) == {1: "A dog.", 2: "A cat."}
    florence = write({"1": {"<CAPTION>": "A dog."}}, "f.json")
    with pytest.raises(CaptionError, match="only 'image_id', '<CAPTION>'; name it with --caption"):
        read_results(florence)
    assert read_results(florence, caption_fields=["<CAPTION>"]) == {1: "A dog."}
