"""Runs over pictures: what is in the file, whatever interrupts them."""

import hashlib

import pytest
from conftest import content
from drawn_pictures import drawn, read_lines
from fake_detector import ColourDetector
from PIL import Image

from vifidel_eval.detect import Found, PictureSource, detect
from vifidel_eval.errors import ImageIdError, VifidelError, VifidelWarning
from vifidel_eval.io.files import beside
from vifidel_eval.plugins.detect.detectors import ObjectsFile

NAMES = ["p0.png", "p2.png", "p4.png", "sub/p1.png", "sub/p3.png", "sub/p5.png"]


def run_detector(folder, output, detector=None, **settings):
    return detect(PictureSource(folder), detector or ColourDetector(), output, **settings)


def interrupted_run(folder, output, monkeypatch):
    """Interrupt a run after its last picture."""

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ObjectsFile, "finish", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run_detector(folder, output)
    assert not output.exists()


def test_a_file_has_a_header_and_a_line_per_picture(photos, tmp_path):
    output = tmp_path / "objects.jsonl"
    done = run_detector(photos, output, lowest=0.3)
    assert (done.read, done.known, done.unasked, done.problems) == (6, 0, 0, {})
    header, lines = read_lines(output)
    assert header == {
        "vifidel_eval": "detections", "version": 1, "model": "colours", "weights": "0" * 16,
        "versions": {"colours": "1"}, "classes": ["red", "green", "blue"], "lowest": 0.3,
        "drafted": True,
    }  # fmt: skip
    assert list(lines) == NAMES
    (line,) = lines["sub/p1.png"]
    assert list(line) == ["image_id", "labels", "scores", "boxes", "width", "height", "digest"]
    pixels = (photos / "sub/p1.png").read_bytes()
    assert line["digest"] == hashlib.sha256(pixels).hexdigest()[:16]
    assert (line["width"], line["height"]) == (120, 90)
    assert line["boxes"] == [[0, 0, 120, 90]] * len(line["labels"])
    assert not beside(output, ".unfinished").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"photos", "objects.jsonl"}


def test_threads_and_batches_leave_no_trace(photos, tmp_path):
    run_detector(photos, tmp_path / "one.jsonl", threads=1)
    expected = (tmp_path / "one.jsonl").read_bytes()
    for threads, batch in ((1, 4), (8, 1), (8, 3)):
        output = tmp_path / f"{threads}-{batch}.jsonl"
        detector = ColourDetector()
        run_detector(photos, output, detector, threads=threads, batch=batch)
        assert output.read_bytes() == expected
        assert max(detector.calls()) == batch


def test_new_pictures_come_in_and_old_ones_stay(photos, tmp_path):
    output = tmp_path / "objects.jsonl"
    run_detector(photos, output)
    (photos / "p0.png").rename(photos / "q0.png")
    done = run_detector(photos, output)
    assert (done.read, done.known) == (1, 5)
    # What is no longer in the folder is kept, before the others.
    assert list(read_lines(output)[1]) == ["p0.png", "p2.png", "p4.png", "q0.png", *NAMES[3:]]


def test_a_replaced_picture_is_asked_again_and_its_old_answers_go(photos, tmp_path):
    output = tmp_path / "asked.jsonl"
    run_detector(photos, output, ColourDetector(asked=True), questions=QUESTIONS)
    for name in ("p0.png", "p2.png", "sub/p1.png"):
        drawn(9).save(photos / name)
    questions = {"p0": ["red"], "sub/p1.png": ["green"]}  # nothing about p2
    detector = ColourDetector(asked=True)
    done = run_detector(photos, output, detector, questions=questions)
    assert [asked for _, asked in detector.seen] == [[["red"]], [["green"]]]
    assert (done.read, done.known, done.unasked) == (2, 0, 4)
    again = tmp_path / "again.jsonl"
    run_detector(photos, again, ColourDetector(asked=True), questions=questions)
    assert output.read_bytes() == again.read_bytes()


@pytest.mark.parametrize("cut", [0, 30, 700, 1200])
def test_an_interrupted_run_goes_on_wherever_its_record_ends(photos, tmp_path, monkeypatch, cut):
    """The file has the lines of a run that nothing interrupted."""
    run_detector(photos, tmp_path / "whole.jsonl")
    output = tmp_path / "objects.jsonl"
    interrupted_run(photos, output, monkeypatch)
    kept = beside(output, ".unfinished").read_bytes()
    assert cut < len(kept)
    beside(output, ".unfinished").write_bytes(kept[:cut])
    detector = ColourDetector()
    run_detector(photos, output, detector)
    assert output.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    whole_lines = max(kept[:cut].count(b"}\n") - 2, 0)  # without the mark and the header
    assert sum(size for size, _ in detector.seen) == 6 - whole_lines
    assert not beside(output, ".unfinished").exists()


