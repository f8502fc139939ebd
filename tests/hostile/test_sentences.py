"""What only one format can have wrong: content of files, and the sentence that refuses it.

What any file can have wrong is in `test_doors`.
"""

import io
import json
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hostile.doors import COCO, DETECTED, FILES, RECORDS
from hostile.test_doors import refusal
from hypothesis import given, settings
from hypothesis import strategies as st

from vifidel_eval import Vifidel
from vifidel_eval.annotations import read_categories, read_objects
from vifidel_eval.captions import read_references, read_results

pytestmark = pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")

DATA = Path(__file__).parents[1] / "data" / "captions"

# Captions

HEAD = "image_id,caption\n"
RECORD = '{"image_id": 1, "caption": "A dog."}\n'


def with_image(**image):
    return {**COCO, "images": [*COCO["images"], image]}


def with_caption(**annotation):
    return {**COCO, "annotations": [*COCO["annotations"], {"caption": "A dog.", **annotation}]}


CAPTIONS = [
    (read_references, with_image(id="1"), "1 and '1' mean the same image"),
    (read_references, with_image(id=1, file_name="c.jpg"), "image 1 is listed twice"),
    (read_references, with_image(id=1e400), "images[2]: 'id' is inf"),
    (read_references, with_caption(image_id=3), "image 3 is not among the file's images"),
    (read_references, with_caption(image_id=1, caption=None), "the caption is null"),
    (read_results, [*RECORDS, {"image_id": "1", "caption": "a"}], "1 and '1' mean the same"),
    (read_results, {"1": "a", "COCO_val2014_000000000001": "b"}, "mean the same image"),
    (read_results, [{"image_id": 1, "a\nb" * 90: 1}], "but only 'image_id', 'a\\nba"),
    (read_results, [{"image_id": "x" * 900 * 2, "caption": 7}], "the caption is 7"),
    (read_results, {"1": float("nan")}, "the caption is nan, not a string"),
]
# Tables, and lines.
TABLES = [
    # quotes
    (HEAD + '1,"A dog.\n2,A cat.\n', "line 2 is not CSV"),
    (HEAD + '1,"A\ndog."\n2,"A cat.\n', "line 4 is not CSV"),
    # fields
    (HEAD + "1,A dog, a cat.\n", "line 2 has 3 fields but the header has 2"),
    (HEAD + "1,A dog.\n\n2\n", "line 4 has 1 fields but the header has 2"),
    (HEAD + "1," + "a" * (1 << 21) + "\n", "line 2 is not CSV (field larger than field limit"),
    # header
    ("image_id,caption,caption\n1,A dog.,A cat.\n", "names the column 'caption' twice"),
    ("1,A dog.\n2,A cat.\n", "no known layout has '1', 'A dog.'"),
    ("image_id,caption\n", "there is no caption in it"),
    (HEAD.replace(",", ";") + "1;A dog, a cat.\n1;A cat.\n", "two captions for image 1"),
    # ids
    (HEAD + "1,A dog.\n1,A cat.\n", "two captions for image 1 (line 2 and line 3); keep one (if "),
    (HEAD + "1,A dog.\n,A cat.\n", "line 3: 'image_id' is empty"),
    # JSON Lines
    (RECORD + '{"image_id": 2, "caption": "A c\n', "line 2 is not JSON (column 28"),
    (RECORD + "\n" + RECORD, "two captions for image 1 (line 1 and line 3)"),
    (RECORD + '{"image_id": 2, "caption": "a", "caption": "b"}', "line 2: the key 'caption' "),
    (RECORD + '{"image_id": 2}', "line 2 (image 2): the caption is missing"),
    (RECORD + '{"caption": "A cat."}', "line 2: 'image_id' is missing"),
    (RECORD + '{"image_id": {"path": "a"}, "caption": "A cat."}', "line 2: 'image_id' is {'path'"),
    (RECORD + '{"image_id": 2, "caption": ["a", "b"]}', "line 2 (image 2): 2 captions for one"),
    (RECORD + '{"image_id": 2, "caption": [{}]}', "line 2 (image 2): the caption is {}, not a str"),
    (RECORD + '{"image_id": 2, "caption": ' + "[" * 100_000 + "}", "line 2"),
    (RECORD + '{"image_id": ' + "1" * 5000 + "}", "line 2"),
    (RECORD + "[1, 2]", "not JSON (line 2"),
    # other shapes
    ('{"image_id": {"0": 1}, "caption": {"0": "A dog."}}', "a table written column by column"),
    ("\ufeff", "the file is empty"),
    ("A dog on a couch.", "no known layout begins with"),
    ("A dog, on a couch.", "there is no caption in it"),
]  # fmt: skip


