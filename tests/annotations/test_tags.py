"""Labels as people, taggers and language models write them: what each text means, by hand."""

import json

import pytest

from vifidel_eval.annotations import label_rows, read_objects
from vifidel_eval.annotations.tags import among_asked, names_in
from vifidel_eval.errors import AnnotationError

BOTH = {"dog": 1, "couch": 1}
#: What is written, what is there, and what was looked for and is not there. docs/objects.md.
ANSWERS = [
    ("dog | couch", BOTH, ()),
    ("dog, couch", BOTH, ()),
    ("dog; couch", BOTH, ()),
    ("dog\ncouch", BOTH, ()),
    ("1. dog\n2. couch", BOTH, ()),
    ("1. dog 2. couch", BOTH, ()),
    ("- A dog\n- a couch.", BOTH, ()),
    ("Objects: dog, and a couch.", BOTH, ()),
    ("a dog and a couch", BOTH, ()),
    ('["dog", "couch"]', BOTH, ()),
    ("['dog', 'couch']", BOTH, ()),
    ('```json\n["dog", "couch"]\n```', BOTH, ()),
    ('Here it is:\n```json\n{"dog": 1, "couch": 1}\n```', BOTH, ()),
    ("dog", {"dog": 1}, ()),
    ("", {}, ()),
    ('["dog"]', {"dog": 1}, ()),
    ("[]", {}, ()),
    ("none", {}, ()),
    ("No objects were detected.", {}, ()),
    ("hot dog x2", {"hot dog": 2}, ()),
    ("hot dog (2), couch", {"hot dog": 2, "couch": 1}, ()),
    ("hot dog: 2", {"hot dog": 2}, ()),
    ("2x dog", {"dog": 2}, ()),
    ("2 dogs", {"dog": 2}, ()),
    ("two dogs, one couch", {"dog": 2, "couch": 1}, ()),
    ("3 boxes, 2 knives, 2 scissors", {"box": 3, "knife": 2, "scissors": 2}, ()),
    ("dog, no cat", {"dog": 1}, ("cat",)),
    ('{"dog": 1, "cat": 0}', {"dog": 1}, ("cat",)),
    ("boeing 747", {"boeing 747": 1}, ()),
    ("18 wheeler", {"18 wheeler": 1}, ()),
    ("salt and pepper shaker", {"salt and pepper shaker": 1}, ()),
    ("TV/monitor", {"tv": 1, "monitor": 1}, ()),
]
REFUSED = [
    ("17", "the label is '17'; write the name of the class, not a number."),
    ("A dog catches a red frisbee.", "is one text of 5 words, not a list of names"),
    ("There is a dog, I think", "is a sentence of 4 words"),
    ("<box>dog</box>, cat", "has markup in it"),
    ("[dog, couch]", "looks like a list and cannot be read as one"),
    ("dog, a.json", "is the name of a file"),
    ("dog, no dog", "'dog' is both there and not there"),
]


def by_rows(text):
    rows = label_rows([text])
    return dict(rows.counts[0]), None if rows.asked is None else rows.asked[0]


def of_image(objects):
    (image_id,) = objects
    return dict(objects[image_id]), objects.asked_of([image_id])[0]


def by_mapping(text):
    return of_image(read_objects({1: text}))


def in_a_list(text):
    return by_rows([text] if text else [])


def as_only_labels(text):
    return by_rows({"labels": text})


def by_file(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return of_image(read_objects(path))


def by_parquet(tmp_path, text):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"image_id": [1], "objects": [text]})
    parquet.write_table(table, tmp_path / "a.parquet")
    return of_image(read_objects(tmp_path / "a.parquet"))


def by_cell(tmp_path, text, name="a.csv"):
    quoted = text.replace('"', '""')
    return by_file(tmp_path, name, f'image_id,labels\n1,"{quoted}"\n')


CONTAINERS = {
    "a mapping": lambda _, text: by_mapping(text),
    "rows": lambda _, text: by_rows(text),
    "a list": lambda _, text: in_a_list(text),
    "labels alone": lambda _, text: as_only_labels(text),
    "JSON": lambda tmp, text: by_file(tmp, "a.json", json.dumps({"1": text})),
    "JSON Lines": lambda tmp, text: by_file(
        tmp, "a.jsonl", json.dumps({"image": 1, "objects": text}) + "\n"
    ),
    "tags": lambda tmp, text: by_file(tmp, "a.jsonl", json.dumps({"image": 1, "tags": text})),
    "Parquet": by_parquet,
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(("text", "there", "absent"), ANSWERS)
def test_an_answer_means_the_same_in_every_container(tmp_path, container, text, there, absent):
    counts, asked = CONTAINERS[container](tmp_path, text)
    assert counts == there
    assert asked == (frozenset(there).union(absent) if absent else None)


@pytest.mark.parametrize(("text", "there", "absent"), ANSWERS)
def test_a_cell_of_csv_means_the_same(tmp_path, text, there, absent):
    counts, asked = by_cell(tmp_path, text)
    assert counts == there
    assert asked == (frozenset(there).union(absent) if absent else None)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(("text", "problem"), REFUSED)
def test_what_is_no_answer_is_refused_everywhere(tmp_path, container, text, problem):
    if container == "a list" and "one text" in problem:
        pytest.skip("a list may have a long name")
    with pytest.raises(AnnotationError) as refused:
        CONTAINERS[container](tmp_path, text)
    assert problem in str(refused.value)


def test_a_class_with_several_names_has_each_of_them():
    assert names_in("sofa;couch;lounge") == ("sofa", "couch", "lounge")
    assert names_in("tabby, tabby cat") == ("tabby", "tabby cat")
    assert names_in("bow_(ribbon, knot)") == ("bow_(ribbon, knot)",)
    coco = {
        "images": [{"id": 1}],
        "categories": [{"id": 1, "name": "Moniter/TV"}, {"id": 2, "name": "dog"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2]}],
    }
    objects = read_objects(coco)
    assert objects == {1: {"moniter": 1, "tv": 1}}
    assert objects.categories == {"moniter", "tv", "dog"}


@pytest.mark.parametrize(
    ("phrase", "meant", "left_open"),
    [
        ("car taxi", ["car", "taxi"], set()),
        ("##van", ["van"], set()),
        ("motor", ["motorbike"], set()),
        ("tennis", [], {"tennis ball", "tennis racket"}),
        ("tennis ball car", ["tennis ball", "car"], set()),
        ("zebra", ["zebra"], set()),  # a name that nobody asked for is itself
    ],
)
def test_a_phrase_of_a_detector_means_the_names_that_were_asked(phrase, meant, left_open):
    asked = ["car", "taxi", "van", "motorbike", "tennis ball", "tennis racket"]
    assert among_asked(phrase, asked) == (meant, left_open)


def test_what_a_piece_leaves_open_was_not_looked_for():
    row = {"labels": ["tennis"], "scores": [0.9], "asked": ["tennis ball", "tennis racket", "dog"]}
    rows = label_rows([row])
    assert (rows.counts, rows.asked) == (({},), (frozenset({"dog"}),))
