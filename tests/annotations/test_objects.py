import json
import pickle
import subprocess
import sys
from collections import Counter

import pytest
from example_files import EXAMPLE

from vifidel_eval import Vifidel, VifidelWarning, evaluate
from vifidel_eval.annotations import ObjectLabels, clean_label, read_objects, union
from vifidel_eval.annotations.instances import Instances
from vifidel_eval.annotations.plain import read_items
from vifidel_eval.errors import AnnotationError, ImageIdError


def gold(labels):
    return read_items(labels, Instances("gold.json"))


def detections(labels, kind="coco-results"):
    """Return labels of a source that has no entry for an image in which nothing was found."""
    counts = {image_id: Counter(names) for image_id, names in labels.items() if names}
    return ObjectLabels(counts, kind, "detections.json", 0.6, lists_every_image=False)


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
        ("flip-flop_(sandal)", "flip flop"),
        ("(unknown)", "(unknown)"),
        ("cafe\u0301", "caf\u00e9"),
        ("犬", "犬"),
        ("bat_" * 100_000, " ".join(["bat"] * 100_000)),
    ],
    ids=lambda text: text[:20],
)
def test_clean_label(name, label):
    assert clean_label(name) == label


@pytest.mark.parametrize(("known", "empty"), [(5, 5), (9, 1)])
def test_detections_that_know_half_of_the_images_will_do(known, empty):
    labels = detections({i: ["dog"] for i in range(known)}).of_images(range(10))
    assert labels == [{"dog": 1}] * known + [{}] * empty


def test_detections_that_know_fewer_than_half_are_of_other_images():
    with pytest.raises(
        ImageIdError, match=r"detections\.json.* lacks 6 image ids .*number their rows"
    ):
        detections({i: ["dog"] for i in range(4)}).of_images(range(10))


def test_equal_content_is_equal():
    one, same, other = gold({1: ["dog", "cat"]}), gold({1: ["cat", "dog"]}), gold({1: ["dog"]})
    assert one == same == {1: {"dog": 1, "cat": 1}}
    assert hash(one) == hash(same)
    assert one != other
    assert one != [1]


def test_objects_read_from_paths_pickle_as_paths(tmp_path, monkeypatch):
    labels = {i: [["dog", 0.9], ["tree", 0.4], [f"thing {i}", 0.7]] for i in range(500)}
    (tmp_path / "labels.json").write_text(json.dumps(labels))
    monkeypatch.chdir(tmp_path)
    objects = read_objects("labels.json", threshold=0.5)
    pickled = pickle.dumps(objects)
    assert len(pickled) < 1000 < len(pickle.dumps(gold(labels)))
    (tmp_path / "elsewhere").mkdir()
    code = (
        "import pickle, sys; objects = pickle.load(sys.stdin.buffer); "
        "print(repr(objects)); print(objects.signature()); print(repr(objects)); "
        "print(len(objects), objects[7], len(objects.vocabulary()), objects.threshold)"
    )
    called = {"input": pickled, "cwd": tmp_path / "elsewhere", "capture_output": True}
    done = subprocess.run([sys.executable, "-c", code], check=True, **called)
    unread = "<ObjectLabels labels>=0.5: not read yet, labels.json>"
    shown = [unread, objects.signature(), unread, "500 {'dog': 1, 'thing 7': 1} 501 0.5"]
    assert done.stdout.decode().splitlines() == shown
    assert pickle.loads(pickle.dumps(pickle.loads(pickled))) == objects


def test_a_changed_file_is_noticed_when_a_pickle_is_read(tmp_path):
    path = tmp_path / "labels.json"
    path.write_text('{"1": ["dog"]}')
    objects = read_objects(path)
    pickled = pickle.dumps(objects)
    path.write_text('{"1": ["cat"]}')
    restored = pickle.loads(pickled)
    assert restored.signature() == objects.signature()
    with pytest.raises(
        AnnotationError, match=r"labels\.json: .* were labels#\w{8} when .* are labels#\w{8} now"
    ):
        restored.of_images([1])
    path.unlink()
    with pytest.raises(AnnotationError, match=r"labels\.json: no such file"):
        len(restored)


@pytest.mark.parametrize("rest", [[], EXAMPLE[3:]], ids=["mapping", "mapping and file"])
def test_objects_from_python_pickle_with_their_content(rest):
    objects = read_objects([{101: ["dog", "dog"], "000000000102": [["cat", 0.9]]}, *rest])
    restored = pickle.loads(pickle.dumps(objects))
    assert dict(restored) == dict(objects)
    assert restored.signature() == objects.signature()
    assert restored.vocabulary() == objects.vocabulary()
    assert restored.lists_every_image == objects.lists_every_image
    assert restored.threshold == objects.threshold


def test_vocabulary_is_what_was_looked_for_and_what_was_found():
    labels = {1: {"kite": 1}, 2: {"bus": 1}}
    first = ObjectLabels(labels, "coco-instances", "a.json", categories=["Hot dog", "cat"])
    known = {"hot dog", "cat", "kite", "bus"}
    assert first.vocabulary() == known
    assert union([first, gold({1: ["tree"]})]).vocabulary() == known | {"tree"}


