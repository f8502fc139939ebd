"""Sources of objects that are broken, contradict themselves or mean no harm and are odd."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from hostile.command import OBJECTS, REFERENCES, RESULTS, refused, run
from hypothesis import given, settings
from hypothesis import strategies as st

from vifidel_eval import Vifidel, VifidelError, VifidelWarning
from vifidel_eval.annotations import label_rows, read_categories, read_objects

INSTANCES = {
    "images": [{"id": 1, "file_name": "a.jpg"}, {"id": 2, "file_name": "b.jpg"}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 18, "bbox": [0, 0, 5, 5]},
        {"id": 2, "image_id": 2, "category_id": 1, "bbox": [0, 0, 5, 5]},
    ],
    "categories": [{"id": 18, "name": "dog"}, {"id": 1, "name": "person"}],
}
FOUND = {1: {"dog": 1}, 2: {"person": 1}}
HEADER = "ImageID,Source,LabelName,Confidence\n"
BOXES = f"{HEADER}a1,x,Dog,0.9\na1,x,Hot dog,1\nb2,x,Person,0.1\n"
VOC = (
    "<annotation><filename>7.jpg</filename><object><name>dog</name></object>"
    "<object><name>tvmonitor</name></object></annotation>"
)
LABELS = {"1": ["dog", ["cat", 0.9]], "2": {"dog": 2}, "3": [{"label": "cat", "score": 0.7}]}
DETECTIONS = [
    {"image_id": 1, "category_id": 18, "bbox": [0, 0, 5, 5], "score": 0.9},
    {"image_id": 2, "category_id": 1, "bbox": [0, 0, 5, 5], "score": 0.2},
]


def changed(key, entry=None, at=0, **changes):
    """Return INSTANCES with one entry of a list replaced or, without `at`, appended."""
    entries = list(INSTANCES[key])
    new = {**entries[0], **changes} if entry is None else entry
    if at is None:
        entries.append(new)
    else:
        entries[at] = new
    return {**INSTANCES, key: entries}


def detections(*ids, **changes):
    return [{**DETECTIONS[0], "image_id": image_id, **changes} for image_id in ids]


def said(source, **options):
    """Return the one line that a source is refused with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VifidelWarning)
        with pytest.raises(VifidelError) as problem:
            read_objects(source, **options)
    assert "\n" not in str(problem.value)
    assert len(str(problem.value)) < 600
    return str(problem.value)


