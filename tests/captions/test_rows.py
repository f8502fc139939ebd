"""Rows: what pycocoevalcap's dictionaries become, parts of rows, and how messages call them."""

import numpy as np
import pytest

from vifidel_eval.captions.rows import Rows, coco_rows, make_rows
from vifidel_eval.errors import CaptionError, ImageIdError, VifidelError

ROWS = Rows(["a", "b", "c"], [["x"], [], ["y"]], [7, 8, 9], [["dog"], [], ["cat"]])


def test_dictionaries_become_a_row_per_image_in_the_order_of_the_references():
    rows = coco_rows({2: ["x", "y"], 1: []}, {1: ["one"], 2: ["two"]})
    assert (rows.captions, rows.references, rows.image_ids) == (
        ["two", "one"],
        [["x", "y"], []],
        [2, 1],
    )


@pytest.mark.parametrize(("gts", "res"), [([], {}), ({}, []), (None, {})])
def test_what_maps_no_ids_is_refused(gts, res):
    message = f"found {type(gts).__name__} and {type(res).__name__}"
    with pytest.raises(CaptionError, match=message):
        coco_rows(gts, res)


@pytest.mark.parametrize(
    ("gts", "res", "sentence"),
    [
        ({1: [], 2: []}, {1: ["a"]}, r"1 are only in gts \(2\), 0 only in res \(none\)"),
        ({1: []}, {1: ["a"], 3: ["b"]}, r"0 are only in gts \(none\), 1 only in res \(3\)"),
    ],
)
def test_both_dictionaries_must_have_the_same_ids(gts, res, sentence):
    with pytest.raises(ImageIdError, match=sentence):
        coco_rows(gts, res)


@pytest.mark.parametrize("captions", [["a", "b"], [], "a", [3], None])
def test_an_image_has_one_candidate(captions):
    with pytest.raises(CaptionError, match=r"image 5: expected a list of one candidate caption"):
        coco_rows({5: []}, {5: captions})


@pytest.mark.parametrize(
    ("start", "stop"), [(0, 3), (0, 9), (0, 2), (1, 3), (1, 2), (2, 2), (3, 4)]
)
def test_a_part_has_what_slices_of_lists_have(start, stop):
    part = ROWS.part(start, stop)
    assert part.captions == ROWS.captions[start:stop]
    assert part.references == ROWS.references[start:stop]
    assert part.ids == ROWS.image_ids[start:stop]
    assert part.objects == ROWS.objects[start:stop]


@pytest.mark.parametrize(
    ("image_ids", "ids", "keys", "name"),
    [
        (None, [0, 1], [0, 1], "row 1"),
        ([7, 8], [7, 8], [7, 8], "image 8"),
        ([7, 7], [7, 7], [0, 1], "image 7"),
    ],
)
def test_a_row_is_known_by_its_image_or_its_number(image_ids, ids, keys, name):
    rows = make_rows(["a", "b"], image_ids)
    assert (list(rows.ids), list(rows.keys), rows.name(1)) == (ids, keys, name)


def test_arrays_and_iterators_are_sequences():
    assert make_rows(np.array(["a", "b"])).captions == ["a", "b"]
    assert make_rows(iter(["a", "b"])).captions == ["a", "b"]


def test_every_row_needs_its_own_entry():
    with pytest.raises(VifidelError, match="there are 2 captions and 1 references"):
        make_rows(["a", "b"], references=[["x"]])
