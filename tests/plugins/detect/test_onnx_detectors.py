"""ONNX files: both layouts of output, the square that pictures are put into, and refusals."""

import os

import numpy as np
import pytest
from PIL import Image

from vifidel_eval.detect import find_model, load_detector
from vifidel_eval.errors import VifidelError

onnx = pytest.importorskip("onnx", reason="needs onnx")
pytest.importorskip("onnxruntime", reason="needs onnxruntime")

from onnx_graphs import graph  # noqa: E402


def found_in(path, size, lowest=0.05):
    detector = load_detector(find_model(path))
    prepared = detector.prepare(Image.new("RGB", size, "red"), size)
    (result,) = detector.detect([prepared], [()], lowest)
    return result


# Centre, width and height in the square of 64, and a score for person, dog and cat.
RAW = np.array(
    [[32, 32, 20, 10, 0.9, 0.1, 0.2], [10, 20, 4, 4, 0.0, 0.03, 0.06], [5, 5, 2, 2, 0, 0.01, 0.0]]
).T


SIX = [[22, 27, 42, 37, 0.9, 0], [8, 18, 12, 22, 0.06, 2], [0, 0, 0, 0, 0, 0]]


@pytest.mark.parametrize("output", [RAW, SIX], ids=["boxes and classes", "rows of six"])
def test_both_layouts(tmp_path, output):
    """A picture of 128 x 64 fills 64 x 32 of the square, with 16 above it."""
    result = found_in(graph(tmp_path / "a.onnx", output), (128, 64))
    assert (result.labels, result.scores) == (["person", "cat"], [0.9, 0.06])
    assert result.boxes == [(44.0, 22.0, 84.0, 42.0), (16.0, 4.0, 24.0, 12.0)]


def test_a_picture_that_stands(tmp_path):
    """One of 32 x 64 has a margin of 16 on both sides, and boxes end where it ends."""
    result = found_in(graph(tmp_path / "a.onnx", RAW), (32, 64))
    assert result.boxes == [(6.0, 27.0, 26.0, 37.0), (0.0, 18.0, 0.0, 22.0)]


def test_the_square_that_the_model_reads(tmp_path):
    detector = load_detector(find_model(graph(tmp_path / "a.onnx", RAW)))
    (pixels,) = detector.prepare(Image.new("RGB", (64, 32), (255, 0, 51)), (64, 32)).inputs.values()
    assert (pixels.shape, pixels.dtype) == ((1, 3, 64, 64), np.float32)
    np.testing.assert_allclose(pixels[0, :, 32, 32], [1, 0, 0.2])
    np.testing.assert_allclose(pixels[0, :, 15, 32], 114 / 255)
    np.testing.assert_allclose(pixels[0, :, 48, 32], 114 / 255)


@pytest.mark.parametrize(
    ("shape", "metadata", "side"),
    [(["n", 3, "h", "w"], {"imgsz": [96, 96]}, 96), (["n", 3, "h", "w"], {}, 640),
     (None, {"imgsz": [96, 96]}, 64)],
)  # fmt: skip
def test_the_size_is_that_of_the_graph_or_of_its_metadata(tmp_path, shape, metadata, side):
    path = graph(tmp_path / "a.onnx", RAW, shape=shape, **metadata)
    assert load_detector(find_model(path)).enough == side


def test_half_precision(tmp_path):
    path = graph(tmp_path / "a.onnx", RAW, element=onnx.TensorProto.FLOAT16)
    assert found_in(path, (64, 64)).scores == pytest.approx([0.9, 0.06], abs=1e-3)


@pytest.mark.parametrize("names", [["person", "dog", "cat"], {"0": "person", 1: "dog", 2: "cat"}])
def test_names_in_both_shapes(tmp_path, names):
    detector = load_detector(find_model(graph(tmp_path / "a.onnx", RAW, names)))
    assert detector.classes == ("person", "dog", "cat")