BAD_FILES = [
    # Open Images: line, then what is wrong
    (HEADER + 'a1,x,"Dog,0.9\nb2,x,Cat,0.9\n', "line 2 is not CSV"),
    (HEADER + 'a1,x,"Dog,0.9\nb2,x,"Cat,0.9\n', "line 2 is not CSV"),
    (HEADER + 'a1,x,"Dog",0.9\nb2,x,"Cat\n",0.9\n', "line 3 is not CSV"),
    (HEADER + 'a1,x,"Dog"s,0.9\n', "line 2 is not CSV"),
    (HEADER + "a1,x,Dog,0.9\n\nb2,x,Cat,0.9,1\n", "line 4 has 5 fields but the header has 4"),
    (HEADER + "a1,x,Dog\n", "line 2 has 3 fields but the header has 4"),
    (HEADER + "a1,x," + "d" * 140_000 + ",1\n", "has 140000 characters"),
    (HEADER + "a1,x,__,1\n", "line 2: the label '__' has no word"),
    (HEADER + "a1,x,Dog,-0.5\n", "line 2: score -0.5 is negative"),
    (HEADER + "a1,x,Dog,1e999\n", "line 2: score '1e999' is not a number"),
    (HEADER + "a1,x,Dog,1+0j\n", "line 2: score '1+0j' is not a number"),
    ("ImageID,LabelName,Confidence,LabelName\na1,Dog,1,Cat\n", "the column 'LabelName' twice"),
    ("ImageID,LabelName,Confidence,ImageID\na1,Dog,1,a1\n", "names the column 'ImageID' twice"),
    ('"ImageID,LabelName,Confidence\na1,Dog,1\n', "line 1 is not CSV"),
    # COCO instances
    (changed("categories", {"id": 18, "name": "cat"}, None), "'dog' and 'cat'; keep one"),
    (changed("categories", id=True), "categories[0] needs an 'id'"),
    (changed("categories", name="_"), "categories[0] needs an 'id' and a 'name'; found 18 and '_'"),
    (changed("annotations", image_id=3), "annotations[0]: image 3 is not among the file's images"),
    (changed("annotations", image_id="1"), "image '1' is not among the file's images"),
    (changed("annotations", category_id="17"), "category_id '17' is not one"),
    (changed("annotations", category_id=True), "category_id True is not one"),
    (changed("annotations", category_id=99), "category_id 99 is not one of this file's 2"),
    (changed("annotations", score=-0.1), "score -0.1 is negative"),
    (changed("annotations", score="0.9"), "score '0.9' is not a number"),
    (changed("images", id=2), "images[1]: image 2 is listed twice"),
    (changed("images", {"id": "1", "file_name": "a.jpg"}, None), "1 and '1' mean the same image"),
    (changed("images", {"id": "000000000001"}, None), "1 and '000000000001' mean the same image"),
    ({**INSTANCES, "images": {"1": {}}}, "'images' is {'1': {}}; expected a list"),
    ({**INSTANCES, "categories": None}, "'categories' is null; expected a list"),
    # detections
    (detections(1, "1"), "1 and '1' mean the same image"),
    (detections("1", "000000000001"), "'1' and '000000000001' mean the same image"),
    (detections(1, "COCO_val2014_000000000001"), "mean the same image"),
    (detections(1, category_id=12), "category_id 12 is not one of COCO's 80"),
    (detections(1, score=-1e-9), "score -1e-09 is negative"),
    (detections(1, score=[0.9]), "score [0.9] is not a number"),
    (detections(1, score=10**400), "is not a number"),
    # labels
    ({"1": ["dog"], "000000000001": ["cat"]}, "1 and '000000000001' mean the same image"),
    ({"1": [["dog", 0.5, 1]]}, "image 1: item 0: found ['dog', 0.5, 1]"),
    ({"1": [{"label": 3, "score": 0.9}]}, "image 1: item 0: found {'label': 3"),
    ({"1": ["_" * 900]}, "has no word in it"),
    ({"1": ["_" * 300_000]}, "has 300000 characters"),
    ({"1": ["a_" * 300_000]}, "has 600000 characters"),
    # VOC
    (VOC.replace("<name>dog", "<name>_"), "object 1: the label '_' has no word"),
    (VOC.replace("7.jpg", "."), "its <filename> is empty"),
    (VOC[:-5], "not well-formed XML"),
    (VOC.replace("annotation>", "html>"), "<html> is not a PASCAL VOC <annotation>"),
    ('<!DOCTYPE a [<!ENTITY b "x"><!ENTITY c SYSTEM "/etc/hosts">]>'
     + VOC.replace("<name>dog", "<name>&c;"), "not well-formed XML"),
    ("<!DOCTYPE a [" + '<!ENTITY a0 "dogdogdogdog">'
     + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 20}">' for i in range(1, 9))
     + "]>" + VOC.replace("<name>dog", "<name>&a8;"), "not well-formed XML"),
    # JSON
    ('{"1": ["dog"], "1": ["cat"]}', "the key '1' appears twice"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), BAD_FILES)
def test_broken_file(tmp_path, content, message):
    path = tmp_path / "objects.json"
    text = content if isinstance(content, str) else json.dumps(content)
    if text.startswith(("ImageID", '"ImageID')):
        path = path.with_suffix(".csv")
    path.write_text(text, encoding="utf-8")
    problem = said(path)
    assert message in problem
    assert str(path) in problem


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "the path is empty"),
        (b"", "cannot be read from bytes"),
        ({1: ["dog"], "1": ["cat"]}, "1 and '1' mean the same image"),
        ({1: [["dog", b"0.9"]]}, "score b'0.9' is not a number"),
        ({1: [["dog", bytearray(b"1")]]}, "is not a number"),
        ({1: [["dog", 0.9 + 1j]]}, "is not a number"),
        ({1: [["dog", np.complex128(0.9 + 1j)]]}, "is not a number"),
        ({1: [["dog", np.array([0.9, 0.8])]]}, "is not a number"),
        ({1: [["dog", np.bool_(True)]]}, "is not a number"),
        ({1: {b"dog": 1}}, "found b'dog' with a count"),
        ({1: np.array([[1.5, 2]])}, "found [1.5, 2.0]"),
        ([{1: ["dog"], "1": ["cat"]}, {2: []}], "1 and '1' mean the same image"),
        ([], "needs at least one source"),
    ],
)
def test_broken_mapping(source, message):
    assert message in said(source)


