import pytest

from vifidel_eval.captions import read_references, read_results
from vifidel_eval.errors import CaptionError


@pytest.fixture
def table(write):
    return lambda *lines: write("".join(f"{line}\n" for line in lines), "table.csv")


HEADERS = "image_id,caption|image,prediction|Image ID,Caption|file_name,text|id,answer".split("|")


@pytest.mark.parametrize("header", [*HEADERS, "filename,generated-caption", '"img_id","pred"'])
def test_usual_names(table, header):
    assert read_results(table(header, "7,A dog.")) == {7: "A dog."}


def test_named_fields(table):
    path = table("image_id,caption,mine,key", "7,A dog.,A cat.,k")
    assert read_results(path, ["key"], ["gone", "mine"]) == {"k": "A cat."}
    assert read_references(path, (), ["key"], ["mine"]) == {"k": ["A cat."]}


def test_one_file_of_predictions_and_references(table):
    path = table("image_id,prediction,reference", "7,A dog.,A pet.", "8,A cat.,Cats.")
    assert read_results(path) == {7: "A dog.", 8: "A cat."}
    assert read_references(path) == {7: ["A pet."], 8: ["Cats."]}


@pytest.mark.parametrize(
    ("header", "fields", "message"),
    [
        ("image_id,caption,prediction", {}, "'caption' and 'prediction' could each be the caption"),
        ("image_id,words", {}, "no field for a caption .* only 'image_id', 'words'; .*--caption-f"),
        ("name,caption", {}, "no field for an image id .*; name it with --id-field"),
        ("image_id,caption", {"id_fields": ["x"]}, r"no field 'x' \(--id-field\); it has 'image_"),
        ("image_id,caption", {"caption_fields": ["x", "y"]}, r"no field 'x' or 'y'"),
    ],
)
def test_fields_that_are_not_clear(table, header, fields, message):
    with pytest.raises(CaptionError, match=message):
        read_results(table(header, *[",".join(["7"] * (header.count(",") + 1))]), **fields)
