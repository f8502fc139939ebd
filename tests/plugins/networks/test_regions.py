import numpy as np
import pytest
from vilbert_oracle import random_image

from vifidel_eval import VifidelError
from vifidel_eval.plugins.networks import regions

LENGTH = 10


class Plain(regions.Features):
    """Features in memory."""

    def __init__(self, images):
        super().__init__("here", images, self._load)

    def _load(self, content, at):
        if np.isnan(content).any():
            raise VifidelError(f"{at}: NaN.")
        return regions.Regions(content)


def ones(value=1.0, width=2):
    return np.full((3, width), value)


def doubled(contents):
    return [2 * content.features for content in contents]


def side(features, ids=(), most=1 << 20):
    built = regions.ImageSide(features, 2, doubled, regions.BoundedCache(most))
    if ids:
        built.find(ids)
    return built


MANY = {number: ones(number) for number in range(40)}


def test_whatever_is_damaged_is_found_before_the_first_score():
    images = side(Plain({**MANY, 39: ones(np.nan)}))
    with pytest.raises(VifidelError, match="image 39: NaN"):
        images.find(list(MANY))
    images.find(list(range(39)))  # images that no run asks for are not looked at
    with pytest.raises(VifidelError, match=r"image 1: features of length 3, but the .* reads 2;"):
        side(Plain({0: ones(), 1: ones(width=3)}), [0, 1])


def test_features_that_change_between_two_readings():
    content = {1: ones()}
    images = side(Plain(content), [1], most=0)
    content[1] = ones(2)
    with pytest.raises(VifidelError, match="image 1: its features have changed"):
        images.encoded([1])


def image(seed=0, **changes):
    return random_image(np.random.default_rng(seed)) | changes


def test_inputs_of_a_worked_example():
    content = {"features": [[1.0, 5.0], [3.0, 6.0]], "boxes": [[10, 20, 30, 60], [0, 0, 200, 100]]}
    result = regions.regions_of(content | {"width": 200, "height": 100}, "image")
    features, locations = result.inputs()
    assert features.tolist() == [[2, 5.5], [1, 5], [3, 6]]
    expected = [[0, 0, 1, 1, 1], [0.05, 0.2, 0.15, 0.6, 0.04], [0, 0, 1, 1, 1]]
    np.testing.assert_allclose(locations, expected, rtol=1e-6)
    assert (features.dtype, locations.dtype) == (np.float32, np.float32)


def test_the_digest_is_of_all_four_arrays(tmp_path):
    def digest(source):
        return regions.read_boxed_regions(source).read(42).digest()

    regions.write_regions(tmp_path, 42, regions.regions_of(image(0), "42"))
    first = digest(tmp_path)
    assert digest({42: image(0)}) == first
    half = np.float32(0.5)
    for name in ("features", "boxes", "width", "height"):
        assert digest({42: image(0) | {name: image(0)[name] + half}}) != first


NOT_FINITE = np.full((6, LENGTH), np.nan)
BACKWARDS = image()["boxes"][:, [2, 1, 0, 3]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (image(features=NOT_FINITE), "features holds numbers that are not finite; extract"),
        (image(features=[["a"]]),
         "features is an array of .* type <U1; expected numbers, one row per region"),
        (image(features=[[1.0], [2.0, 3.0]]), "features cannot be read"),
        (image(boxes=np.zeros((5, 4))), r"6 features, but boxes of shape \(5, 4\); write it again"),
        (image(boxes=BACKWARDS), "a box ends before it starts: boxes are x1, y1, x2, y2"),
        (image(boxes=image()["boxes"] / image()["boxes"].max()),
         "all boxes are within one pixel: boxes are in pixels, not in fractions"),
        (image(width=0), "the image is 0 pixels wide and 480 high"),
        (image(height=np.inf), "height holds numbers that are not finite"),
        (image(width=[640, 480]), r"width is an array of shape \(2,\) .*; expected one number"),
        ({"features": np.zeros((6, LENGTH))}, "no 'boxes', only features; it must have feat"),
        ({}, "no 'features', only nothing"),
        (np.zeros((6, LENGTH)), "ndarray instead of a mapping of arrays"),
    ],
)  # fmt: skip
def test_regions_that_cannot_be_used(content, message):
    with pytest.raises(VifidelError, match=f"features: image 42: {message}"):
        regions.read_boxed_regions({7: image(), 42: content}).read(42)


def test_sources_that_are_none(tmp_path):
    with pytest.raises(VifidelError, match="no such file or directory; give a folder"):
        regions.read_boxed_regions(tmp_path / "gone")
    with pytest.raises(VifidelError, match=r"no \.npz files .*; name another folder"):
        regions.read_boxed_regions(tmp_path)
    (tmp_path / "dog.npy").write_bytes(b"")
    with pytest.raises(VifidelError, match=r"no \.npz files .*; convert-features makes them"):
        regions.read_boxed_regions(tmp_path)
    with pytest.raises(VifidelError, match="features cannot be int 3; accepted: a folder"):
        regions.read_boxed_regions(3)


@pytest.mark.parametrize("name", ["", "a/b", ".."])
def test_ids_that_are_no_file_name(name, tmp_path):
    with pytest.raises(VifidelError, match="cannot be the name of a file"):
        regions.write_regions(tmp_path, name, regions.regions_of(image(), "image"))
