"""Detectors of transformers: what is written is what the library itself says of a picture."""

import io
import json
import logging
import shutil

import numpy as np
import pytest
from drawn_pictures import drawn

from vifidel_eval.detect import find_model, load_detector
from vifidel_eval.errors import VifidelError

torch = pytest.importorskip("torch", reason="needs PyTorch")
transformers = pytest.importorskip("transformers", reason="needs transformers")

pytestmark = pytest.mark.pytorch

LOWEST = 0.05
QUESTIONS = ["dog", "frisbee", "hot dog", "lamp"]


def detector_of(folder):
    return load_detector(find_model(folder))


def answer(detector, pictures, asked=((),), lowest=LOWEST):
    prepared = [detector.prepare(picture, picture.size) for picture in pictures]
    return detector.detect(prepared, list(asked), lowest)


def same(found, expected):
    """Whether labels, scores and boxes are those of the library, to the bit in single precision."""
    assert found.labels == [label for label, _, _ in expected]
    scores = np.array(found.scores, np.float32)
    np.testing.assert_array_equal(scores, [float(score) for _, score, _ in expected])
    boxes = np.array(found.boxes, np.float32).reshape(-1, 4)
    target = np.array([box.tolist() for _, _, box in expected], np.float32).reshape(-1, 4)
    np.testing.assert_array_equal(boxes, target)


@pytest.mark.parametrize("family", ["rt_detr", "yolos"])
def test_a_closed_detector_says_what_the_library_says(model, family):
    folder = model(family)
    detector = detector_of(folder)
    assert detector.classes == ("person", "dog", "cat", "frisbee")
    network = transformers.AutoModelForObjectDetection.from_pretrained(folder).eval()
    processor = transformers.AutoImageProcessor.from_pretrained(folder, backend="pil")
    for number in range(3):
        picture = drawn(number)
        with torch.no_grad():
            outputs = network(**processor(images=picture, return_tensors="pt"))
        (result,) = processor.post_process_object_detection(
            outputs, threshold=LOWEST, target_sizes=[picture.size[::-1]]
        )
        labels = [network.config.id2label[int(label)] for label in result["labels"]]
        expected = list(zip(labels, result["scores"], result["boxes"], strict=True))
        assert expected
        same(answer(detector, [picture])[0], expected)


@pytest.mark.parametrize("family", ["owlv2", "owlvit"])
def test_owl_answers_each_question_as_the_library_does_if_it_is_the_only_one(model, family):
    folder = model(family)
    network = transformers.AutoModelForZeroShotObjectDetection.from_pretrained(folder).eval()
    processor = transformers.AutoProcessor.from_pretrained(folder, backend="pil")
    picture = drawn(1)
    expected = []
    for question in QUESTIONS:
        text = processor.tokenizer(
            [f"a photo of a {question}"], padding="max_length", max_length=16, return_tensors="pt"
        )
        pixels = processor.image_processor(images=picture, return_tensors="pt")
        with torch.no_grad():
            outputs = network(**text, **pixels)
        (result,) = processor.image_processor.post_process_object_detection(
            outputs, threshold=LOWEST, target_sizes=[picture.size[::-1]]
        )
        expected += [
            (question, score, box)
            for score, box in zip(result["scores"], result["boxes"], strict=True)
        ]
    assert expected
    (results,) = answer(detector_of(folder), [picture], [QUESTIONS])
    assert results.labels == [label for label, _, _ in expected]
    np.testing.assert_allclose(results.scores, [float(s) for _, s, _ in expected], rtol=1e-4)
    boxes = np.array([box.tolist() for _, _, box in expected])
    np.testing.assert_allclose(results.boxes, boxes, rtol=1e-4, atol=1e-3)


def test_owl_does_not_mix_pictures_with_different_questions(model):
    """A picture with fewer questions than its neighbour gets the answers that it gets alone."""
    detector = detector_of(model("owlv2"))
    pictures, questions = [drawn(1), drawn(2)], [["dog"], QUESTIONS]
    together = answer(detector, pictures, questions)
    for result, picture, asked in zip(together, pictures, questions, strict=True):
        (alone,) = answer(detector, [picture], [asked])
        assert result.labels == alone.labels
        np.testing.assert_allclose(result.scores, alone.scores, rtol=1e-4)


