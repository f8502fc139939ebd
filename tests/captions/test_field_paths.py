"""Ids and captions that lie inside of records: paths, and lmms-eval's samples of any task."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vifidel_eval.captions import read_references, read_results
from vifidel_eval.captions.fields import MISSING, spelled, steps_of, value_at
from vifidel_eval.errors import CaptionError


def entry(image_id, caption, **more):
    return {"doc": {"image": {"key": image_id}}, "out": [["", caption]], **more}


def test_ids_and_captions_are_found_by_their_paths(write_lines):
    path = write_lines(entry(7, "A dog."), entry("a.jpg", "A cat."))
    fields = ["doc.image.key"], ["out[0][-1]"]
    assert read_results(path, *fields) == {7: "A dog.", "a.jpg": "A cat."}
    assert read_references(path, (), *fields) == {7: ["A dog."], "a.jpg": ["A cat."]}


def test_a_field_of_that_very_name_goes_before_the_path(write_lines):
    one = {"doc.id": 1, "doc": {"id": 2}, "caption": "A dog."}
    path = write_lines(one, {**one, "doc.id": 3})
    assert read_results(path, ["doc.id"]) == {1: "A dog.", 3: "A dog."}


def test_of_several_the_first_that_the_file_has(write_lines):
    path = write_lines(entry(1, "A dog."), entry(2, "A cat."))
    names = ["key", "doc.id", "doc.image.key", "doc.image"]
    assert read_results(path, names, ["out[0][1]"]) == {1: "A dog.", 2: "A cat."}


@pytest.mark.parametrize(
    ("id_field", "caption_field", "expected"),
    [
        ("doc.image_id", "out[0][1]",
         "line 1: no 'image_id' in 'doc' (--id-field doc.image_id), but 'image'."),
        ("dok.id", "out[0][1]", "line 1: no 'dok' (--id-field dok.id), but 'doc', 'out'."),
        ("doc.image.key.x", "out[0][1]",
         "line 1: no 'x' in 'doc.image.key' (--id-field doc.image.key.x), but 7."),
        ("doc.image.key", "out[1]",
         "line 1: no [1] in 'out' (--caption-field out[1]), but [['', 'A dog.']]."),
        ("doc.image.key", "doc[0]",
         "line 1: no [0] in 'doc' (--caption-field doc[0]), but 'image'."),
        ("doc.image.key", "late.text",
         "line 1: no 'late' (--caption-field late.text), but 'doc', 'out'."),
        ("doc.image", "out[0][1]", "line 1: 'doc.image' is {'key': 7}; an image id is an integer"),
        ("doc.image.key", "doc.image", "(image 7): the caption is {'key': 7}, not a string."),
    ],
)  # fmt: skip
def test_what_a_path_lacks_is_one_sentence(id_field, caption_field, expected, write_lines):
    path = write_lines(entry(7, "A dog."), entry(8, "A cat.", late={"text": "x"}))
    with pytest.raises(CaptionError) as problem:
        read_results(path, [id_field], [caption_field])
    assert expected in str(problem.value)
    assert str(problem.value).startswith(f"{path}: ")


KEYS = st.text("abcXYZ_ -é", min_size=1, max_size=6)
STEPS = st.tuples(KEYS, st.lists(KEYS | st.integers(0, 3), max_size=4)).map(lambda s: [s[0], *s[1]])


def nested(steps, value):
    for step in reversed(steps):
        value = {step: value} if isinstance(step, str) else [None] * step + [value]
    return value


@given(STEPS, st.text(max_size=5))
def test_a_path_is_what_is_typed_and_leads_where_it_says(steps, value):
    assert steps_of(spelled(steps)) == steps
    assert value_at(nested(steps, value), steps) == value
    assert value_at(nested(steps, value), [*steps, "x"]) is MISSING


@given(st.text(max_size=12))
def test_any_text_is_a_path_or_a_name(text):
    steps = steps_of(text)
    assert steps == [text] or spelled(steps) == text or "[-0" in text or "[0" in text


# lmms-eval


def sample(number, said, doc=None, **more):
    doc = {"image_id": 10 + number, "question": "?"} if doc is None else doc
    return {"doc_id": number, "doc": doc, "target": ["A pet."], "filtered_resps": said, **more}


@pytest.mark.parametrize(
    "fields",
    [
        {"filtered_resps": ["A dog."], "resps": [["Well, a dog."]]},
        {"filtered_resps": "A dog."},
        {"resps": [["A dog."]]},
        {"resps": ["A dog."], "filtered_resps": [0.3]},
    ],
)
@pytest.mark.parametrize("key", ["image_id", "image", "file_name", "id"])
def test_samples_of_a_task_of_one_s_own_are_recognised(fields, key, write_lines):
    samples = [
        {"doc_id": n, "doc": {key: f"{n}.jpg", "size": [2, 3]}, "target": "A pet.", **fields}
        for n in range(2)
    ]
    assert read_results(write_lines(*samples)) == {"0.jpg": "A dog.", "1.jpg": "A dog."}
    assert read_results(write_lines(samples[1])) == {"1.jpg": "A dog."}
    assert read_references(write_lines(*samples))["0.jpg"] == ["A pet."]


def test_samples_without_documents_have_the_image_id_that_the_task_wrote(write_lines):
    # As lmms-eval 0.7.3 writes them: a single answer as text, and no doc.
    samples = [
        {
            "doc_id": n,
            "target": "A pet.",
            "filtered_resps": message,
            "MINE": {"image_id": n, "x": 1},
        }
        for n, message in enumerate(["A dog.", "A cat."])
    ]
    path = write_lines(*samples)
    assert read_results(path) == {0: "A dog.", 1: "A cat."}
    assert read_results(path, ["MINE.image_id"], ["filtered_resps"]) == {0: "A dog.", 1: "A cat."}
    assert read_references(path) == {0: ["A pet."], 1: ["A pet."]}
    del samples[0]["MINE"]
    with pytest.raises(
        CaptionError, match=r"such as --id-field METRIC\.NAME --caption-field 'filt"
    ):
        read_results(write_lines(*samples))


def test_what_a_user_names_goes_before_what_is_usual(write_lines):
    docs = [{"image_id": 1, "video": "a.mp4"}, {"image_id": 2, "video": "b.mp4"}]
    samples = [sample(n, [f"{n}"], doc, resps=[["x", "y"]]) for n, doc in enumerate(docs)]
    path = write_lines(*samples)
    assert read_results(path) == {1: "0", 2: "1"}
    assert read_results(path, ["doc.video"]) == {"a.mp4": "0", "b.mp4": "1"}
    assert read_results(path, (), ["resps[0][1]"]) == {1: "y", 2: "y"}
    assert read_results(path, ["doc.video"], ["resps[0][0]"]) == {"a.mp4": "x", "b.mp4": "x"}
    assert read_references(path, (), ["doc.video"]) == {"a.mp4": ["A pet."], "b.mp4": ["A pet."]}


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        (
            [sample(0, ["A dog."], {"key": 1, "question": "?"})],
            "line 1: this lmms-eval sample has no 'pred' with an 'image_id', so its image is "
            "unknown (its doc has 'key', 'question'); name the fields of the id and the text, such "
            "as --id-field doc.NAME --caption-field 'filtered_resps[0]', or give the task's "
            "submission file.",
        ),
        (
            [sample(0, ["A dog."], {})],
            "its image is unknown; name the fields of the id and the text, such as",
        ),
        (
            [sample(0, [[["A dog."]]])],
            "has no 'pred'; name the field of the text, such as --caption-field "
            "'filtered_resps[0]'.",
        ),
        ([sample(0, ["A dog.", "A cat."])], "2 captions for one image; keep one"),
    ],
)
def test_what_nothing_says_is_refused_with_what_to_type(samples, expected, write_lines):
    path = write_lines(*samples, sample(1, ["A cat."]))
    with pytest.raises(CaptionError) as problem:
        read_results(path)
    assert expected in str(problem.value)
    assert Path(path).name in str(problem.value)