@pytest.mark.parametrize("threshold", [True, float("nan"), -0.1, 1.1, "0.5", b"1", 1 + 0j])
def test_threshold_that_is_none(threshold):
    assert "is not a number between 0 and 1" in said({1: [["dog", 0.9]]}, threshold=threshold)


@pytest.mark.parametrize("rows", [b"dog", bytearray(b"dog"), "dog", 7, None, {1: ["dog"]}])
def test_rows_that_are_none(rows):
    with pytest.raises(VifidelError, match="objects of rows are a list"):
        label_rows(rows)


@pytest.mark.parametrize(
    ("source", "labels"),
    [
        ({1: {"dog": 10**9, "cat": 1}}, {1: {"dog": 10**9, "cat": 1}}),
        ({1: {"dog": np.int64(2)}}, {1: {"dog": 2}}),
        ({1: [["dog", np.float32(0.9)], ["cat", np.array([0.9])]]}, {1: {"dog": 1, "cat": 1}}),
        ({1: ["N/A", "dog"]}, {1: {"dog": 1}}),
        ({1: {"N/A": 3}}, {1: {}}),
        (changed("categories", name="N/A"), {1: {}, 2: {"person": 1}}),
        (changed("categories", INSTANCES["categories"][0], None), FOUND),
        (changed("images", INSTANCES["images"][0], None), FOUND),
        ({"\ud800": ["dog"]}, {"\ud800": {"dog": 1}}),
        ({1: ["do\ud800g"]}, {1: {"do?g": 1}}),
    ],
)  # fmt: skip
def test_odd_but_clear(source, labels):
    objects = read_objects(source)
    assert objects == labels
    assert "n/a" not in objects.vocabulary()
    assert objects.signature()


def test_huge_counts_weigh_as_they_should():
    # 10^9 dogs and one cat: as good as a dog alone.
    few, many = ({"dog": count, "cat": 1} for count in (1, 10**9))
    score = Vifidel(references=False).score
    np.testing.assert_allclose(
        score(["a dog"], objects=[many]), score(["a dog"], objects=[["dog"]]), atol=1e-8
    )
    assert score(["a dog"], objects=[few]) < 0.9


@pytest.mark.parametrize(("categories", "notes"), [(None, 1), ({18: "cat", 1: "car"}, 0)])
def test_note_when_cocos_names_are_assumed(tmp_path, categories, notes):
    path = tmp_path / "detections.json"
    path.write_text(json.dumps(DETECTIONS))
    with warnings.catch_warnings(record=True) as said_so:
        warnings.simplefilter("always")
        objects = read_objects(path, categories=categories)
    assert len(objects[1]) == 1
    assert [str(w.message).startswith(f"{path}: the category ids") for w in said_so] == [
        True
    ] * notes


def test_command_refuses_an_empty_path():
    refused(run("score", RESULTS, "--references", REFERENCES, "--objects", "", cwd=OBJECTS.parent))


# Values that a mutation puts in place of another.
ODD = st.sampled_from(
    [
        *(None, True, 0, -1, 1.5, 10**30, float("inf"), float("nan")),
        *("", "\ud800", "\x1b[31m", "a" * 3000),
        *([], {}, [[]], [None], {"": None}, {"id": 1}),
    ]
)
PANOPTIC = {
    **INSTANCES,
    "annotations": [{"image_id": 1, "segments_info": [{"id": 9, "category_id": 18}]}],
}
GENOME = [{"image_id": 1, "objects": [{"object_id": 5, "names": ["dog"], "synsets": []}]}]
NOCAPS = {"images": [{"id": 0, "open_images_id": "a1"}, {"id": 1, "open_images_id": "b2"}]}
ARRAYS = {"1": {"labels": ["a dog", "cat"], "scores": [0.9, 0.7], "boxes": [[0, 0, 5, 5]] * 2}}
EXAMPLES = {
    "panoptic.json": PANOPTIC,
    "genome.json": GENOME,
    "nocaps.json": NOCAPS,
    "arrays.json": ARRAYS,
    "labels.csv": "image_id,label,score,count\n1,dog,0.9,2\n2,Hot dog,1,1\n",
    "instances.json": INSTANCES,
    "detections.json": DETECTIONS,
    "labels.json": LABELS,
    "boxes.csv": BOXES,
    "7.xml": VOC,
}


