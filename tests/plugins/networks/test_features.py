import threading

import numpy as np
import pytest

from vifidel_eval import ImageIdError, VifidelError
from vifidel_eval.plugins.networks import features as module
from vifidel_eval.plugins.networks.features import Features, ImageSide, Kept


class Plain(Features):
    """Features in memory; the digest is of the numbers."""

    def __init__(self, images):
        super().__init__("here", images)
        self.reads = []

    def read(self, image):
        self.reads.append(image)
        content = self._images[image]
        if np.isnan(content).any():
            raise VifidelError(f"{self.name(image)}: NaN.")
        return content

    def describe(self, content):
        return content.shape[1], repr(content.tolist())


def ones(value=1.0, width=2):
    return np.full((3, width), value)


NAMED = {42: ones(1), "000000000007": ones(2), "dog": ones(3), "beach.png": ones(4), 3: ones(5)}


@pytest.mark.parametrize(
    ("image_id", "image"),
    [
        (42, 42),
        ("COCO_val2014_000000000042", 42),
        ("000000000042.jpg", 42),
        (7, "000000000007"),
        ("dog.jpg", "dog"),
        ("dog.PNG", "dog"),
        ("beach", "beach.png"),
        ("beach.jpg", "beach.png"),
        ("3.jpg", 3),
    ],
)
def test_ids_find_their_image(image_id, image):
    assert Plain(NAMED).find([image_id, 42]) == [image, 42]


def test_numbers_find_file_names():
    assert Plain({"3.jpg": ones()}).find([3]) == ["3.jpg"]


def test_unknown_ids_are_named():
    features = Plain(NAMED)
    with pytest.raises(ImageIdError, match=r"side \(here\) lacks 2 image ids of .*: 8, 'c"):
        features.find([8, 42, "cat.jpg", 8])
    with pytest.raises(ImageIdError, match=r"'dog\.txt'"):
        features.find(["dog.txt"])
    assert features.find(["42"]) == features.find([42])


def test_two_files_of_an_image():
    features = Plain({"dog.jpg": ones(), "dog.png": ones(), "cat": ones()})
    assert features.find(["dog.jpg", "cat.jpg"]) == ["dog.jpg", "cat"]
    with pytest.raises(ImageIdError, match=r"'dog' could be 'dog\.jpg' or 'dog\.png'"):
        features.find(["dog"])


def test_several_captions_of_an_image():
    assert Plain(NAMED).find([42, "dog.jpg", 42]) == [42, "dog", 42]


def doubled(contents):
    return [2 * content for content in contents]


def side(features, ids=(), most=1 << 20):
    made = ImageSide(features, 2, doubled, most)
    if ids:
        made.find(ids)
    return made


MANY = {number: ones(number) for number in range(40)}


def test_images_are_read_and_encoded_once_as_long_as_there_is_room(monkeypatch):
    monkeypatch.setattr(module, "_IMAGES_AT_ONCE", 8)
    for room, again in ((1 << 20, 0), (10 * ones().nbytes, 30), (0, 40)):
        features = Plain(MANY)
        images = side(features, [*MANY, 5], room)
        assert features.reads == list(MANY)
        features.reads.clear()
        images.find([3, 5])
        assert features.reads == []
        found = images.encoded([*MANY, 5])
        assert len(features.reads) == again
        assert sorted(found) == list(MANY)
        assert all((found[number] == 2 * number).all() for number in MANY)


def test_whatever_is_damaged_is_found_before_the_first_score():
    images = side(Plain({**MANY, 39: ones(np.nan)}))
    with pytest.raises(VifidelError, match="image 39: NaN"):
        images.find(list(MANY))
    images.find(list(range(39)))  # images that no run asks for are not looked at
    with pytest.raises(VifidelError, match=r"image 1: features of length 3, but the .* reads 2;"):
        side(Plain({0: ones(), 1: ones(width=3)}), [0, 1])


def test_signature_is_of_the_images_asked_for():
    images = side(Plain(MANY))
    every = images.signature()
    assert every.startswith("40#")
    assert images.signature([]).startswith("0#")
    two = images.signature([2, 1])
    assert two.startswith("2#")
    assert images.signature([1, 2, 3]) == images.signature([3, 2, 1, 1]) != two
    assert images.signature() == every
    assert side(Plain(dict(reversed(MANY.items())))).signature([1, 2]) == two
    assert side(Plain({**MANY, 39: ones(0)})).signature([1, 2]) == two
    assert side(Plain({**MANY, 1: ones(0)})).signature([1, 2]) != two
    assert side(Plain({**MANY, 1: ones(2), 2: ones(1)})).signature([1, 2]) != two


def test_features_that_change_between_two_readings():
    content = {1: ones()}
    images = side(Plain(content), [1], most=0)
    content[1] = ones(2)
    with pytest.raises(VifidelError, match="image 1: its features have changed"):
        images.encoded([1])


def test_kept_up_to_a_number_of_bytes():
    kept = Kept(100)
    kept.keep({"a": np.zeros(10)})
    kept.keep({"a": np.zeros(10)})  # counts once
    assert not kept.is_full
    kept.keep({"b": np.zeros(5), "c": np.zeros(2)})
    assert kept.is_full
    assert list(kept.find("abcd")) == ["a", "c"]


def test_threads_share_an_image_side():
    features, barrier = Plain(MANY), threading.Barrier(8)
    images = ImageSide(features, 2, doubled, 10 * ones().nbytes)
    found = [None] * 8

    def use(at):
        barrier.wait()
        asked = [(number + 5 * at) % len(MANY) for number in MANY]
        found[at] = images.encoded(images.find(asked)), images.signature()

    threads = [threading.Thread(target=use, args=[at]) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for encoded, signature in found:
        assert sorted(encoded) == list(MANY)
        assert all((encoded[number] == 2 * number).all() for number in MANY)
        assert signature == side(Plain(MANY)).signature()
    assert len(images._kept.find(MANY)) == 10