# Objects

FOUND = {1: {"dog": 1}, 2: {"cat": 1}}
HEADER = "ImageID,Source,LabelName,Confidence\n"
VOC = (
    "<annotation><filename>7.jpg</filename><object><name>dog</name></object>"
    "<object><name>tvmonitor</name></object></annotation>"
)


def changed(key, entry=None, at=0, **changes):
    """Return COCO with one entry of a list replaced or, without `at`, appended."""
    entries = list(COCO[key])
    new = {**entries[0], **changes} if entry is None else entry
    if at is None:
        entries.append(new)
    else:
        entries[at] = new
    return {**COCO, key: entries}


def detections(*ids, **changes):
    return [{**DETECTED[0], "image_id": image_id, **changes} for image_id in ids]


OBJECTS = [
    # Open Images: line, then what is wrong
    (HEADER + 'a1,x,"Dog,0.9\nb2,x,Cat,0.9\n', "line 2 is not CSV"),
    (HEADER + 'a1,x,"Dog",0.9\nb2,x,"Cat\n",0.9\n', "line 3 is not CSV"),
    (HEADER + "a1,x,Dog,0.9\n\nb2,x,Cat,0.9,1\n", "line 4 has 5 fields but the header has 4"),
    (HEADER + "a1,x," + "d" * 140_000 + ",1\n", "has 140000 characters"),
    (HEADER + "a1,x,Dog,-0.5\n", "line 2: score -0.5 is negative"),
    (HEADER + "a1,x,Dog,1+0j\n", "line 2: score '1+0j' is not a number"),
    ("ImageID,LabelName,Confidence,LabelName\na1,Dog,1,Cat\n", "the column 'LabelName' twice"),
    # COCO instances
    (changed("categories", {"id": 18, "name": "cat"}, None), "'dog' and 'cat'; keep one"),
    (changed("categories", name="_"), "categories[0] needs an 'id' and a 'name'; found 18 and '_'"),
    (changed("annotations", image_id=3), "annotations[0]: image 3 is not among the file's images"),
    (changed("annotations", category_id=99), "category_id 99 is not one of this file's 2"),
    (changed("annotations", score=-0.1), "score -0.1 is negative"),
    (changed("images", id=2), "images[1]: image 2 is listed twice"),
    (changed("images", {"id": "1", "file_name": "a.jpg"}, None), "1 and '1' mean the same image"),
    ({**COCO, "images": {"1": {}}}, "'images' is {'1': {}}; expected a list"),
    ({**COCO, "categories": None}, "'categories' is null; expected a list"),
    # detections
    (detections(1, "1"), "1 and '1' mean the same image"),
    (detections(1, category_id=12), "category_id 12 is not one of COCO's 80"),
    (detections(1, score=10**400), "is not a number"),
    # labels
    ({"1": ["dog"], "000000000001": ["cat"]}, "1 and '000000000001' mean the same image"),
    ({"1": [{"label": 3, "score": 0.9}]}, "image 1: item 0: found {'label': 3"),
    ({"1": ["a_" * 300_000]}, "has 600000 characters"),
    # VOC
    (VOC.replace("<name>dog", "<name>_"), "object 1: the label '_' has no word"),
    (VOC.replace("7.jpg", "."), "its <filename> is empty"),
    (VOC.replace("annotation>", "html>"), "<html> is not a PASCAL VOC <annotation>"),
    ('<!DOCTYPE a [<!ENTITY b "x"><!ENTITY c SYSTEM "/etc/hosts">]>'
     + VOC.replace("<name>dog", "<name>&c;"), "not well-formed XML"),
    ("<!DOCTYPE a [" + '<!ENTITY a0 "dogdogdogdog">'
     + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 20}">' for i in range(1, 9))
     + "]>" + VOC.replace("<name>dog", "<name>&a8;"), "not well-formed XML"),
    # JSON
    ('{"1": ["dog"], "1": ["cat"]}', "the key '1' appears twice"),
]  # fmt: skip


