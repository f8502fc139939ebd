import os
import pickle
import re
from functools import partial

import numpy as np
import pytest
from conftest import call
from vilbert_oracle import random_image

from vifidel_eval.plugins.networks.regions import read_boxed_regions

convert = partial(call, "convert-features")


def published(seed, **more):
    """Return an image as the extraction script of vilbert-multi-task keeps it."""
    image = random_image(np.random.default_rng(seed))
    return {
        "bbox": image["boxes"], "num_boxes": 6, "objects": np.arange(6), "image_width": 640,
        "image_height": 480, "cls_prob": np.zeros((6, 3), "f4"), "features": image["features"],
    } | more  # fmt: skip


def packed(entry):
    return np.array(entry, dtype=object)


def write_list(path, entries, names=None):
    path.write_bytes(pickle.dumps([packed(entry) for entry in entries], protocol=2))
    if names is not None:
        path.with_name("img_names.pkl").write_bytes(pickle.dumps(names, protocol=2))
    return path


def assert_holds(folder, image_id, entry):
    regions = read_boxed_regions(folder).read(image_id)
    np.testing.assert_array_equal(regions.features, entry["features"])
    np.testing.assert_array_equal(regions.boxes, entry["bbox"])
    assert (regions.width, regions.height) == (640, 480)


@pytest.fixture
def output(tmp_path):
    return tmp_path / "features"


@pytest.fixture
def npy(tmp_path):
    """A folder of ``.npy`` files; the second does not repeat its id."""
    folder = tmp_path / "npy"
    folder.mkdir()
    name = "COCO_val2014_000000000042"
    np.save(folder / f"{name}.npy", packed(published(0, image_id=name)), allow_pickle=True)
    np.save(folder / "dog.npy", packed(published(1)), allow_pickle=True)
    return folder


def test_folder_of_npy_files(npy, output):
    result = convert(npy, output, "--trust-pickles")
    assert (result.exit_code, result.stdout) == (0, f"{output}: features of 2 images\n")
    assert sorted(os.listdir(output)) == ["COCO_val2014_000000000042.npz", "dog.npz"]
    assert_holds(output, "COCO_val2014_000000000042", published(0))
    assert_holds(output, "dog", published(1))


def test_list_of_images_once_a_caption(tmp_path, output):
    entries = [published(0), published(0), published(1)]
    source = write_list(tmp_path / "imgs_rcnn.pkl", entries, ["a.jpg", "a.jpg", "b.jpg"])
    result = convert(source, output, "--trust-pickles")
    assert result.stdout == f"{output}: features of 2 images\n"
    assert_holds(output, "a.jpg", entries[0])
    assert_holds(output, "b.jpg", entries[2])


def test_nothing_is_unpickled_unasked(tmp_path, output):
    class Code:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    (tmp_path / "imgs_rcnn.pkl").write_bytes(pickle.dumps(Code()))
    result = convert(tmp_path / "imgs_rcnn.pkl", output)
    assert result.exit_code == 2
    assert "a pickle can run any code when it is read; add --trust-pickles" in result.stderr
    assert os.listdir(tmp_path) == ["imgs_rcnn.pkl"]


@pytest.mark.parametrize(
    ("entries", "names", "message"),
    [
        ([published(0)], None, "its images have no image_id; put img_names.pkl, the list of their"),
        ([published(0)], ["a", "b"], "put img_names.pkl, the list of their 1 ids"),
        ([published(0), published(1)], ["a", "a"],
         "entry 1: image 'a' appeared before, with other features"),
        ([1.5], ["a"], "entry 0: not features of vilbert-multi-task .*; found float"),
        ([{"bbox": 1}], ["a"], "entry 0: not features of vilbert-multi-task .*; found bbox"),
        ([published(0, features=np.zeros((5, 3)))], ["a"], r"entry 0: 5 features, but boxes of sh"),
        ([published(0)], ["a/b"], "the image id 'a/b' cannot be the name of a file"),
    ],
)  # fmt: skip
def test_lists_of_others(entries, names, message, tmp_path, output):
    source = write_list(tmp_path / "imgs_rcnn.pkl", entries, names)
    result = convert(source, output, "--trust-pickles")
    assert result.exit_code == 1
    assert re.search(message, result.stderr)


def test_sources_and_outputs_that_cannot_be_used(tmp_path, output):
    (tmp_path / "dog.npy").write_bytes(b"no array")
    (tmp_path / "other.pkl").write_bytes(pickle.dumps({}))
    (tmp_path / "empty").mkdir()
    for name, target, message in (
        ("dog.npy", output, r"dog\.npy: cannot be unpickled \(.*\); expected a \.npy"),
        ("other.pkl", output, r"holds dict; expected imgs_rcnn\.pkl: a list"),
        ("gone.pkl", output, r"gone\.pkl: no such file or directory; check the path"),
        ("empty", output, r"empty: there is no \.npy file in this folder; give another folder, or"),
        ("dog.npy", tmp_path / "no" / "such", "such: .*; name another folder"),
        ("dog.npy", tmp_path / "other.pkl", "name another folder"),
    ):
        result = convert(tmp_path / name, target, "--trust-pickles")
        assert result.exit_code == 1
        assert re.search(message, result.stderr)
