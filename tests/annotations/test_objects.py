import re

import pytest

from vifidel_eval.annotations import ObjectLabels, clean_label, read_labels, union
from vifidel_eval.errors import AnnotationError, ImageIdError


def gold(labels):
    return read_labels(labels, "gold.json")


def detections(labels, kind="coco-results"):
    """Return labels of a source that has no entry for an image in which nothing was found."""
    objects = ObjectLabels(kind, "detections.json", 0.6, lists_every_image=False)
    for image_id, names in labels.items():
        for name in names:
            objects.add(image_id, name)
    return objects


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Hot dog", "hot dog"),
        ("baseball_bat", "baseball bat"),
        ("bow_(decorative_ribbons)", "bow"),
        ("Bat (Animal)", "bat"),
        ("diningtable", "dining table"),
        ("pottedplant", "potted plant"),
        ("tvmonitor", "tv monitor"),
        ("aeroplane", "aeroplane"),
        ("  fire \t hydrant ", "fire hydrant"),
        ("flip-flop_(sandal)", "flip-flop"),
        ("(unknown)", "(unknown)"),
        ("cafe\u0301", "caf\u00e9"),
        ("犬", "犬"),
    ],
)
def test_clean_label(name, label):
    assert clean_label(name) == label


def test_instances_of_one_label_add_up_however_they_are_written():
    objects = detections({42: ["Hot dog", "hot_dog", "cat"]})
    assert objects == {42: {"hot dog": 2, "cat": 1}}


def test_labels_come_in_the_order_of_the_ids():
    objects = gold({1: ["cat"], 2: [], 3: ["dog", "dog"]})
    assert objects.of_images([3, 1, 2]) == [{"dog": 2}, {"cat": 1}, {}]


@pytest.mark.parametrize(
    "stem", ["000000000042", "000000000042.jpg", "COCO_val2014_000000000042.jpg"]
)
def test_coco_file_stem_finds_its_number(stem):
    assert gold({42: ["dog"], 43: ["cat"]}).of_images([stem]) == [{"dog": 1}]
    assert gold({stem: ["dog"], "beach": ["cat"]}).of_images([42]) == [{"dog": 1}]


def test_unknown_image_of_a_source_that_lists_every_image():
    with pytest.raises(
        ImageIdError,
        match=r"gold\.json.* image id .*: 44; .* ids: 42, 43;",
    ):
        gold({42: ["dog"], 43: []}).of_images([42, 44])


def test_image_missing_from_detections_has_no_objects():
    assert detections({42: ["dog"]}).of_images([41, 42]) == [{}, {"dog": 1}]


@pytest.mark.parametrize(("known", "empty"), [(5, 5), (9, 1)])
def test_detections_that_know_half_of_the_images_will_do(known, empty):
    labels = detections({i: ["dog"] for i in range(known)}).of_images(range(10))
    assert labels == [{"dog": 1}] * known + [{}] * empty


def test_detections_that_know_fewer_than_half_are_of_other_images():
    with pytest.raises(ImageIdError, match=r"detections\.json.* know 6 image ids .*same split"):
        detections({i: ["dog"] for i in range(4)}).of_images(range(10))


def test_detections_with_ids_of_another_type_are_a_mistake():
    with pytest.raises(ImageIdError, match=r"'beach\.jpg'; it has 1 image id: 42; .*file names"):
        detections({42: ["dog"]}).of_images(["beach.jpg"])


def test_union_keeps_each_label_once():
    united = union(
        [gold({1: ["dog", "dog", "cat"], 2: []}), detections({1: ["dog", "tree", "tree"]})]
    )
    assert united == {1: {"dog": 1, "cat": 1, "tree": 1}, 2: {}}
    assert united.lists_every_image


@pytest.mark.parametrize("stem", ["000000000042", "COCO_val2014_000000000042.jpg"])
def test_union_joins_coco_file_stems_with_numbers(stem):
    assert union([gold({42: ["dog"]}), gold({stem: ["cat"]})]) == {42: {"dog": 1, "cat": 1}}
    assert union([gold({stem: ["dog"]}), gold({42: ["cat"]})]) == {stem: {"dog": 1, "cat": 1}}


def test_union_joins_ids_that_the_first_source_does_not_know():
    sources = [
        detections({1: ["dog"]}),
        detections({1: ["dog"], 42: ["cat"]}),
        detections({"000000000001": ["dog"], "000000000042": ["tree"]}),
    ]
    assert union(sources) == {1: {"dog": 1}, 42: {"cat": 1, "tree": 1}}


def test_union_leaves_its_sources_alone():
    first, second = gold({1: ["dog", "dog"]}), gold({1: ["cat"]})
    union([first, second])
    assert first == {1: {"dog": 2}}
    assert second == {1: {"cat": 1}}


def test_union_of_detections_does_not_list_every_image():
    assert not union([detections({1: ["dog"]}), detections({1: ["cat"]})]).lists_every_image


def test_union_of_nothing():
    with pytest.raises(AnnotationError, match="at least one source"):
        union([])


def test_union_of_sources_without_a_common_image():
    with pytest.raises(ImageIdError, match=r"gold\.json .* of detections\.json: 'beach'"):
        union([gold({42: ["dog"]}), detections({"beach": ["dog"]})])


def test_signature_shows_kind_and_threshold():
    assert re.fullmatch(r"labels#[0-9a-f]{8}", gold({1: ["dog"]}).signature())
    assert re.fullmatch(r"coco-results>=0\.6#[0-9a-f]{8}", detections({1: ["dog"]}).signature())
    united = union([gold({1: ["dog"]}), detections({1: ["dog"]})])
    assert re.fullmatch(r"union\(labels\+coco-results>=0\.6\)#[0-9a-f]{8}", united.signature())


def test_signature_does_not_depend_on_order():
    one = gold({2: ["dog", "cat"], "a": [], 10: ["dog"]})
    other = gold({10: ["dog"], "a": [], 2: ["cat", "dog"]})
    assert one.signature() == other.signature()


@pytest.mark.parametrize(
    "labels", [{1: ["dog"]}, {1: ["dog", "cat"]}, {2: ["dog", "dog"]}, {"1": ["dog", "dog"]}]
)
def test_signature_changes_with_the_content(labels):
    assert gold(labels).signature() != gold({1: ["dog", "dog"]}).signature()


def test_objects_under_other_ids_keep_counts_and_signature():
    objects = gold({42: ["dog", "dog"], 7: []})
    renamed = objects.under({"first": "COCO_val2014_000000000042", "second": 42, "third": 7})
    assert dict(renamed) == {"first": {"dog": 2}, "second": {"dog": 2}, "third": {}}
    assert renamed.signature() == objects.signature()
    with pytest.raises(ImageIdError, match="does not know 1 image id of the captions: 8"):
        objects.under({"first": 8})


def test_vocabulary_is_what_was_looked_for_and_what_was_found():
    first = ObjectLabels("coco-instances", "a.json", categories=["Hot dog", "cat"])
    first.add(1, "kite")
    first.add(2, "bus")
    known = {"hot dog", "cat", "kite", "bus"}
    assert first.vocabulary() == known
    assert union([first, gold({1: ["tree"]})]).vocabulary() == known | {"tree"}
    assert first.under({"a": 1}).vocabulary() == known
