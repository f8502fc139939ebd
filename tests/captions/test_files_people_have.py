"""Layouts that other programs write: each is recognised by its content."""

import json
import sys
import zipfile

import pytest

from vifidel_eval import evaluate
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.errors import CaptionError

CAPTIONS = {42: "A dog.", 73: "Two cats, asleep."}
RECORDS = [{"image_id": i, "caption": caption} for i, caption in CAPTIONS.items()]
BY_ID = {str(i): caption for i, caption in CAPTIONS.items()}
SCORED = {i: {"image_id": int(i), "CIDEr": 0.5, "caption": text} for i, text in BY_ID.items()}
#: As COCO-caption's forks, FiftyOne's peers and people write them.
HELD = [
    {"overall": {"CIDEr": 0.5}, "imgToEval": SCORED},
    {"version": "1.0", "captions": RECORDS},
    {"version": "1.0", "captions": BY_ID},
    {"results": RECORDS},
    {"results": BY_ID, "model": "mine"},
    {"predictions": RECORDS, "seed": 1},
]


def described(caption):
    return json.dumps([{"caption": caption, "conf": 0.9}])


LLAVA = [
    {"question_id": n, "prompt": "Describe.", "text": caption, "answer_id": "x", "image_id": i}
    for n, (i, caption) in enumerate(CAPTIONS.items())
]
TEXTS = {
    "oscar.tsv": "".join(f"{i}\t{described(text)}\n" for i, text in CAPTIONS.items()),
    "plain.tsv": "".join(f"{i}\t{text}\n" for i, text in CAPTIONS.items()),
    "caption_data.json": "\n".join(json.dumps(entry, indent=4) for entry in LLAVA),
    "one_line.json": json.dumps({"results": RECORDS}),
}


@pytest.mark.parametrize("content", HELD)
def test_captions_under_a_key(content, write):
    assert read_results(write(content)) == CAPTIONS
    if BY_ID not in content.values():
        assert read_references(write(content)) == {i: [text] for i, text in CAPTIONS.items()}


@pytest.mark.parametrize("name", TEXTS)
def test_texts(name, write):
    assert read_results(write(TEXTS[name], name)) == CAPTIONS


def test_flickrs_tokens_are_references(write):
    path = write('a,b.jpg#0\tA dog.\na,b.jpg#1\t"Rex" runs.\nc.jpg#0\tA cat.\n', "tokens.txt")
    assert read_references(path) == {"a,b.jpg": ["A dog.", '"Rex" runs.'], "c.jpg": ["A cat."]}


def test_tsv_without_a_header_is_one_pair_per_line(write):
    with pytest.raises(CaptionError, match="line 2 is not an image id, a tab and a caption"):
        read_results(write("42\tA dog.\n73\n", "plain.tsv"))


def test_scores_without_captions(write):
    bare = {i: {"image_id": int(i), "CIDEr": 0.5} for i in BY_ID}
    with pytest.raises(
        CaptionError, match=r"no field for a caption .* but only 'image_id', 'CIDEr'"
    ):
        read_results(write({"overall": {}, "imgToEval": bare}))


def test_vlmevalkits_predictions_and_references(write):
    rows = "index,question,answer,prediction\n0,What?,\"['A dog.', 'Dogs.']\",A cat.\n"
    path = write(rows, "model_COCO_VAL.csv")
    assert read_results(path) == {0: "A cat."}
    assert read_references(path) == {0: ["A dog.", "Dogs."]}
    named = rows.replace("index,", "index,image_path,").replace("\n0,", "\n0,b/7.jpg,")
    assert read_results(write(named, "named.csv")) == {"b/7.jpg": "A cat."}


def test_excel(tmp_path):
    pytest.importorskip("openpyxl")
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "model_COCO_VAL.xlsx"
    rows = {
        "index": [0, 1],
        "answer": ["['A dog.']", "['N/A']"],
        "prediction": ["A cat.", "No cat."],
    }
    pandas.DataFrame(rows).to_excel(path, index=False)
    assert read_results(path) == {0: "A cat.", 1: "No cat."}
    assert read_references(path) == {0: ["A dog."], 1: ["N/A"]}


