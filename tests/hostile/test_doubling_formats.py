"""Every format of objects and every layout of captions, generated from their tables.

A format that joins a table needs an example here: it is a function of the number of images and of
labels, or of captions, and of a label or caption.
"""

import csv
import dataclasses
import io
import json

import pytest
from hostile.growth import grows_linearly, mark

from vifidel_eval.annotations import read, read_objects
from vifidel_eval.captions import read as captions_read
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.plugins.ngrams import RougeL
from vifidel_eval.scorers import Vifidel
from vifidel_eval.words.tokenization import PythonTokenizer, Tokenization

pytestmark = pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")

BOX = [0, 0, 1, 1]


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def table(*rows):
    csv.writer(content := io.StringIO()).writerows(rows)
    return {"o.csv": content.getvalue()}


def whole(content):
    return {"o.json": json.dumps(content)}


def each(images, ending, text):
    """Return a file with the same text for each image."""
    return {f"f/{image}.{ending}": text for image in range(images)}


def pairs(images, names):
    return [(image, label, name) for image in range(images) for label, name in enumerate(names)]


def in_coco(found, images, names):
    categories = [{"id": label, "name": name} for label, name in enumerate(names)]
    listed = [{"id": image} for image in range(images)]
    return whole({"images": listed, "annotations": found, "categories": categories})


def boxes(images, names):
    return [{"image_id": i, "category_id": n, "bbox": BOX} for i, n, _ in pairs(images, names)]


def detected(images, names):
    head = {"vifidel_eval": "detections", "version": 1, "model": "toy", "lowest": 0.05}
    content = {"labels": names, "scores": [0.9] * len(names), "boxes": [BOX] * len(names)}
    content |= {"asked": names, "width": 9, "height": 9}
    records = ({"image_id": str(image), **content} for image in range(images))
    return {"o.jsonl": lines([head | {"classes": None}, *records])}


BOXES = "ImageID Source LabelName Confidence XMin XMax YMin YMax IsGroupOf".split()
# Of each format, the files with so many images, each of which has all names.
EXAMPLES = {
    "COCO or LVIS instances JSON": lambda images, names: in_coco(
        boxes(images, names), images, names),
    "COCO detection results": lambda images, names: {
        "classes.json": json.dumps(dict(enumerate(names))),
        **whole([{**box, "score": 0.9} for box in boxes(images, names)])},
    "COCO panoptic": lambda images, names: in_coco(
        [{"image_id": image, "segments_info": [{"category_id": n} for n in range(len(names))]}
         for image in range(images)], images, names),
    "PASCAL VOC XML": lambda images, names: each(images, "xml", "<annotation>" + "".join(
        f"<object><name>{name}</name></object>" for name in names) + "</annotation>"),
    "Open Images labels CSV": lambda images, names: table(
        BOXES[:4], *((i, "verification", name, n % 2) for i, n, name in pairs(images, names))),
    "Open Images boxes CSV": lambda images, names: table(
        BOXES, *((i, "x", name, 1, 0, 1, 0, 1, 0) for i, _, name in pairs(images, names))),
    "JSON Lines of objects": lambda images, names: {
        "o.jsonl": lines({"image_id": i, "objects": names} for i in range(images))},
    "Visual Genome": lambda images, names: whole(
        [{"image_id": i, "objects": [{"names": [name]} for name in names]}
         for i in range(images)]),
    "a folder of YOLO labels": lambda images, names: {
        "classes.txt": "\n".join(names),
        **each(images, "txt", "".join(f"{n} .5 .5 .1 .1\n" for n in range(len(names))))},
    "CSV or TSV of labels": lambda images, names: table(
        ("image", "label"), *((i, name) for i, _, name in pairs(images, names))),
    "files of vifidel-eval detect": detected,
    "answers": lambda images, names: {"o.jsonl": lines(
        {"image_id": i, "thing": name, "answer": "yes"} for i, _, name in pairs(images, names))},
    "FiftyOne": lambda images, names: whole({"samples": [
        {"filepath": f"{i}.jpg", "truth": {"detections": [
            {"label": name, "bounding_box": BOX} for name in names]}} for i in range(images)]}),
    "LabelMe": lambda images, names: {
        f"f/{i}.json": json.dumps({"imagePath": f"{i}.jpg", "shapes": [
            {"label": name, "points": [[0, 0], [1, 1]]} for name in names]})
        for i in range(images)},
    "POPE": lambda images, names: {"o.jsonl": lines(
        {"question_id": f"{i}-{n}", "image": f"{i}.jpg", "label": "yes",
         "text": f"Is there a {name} in the image?"} for i, n, name in pairs(images, names))},
    "AMBER": lambda images, names: whole(
        [{"id": i + 1, "type": "generative", "truth": names, "hallu": []}
         for i in range(images)]),
    "Woodpecker": lambda images, names: whole([
        {"img_path": f"{i}.jpg", "entity_info": {
            name: {"total_count": 1, "bbox": [BOX]} for name in names}} for i in range(images)]),
    "a folder of JSON detections": lambda images, names: each(images, "json", json.dumps(
        {"labels": names, "scores": [0.9] * len(names), "bboxes": [BOX] * len(names)})),
    "{image id: [label, ...]} JSON": lambda images, names: whole(
        dict.fromkeys(range(images), names)),
}  # fmt: skip