QUESTIONS = {"p0": ["red", "blue"], "sub/p1.png": ["green"], "p2.png": ["red"]}


def test_questions_are_asked_once(photos, tmp_path):
    output = tmp_path / "asked.jsonl"
    detector = ColourDetector(asked=True)
    done = run_detector(photos, output, detector, questions=QUESTIONS)
    assert (done.read, done.known, done.unasked) == (3, 0, 3)
    header, lines = read_lines(output)
    assert header["classes"] is None
    assert [line["asked"] for line in lines["p0.png"]] == [["red", "blue"]]
    assert list(lines) == ["p0.png", "p2.png", "sub/p1.png"]
    # A second round asks only what is new.
    more = {**QUESTIONS, "p0": ["blue", "green", "red", "green"], "p4.png": ["red"]}
    again = ColourDetector(asked=True)
    done = run_detector(photos, output, again, questions=more)
    assert [asked for _, asked in again.seen] == [[["green"]], [["red"]]]
    assert (done.read, done.known, done.unasked) == (2, 2, 2)
    _, lines = read_lines(output)
    assert [line["asked"] for line in lines["p0.png"]] == [["red", "blue"], ["green"]]
    assert list(lines) == ["p0.png", "p2.png", "p4.png", "sub/p1.png"]


def test_images_with_questions_that_are_not_there(photos, tmp_path):
    asked = {**QUESTIONS, "elsewhere.jpg": ["red"]}
    with pytest.warns(VifidelWarning, match="1 of 4 images with questions are missing, such as '"):
        run_detector(photos, tmp_path / "o.jsonl", ColourDetector(asked=True), questions=asked)
    with pytest.raises(ImageIdError, match=r"lacks 1 image id of the questions: 'elsewhere.jpg'"):
        run_detector(photos, tmp_path / "p.jsonl", ColourDetector(asked=True),
            questions={"elsewhere.jpg": ["red"]})  # fmt: skip
    assert not (tmp_path / "p.jsonl").exists()


def test_the_detector_and_the_questions_must_fit(photos, tmp_path):
    with pytest.raises(VifidelError, match="colours looks only for what it is asked about; give"):
        run_detector(photos, tmp_path / "o.jsonl", ColourDetector(asked=True))
    with pytest.raises(VifidelError, match="colours looks for its own 3 classes and cannot be as"):
        run_detector(photos, tmp_path / "o.jsonl", questions=QUESTIONS)


@pytest.mark.parametrize("finished", [True, False])
def test_the_file_of_another_run_is_refused(photos, tmp_path, monkeypatch, finished):
    output = tmp_path / "objects.jsonl"
    if finished:
        run_detector(photos, output)
    else:
        interrupted_run(photos, output, monkeypatch)
    before = content(tmp_path)
    for detector, settings, sentence in (
        (ColourDetector(digest="1" * 16), {}, "weights is '0000000000000000' there and '1111"),
        (ColourDetector(), {"lowest": 0.2}, "lowest is 0.05 there and 0.2 now"),
        (ColourDetector(), {"drafts": False}, "drafted is True there and False now"),
        (ColourDetector(asked=True), {"questions": QUESTIONS}, "classes is "),
    ):
        with pytest.raises(VifidelError, match=f"was made by a different run: {sentence}"):
            run_detector(photos, output, detector, **settings)
        assert content(tmp_path) == before


@pytest.mark.parametrize(
    "kept", [b"precious", b'{"a": 1}\n', b"[]\n", b'{"vifidel_eval": "scores"}\n', b"\0" * 20]
)
def test_a_file_of_something_else_is_never_replaced(photos, tmp_path, kept):
    output = tmp_path / "o.jsonl"
    output.write_bytes(kept)
    with pytest.raises(VifidelError, match="already exists and is not a file of detections"):
        run_detector(photos, output)
    assert output.read_bytes() == kept


