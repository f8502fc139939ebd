import numpy as np
import pytest
from vilbert_oracle import image_inputs, random_image

from vifidel_eval.errors import VifidelError
from vifidel_eval.plugins.networks.vilbert_features import (
    DetectorFeatures,
    regions_of,
    write_regions,
)

LENGTH = 10


def image(seed=0, **changes):
    return random_image(np.random.default_rng(seed)) | changes


@pytest.fixture
def folder(tmp_path):
    """A folder with images 42, 000000000007, dog and beach.png."""
    for seed, name in enumerate((42, "000000000007", "dog", "beach.png")):
        write_regions(tmp_path, name, regions_of(image(seed), name))
    return tmp_path


def test_inputs_of_a_worked_example():
    regions = regions_of(
        {
            "features": [[1.0, 5.0], [3.0, 6.0]],
            "boxes": [[10, 20, 30, 60], [0, 0, 200, 100]],
            "width": 200,
            "height": 100,
        },
        "image",
    )
    features, locations = regions.inputs()
    assert features.tolist() == [[2, 5.5], [1, 5], [3, 6]]
    expected = [[0, 0, 1, 1, 1], [0.05, 0.2, 0.15, 0.6, 0.04], [0, 0, 1, 1, 1]]
    np.testing.assert_allclose(locations, expected, rtol=1e-6)
    assert (features.dtype, locations.dtype) == (np.float32, np.float32)


def test_inputs_are_those_of_the_formulas():
    for found, expected in zip(
        regions_of(image(), "image").inputs(), image_inputs(image()), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_files_hold_what_was_written(folder):
    found = DetectorFeatures(folder).read(42)
    np.testing.assert_array_equal(found.features, image(0)["features"])
    np.testing.assert_array_equal(found.boxes, image(0)["boxes"])
    assert (found.width, found.height) == (640, 480)


def test_equal_regions_give_equal_files(tmp_path):
    first, second = (
        write_regions(tmp_path, name, regions_of(image(), name)).read_bytes() for name in "ab"
    )
    assert first == second


def test_ids_are_those_of_the_files(folder):
    ids = [42, "000000000007", "dog", "beach.png"]
    assert DetectorFeatures(str(folder)).find(ids) == ids


def test_the_digest_is_of_all_four_arrays(folder):
    def digest(source):
        features = DetectorFeatures(source)
        return features.describe(features.read(42))

    first = digest(folder)
    assert first[0] == LENGTH
    assert digest({42: image(0)}) == first
    half = np.float32(0.5)
    for name in ("features", "boxes", "width", "height"):
        assert digest({42: image(0) | {name: image(0)[name] + half}})[1] != first[1]


NOT_FINITE = np.full((6, LENGTH), np.nan)
TOO_LARGE = np.full((6, LENGTH), 1e300)
BACKWARDS = image()["boxes"][:, [2, 1, 0, 3]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (image(features=NOT_FINITE), "features holds numbers that are not finite; extract"),
        (image(features=TOO_LARGE), "features holds numbers that are not finite; extract"),
        (image(features=np.zeros((0, LENGTH))), r"features is an array of shape \(0, 10\)"),
        (image(features=np.zeros(LENGTH)), r"features is an array of shape \(10,\) and type float"),
        (
            image(features=[["a"]]),
            "features is an array of .* type <U1; expected numbers, one row per region",
        ),
        (image(features=[[1.0], [2.0, 3.0]]), "features cannot be read"),
        (image(boxes=np.zeros((5, 4))), r"6 features, but boxes of shape \(5, 4\); write it again"),
        (image(boxes=np.zeros((6, 5))), r"6 features, but boxes of shape \(6, 5\)"),
        (image(boxes=BACKWARDS), "a box ends before it starts: boxes are x1, y1, x2, y2"),
        (
            image(boxes=image()["boxes"] / 1000),
            "all boxes are within one pixel: boxes are pixels, not shares",
        ),
        (image(width=0), "the image is 0 pixels wide and 480 high"),
        (image(height=np.inf), "height holds numbers that are not finite"),
        (image(width=[640, 480]), r"width is an array of shape \(2,\) .*; expected one number"),
        ({"features": np.zeros((6, LENGTH))}, "no 'boxes', only features; it has to hold feat"),
        ({}, "no 'features', only nothing"),
        (np.zeros((6, LENGTH)), "ndarray instead of a mapping of arrays"),
    ],
)
def test_regions_that_cannot_be_used(content, message):
    with pytest.raises(VifidelError, match=f"features: image 42: {message}"):
        DetectorFeatures({7: image(), 42: content}).read(42)


NO_NPZ = r"42\.npz: not an \.npz file of four arrays of numbers, or damaged; write it again\.$"


def test_damaged_files_are_named(folder):
    path = folder / "42.npz"
    whole = path.read_bytes()
    flipped, packed = bytearray(whole), bytearray(whole)
    flipped[300] ^= 1
    packed[whole.index(b"PK\x01\x02") + 10] = 99  # a compression that there is not
    for damaged in (whole[:-100], bytes(flipped), bytes(packed), b"", b"text"):
        path.write_bytes(damaged)
        with pytest.raises(VifidelError, match=NO_NPZ):
            DetectorFeatures(folder).read(42)


def test_pickles_and_single_arrays_are_not_read(folder):
    path = folder / "42.npz"
    with open(path, "wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(VifidelError, match=NO_NPZ):
        DetectorFeatures(folder).read(42)
    np.savez(path, features=np.array({"a": 1}, dtype=object))
    with pytest.raises(VifidelError, match=NO_NPZ):
        DetectorFeatures(folder).read(42)


def test_sources_that_are_none(tmp_path):
    with pytest.raises(VifidelError, match="no such file or directory; give a folder"):
        DetectorFeatures(tmp_path / "gone")
    with pytest.raises(VifidelError, match=r"no \.npz files .* in it; name another folder"):
        DetectorFeatures(tmp_path)
    (tmp_path / "dog.npy").write_bytes(b"")
    with pytest.raises(VifidelError, match=r"no \.npz files .* in it; convert-features makes them"):
        DetectorFeatures(tmp_path)
    with pytest.raises(VifidelError, match="features cannot be int 3; accepted: a folder"):
        DetectorFeatures(3)


@pytest.mark.parametrize("name", ["", "a/b", ".."])
def test_ids_that_are_no_file_name(name, tmp_path):
    with pytest.raises(VifidelError, match="cannot be the name of a file"):
        write_regions(tmp_path, name, regions_of(image(), "image"))