@st.composite
def mutated_json(draw, content):
    """Return JSON in which some value is another one, is gone, or is there twice."""
    if not isinstance(content, dict | list) or not content or draw(st.integers(0, 4)) == 0:
        return draw(ODD)
    if isinstance(content, list):
        at = draw(st.integers(0, len(content) - 1))
        new = [draw(mutated_json(content[at]))] * draw(st.integers(0, 2))
        return [*content[:at], *new, *content[at + 1 :]]
    key = draw(st.sampled_from(list(content)))
    if draw(st.booleans()):
        return {**content, key: draw(mutated_json(content[key]))}
    renamed = draw(st.sampled_from(["", "id", "name", "000000000001", "\ud800", key.upper()]))
    return {renamed if k == key else k: value for k, value in content.items()}


@st.composite
def mutated_bytes(draw, text):
    """Return bytes of a text of which some were replaced, cut out or put in."""
    content = text.encode()
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(content)))
        end = at + draw(st.integers(0, 6))
        odd = st.sampled_from(
            [b'"', b",", b"\n", b"\0", b"\xff", b"-", b"<", b"&", b"\xc2\x9b", b"["]
        )
        content = content[:at] + draw(odd | st.binary(max_size=4)) + content[end:]
    return content


def reads_or_refuses(read, path):
    """Check that a reader gives a result or one line that names the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VifidelWarning)
        try:
            read(path)
        except VifidelError as problem:
            message = str(problem)
        else:
            return
    assert str(path) in message
    assert "\n" not in message


def read_and_sign(path):
    objects = read_objects(path)
    for labels in objects.values():
        assert all(label and count > 0 for label, count in labels.items())
    assert objects.signature()


@pytest.mark.parametrize("name", EXAMPLES)
@settings(max_examples=40, derandomize=True, database=None)
@given(data=st.data())
def test_any_mutation(tmp_path_factory, name, data):
    path = tmp_path_factory.getbasetemp() / f"mutated-{name}"
    example = EXAMPLES[name]
    if not isinstance(example, str) and data.draw(st.booleans()):
        path.write_text(json.dumps(data.draw(mutated_json(example))))
    else:
        text = example if isinstance(example, str) else json.dumps(example)
        path.write_bytes(data.draw(mutated_bytes(text)))
    reads_or_refuses(read_and_sign, path)


YOLO = "1 0.5 0.5 0.2 0.3 0.9\n0 0.1 0.2 0.3 0.4\n"
CLASSES = {
    "classes.txt": "person\nhot dog\n",
    "data.yaml": "train: images\nnames:\n  0: person\n  1: 'hot dog'\n",
    "config.json": '{"id2label": {"0": "person", "1": "hot dog"}}',
}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["/m/1,Dog\n/m/1,Cat\n"], "line 2: category '/m/1' is called 'Dog' and 'Cat'"),
        (["/m/1,Dog\n", "/m/1,Cat\n"], "category '/m/1' is called 'Dog' and 'Cat'"),
        (["LabelName,DisplayName\n/m/1,Dog\nm/2,Cat\n"], "line 3: 'm/2' is not a machine id"),
        (['/m/1,"Dog\n/m/2,Cat"\n'], "line 1 is not CSV"),
        (["/m/1,_\n"], "line 1: class '/m/1' has no name"),
        (["/m/1,Dog,1\n"], "line 1 has 3 fields"),
        (["LabelName,DisplayName\n"], "has no categories"),
        (['[{"id": 1, "name": "dog"}, {"id": 1, "name": "cat"}]'], "called 'dog' and 'cat'"),
    ],
)
def test_broken_categories(tmp_path, texts, message):
    paths = [tmp_path / f"classes-{number}.csv" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    with pytest.raises(VifidelError) as problem:
        read_categories(paths)
    assert message in str(problem.value)
    assert str(paths[-1]) in str(problem.value)