def test_a_picture_with_a_problem_is_counted_and_tried_again(photos, tmp_path):
    output = tmp_path / "objects.jsonl"
    (photos / "p2.png").write_bytes(b"not a picture")
    Image.new("RGB", (300, 1)).save(photos / "thin.png")
    done = run_detector(photos, output)
    assert done.problems == {
        "p2.png": "not a picture",
        "thin.png": "cannot be prepared for the model: height and width must be > 0",
    }
    assert done.read == 5
    _, lines = read_lines(output)
    assert lines["p2.png"] == [{"image_id": "p2.png", "problem": "not a picture"}]
    drawn(2).save(photos / "p2.png")
    done = run_detector(photos, output)
    assert (done.read, done.known, list(done.problems)) == (1, 5, ["thin.png"])
    _, lines = read_lines(output)
    assert [len(of_image) for of_image in lines.values()] == [1] * 7
    assert "problem" not in lines["p2.png"][0]


def test_without_memory_the_batch_is_halved_once(photos, tmp_path):
    detector = ColourDetector(batch=4, most=2)
    with pytest.warns(VifidelWarning, match="not enough memory for 4 pictures at once; continu"):
        run_detector(photos, tmp_path / "o.jsonl", detector)
    assert detector.calls() == {2: 3}
    expected = tmp_path / "expected.jsonl"
    run_detector(photos, expected)
    assert (tmp_path / "o.jsonl").read_bytes() == expected.read_bytes()
    with (
        pytest.warns(VifidelWarning, match="continuing with 2"),
        pytest.raises(VifidelError, match=r"p0.png: there is not enough memory for 2 pictures"),
    ):
        run_detector(photos, tmp_path / "p.jsonl", ColourDetector(batch=4, most=1))
    with pytest.raises(VifidelError, match="not enough memory for 1 picture at once; give a small"):
        run_detector(photos, tmp_path / "q.jsonl", ColourDetector(batch=1, most=0))


def test_a_model_that_fails_on_a_picture(photos, tmp_path):
    class Failing(ColourDetector):
        def detect(self, pictures, asked, lowest):
            if len(self.seen) == 2:
                raise RuntimeError("mat1 and mat2\nshapes cannot be multiplied")
            return super().detect(pictures, asked, lowest)

    output = tmp_path / "o.jsonl"
    with pytest.raises(VifidelError, match=r"^p4.png: colours failed on this picture \(mat1 an"):
        run_detector(photos, output, Failing())
    # What was answered before is not lost.
    assert not output.exists()
    assert beside(output, ".unfinished").read_bytes().count(b'"key"') == 3
    detector = ColourDetector()
    run_detector(photos, output, detector)
    assert len(detector.seen) == 4


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"boxes": [(0.0, 0.0, float("nan"), 1.0)]}, "a box is not four numbers"),
        ({"boxes": [(0.0, 0.0, 1.0)]}, "a box is not four numbers"),
        ({"boxes": []}, "1 labels, 1 scores and 0 boxes"),
        ({"scores": [0.5, 0.5]}, "1 labels, 2 scores and 1 boxes"),
        ({"scores": [1.25]}, "colours: it gave the score 1.25, and scores are from 0 to 1; export"),
        ({"scores": [float("nan")]}, "colours: it gave the score nan"),
        ({"presence": [-0.5]}, "colours: it gave the score -0.5"),
    ],
)
def test_an_answer_that_no_reader_of_the_file_would_take(photos, tmp_path, change, sentence):
    class Wrong(ColourDetector):
        def detect(self, pictures, asked, lowest):
            return [Found(["red"], [0.5], [(0.0, 0.0, 9.0, 9.0)])._replace(**change)]

    with pytest.raises(VifidelError, match=sentence):
        run_detector(photos, tmp_path / "o.jsonl", Wrong())
    assert not beside(tmp_path / "o.jsonl", ".unfinished").exists()


def test_large_jpegs_are_drafted_and_boxes_are_in_full_pixels(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    Image.new("RGB", (1600, 1200), "red").save(folder / "large.jpg")
    sizes = []

    class Looking(ColourDetector):
        def prepare(self, picture, size):
            sizes.append(picture.size)
            return super().prepare(picture, size)

    for drafts, expected in ((True, (200, 150)), (False, (1600, 1200))):
        output = tmp_path / f"{drafts}.jsonl"
        run_detector(folder, output, Looking(), drafts=drafts)
        assert sizes.pop() == expected
        header, lines = read_lines(output)
        assert header["drafted"] is drafts
        (line,) = lines["large.jpg"]
        assert (line["width"], line["height"]) == (1600, 1200)
        assert line["boxes"] == [[0, 0, 1600, 1200]]