def answers(counts, asked, **more):
    return ObjectLabels(counts, "answers", "answers.jsonl", asked=asked, **more)


def test_what_was_asked_is_said_for_each_image():
    objects = answers({1: {"squirrel": 2}, 2: {"dog": 1}}, {1: ["nut"], "3": []}, unsure=2)
    assert objects == {1: {"squirrel": 2}, 2: {"dog": 1}, "3": {}}
    assert objects.asked_of([2, 1, "3"]) == [None, {"squirrel", "nut"}, set()]
    assert objects.asked_of(["000000000001"]) == [{"squirrel", "nut"}]
    assert objects.vocabulary() == {"squirrel", "dog"}
    assert (objects.denied, objects.unsure) == (1, 2)
    assert repr(objects) == (
        "<ObjectLabels answers: 3 images, 2 labels, 1 not there, 2 unsure, answers.jsonl>"
    )
    restored = pickle.loads(pickle.dumps(objects))
    assert restored == objects
    assert restored.signature() == objects.signature()
    assert restored.asked_of([1]) == objects.asked_of([1])


def test_sources_that_were_asked_other_things_are_not_the_same():
    counts = {1: {"dog": 1}, 2: {}}
    plain = ObjectLabels(counts, "answers", "a")
    assert plain.signature().startswith("answers#")
    others = [
        plain,
        answers(counts, {1: ["cat"]}),
        answers(counts, {2: ["cat"]}),
        answers(counts, {2: ["cat", "nut"]}),
        answers(counts, {}, categories=["cat"]),
        answers(counts, {}, categories=["nut"]),
        answers(counts, {2: ["cat"]}, categories=["cat"]),
    ]
    assert len({objects.signature() for objects in others}) == len(others)
    assert all(one != other for one in others for other in others if one is not other)
    signatures = [objects.signature().split("#")[0] for objects in others]
    images, classes = "answers+asked:image", "answers+asked:classes"
    assert signatures[1:] == [*[images] * 3, *[classes] * 2, f"{images}+asked:classes"]
    # A found label need not be listed.
    assert answers(counts, {1: ["dog", "cat"]}) == answers(counts, {1: ["cat"]})
    # Categories alone say nothing in signatures, as ever.
    listed = ObjectLabels(counts, "answers", "a", categories=["dog"])
    assert listed.signature() == plain.signature()


def test_in_a_union_found_beats_denied_and_denied_beats_not_asked():
    first = answers({1: {"dog": 1}, 2: {}}, {1: ["cat"], 2: ["cat", "dog"]}, unsure=1)
    second = answers({1: {"cat": 3}}, {1: ["nut"]}, unsure=2)
    third = ObjectLabels({1: {}, 3: {}}, "coco-instances", "c", categories=["bus"])
    united = union([first, second, third])
    assert united == {1: {"dog": 1, "cat": 1}, 2: {}, 3: {}}
    assert united.asked_of([1, 2, 3]) == [{"dog", "cat", "nut", "bus"}, {"cat", "dog"}, {"bus"}]
    assert united.denied == 2 + 2 + 1
    assert united.unsure == 3
    assert "+asked:image#" in united.signature()


# Ids of hosts that number their rows

OF_IMAGES = {139: ["dog"], 285: ["cat"], 632: ["bed"]}


def scored(objects, ids):
    captions = {image_id: ["a dog"] for image_id in ids}
    return Vifidel(objects).compute_score(captions, captions)[1].tolist()


@pytest.mark.parametrize("ids", [[0, 1], ["0", "1"], range(2000)])
def test_ids_that_look_like_row_numbers_are_said_to(ids):
    with pytest.raises(ImageIdError) as problem:
        scored(OF_IMAGES, ids)
    assert str(problem.value).endswith(
        "the ids of the captions look like row numbers: write image ids there, or give the objects "
        'by row: as a list in the order of the captions, [["dog"], ["cat"]], or as {0: ["dog"]}.'
    )


def test_ids_of_batch_and_place_are_said_to_look_like_row_numbers():
    with pytest.raises(ImageIdError, match="look like row numbers: write image ids there, or key "):
        scored(OF_IMAGES, ["0_0", "0_1", "1_0"])
    assert scored({"0_0": ["dog"], "0_1": ["dog"]}, ["0_0", "0_1"]) == [1, 1]


OF_NOCAPS = {0: ["dog"], 1: ["dog"], 2: ["cat"], 7: ["bed"]}


@pytest.mark.parametrize("ids", [[0, 1], ["0", "1", "2"]])
def test_row_numbers_that_happen_to_be_image_ids_are_one_warning(ids):
    with pytest.warns(VifidelWarning) as caught:
        scored(OF_NOCAPS, ids)
    (warning,) = caught
    assert (
        f"ids are 0 to {len(ids) - 1} in this order, and the image side (objects) has 4 images"
        in str(warning.message)
    )
    captions = {name: dict.fromkeys(ids, "a dog") for name in "xy"}
    with pytest.warns(VifidelWarning) as caught:
        evaluate(captions, objects=OF_NOCAPS, metrics="VIFIDEL,VIFIDEL-H,CHAIR")
    assert [str(warned.message) for warned in caught] == [str(warning.message)]
