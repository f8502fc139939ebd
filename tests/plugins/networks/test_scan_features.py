import base64

import numpy as np
import pytest

from vifidel_eval import VifidelError
from vifidel_eval.plugins.networks.tiger import read_regions

RANDOM = np.random.default_rng(0)
IMAGES = {number: RANDOM.random((3, 4), dtype=np.float32) for number in (7, 8, 300)}


def tsv_line(image_id, features, ending=b"\n"):
    boxes = base64.b64encode(np.zeros((len(features), 4), "<f4").tobytes())
    coded = base64.b64encode(features.astype("<f4").tobytes())
    fields = [str(image_id).encode(), b"640", b"480", str(len(features)).encode(), boxes, coded]
    return b"\t".join(fields) + ending


@pytest.fixture
def write_tsv(tmp_path):
    def write(*lines):
        path = tmp_path / "features.tsv"
        path.write_bytes(b"".join(lines))
        return path

    return write


@pytest.fixture
def write_scan(tmp_path):
    def write(array, ids, name="test"):
        np.save(tmp_path / f"{name}_ims.npy", array)
        (tmp_path / f"{name}_ids.txt").write_text("".join(f"{i}\n" for i in ids), "utf-8")
        return tmp_path / f"{name}_ims.npy"

    return write


def holds(features, images):
    for image_id, expected in images.items():
        (source_id,) = features.find([image_id])
        result = features.read(source_id).features
        assert result.dtype == np.float32
        np.testing.assert_array_equal(result, expected)


def test_mapping():
    features = read_regions({i: x.astype(float) for i, x in IMAGES.items()})
    holds(features, IMAGES)
    assert read_regions(features) is features


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_tsv(write_tsv, ending, last):
    lines = [tsv_line(i, x, ending) for i, x in IMAGES.items()]
    if not last:
        lines[-1] = lines[-1].rstrip()
    holds(read_regions(write_tsv(*lines)), IMAGES)


def test_scan_with_a_row_for_each_image(write_scan):
    rows = np.stack(list(IMAGES.values()))
    path = write_scan(rows, [i for i in IMAGES for _ in range(5)])
    features = read_regions(path)
    holds(features, IMAGES)
    with open(path, "r+b") as file:  # what is read is not in memory
        file.seek(-rows.nbytes, 2)
        file.write(bytes(rows.nbytes))
    assert not features.read(7).features.any()


def test_rows_of_an_image_that_differ(write_scan):
    rows = np.stack([IMAGES[7], IMAGES[7], IMAGES[8], IMAGES[7] + 1])
    features = read_regions(write_scan(rows, [7, 7, 8, 7]))
    np.testing.assert_array_equal(features.read(8).features, IMAGES[8])
    with pytest.raises(VifidelError, match=r"image 7: .* cannot be read \(its rows differ"):
        features.read(7)
    rows[[0, 1, 3]] = np.nan
    with pytest.raises(VifidelError, match="image 7: features holds numbers that are not finite"):
        read_regions(write_scan(rows, [7, 7, 8, 7], name="nan")).read(7)


def test_the_digest_is_of_the_features_wherever_they_stand(write_tsv, write_scan):
    def digests(source):
        features = read_regions(source)
        return [features.read(image).digest() for image in IMAGES]

    expected = digests(IMAGES)
    assert len(set(expected)) == 3
    assert digests(write_tsv(*(tsv_line(i, x) for i, x in reversed(IMAGES.items())))) == expected
    assert digests(write_scan(np.stack(list(IMAGES.values())), IMAGES)) == expected
    other = digests({**IMAGES, 8: IMAGES[8] + 1})
    assert [a == b for a, b in zip(other, expected, strict=True)] == [True, False, True]


NAN = np.array([[0, 1, 2, 3], [0, 1, np.nan, 3]], dtype=np.float32)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (IMAGES[7][:1], "image 5: regions are compared with each other; give two or more, not 1"),
        (IMAGES[7][:0], r"of shape \(0, 4\)"),
        (IMAGES[7][0], r"image 5: features is an array of shape \(4,\) and type float32; exp"),
        (NAN, "image 5: features holds numbers that are not finite"),
    ],
)
def test_unusable_features_are_refused_when_read(array, message):
    features = read_regions(IMAGES | {5: array})
    with pytest.raises(VifidelError, match=message):
        features.read(5)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, "has no images"),
        (3, "features cannot be read from int 3; accepted: a path"),
        ("gone.npy", r"gone\.npy: no such file or directory; check the path"),
        ("nul\0", "check the path"),
    ],
)
def test_sources_that_are_none(source, message):
    with pytest.raises(VifidelError, match=message):
        read_regions(source)


@pytest.mark.parametrize(
    "content",
    [
        *(b"a text\n", b"1\t2\t3\n", b"\n", b"\x80\x02" * 30, b"PK\x03\x04" * 9),
        b"image_id\timage_w\timage_h\tnum_boxes\tboxes\tfeatures\n",
        *(b"1\t640\t480\t0\t\t\n", b"1\t640\t480\t-2\t\t\n"),
        b"1\t640\t480\t%d\tAAAA\tAAAA\n" % 10**30,
        *(b"1\t640\t480\t2\tAAAA\tAAAA\n", b"1\t640\t480\t2\tAAAA\tAAAA\tmore\n"),
    ],
)
def test_files_that_are_no_tsv(write_tsv, content):
    with pytest.raises(VifidelError, match="line 1: not region features; expected image_id, "):
        read_regions(write_tsv(content))


def test_scan_files_that_do_not_belong_together(write_scan, tmp_path):
    rows = np.stack([IMAGES[7], IMAGES[8]])
    with pytest.raises(VifidelError, match=r"2 images, but 4 captions in test_ids\.txt"):
        read_regions(write_scan(rows, [7, 7, 8, 8]))
    with pytest.raises(VifidelError, match=r"test_ids\.txt, line 5: image 8 where the lines of"):
        read_regions(write_scan(rows, [7] * 4 + [8] * 6))
    with pytest.raises(VifidelError, match=r"an array of shape \(2, 12\); SCAN's have"):
        read_regions(write_scan(rows.reshape(2, -1), [7, 8]))
    with pytest.raises(VifidelError, match="has no images"):
        read_regions(write_scan(rows[:0], []))
    path = write_scan(rows, [7, 8], name="other")
    (tmp_path / "other_ids.txt").unlink()
    with pytest.raises(VifidelError, match=r"other_ids\.txt: no such file or directory"):
        read_regions(path)


def test_scan_array_that_is_damaged_or_holds_objects(write_scan):
    rows = np.stack([IMAGES[7], IMAGES[8]])
    path = write_scan(rows, [7, 8])
    data = path.read_bytes()
    no_python = data[:20] + b"(" * 40 + data[60:]  # in the header
    for broken in (data[:-4], data[:20], data[:6], no_python):
        path.write_bytes(broken)
        with pytest.raises(VifidelError, match=r"test_ims\.npy: not an array of numbers, or trunc"):
            read_regions(path)
    np.save(path, np.array([[["a", None]]], dtype=object), allow_pickle=True)
    with pytest.raises(VifidelError, match="not an array of numbers"):
        read_regions(path)
