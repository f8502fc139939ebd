import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vifidel_eval import Vifidel, evaluate
from vifidel_eval.errors import ImageIdError
from vifidel_eval.io.image_ids import from_json_key, match, mismatch


@pytest.mark.parametrize(
    ("key", "image_id"),
    [
        ("42", 42),
        ("0", 0),
        ("042", "042"),
        ("000000000042", "000000000042"),
        ("-42", "-42"),
        ("4.0", "4.0"),
        ("\u0664\u0662", "\u0664\u0662"),  # Arabic-Indic digits
        ("beach", "beach"),
    ],
)
def test_key_that_is_a_whole_number_is_a_number(key, image_id):
    result = from_json_key(key)
    assert result == image_id
    assert type(result) is type(image_id)


@pytest.mark.parametrize(
    ("wanted", "known", "matched"),
    [
        ([42, 7], {7, 42, 1}, {42: 42, 7: 7}),
        ([42, 7], {42}, {42: 42}),
        (["beach"], {"beach", "dog"}, {"beach": "beach"}),
        (["000000000042"], {42}, {"000000000042": 42}),
        (["000000000042.jpg"], {42}, {"000000000042.jpg": 42}),
        (["COCO_val2014_000000000042"], {42}, {"COCO_val2014_000000000042": 42}),
        (["COCO_val2014_000000000042.jpg"], {42}, {"COCO_val2014_000000000042.jpg": 42}),
        ([42], {"COCO_train2014_000000000042.png"}, {42: "COCO_train2014_000000000042.png"}),
        ([np.int64(42)], {"000000000042"}, {42: "000000000042"}),
        (["42"], {42}, {"42": 42}),
        ([42], {"42"}, {42: "42"}),
        (["42"], {"000000000042.jpg"}, {"42": "000000000042.jpg"}),
        (["COCO_val2014_000000000042"], {"42"}, {"COCO_val2014_000000000042": "42"}),
        (["000007", "JPEGImages/000008.jpg"], {7, 8}, {"000007": 7, "JPEGImages/000008.jpg": 8}),
        ([7], {"000007"}, {7: "000007"}),
        (["00007"], {7}, {}),
        (["42"], {"val/42.jpg"}, {"42": "val/42.jpg"}),
        (["042"], {42}, {}),
        (["0000000042"], {42}, {}),
        (["photo_000000000042"], {42}, {}),
        (["000000000042_caption"], {42}, {}),
        ([("val", 42)], {("val", 42): "dog"}, {("val", 42): ("val", 42)}),
        ([], {42}, {}),
        # paths and names of pictures
        (["val2017/000000000042.jpg"], {42}, {"val2017/000000000042.jpg": 42}),
        ([42], {"/data/val2017/000000000042.jpg"}, {42: "/data/val2017/000000000042.jpg"}),
        (["images/beach.jpg"], {"beach"}, {"images/beach.jpg": "beach"}),
        (["beach"], {"images/beach.JPEG"}, {"beach": "images/beach.JPEG"}),
        (["beach.jpg"], {"beach.png"}, {"beach.jpg": "beach.png"}),
        (["1000092795.jpg"], {1000092795}, {"1000092795.jpg": 1000092795}),
        (["VG_100K\\2370799.jpg"], {2370799}, {"VG_100K\\2370799.jpg": 2370799}),
        (["./val/beach.jpg"], {"val/beach"}, {"./val/beach.jpg": "val/beach"}),
        (["data/val/beach.jpg"], {"val/beach.jpg"}, {"data/val/beach.jpg": "val/beach.jpg"}),
        (["train/beach.jpg"], {"val/beach.jpg"}, {}),
        # videos
        (["clip.mp4"], {"clip"}, {"clip.mp4": "clip"}),
        (["scan.dcm"], {"scan"}, {"scan.dcm": "scan"}),
        (["clip"], {"videos/clip.webm"}, {"clip": "videos/clip.webm"}),
        (["clip.MOV"], {"clip.mkv"}, {"clip.MOV": "clip.mkv"}),
        (["clip.jpg"], {"clip.mp4"}, {"clip.jpg": "clip.mp4"}),  # its cover
        (["video7010.mp4"], {"video7010"}, {"video7010.mp4": "video7010"}),
        (["7010.avi"], {7010}, {"7010.avi": 7010}),
        (["clip.txt"], {"clip"}, {}),
        (["clip.mp4v"], {"clip"}, {}),
        (["val/beach.jpg"], {"val"}, {}),
        (["beach.v2"], {"beach"}, {}),
        ([".jpg"], {""}, {}),
        (["a/1.jpg", "b/1.jpg"], {"b/1", "a/1"}, {"a/1.jpg": "a/1", "b/1.jpg": "b/1"}),
    ],
)
def test_match(wanted, known, matched):
    assert match(wanted, known) == matched


