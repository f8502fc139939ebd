"""Every format of objects and every layout of captions, generated from their tables.

A format that joins a table needs an example here: it is a function of the number of images and of
labels, or of captions, and of a label or caption.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json

import pytest
from hostile.growth import grows_linearly, mark

from vifidel_eval.annotations import read, read_objects
from vifidel_eval.captions import layouts, read_references, read_results
from vifidel_eval.scorers import Vifidel
from vifidel_eval.scorers.ngram_metrics import RougeL
from vifidel_eval.words.tokenization import PythonTokenizer, Tokenization

pytestmark = pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")

BOX = [0, 0, 1, 1]


def lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def table(*rows):
    csv.writer(content := io.StringIO()).writerows(rows)
    return content.getvalue()


def pairs(images, labels):
    return [(image, label) for image in range(images) for label in range(labels)]


def in_coco(found, images, labels, name):
    categories = [{"id": label, "name": f"{name}{label}"} for label in range(labels)]
    listed = [{"id": image} for image in range(images)]
    return {"o.json": json.dumps(
        {"images": listed, "annotations": found, "categories": categories}
    )}  # fmt: skip


def instances(images, labels, name):
    found = [{"image_id": i, "category_id": n, "bbox": BOX} for i, n in pairs(images, labels)]
    return in_coco(found, images, labels, name)


def panoptic(images, labels, name):
    segments = [{"category_id": label} for label in range(labels)]
    found = [{"image_id": image, "segments_info": segments} for image in range(images)]
    return in_coco(found, images, labels, name)


def coco_results(images, labels, name):
    found = [{"image_id": i, "category_id": n, "score": 0.9} for i, n in pairs(images, labels)]
    classes = {n: f"{name}{n}" for n in range(labels)}
    return {"classes.json": json.dumps(classes), "o.json": json.dumps(found)}


def voc(images, labels, name):
    objects = "".join(f"<object><name>{name}{n}</name></object>" for n in range(labels))
    return {f"f/{i}.xml": f"<annotation>{objects}</annotation>" for i in range(images)}


def image_labels(images, labels, name):
    rows = [(i, "verification", f"{name}{n}", n % 2) for i, n in pairs(images, labels)]
    return {"o.csv": table(("ImageID", "Source", "LabelName", "Confidence"), *rows)}


def open_images(images, labels, name):
    head = "ImageID Source LabelName Confidence XMin XMax YMin YMax IsGroupOf".split()
    rows = [(i, "x", f"{name}{n}", 1, 0, 1, 0, 1, 0) for i, n in pairs(images, labels)]
    return {"o.csv": table(head, *rows)}


def records(images, labels, name):
    of_image = [f"{name}{n}" for n in range(labels)]
    return {"o.jsonl": lines({"image_id": i, "objects": of_image} for i in range(images))}


def genome(images, labels, name):
    objects = [{"names": [f"{name}{n}"]} for n in range(labels)]
    return {"o.json": json.dumps([{"image_id": i, "objects": objects} for i in range(images)])}


def yolo(images, labels, name):
    of_image = "".join(f"{n} .5 .5 .1 .1\n" for n in range(labels))
    classes = "\n".join(f"{name}{n}" for n in range(labels))
    return {"classes.txt": classes} | {f"f/{i}.txt": of_image for i in range(images)}


def label_csv(images, labels, name):
    rows = [(i, f"{name}{n}") for i, n in pairs(images, labels)]
    return {"o.csv": table(("image", "label"), *rows)}


def detected(images, labels, name):
    head = {"vifidel_eval": "detections", "version": 1, "model": "toy", "lowest": 0.05}
    names = [f"{name}{n}" for n in range(labels)]
    found = {"labels": names, "scores": [0.9] * labels, "boxes": [BOX] * labels, "asked": names}
    size = {"width": 9, "height": 9}
    return {"o.jsonl": lines(
        [head | {"classes": None}, *({"image_id": str(i), **found, **size} for i in range(images))]
    )}  # fmt: skip


def answers(images, labels, name):
    return {"o.jsonl": lines(
        {"image_id": i, "thing": f"{name}{n}", "answer": "yes"} for i, n in pairs(images, labels)
    )}  # fmt: skip


def pope(images, labels, name):
    return {"o.jsonl": lines(
        {"question_id": f"{i}-{n}", "image": f"{i}.jpg", "label": "yes",
         "text": f"Is there a {name}{n} in the image?"}
        for i, n in pairs(images, labels)
    )}  # fmt: skip


def amber(images, labels, name):
    truth = [f"{name}{n}" for n in range(labels)]
    return {"o.json": json.dumps(
        [{"id": i + 1, "type": "generative", "truth": truth, "hallu": []} for i in range(images)]
    )}  # fmt: skip


def woodpecker(images, labels, name):
    found = {f"{name}{n}": {"total_count": 1, "bbox": [BOX]} for n in range(labels)}
    return {"o.json": json.dumps(
        [{"img_path": f"{i}.jpg", "entity_info": found} for i in range(images)]
    )}  # fmt: skip


def detections(images, labels, name):
    found = {"labels": [f"{name}{n}" for n in range(labels)], "scores": [0.9] * labels}
    text = json.dumps(found | {"bboxes": [BOX] * labels})
    return {f"f/{i}.json": text for i in range(images)}


def plain(images, labels, name):
    of_image = [f"{name}{n}" for n in range(labels)]
    return {"o.json": json.dumps(dict.fromkeys(range(images), of_image))}


def labelme(images, labels, label):
    shapes = [{"label": f"{label}{n}", "points": [[0, 0], [1, 1]]} for n in range(labels)]
    return {
        f"f/{i}.json": json.dumps({"shapes": shapes, "imagePath": f"{i}.jpg"})
        for i in range(images)
    }


def fiftyone(images, labels, label):
    found = [{"label": f"{label}{n}", "bounding_box": [0, 0, 1, 1]} for n in range(labels)]
    samples = [{"filepath": f"{i}.jpg", "truth": {"detections": found}} for i in range(images)]
    return {"o.json": json.dumps({"samples": samples})}


FORMATS = {
    "COCO or LVIS instances JSON": instances,
    "COCO detection results": coco_results,
    "COCO panoptic": panoptic,
    "PASCAL VOC XML": voc,
    "Open Images labels CSV": image_labels,
    "Open Images boxes CSV": open_images,
    "JSON Lines of objects": records,
    "Visual Genome": genome,
    "a folder of YOLO labels": yolo,
    "CSV or TSV of labels": label_csv,
    "files of vifidel-eval detect": detected,
    "answers": answers,
    "FiftyOne": fiftyone,
    "LabelMe": labelme,
    "POPE": pope,
    "AMBER": amber,
    "Woodpecker": woodpecker,
    "a folder of JSON detections": detections,
    "{image id: [label, ...]} JSON": plain,
}
# No labels are in them: names of images beside another source, and what is refused.
WITHOUT_LABELS = {"nocaps JSON", "parallel arrays"}
OF_ONE_IMAGE_A_FILE = {
    *("PASCAL VOC XML", "a folder of YOLO labels", "a folder of JSON detections", "LabelMe")
}


def test_every_format_has_an_example():
    assert {known.name for known in read.formats()} == FORMATS.keys() | WITHOUT_LABELS


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


@pytest.mark.parametrize("name", FORMATS)
def test_an_example_is_of_its_format(tmp_path, monkeypatch, name):
    used = []

    def spied(known):
        def of(way):
            def read(content, options):
                used.append(known.name)
                return way.read(content, options)

            return dataclasses.replace(way, read=read)

        return dataclasses.replace(known, variants=tuple(map(of, known.variants)))

    formats = [*map(spied, read.formats())]
    monkeypatch.setattr(read, "formats", lambda: formats)
    objects = source(tmp_path, FORMATS[name](2, 2, "thing"))()
    assert used[0] == name
    assert len(objects) == 2
    found = {label for labels in objects.values() for label in labels}
    assert found == ({"thing1"} if name == "Open Images labels CSV" else {"thing0", "thing1"})


@pytest.mark.slow
@pytest.mark.parametrize("what", ["images", "labels", "a long label", "both"])
@pytest.mark.parametrize("name", FORMATS)
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
        objects = source(tmp_path, FORMATS[name](images, labels, mark() + label))
        return lambda: objects().signature()

    grows_linearly(read, small, large)


# Captions


def coco_captions(images, each, text):
    return json.dumps({
        "images": [{"id": i} for i in range(images)],
        "annotations": [
            {"id": n, "image_id": n % images, "caption": text} for n in range(images * each)
        ],
    })  # fmt: skip


def karpathy(images, each, text):
    sentences = [{"raw": text}] * each
    return json.dumps({"images": [
        {"cocoid": i, "imgid": i, "filename": f"{i}.jpg", "split": "test", "sentences": sentences}
        for i in range(images)
    ]})  # fmt: skip


def lmms(images, each, text):
    return lines(
        {"doc_id": i, "doc": {"image_id": i}, "target": [text] * each, "resps": [[text]],
         "filtered_resps": [text]}
        for i in range(images)
    )  # fmt: skip


def llava(images, each, text):
    said = {"text": text, "prompt": "What is it?", "answer_id": "x"}
    return lines({"question_id": n % images, **said} for n in range(images * each))


def listed(images, each, text):
    return json.dumps([{"image_id": n % images, "caption": text} for n in range(images * each)])


def by_image(images, each, text):
    return json.dumps({i: [text] * each for i in range(images)})


def vlmevalkit(images, each, text):
    row = {"question": "What is it?", "prediction": text, "answer": [text] * each}
    return lines({"index": i, **row} for i in range(images))


def replies(images, each, text):
    said = {"question": "What is it?", "answer": text}
    return lines({"image": f"{n % images}.jpg", **said} for n in range(images * each))


def held(images, each, text):
    return json.dumps({"results": json.loads(listed(images, each, text))})


def without_header(images, each, text):
    return "".join(f"{n % images}.jpg#{n}\t{text}\n" for n in range(images * each))


LAYOUTS = dict(
    zip(
        layouts.LAYOUTS,
        [
            *(coco_captions, karpathy, lmms, vlmevalkit, replies, llava, held, without_header),
            *(listed, by_image),
        ],
        strict=True,
    )
)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["images", "captions", "a long caption"])
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: LAYOUTS[layout].__name__)
def test_growth_with_what_a_layout_holds(tmp_path, monkeypatch, layout, what):
    """The layouts are in the order of the table, and an example is read by its own."""
    used = []

    def spied(known):
        def read(*arguments):
            used.append(known.name)
            return known.read(*arguments)

        return dataclasses.replace(known, read=read)

    monkeypatch.setattr(layouts, "LAYOUTS", tuple(map(spied, layouts.LAYOUTS)))
    ways = [read_references if layout.as_references else read_results]

    def read(size):
        images, each, text = {
            "images": (size, 1, "a dog"),
            "captions": (2, size, "a dog"),
            "a long caption": (20, 2, "a dog " * (size // 6)),
        }[what]
        path = tmp_path / mark()
        path.write_text(LAYOUTS[layout](images, each, f"{mark()} {text}"))
        splits = {"splits": ["test"]} if layout.has_splits else {}
        return lambda: ways[0](path, **splits)

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
    for name, example in FORMATS.items():
        read = source(tmp_path, example(1, 2, "x" * 2000))
        with pytest.raises(ValueError, match=r"at most 1000 are read"):
            Vifidel(read()).score(["a dog"], image_ids=["0"])
        assert name