def example_of(name, images, labels, label):
    """Return files of a format, by their names, with so many images and labels that begin alike."""
    return EXAMPLES[name](images, [f"{label}{n}" for n in range(labels)])


# No labels are in them: names of images beside another source, and what is refused.
WITHOUT_LABELS = {"nocaps JSON", "parallel arrays"}
OF_ONE_IMAGE_A_FILE = {
    *("PASCAL VOC XML", "a folder of YOLO labels", "a folder of JSON detections", "LabelMe")
}


def test_every_format_has_an_example():
    assert {known.name for known in read.formats()} == EXAMPLES.keys() | WITHOUT_LABELS


def source(folder, files):
    """Write files into a folder of their own; return what reads them."""
    place = folder / mark()
    (place / "f").mkdir(parents=True)
    for name, content in files.items():
        (place / name).write_text(content)
    classes = [name for name in files if name.startswith("classes.")]
    given = {"categories": place / classes[0]} if classes else {}
    (first,) = {place / name.split("/")[0] for name in files.keys() - classes}
    return lambda: read_objects(first, **given)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_of_its_format(tmp_path, monkeypatch, name):
    used = []

    def spied(known):
        def of(way):
            return dataclasses.replace(
                way, read=lambda *given: used.append(known.name) or way.read(*given)
            )

        return dataclasses.replace(known, variants=tuple(map(of, known.variants)))

    formats = [*map(spied, read.formats())]
    monkeypatch.setattr(read, "formats", lambda: formats)
    objects = source(tmp_path, example_of(name, 2, 2, "thing"))()
    assert used[0] == name
    assert len(objects) == 2
    result = {label for labels in objects.values() for label in labels}
    assert result == ({"thing1"} if name == "Open Images labels CSV" else {"thing0", "thing1"})