@pytest.mark.parametrize("family", ["grounding_dino", "mm_grounding_dino"])
def test_grounding_dino_scores_a_question_by_its_own_tokens(model, family):
    folder = model(family)
    network = transformers.AutoModelForZeroShotObjectDetection.from_pretrained(folder).eval()
    processor = transformers.AutoProcessor.from_pretrained(folder, backend="pil")
    picture = drawn(2)
    text = "dog. skateboard. hot dog. lamp."
    inputs = processor(images=picture, text=text, return_tensors="pt")
    words = processor.tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
    assert words == "[CLS] dog . skate ##board . hot dog . lamp . [SEP]".split()
    with torch.no_grad():
        outputs = network(**inputs)
    tokens = {"dog": [1], "skateboard": [3, 4], "hot dog": [6, 7], "lamp": [9]}
    probabilities = outputs.logits[0].sigmoid()
    width, height = picture.size
    expected = []
    for question, at in tokens.items():
        for score, box in zip(probabilities[:, at].mean(1), outputs.pred_boxes[0], strict=True):
            if score > LOWEST:
                x, y, w, h = box.tolist()
                corners = [x - w / 2, y - h / 2, x + w / 2, y + h / 2]
                expected.append((question, float(score), corners))
    assert expected
    (result,) = answer(detector_of(folder), [picture], [list(tokens)])
    assert result.labels == [label for label, _, _ in expected]
    np.testing.assert_allclose(result.scores, [score for _, score, _ in expected], rtol=1e-4)
    pixels = np.array([box for _, _, box in expected]) * [width, height, width, height]
    np.testing.assert_allclose(result.boxes, pixels, rtol=1e-4, atol=1e-3)


def test_grounding_dino_reads_as_many_texts_as_its_length_needs(tmp_path):
    """Of [CLS] dog . frisbee . [SEP] only six tokens fit: two questions of one token a pass."""
    import tiny_detectors

    folder = tiny_detectors.grounding_dino(tmp_path / "short", max_text_len=6)
    detector = detector_of(folder)
    seen = []
    backbone = detector._model.get_submodule("model.backbone")
    backbone.register_forward_hook(lambda *_: seen.append(1))
    questions = ["dog", "frisbee", "lamp", "nut", "cat"]
    (result,) = answer(detector, [drawn(0)], [questions])
    assert len(seen) == 3
    assert set(result.labels) <= set(questions)
    alone = [answer(detector, [drawn(0)], [some])[0]
             for some in (["dog", "frisbee"], ["lamp", "nut"], ["cat"])]  # fmt: skip
    assert result.labels == [label for part in alone for label in part.labels]
    np.testing.assert_allclose(result.scores, [s for part in alone for s in part.scores], rtol=1e-4)
    with pytest.raises(VifidelError, match=r"^the question 'hot dog cat lamp nut' has 8 tokens"):
        detector.check(["dog", "hot dog cat lamp nut"])


def test_sam_says_with_each_question_whether_it_is_there(model):
    folder = model("sam3")
    network = transformers.Sam3Model.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    processor = transformers.ViTImageProcessorPil.from_pretrained(folder)
    picture = drawn(1)
    pixels = processor(images=picture, return_tensors="pt")["pixel_values"]
    assert torch.equal(pixels.amax() <= 1, torch.tensor(True))
    expected, presence = [], []
    for question in QUESTIONS:
        text = tokenizer([question], padding="max_length", max_length=32, return_tensors="pt")
        with torch.no_grad():
            outputs = network(pixel_values=pixels, **text)
        there = outputs.presence_logits.sigmoid().item()
        presence.append(there)
        width, height = picture.size
        for logit, box in zip(outputs.pred_logits[0], outputs.pred_boxes[0], strict=True):
            if logit.sigmoid().item() * there > LOWEST:
                corners = (box * torch.tensor([width, height, width, height])).tolist()
                expected.append((question, logit.sigmoid().item() * there, corners))
    (result,) = answer(detector_of(folder), [picture], [QUESTIONS])
    np.testing.assert_allclose(result.presence, presence, rtol=1e-4)
    assert result.labels == [label for label, _, _ in expected]
    np.testing.assert_allclose(result.scores, [score for _, score, _ in expected], rtol=1e-4)
    np.testing.assert_allclose(result.boxes, [box for _, _, box in expected], rtol=1e-4, atol=1e-3)


