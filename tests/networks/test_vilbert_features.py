import numpy as np
import pytest
from vilbert_oracle import image_inputs, random_image

from vifidel_eval.errors import ImageIdError, VifidelError
from vifidel_eval.networks.vilbert_features import DetectorFeatures, regions_of, write_regions

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


def test_ids_are_found_by_number_and_by_stem(folder):
    features = DetectorFeatures(str(folder))
    ids = ["COCO_val2014_000000000042", 7, "dog.jpg", "beach.png", "dog", 42]
    found = features.find(ids, LENGTH)
    assert found == [42, "000000000007", "dog", "beach.png", "dog", 42]


def test_unknown_ids_are_named(folder):
    with pytest.raises(ImageIdError, match=r"\(.*\) does not know 2 image ids of the captions: 8"):
        DetectorFeatures(folder).find([8, 42, "cat.jpg", 8], LENGTH)
    with pytest.raises(ImageIdError, match=r"'dog\.txt'"):
        DetectorFeatures(folder).find(["dog.txt"], LENGTH)
    with pytest.raises(ImageIdError, match="one side has strings where the other has integers"):
        DetectorFeatures(folder).find(["42"], LENGTH)


def test_several_captions_of_an_image(folder):
    features = DetectorFeatures(folder)
    captions = features.under({"c1": 42, "c2": 42, "c3": "dog.jpg"})
    assert captions.find(["c3", "c1", "c2"], LENGTH) == ["dog", 42, 42]
    np.testing.assert_array_equal(captions.read(42).features, image(0)["features"])
    assert captions.signature() == features.signature()
    with pytest.raises(ImageIdError, match="does not know 1 image id of the captions: 'c4'"):
        captions.find(["c4"], LENGTH)
    with pytest.raises(ImageIdError, match="does not know 1 image id of the captions: 43"):
        features.under({"c1": 43})


def test_signature_is_of_the_images_used(folder):
    def after(features, *ids):
        features.find(ids, LENGTH)
        return features.signature()

    features = DetectorFeatures(folder)
    first = after(features, 42)
    assert first.startswith("1#")
    assert after(features, 42) == first
    both = after(features, "dog")
    assert both.startswith("2#")
    assert after(DetectorFeatures(folder), "dog", 42) == both
    assert after(DetectorFeatures({42: image(0), "dog": image(2)}), "dog", 42) == both
    changed = image(0)
    changed["boxes"] = changed["boxes"] + np.float32(0.5)
    assert after(DetectorFeatures({42: changed}), 42) != first
    assert after(DetectorFeatures({42: image(0, width=641)}), 42) != first


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
        (image(features=[["a"]]), "features is an array of .* type <U1; expected numbers, a row"),
        (image(features=np.zeros((6, 9))), "features of length 9, but the checkpoint reads 10"),
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
        DetectorFeatures({7: image(), 42: content}).find([7, 42], LENGTH)


def test_damaged_files_are_named(folder):
    path = folder / "42.npz"
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[300] ^= 1
    for damaged in (whole[:-100], bytes(flipped), b"", b"text"):
        path.write_bytes(damaged)
        with pytest.raises(VifidelError, match=r"42\.npz: no \.npz file, or damaged \(.+\); write"):
            DetectorFeatures(folder).find([42], LENGTH)


def test_pickles_and_single_arrays_are_not_read(folder):
    path = folder / "42.npz"
    with open(path, "wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(VifidelError, match=r"42\.npz: no \.npz file, or damaged \(a single array"):
        DetectorFeatures(folder).find([42], LENGTH)
    np.savez(path, features=np.array({"a": 1}, dtype=object))
    with pytest.raises(VifidelError, match=r"or damaged .*allow_pickle=False"):
        DetectorFeatures(folder).find([42], LENGTH)


def test_sources_that_are_none(tmp_path):
    with pytest.raises(VifidelError, match="no such file or directory; give a folder"):
        DetectorFeatures(tmp_path / "gone")
    with pytest.raises(VifidelError, match="in this folder; name another folder"):
        DetectorFeatures(tmp_path)
    (tmp_path / "dog.npy").write_bytes(b"")
    with pytest.raises(VifidelError, match="in this folder; convert-features makes them"):
        DetectorFeatures(tmp_path)
    with pytest.raises(VifidelError, match="features cannot be int 3; accepted: a folder"):
        DetectorFeatures(3)


@pytest.mark.parametrize("name", ["", "a/b", ".."])
def test_ids_that_are_no_file_name(name, tmp_path):
    with pytest.raises(VifidelError, match="cannot be the name of a file"):
        write_regions(tmp_path, name, regions_of(image(), "image"))