@pytest.mark.parametrize(
    "names", [None, "person", {}, [], {0: 3}, {0: " "}, "__import__('os').remove('x')", "(" * 999]
)
def test_a_file_without_class_names(tmp_path, names):
    path = graph(tmp_path / "a.onnx", RAW, names)
    with pytest.raises(VifidelError, match=r"a.onnx: .*its metadata have no class names: add 'na"):
        load_detector(find_model(path))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"names": {0: "dog", 1: "cat"}}, r"its output has the shape \(1, 7, 3\); expected \(1, 6"),
        ({"task": "segment"}, "its task is 'segment', not 'detect'"),
        ({"shape": [1, 1, 64, 64]}, "its input is .* expected one of square pictures"),
        ({"shape": [1, 3, 64, 32]}, "its input is .* expected one of square pictures"),
        ({"shape": [1, 64]}, "its input is .* expected one of square pictures"),
        ({"element": onnx.TensorProto.DOUBLE}, "its input is .* expected one of square pictures"),
    ],
)
def test_other_graphs_are_refused(tmp_path, settings, sentence):
    path = graph(tmp_path / "a.onnx", RAW, **settings)
    with pytest.raises(VifidelError, match=sentence):
        load_detector(find_model(path))


def test_damaged_and_missing_files(tmp_path):
    whole = graph(tmp_path / "a.onnx", RAW).read_bytes()
    for content in (b"", b"nothing", whole[: len(whole) // 2]):
        (tmp_path / "b.onnx").write_bytes(content)
        with pytest.raises(VifidelError, match=r"b.onnx: ") as raised:
            load_detector(find_model(tmp_path / "b.onnx"))
        assert "\n" not in str(raised.value)
    with pytest.raises(VifidelError, match=r"c.onnx: no such file or directory; check the path"):
        find_model(tmp_path / "c.onnx")
    with pytest.raises(VifidelError, match="ONNX Runtime cannot compute on device 'tpu' here"):
        load_detector(find_model(tmp_path / "a.onnx"), "tpu")


@pytest.mark.parametrize("name", ["small.onnx.data", "weights.bin", "é ü", "a" * 200])
def test_the_digest_pins_weights_in_a_file_of_any_name(tmp_path, name):
    path = graph(tmp_path / "small.onnx", RAW)
    model = onnx.load(path)
    onnx.save_model(model, path, save_as_external_data=True, location=name, size_threshold=0)
    before = find_model(path).digest
    assert load_detector(find_model(path)).classes == ("person", "dog", "cat")
    weights = tmp_path / name
    (tmp_path / "other.data").write_bytes(b"nothing that the graph names")
    assert find_model(path).digest == before
    weights.write_bytes(weights.read_bytes()[:-1] + b"\1")
    assert find_model(path).digest != before


def located(path, *names):
    """Write a graph whose weights are said to be in files of some names, which need not exist."""
    model = onnx.load(graph(path, RAW))
    for name in names:
        tensor = model.graph.initializer.add()
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=name)
    path.write_bytes(model.SerializeToString())
    return path


def test_names_of_weights_that_are_no_files(tmp_path):
    """What is not there, the runtime says; what would never end is refused."""
    for name in ("", ".", "absent", "a\0b", "b" * 5000):
        with pytest.raises(VifidelError, match=r"^[^\n]*a.onnx"):
            load_detector(find_model(located(tmp_path / "a.onnx", name)))
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "/dev/zero", "../" * 20 + "dev/zero"):
        with pytest.raises(VifidelError, match="is a pipe or device, not an ordinary file"):
            find_model(located(tmp_path / "a.onnx", name))


@pytest.mark.parametrize("imgsz", ["[-5]", "[1e999]", "[]", "10**7", "['a']", "[" * 999, "True"])
def test_a_size_that_no_picture_has(tmp_path, imgsz):
    path = graph(tmp_path / "a.onnx", RAW, shape=["n", 3, "h", "w"], imgsz=imgsz)
    with pytest.raises(VifidelError, match=r"a.onnx: it declares pictures of .* pixels"):
        load_detector(find_model(path))