def test_a_model_without_class_names(model, tmp_path):
    folder = shutil.copytree(model("yolos"), tmp_path / "unnamed")
    config = json.loads((folder / "config.json").read_text())
    config["id2label"] = {at: f"LABEL_{at}" for at in range(4)}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(VifidelError, match=r"its config.json has no class names; add one for each"):
        detector_of(folder)


@pytest.mark.parametrize(
    "size",
    [{"height": 0, "width": 0}, {"height": None, "width": None}, {"shortest_edge": 0}, {},
     {"height": 10**7, "width": 10**7}, {"shortest_edge": 10**7, "longest_edge": 10**7},
     {"shortest_edge": -5, "longest_edge": 96}, {"height": "64", "width": "64"}, 10**7, 0, "x",
     {"height": 6.5, "width": 6.5}, {"shortest_edge": 64, "longest_edge": 10**7}],
)  # fmt: skip
def test_sizes_that_no_picture_has(model, tmp_path, size):
    copy = shutil.copytree(model("yolos"), tmp_path / "odd")
    path = copy / "preprocessor_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "size": size}))
    with pytest.raises(VifidelError, match=r"odd: ") as raised:
        detector_of(copy)
    assert "\n" not in str(raised.value)


def test_a_model_that_is_no_detector(tmp_path):
    config = transformers.BertConfig(
        vocab_size=10, hidden_size=8, num_hidden_layers=1, num_attention_heads=2
    )
    transformers.BertModel(config).save_pretrained(tmp_path)
    with pytest.raises(VifidelError, match="a model of type 'bert' is not a detector that can be"):
        detector_of(tmp_path)


def test_weights_that_are_missing_would_be_random(model, tmp_path, monkeypatch):
    """The backbone of a detector alone, as a model for classification has it."""
    from safetensors.torch import load_file, save_file

    copy = shutil.copytree(model("yolos"), tmp_path / "half")
    weights = load_file(copy / "model.safetensors")
    kept = {name: values for name, values in weights.items() if "class_labels" not in name}
    save_file(kept, copy / "model.safetensors", metadata={"format": "pt"})
    reported = io.StringIO()  # by transformers
    for handler in logging.getLogger("transformers").handlers:
        if isinstance(handler, logging.StreamHandler):
            monkeypatch.setattr(handler, "stream", reported)
    with pytest.raises(VifidelError, match="6 of the model's weights are missing or of another sh"):
        detector_of(copy)
    assert reported.getvalue() == ""


def test_code_beside_the_weights_is_never_run(model, tmp_path):
    """As models bring it with them; the library would ask on the terminal whether to run it."""
    witness = tmp_path / "run"
    for name, settings in (
        ("config.json", {"auto_map": {"AutoConfig": "evil.Config", "AutoModel": "evil.Model",
                                      "AutoModelForObjectDetection": "evil.Model"}}),
        ("preprocessor_config.json", {"auto_map": {"AutoImageProcessor": "evil.Images"}}),
    ):  # fmt: skip
        for kind in ("yolos", "of-its-own"):
            copy = shutil.copytree(model("yolos"), tmp_path / f"{kind}-{name}")
            (copy / "evil.py").write_text(
                f"open({str(witness)!r}, 'w')\nConfig = Model = Images = 0"
            )
            config = {**json.loads((copy / name).read_text()), **settings}
            if kind == "of-its-own":
                config |= {"model_type": kind, "image_processor_type": "Unknown"}
            (copy / name).write_text(json.dumps(config))
            try:
                detector_of(copy)
            except VifidelError:
                assert kind == "of-its-own"
            assert not witness.exists()


def test_the_published_layout_of_sam(model, tmp_path):
    """The detector within a tracker for videos, and the tracker's weights beside its own."""
    from safetensors.torch import load_file, save_file

    plain = model("sam3")
    copy = shutil.copytree(plain, tmp_path / "video")
    config = json.loads((plain / "config.json").read_text())
    video = {"model_type": "sam3_video", "detector_config": config}
    (copy / "config.json").write_text(json.dumps(video))
    weights = load_file(plain / "model.safetensors")
    inside = {f"detector_model.{name}": values for name, values in weights.items()}
    inside |= {"tracker_model.x": torch.zeros(2), "tracker_neck.y": torch.zeros(1)}
    save_file(inside, copy / "model.safetensors", metadata={"format": "pt"})
    expected, result = (
        answer(detector_of(folder), [drawn(0)], [QUESTIONS]) for folder in (plain, copy)
    )
    assert result == expected