CATEGORIES = [
    ("/m/1,Dog\n/m/1,Cat\n", "line 2: category '/m/1' is called 'Dog' and 'Cat'"),
    ("LabelName,DisplayName\n/m/1,Dog\nm/2,Cat\n", "line 3: 'm/2' is not a machine id"),
    ("/m/1,_\n", "line 1: class '/m/1' has no name"),
    ("/m/1,Dog,1\n", "line 1 has 3 fields"),
    ("LabelName,DisplayName\n", "has no categories"),
    ('[{"id": 1, "name": "dog"}, {"id": 1, "name": "cat"}]', "called 'dog' and 'cat'"),
]
# By the suffixes that their readers look at.
EACH = [
    *((read, "captions.txt", content, message) for read, content, message in CAPTIONS),
    *((read_results, "captions.txt", text, message) for text, message in TABLES),
    *((read_categories, "classes.csv", text, message) for text, message in CATEGORIES),
    *(
        (read_objects, f"o.{'csv' if 'ImageID' in str(content) else 'json'}", content, message)
        for content, message in OBJECTS
    ),
]


@pytest.mark.parametrize(("read", "name", "content", "message"), EACH)
def test_a_broken_file(tmp_path, read, name, content, message):
    text = content if isinstance(content, str) else json.dumps(content)
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    problem = refusal(read, path)
    assert message in problem
    assert str(path) in problem


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (b"", "cannot be read from bytes"),
        ({1: ["dog"], "1": ["cat"]}, "1 and '1' mean the same image"),
        ({1: [["dog", b"0.9"]]}, "score b'0.9' is not a number"),
        ({1: [["dog", 0.9 + 1j]]}, "is not a number"),
        ({1: [["dog", np.array([0.9, 0.8])]]}, "is not a number"),
        ({1: [["dog", np.bool_(True)]]}, "is not a number"),
        ({1: {b"dog": 1}}, "found b'dog' with a count"),
        ({1: np.array([[1.5, 2]])}, "found [1.5, 2.0]"),
        ([{1: ["dog"], "1": ["cat"]}, {2: []}], "1 and '1' mean the same image"),
        ([], "needs at least one source"),
    ],
)
def test_broken_mapping(source, message):
    assert message in refusal(read_objects, source)


@pytest.mark.parametrize("threshold", [True, float("nan"), -0.1, 1.1, "0.5", b"1", 1 + 0j])
def test_threshold_that_is_none(threshold):
    assert "is not a number between 0 and 1" in refusal(
        partial(read_objects, threshold=threshold), {1: [["dog", 0.9]]}
    )


# What is odd, and clear


@pytest.mark.parametrize(
    ("source", "labels"),
    [
        ({1: {"dog": 10**9, "cat": 1}}, {1: {"dog": 10**9, "cat": 1}}),
        ({1: {"dog": np.int64(2)}}, {1: {"dog": 2}}),
        ({1: [["dog", np.float32(0.9)], ["cat", np.array([0.9])]]}, {1: {"dog": 1, "cat": 1}}),
        ({1: ["N/A", "dog"]}, {1: {"dog": 1}}),
        ({1: {"N/A": 3}}, {1: {}}),
        (changed("categories", name="N/A"), {1: {}, 2: {"cat": 1}}),
        (changed("categories", COCO["categories"][0], None), FOUND),
        (changed("images", COCO["images"][0], None), FOUND),
        ({"\ud800": ["dog"]}, {"\ud800": {"dog": 1}}),
        ({1: ["do\ud800g"]}, {1: {"do?g": 1}}),
    ],
)  # fmt: skip
def test_odd_but_clear(source, labels):
    objects = read_objects(source)
    assert objects == labels
    assert "n/a" not in objects.vocabulary()
    assert objects.signature()