@pytest.mark.parametrize(
    ("wanted", "known", "message"),
    [
        (["beach"], ["a/beach.jpg", "b/beach.jpg"], "'beach' could be 'a/beach.jpg' or 'b/beach"),
        (["beach.jpg"], ["beach.png", "beach.gif"], "could be 'beach.png' or 'beach.gif'"),
        (["a/beach.jpg"], ["b/a/beach", "beach"], "'a/beach.jpg' could be 'beach' or 'b/a/beach'"),
        (["a/beach.jpg", "b/beach.jpg"], ["beach"], "'a/beach.jpg' and 'b/beach.jpg' both mean"),
        (["beach", "a/beach.jpg"], ["beach"], "'beach' and 'a/beach.jpg' both mean 'beach'"),
    ],
)
def test_paths_that_are_ambiguous(wanted, known, message):
    with pytest.raises(ImageIdError, match=message):
        match(wanted, known)


def test_two_ids_that_mean_one_image():
    with pytest.raises(ImageIdError, match=r"'000000000042' and 42 both mean image 42"):
        match([7], [42, "000000000042"])
    with pytest.raises(ImageIdError, match=r"'42' and 42 both mean image 42"):
        match([7], [42, "42"])


@pytest.mark.parametrize(
    ("missing", "known", "cause"),
    [
        (["beach.jpg"], [42], "one side has file names where the other has image ids"),
        ([42], ["beach", "dog"], "one side has file names where the other has image ids"),
        ([7, 8], [42, 43], "check that both come from the same split"),
        (["beach"], ["dog"], "check that both come from the same split"),
        (["000000000007"], [42], "check that both come from the same split"),
    ],
)
def test_mismatch_names_the_likely_cause(missing, known, cause):
    assert cause in str(mismatch(missing, known, "the captions", "the image side"))


MISSING = [None, float("nan"), np.float64("nan")]
OF_ONE = {"objects": {1: ["dog"]}, "systems": {"a": {1: "a dog"}}}


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize(
    ("call", "where"),
    [
        (lambda i: Vifidel({1: ["dog"]}).compute_score({i: ["a"]}, {i: ["a"]}), "gts and res"),
        (lambda i: Vifidel({1: ["dog"]}).score(["a dog"], image_ids=[i]), "image_ids"),
        (lambda i: Vifidel({1: ["dog"]}).explain(i, "a dog"), "image_ids"),
        (lambda i: Vifidel({i: ["dog"]}), "objects"),
        (lambda i: evaluate(**OF_ONE | {"objects": {i: ["dog"]}}), "objects"),
        (lambda i: evaluate(**OF_ONE | {"systems": {"a": {2: "a", i: "a"}}}), "system 'a'"),
        (lambda i: evaluate(**OF_ONE, references={i: ["a dog"]}), "references"),
    ],
)
def test_what_stands_for_a_missing_id_is_none(call, where, missing):
    with pytest.raises(ImageIdError, match=rf"^{where}: image id number [12] is (None|nan|np)"):
        call(missing)


def test_mismatch_shows_ids_of_both_sides():
    problem = mismatch([7, 8, 9, 10], ["a"], "the captions", "the image side (gold.json)")
    assert isinstance(problem, ImageIdError)
    assert str(problem).startswith(
        "the image side (gold.json) lacks 4 image ids of the captions: 7, 8, 9, ...; "
        "it has 1 image id: 'a'; "
    )


NAMES = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=8)
SUFFIXES = st.sampled_from(["", ".jpg", ".JPEG", ".png", ".webp", ".mp4", ".MOV", ".mkv", ".webm"])


@given(names=st.sets(NAMES, min_size=1, max_size=5), data=st.data())
def test_suffixes_of_pictures_and_videos_never_tell_ids_apart(names, data):
    one, other = ({n: n + data.draw(SUFFIXES) for n in names} for _ in range(2))
    result = match(one.values(), set(other.values()))
    assert result.items() <= {(one[n], other[n]) for n in names}
    # Without a suffix, digits are text on one side and a number or text on the other.
    sure = {n for n in names if one[n] == other[n] or one[n] != n or other[n] != n}
    assert result.keys() >= {one[n] for n in sure}