def test_excel_with_two_columns_of_one_name(tmp_path):
    pytest.importorskip("openpyxl")
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "captions.xlsx"
    rows = [["image_id", "caption", "caption"], [1, "A dog.", "A cat."]]
    pandas.DataFrame(rows).to_excel(path, header=False, index=False)
    with pytest.raises(CaptionError, match="the column 'caption' appears twice; keep one"):
        read_results(path)


def test_excel_without_its_reader_or_damaged(tmp_path, monkeypatch):
    path = tmp_path / "captions.xlsx"
    path.write_bytes(b"PK\x03\x04 xl/workbook.xml")
    with pytest.raises(CaptionError, match=r"the Excel file cannot be read \(.*\); save it as CSV"):
        read_results(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(CaptionError) as problem:
        read_results(path)
    assert str(problem.value) == (
        f"{path}: is an Excel file; save it as CSV (UTF-8), or pip install pandas openpyxl."
    )


POPE = {"question_id": 1, "image": "7.jpg", "answer": "Yes, there is."}


@pytest.mark.parametrize("key", ["text", "question"])
def test_answers_to_popes_questions_are_no_captions(key, write):
    path = write([POPE | {key: "Is there a dog in the image?"}])
    with pytest.raises(
        CaptionError, match=r"'Is there a dog in the image.' are not captions; .*--obj"
    ):
        read_results(path)
    path = write([POPE | {"question": "Describe the image."}])
    assert read_results(path) == {"7.jpg": "Yes, there is."}
    path = write([POPE | {"question": "Describe the image.", "text": "a dog"}])
    assert read_results(path) == {"7.jpg": "Yes, there is."}
    with pytest.raises(CaptionError, match="'answer' and 'text' could each be the caption"):
        read_results(write([POPE | {"text": "Describe the image."}]))


NAMES = '{"image_id": ..., "caption": ...}'


def test_nocaps_captions_need_no_references_for_it(write):
    images = [{"id": i, "open_images_id": f"00a{i}", "file_name": f"00a{i}.jpg"} for i in (7, 8)]
    boxes = "ImageID,LabelName,Confidence\n00a7,dog,1\n00a8,cat,1\n"
    objects = [write({"images": images}), write(boxes, "boxes.csv")]
    own = {7: "the dog", 8: "a cat"}
    expected = evaluate({"mine": own}, objects=objects, metrics="VIFIDEL-PRF").per_image("mine")
    assert list(expected) == [7, 8]
    for key in ("open_images_id", "file_name"):
        for more in ([], [{7: ["hat"]}]):
            renamed = {image[key]: own[image["id"]] for image in images}
            systems = {"mine": renamed, "own": own}
            run = evaluate(systems, objects=objects + more, metrics="VIFIDEL-PRF")
            assert run.per_image("mine") == run.per_image("own")
            assert more or run.per_image("mine") == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"version": "5.0", "flags": {}, "shapes": [], "height": 4},
            "no known layout has 'version', 'flags', 'shapes', 'height'; the nearest are "
            '{"id": "caption"} and {"results": [...]}.',
        ),
        ([{"clip": "a", "sentence_1": "b"}], "no known layout has 'clip', 'sentence_1'; the near"),
        (
            "A dog.\nTwo cats.\n",
            f"no known layout begins with 'A dog.\\nTwo cats.'; the nearest are records {NAMES}",
        ),
        ("A dog.\nTwo cats.\n", "; if its lines are captions, write the image id and a tab before"),
    ],
)
def test_an_unknown_layout_is_answered_by_what_it_has(content, message, write):
    with pytest.raises(CaptionError) as problem:
        read_results(write(content, "captions.txt"))
    assert message in str(problem.value)