@pytest.mark.parametrize(
    ("text", "results"),
    [
        ("\ufeff" + HEAD + "1,A dog.\n", {1: "A dog."}),
        (HEAD.replace("\n", "\r\n") + '1,"A\r\ndog."\r\n', {1: "A\ndog."}),
        (HEAD + "1,\n", {1: ""}),
        (HEAD + '"1"," ""A"" dog, "', {1: ' "A" dog, '}),
        (HEAD + "\n\n1,=cmd|calc\n", {1: "=cmd|calc"}),
        (HEAD + '1,"' + "a" * 200_000 + '"\n', {1: "a" * 200_000}),
        (HEAD + "1,A\u2028dog.\n", {1: "A\u2028dog."}),
        (RECORD, {1: "A dog."}),
        (RECORD + "  \n", {1: "A dog."}),
        ("\ufeff" + RECORD + '{"image_id": "1.jpg", "caption": "\\ud800"}', {
            1: "A dog.", "1.jpg": "\ud800",
        }),
        ("caption,image_id\nA dog.,007\n", {"007": "A dog."}),
    ],
)  # fmt: skip
def test_odd_table(tmp_path, text, results):
    path = tmp_path / "captions.txt"
    path.write_text(text, encoding="utf-8", newline="")
    assert read_results(path) == results


def test_huge_counts_weigh_as_they_should():
    # 10^9 dogs and one cat: as good as a dog alone.
    few, many = ({"dog": count, "cat": 1} for count in (1, 10**9))
    scores = Vifidel(references=False).score(["a dog"] * 3, objects=[many, ["dog"], few])
    assert scores[0] == pytest.approx(scores[1], abs=1e-8)
    assert scores[2] < 0.9


@pytest.mark.parametrize(("categories", "notes"), [(None, 1), ({17: "cat"}, 0)])
def test_note_when_cocos_names_are_assumed(tmp_path, categories, notes):
    path = tmp_path / "detections.json"
    path.write_text(json.dumps(DETECTED))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert len(read_objects(path, categories=categories)[1]) == 1
    message = [str(warning.message).partition(" are read")[0] for warning in heard]
    assert message == [f"{path}: the category ids"] * notes


# Damage

MUTATED = {
    **{path.name: path.read_text("utf-8") for path in sorted(DATA.iterdir())},
    **{f"{name}.json": json.dumps(right) for name, (_, right) in FILES.items() if right},
    "boxes.csv": f"{HEADER}a1,x,Dog,0.9\na1,x,Hot dog,1\nb2,x,Person,0.1\n",
    "labels.csv": "image_id,label,score,count\n1,dog,0.9,2\n2,Hot dog,1,1\n",
    "7.xml": VOC,
}


@st.composite
def mutated(draw, content):
    """Return bytes of which some were replaced, cut out or put in."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(content)))
        odd = st.sampled_from([b'"', b",", b"\n", b"\0", b"\xff", b"-", b"<", b"&", b"\xc2\x9b"])
        end = at + draw(st.integers(0, 6))
        content = content[:at] + draw(odd | st.binary(max_size=4)) + content[end:]
    return content


@pytest.mark.parametrize("name", MUTATED)
@settings(max_examples=40, derandomize=True, database=None)
@given(data=st.data())
def test_any_damage(tmp_path_factory, name, data):
    path = tmp_path_factory.getbasetemp() / f"damaged-{name}"
    path.write_bytes(data.draw(mutated(MUTATED[name].encode())))
    own = FILES.get(name.removesuffix(".json"), (None,))[0]
    for door in [own] if own else (read_objects, read_results, read_references):
        message = refusal(door, path)
        assert message is None or str(path) in message or "no column" in message


@settings(max_examples=25, derandomize=True, database=None)
@given(data=st.data())
def test_any_damage_to_parquet(tmp_path_factory, data):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    whole = io.BytesIO()
    pq.write_table(pa.table({"image_id": [1, 2], "caption": ["A dog.", "A cat."]}), whole)
    raw = bytearray(whole.getvalue())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "damaged.parquet"
    path.write_bytes(raw[: data.draw(st.integers(len(raw) // 2, len(raw)))])
    message = refusal(read_results, path)
    assert message is None or str(path) in message
