"""The layouts that people have, each by an example of our own."""

import sys
from pathlib import Path

import pytest

from vifidel_eval.captions import read_references, read_results
from vifidel_eval.errors import CaptionError
from vifidel_eval.io.image_ids import match

DATA = Path(__file__).parents[1] / "data" / "captions"
CAPTIONS = {
    42: "A dog sleeps on a couch.",
    73: 'Two motorcycles, one of them "red".',
    74: "A man\nwalks a dog.",
}
REFERENCES = {
    42: ["A dog lies on a sofa.", "A brown dog asleep."],
    73: ["Two motorbikes parked."],
    74: ["A person with a dog."],
}


RESULTS = "results.jsonl results.csv results.tsv results_listed.json llava_answers.jsonl".split()


@pytest.mark.parametrize("name", [*RESULTS, "lmms_eval_samples.jsonl"])
def test_results(name):
    results = read_results(DATA / name)
    same = match(CAPTIONS, results)
    assert {image_id: results[same[image_id]] for image_id in same} == CAPTIONS
    assert len(results) == len(CAPTIONS)


@pytest.mark.parametrize(
    ("name", "splits"),
    [
        ("references.csv", ()),
        ("references.jsonl", ()),
        ("lmms_eval_samples.jsonl", ()),
        ("karpathy.json", ["test"]),
    ],
)
def test_references(name, splits):
    references = read_references(DATA / name, splits)
    same = match(REFERENCES, references)
    assert {image_id: references[same[image_id]] for image_id in same} == REFERENCES
    assert len(references) == len(REFERENCES)


# Karpathy


def karpathy(*images):
    return {"images": list(images), "dataset": "flickr8k"}


def image(name, split, *raw, **more):
    return {"filename": name, "split": split, "sentences": [{"raw": text} for text in raw], **more}


@pytest.mark.parametrize(
    ("content", "splits", "message"),
    [
        (karpathy(image("a.jpg", "train", "A."), image("b.jpg", "test", "B.")), (),
         r"has the splits train \(1\), test \(1\); choose with --split"),
        (karpathy(image("a.jpg", "train", "A.")), ["val"], r"no split 'val'; it has train \(1\)"),
        (karpathy(image("a.jpg", "test", "A."), 7), (), r"images\[1\]: expected an object"),
        (karpathy(image("a.jpg", "test", "A."), image("a.jpg", "test", "B.")), (),
         r"images\[1\]: image 'a.jpg' is listed twice"),
        (karpathy({"split": "test", "sentences": []}), (), r"images\[0\]: 'filename' is missing"),
        (karpathy(image("a.jpg", "t", "A."), {"filename": "b", "split": "t"}), (),
         "'sentences' is missing; exp"),
        (karpathy({"filename": "a.jpg", "split": "t", "sentences": [{"tokens": ["a"]}]}), (),
         r"sentences\[0\]: the caption is missing"),
        ({"images": [{"id": 1}]}, (), "neither 'annotations' nor 'sentences'"),
        ({"1": ["A dog."]}, ["test"], "has no splits"),
    ],
)  # fmt: skip
def test_bad_splits(content, splits, message, write_lines):
    with pytest.raises(CaptionError, match=rf"samples\.jsonl: .*{message}"):
        read_references(write_lines(content), splits)


# lmms-eval


def sample(number, **metrics):
    return {"doc_id": number, "target": "", "filtered_resps": "A dog.", **metrics}


def test_a_test_split_of_lmms_eval_holds_its_caption_in_a_list(write_lines):
    output = {"pred": ["A dog."], "image_id": 42}
    path = write_lines(sample(0, coco_passthrough=output), sample(1, coco_passthrough={
        "pred": ["A cat."], "image_id": 7,
    }))  # fmt: skip
    assert read_results(path) == {42: "A dog.", 7: "A cat."}
    submitted = write_lines([{"image_id": 42, "caption": ["A dog."]}])
    assert read_results(submitted) == {42: "A dog."}


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ({"accuracy": 1.0}, "line 2: this lmms-eval sample has no 'pred'"),
        (
            {"a": {"pred": "x", "image_id": 1}, "b": {"pred": "y", "image_id": 1}},
            "line 2: its metrics hold different 'pred'",
        ),
    ],
)
def test_bad_samples(metrics, message, write_lines):
    good = {"coco_CIDEr": {"pred": "A dog.", "image_id": 42}}
    path = write_lines(sample(0, **good), sample(1, **metrics))
    with pytest.raises(CaptionError, match=message):
        read_results(path)


@pytest.mark.parametrize("read", [read_results, read_references])
def test_a_summary_of_lmms_eval_holds_no_captions(read, write_lines):
    path = write_lines({"results": {"coco2014_cap_val": {}}, "configs": {}})
    with pytest.raises(CaptionError, match="summary of an lmms-eval run"):
        read(path)


# LLaVA


def test_questions_are_no_captions(write_lines):
    question = {"question_id": 1, "image": "a.jpg", "text": "What is in the image?"}
    with pytest.raises(CaptionError, match="looks like the questions of a LLaVA-style"):
        read_results(write_lines(question, {**question, "question_id": 2}))
    assert read_results(write_lines(question), (), ["text"]) == {"a.jpg": question["text"]}


# Parquet


def parquet(path, **columns):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table(columns), path)
    return path


def test_parquet(tmp_path):
    path = parquet(
        tmp_path / "results.parquet",
        image=[{"bytes": b"\x89PNG", "path": None}] * 3,  # a picture, which is no image id
        image_id=list(CAPTIONS),
        caption=list(CAPTIONS.values()),
    )
    assert read_results(path) == CAPTIONS


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    path = parquet(tmp_path / "r.parquet", image_id=[1], caption=["A dog."])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(CaptionError, match=r"pip install pyarrow\.$") as problem:
        read_results(path)
    assert str(problem.value).count(". ") == 0


def test_parquet_with_more_rows_than_memory(tmp_path, monkeypatch):
    path = parquet(tmp_path / "r.parquet", image_id=[1, 2], caption=["A dog.", "A cat."])
    monkeypatch.setattr("vifidel_eval.io.containers._MOST_ROWS", 1)
    with pytest.raises(CaptionError, match="holds 2 rows, and at most 1 are read"):
        read_results(path)


def test_parquet_with_a_column_named_twice(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table([[1], [2], ["A."]], names=["image_id", "image_id", "caption"]), path)
    with pytest.raises(CaptionError, match="the column 'image_id' appears twice"):
        read_results(path)
