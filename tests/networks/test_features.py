import numpy as np
import pytest

from vifidel_eval import ImageIdError, VifidelError
from vifidel_eval.networks import features as module
from vifidel_eval.networks.features import Features, ImageSide, Kept


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
    with pytest.raises(ImageIdError, match="one side has strings where the other has integers"):
        features.find(["42"])


def test_two_files_of_an_image():
    features = Plain({"dog.jpg": ones(), "dog.png": ones(), "cat": ones()})
    assert features.find(["dog.jpg", "cat.jpg"]) == ["dog.jpg", "cat"]
    with pytest.raises(ImageIdError, match=r"'dog\.jpg' and 'dog\.png' both stand for image 'dog'"):
        features.find(["dog"])


def test_several_captions_of_an_image():
    features = Plain(NAMED)
    renamed = features.under({"c1": 42, "c2": 42, "c3": "dog.jpg"})
    assert renamed.find(["c3", "c1", "c2"]) == ["dog", 42, 42]
    assert renamed.under({0: "c3"}).find([0]) == ["dog"]
    with pytest.raises(ImageIdError, match=r"it has 3 image ids: 'c1', 'c2', 'c3'"):
        renamed.find([42])
    with pytest.raises(ImageIdError, match="lacks 1 image id of the captions: 9;"):
        features.under({"c1": 9, "c2": 42, "c3": 9})
    assert side(renamed, ["c1", "c3"]).signature() == side(Plain(NAMED), [42, "dog"]).signature()


def doubled(contents):
    return [2 * content for content in contents]


def side(features, ids=(), most=1 << 20):
    made = ImageSide(features, 2, doubled, most)
    if ids:
        made.prepare(ids)
    return made


MANY = {number: ones(number) for number in range(40)}


def test_images_are_read_and_encoded_once_as_long_as_there_is_room(monkeypatch):
    monkeypatch.setattr(module, "_IMAGES_AT_ONCE", 8)
    for room, again in ((1 << 20, 0), (10 * ones().nbytes, 30), (0, 40)):
        features = Plain(MANY)
        images = side(features, [*MANY, 5], room)
        assert features.reads == list(MANY)
        features.reads.clear()
        images.prepare([3, 5])
        assert features.reads == []
        found = images.encoded([*MANY, 5])
        assert len(features.reads) == again
        assert sorted(found) == list(MANY)
        assert all((found[number] == 2 * number).all() for number in MANY)


def test_whatever_is_damaged_is_found_before_the_first_score():
    images = side(Plain({**MANY, 39: ones(np.nan)}))
    with pytest.raises(VifidelError, match="image 39: NaN"):
        images.prepare(list(MANY))
    images.prepare(list(range(39)))  # images that no run asks for are not looked at
    with pytest.raises(VifidelError, match=r"image 1: features of length 3, but the .* reads 2;"):
        side(Plain({0: ones(), 1: ones(width=3)}), [0, 1])


def test_signature_is_of_the_images_asked_for_last():
    images = side(Plain(MANY))
    assert images.signature() == "none"
    images.prepare([1, 2, 3])
    three = images.signature()
    assert three.startswith("3#")
    images.prepare([2, 1])
    two = images.signature()
    assert two.startswith("2#")
    images.prepare([3, 2, 1, 1])
    assert images.signature() == three
    fresh = side(Plain(dict(reversed(MANY.items()))), [1, 2])
    assert fresh.signature() == two
    assert side(Plain({**MANY, 39: ones(0)}), [1, 2]).signature() == two
    assert side(Plain({**MANY, 1: ones(0)}), [1, 2]).signature() != two
    assert side(Plain({**MANY, 1: ones(2), 2: ones(1)}), [1, 2]).signature() != two


def test_features_that_change_between_two_readings():
    content = {1: ones()}
    images = side(Plain(content), [1], most=0)
    content[1] = ones(2)
    with pytest.raises(VifidelError, match="image 1: its features have changed"):
        images.encoded([1])


def test_kept_up_to_a_number_of_bytes():
    kept = Kept(100)
    kept.keep("a", np.zeros(10))
    assert not kept.is_full
    kept.keep("b", np.zeros(5))
    assert kept.is_full
    kept.keep("c", np.zeros(2))
    assert list(kept) == ["a", "c"]