@pytest.mark.slow
@pytest.mark.parametrize("what", ["images", "labels", "a long label", "both"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_growth_with_what_a_format_holds(tmp_path, name, what):
    files = name in OF_ONE_IMAGE_A_FILE
    small, large = {
        "images": (50, 800) if files else (500, 8000),
        "labels": (500, 8000),
        "a long label": (60, 960),
        "both": (16, 64) if files else (25, 100),  # squared: the sixteenfold
    }[what]

    def read(size):
        images, labels, label = {
            "images": (size, 2, "x"),
            "labels": (2, size, "x"),
            "a long label": (20, 20, "x" * (size - 30)),
            "both": (size, size, "x"),
        }[what]
        objects = source(tmp_path, example_of(name, images, labels, mark() + label))
        return lambda: objects().signature()

    grows_linearly(read, small, large)


# Captions


def listed(images, number, text):
    return [{"image_id": n % images, "caption": text} for n in range(images * number)]


# Of each layout, in the order of their table, so many images with a number of captions each.
CAPTIONS = {
    "COCO": lambda images, number, text: json.dumps(
        {"images": [{"id": i} for i in range(images)],
         "annotations": [{"id": n, **of} for n, of in enumerate(listed(images, number, text))]}),
    "Karpathy": lambda images, number, text: json.dumps({"images": [
        {"cocoid": i, "imgid": i, "filename": f"{i}.jpg", "split": "test",
         "sentences": [{"raw": text}] * number} for i in range(images)]}),
    "lmms-eval": lambda images, number, text: lines(
        {"doc_id": i, "doc": {"image_id": i}, "target": [text] * number, "resps": [[text]],
         "filtered_resps": [text]} for i in range(images)),
    "VLMEvalKit": lambda images, number, text: lines(
        {"index": i, "question": "What is it?", "prediction": text, "answer": [text] * number}
        for i in range(images)),
    "replies": lambda images, number, text: lines(
        {"image": f"{n % images}.jpg", "question": "What is it?", "answer": text}
        for n in range(images * number)),
    "LLaVA": lambda images, number, text: lines(
        {"question_id": n % images, "text": text, "prompt": "What is it?", "answer_id": "x"}
        for n in range(images * number)),
    "held": lambda *of: json.dumps({"results": listed(*of)}),
    "without a header": lambda images, number, text: "".join(
        f"{n % images}.jpg#{n}\t{text}\n" for n in range(images * number)),
    "listed": lambda *of: json.dumps(listed(*of)),
    "by image": lambda images, number, text: json.dumps(
        {image: [text] * number for image in range(images)}),
}  # fmt: skip
LAYOUTS = dict(zip(captions_read.layouts(), CAPTIONS.items(), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("what", ["images", "captions", "a long caption"])
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: LAYOUTS[layout][0])
def test_growth_with_what_a_layout_holds(tmp_path, monkeypatch, layout, what):
    """The layouts are in the order of the table, and an example is read by its own."""
    used = []
    spied = [
        dataclasses.replace(one, read=lambda *of, one=one: used.append(one.name) or one.read(*of))
        for one in captions_read.layouts()
    ]
    monkeypatch.setattr(captions_read, "layouts", lambda: spied)
    reader = read_references if layout.as_references else read_results

    def read(size):
        images, number, text = {
            "images": (size, 1, "a dog"),
            "captions": (2, size, "a dog"),
            "a long caption": (20, 2, "a dog " * (size // 6)),
        }[what]
        path = tmp_path / mark()
        path.write_text(LAYOUTS[layout][1](images, number, f"{mark()} {text}"))
        splits = {"splits": ["test"]} if layout.has_splits else {}
        return lambda: reader(path, **splits)

    grows_linearly(read)
    assert used[0] == layout.name  # what it holds may be another


# What is not linear, and what is kept


@pytest.mark.slow
def test_the_product_of_lengths_of_rouge_is_bounded():
    """It grows no faster than the product of the lengths of a caption and a reference."""
    scorer = RougeL(Tokenization(PythonTokenizer()))

    def score(size):
        own, words = mark(), int(size**0.5)
        text = " ".join(f"{own}{n % 97}" for n in range(words))
        other = " ".join(f"{own}{n % 89}" for n in range(words))
        return lambda: scorer.score_columns(captions=[text], references=[[other]])

    grows_linearly(score, 1_000_000, 16_000_000)


def test_labels_beyond_the_bound_are_refused_in_every_format(tmp_path):
    for name in EXAMPLES:
        read = source(tmp_path, example_of(name, 1, 2, "x" * 2000))
        with pytest.raises(ValueError, match=r"at most 1000 are read"):
            Vifidel(read()).score(["a dog"], image_ids=["0"])
        assert name
