"""Detectors of transformers: closed ones, and those that look for what they are asked.

They use the library's processors of Pillow, and its post-processing unless docstrings say why not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import zip_longest
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.utils.rnn import pad_sequence

from ...errors import VifidelError
from ..pytorch import ModelFiles, checked_side, load_images, load_model, load_tokenizer
from .detectors import Detector, Found, Prepared, exact

if TYPE_CHECKING:
    from PIL import Image

_BATCH_ON_DEVICE = 8

# The name that DETR and its like give to no class.
_NO_CLASSES = frozenset({"N/A", "no-object", "background", ""})
# What transformers calls classes that a configuration does not name.
_UNNAMED = re.compile(r"LABEL_\d+")

# A question, and the scores and boxes of its detections.
_Answer = tuple[str, Mapping[str, Any]]


class _Transformers(Detector):
    """What all models of transformers have in common."""

    #: The classes of the library that load it, and what prepares pictures for it.
    loader = "AutoModelForZeroShotObjectDetection"
    image_loader = "AutoImageProcessor"
    classes: tuple[str, ...] | None = None

    def __init__(self, files: ModelFiles, device: Any) -> None:
        self.files = files
        self._device = device
        # One by one, no picture's digits depend on others; on other devices that is too slow.
        self.batch = 1 if device.type == "cpu" else _BATCH_ON_DEVICE
        self._model = load_model(files, self.loader, "detect").eval().to(device)
        self._images = load_images(files, self.image_loader)
        size = dict(self._images.size or {})
        sides = [side for side in size.values() if side is not None]
        self.enough = checked_side(size.get("shortest_edge") or max(sides, default=None), files)

    def versions(self) -> dict[str, str]:
        return {package: version(package) for package in ("transformers", "torch", "pillow")}

    def prepare(self, picture: Image.Image, size: tuple[int, int]) -> Prepared:
        inputs = self._images(images=[picture], return_tensors="pt")
        names = ("pixel_values", "pixel_mask")
        return Prepared({name: inputs[name] for name in names if name in inputs}, size)

    def _inputs(self, pictures: Sequence[Prepared], **texts: Any) -> dict[str, Any]:
        """Return pictures of one shape, as a batch, and tokens on the device."""
        inputs = {
            name: torch.cat([picture.inputs[name] for picture in pictures])
            for name in pictures[0].inputs
        }
        return {name: values.to(self._device) for name, values in (inputs | texts).items()}

    def _processed(
        self, outputs: Any, pictures: Sequence[Prepared], lowest: float
    ) -> list[Mapping[str, Any]]:
        """Return what the library makes of a model's output, picture by picture."""
        sizes = torch.tensor([picture.size[::-1] for picture in pictures]).to(self._device)
        process: Callable[..., list[Mapping[str, Any]]] = self._images.post_process_object_detection
        return process(outputs, threshold=lowest, target_sizes=sizes)


class Closed(_Transformers):
    """A model for object detection: it looks for its own classes in every picture."""

    loader = "AutoModelForObjectDetection"

    def __init__(self, files: ModelFiles, device: Any) -> None:
        super().__init__(files, device)
        if not hasattr(self._images, "post_process_object_detection"):
            raise VifidelError(
                f"{files.path}: a model of type {self._model.config.model_type!r} finds text or "
                "layout, not objects; name another model."
            )
        self._names = {int(at): name for at, name in self._model.config.id2label.items()}
        names = dict.fromkeys(name for _, name in sorted(self._names.items()))
        if not all(isinstance(name, str) for name in names) or all(map(_UNNAMED.fullmatch, names)):
            raise VifidelError(
                f"{files.path}: its config.json has no class names; add one for each class as "
                "id2label."
            )
        self.classes = tuple(name for name in names if name not in _NO_CLASSES)

    def detect(
        self, pictures: Sequence[Prepared], asked: Sequence[Sequence[str]], lowest: float
    ) -> list[Found]:
        with torch.inference_mode():
            outputs = self._model(**self._inputs(pictures))
            results = self._processed(outputs, pictures, lowest)
        return [
            Found([self._names[at] for at in result["labels"].tolist()], *_floats(result))
            for result in results
        ]


class _OpenVocabulary(_Transformers):
    """A model that looks for what it is asked."""

    types: tuple[str, ...]  #: the type in its configuration

    def __init__(self, files: ModelFiles, device: Any) -> None:
        super().__init__(files, device)
        self._tokenizer = load_tokenizer(
            files, self._model.config.text_config.vocab_size, pads=True
        )

    def _prompt(self, question: str) -> str:
        return question

    @property
    def _longest(self) -> int:
        """How many tokens of a text the model reads, those at its ends included."""
        return int(self._model.config.text_config.max_position_embeddings)

    def check(self, questions: Iterable[str]) -> None:
        for question in dict.fromkeys(questions):
            tokens = self._length(self._prompt(question))
            if tokens > self._longest:
                raise VifidelError(
                    f"the question {question!r:.60} has {tokens} tokens for {self.files.name}, "
                    f"which reads at most {self._longest}; leave it out, or use another model."
                )

    def _length(self, text: str) -> int:
        """Return how many tokens a text has, those at its ends included."""
        return len(self._tokenizer(text, verbose=False)["input_ids"])

    def _padded(self, texts: list[str]) -> dict[str, Any]:
        """Return tokens of texts, padded to the longest that the model reads."""
        tokens = self._tokenizer(
            texts, padding="max_length", max_length=self._longest, return_tensors="pt"
        )
        return {name: tokens[name] for name in ("input_ids", "attention_mask")}


class Owl(_OpenVocabulary):
    """OWL-ViT and OWLv2: all questions about a picture in one pass of the image encoder."""

    types = ("owlvit", "owlv2")

    def _prompt(self, question: str) -> str:
        return f"a photo of a {question}"  # as it was trained (Minderer et al., 2022)

    def detect(
        self, pictures: Sequence[Prepared], asked: Sequence[Sequence[str]], lowest: float
    ) -> list[Found]:
        longest = max(map(len, asked))
        tokens = self._padded([self._prompt(name) for questions in asked for name in questions])
        # A picture with fewer questions than another has rows of zeros, which OWL leaves out.
        numbers = [len(questions) for questions in asked]
        spread = {
            name: pad_sequence(values.split(numbers), batch_first=True).flatten(0, 1)
            for name, values in tokens.items()
        }
        with torch.inference_mode():
            outputs = self._model(**self._inputs(pictures, **spread))
            # Each question for itself: the library gives a box to the best of all that were asked,
            # and an answer should not depend on what else was asked.
            by_question = []
            for at in range(longest):
                logits = outputs.logits[..., at : at + 1]
                alone = SimpleNamespace(logits=logits, pred_boxes=outputs.pred_boxes)
                by_question.append(self._processed(alone, pictures, lowest))
        return [
            _joined((name, by_question[at][row]) for at, name in enumerate(questions))
            for row, questions in enumerate(asked)
        ]


class GroundingDino(_OpenVocabulary):
    """Grounding DINO, MM Grounding DINO and LLMDet: questions as one text.

    A question scores the mean over its tokens, as the authors' phrases do (Liu et al., 2023).
    """

    types = ("grounding-dino", "mm-grounding-dino")

    @property
    def _longest(self) -> int:
        return int(self._model.config.max_text_len)

    def _prompt(self, question: str) -> str:
        return f"{_without_full_stops(question)}."

    def detect(
        self, pictures: Sequence[Prepared], asked: Sequence[Sequence[str]], lowest: float
    ) -> list[Found]:
        answers: list[list[_Answer]] = [[] for _ in pictures]
        for texts in zip_longest(*map(self._passes, asked)):
            rows = [row for row, questions in enumerate(texts) if questions]
            some = [pictures[row] for row in rows]
            of_rows = self._pass(some, [texts[row] for row in rows], lowest)
            for row, of_row in zip(rows, of_rows, strict=True):
                answers[row] += of_row
        return list(map(_joined, answers))

    def _passes(self, questions: Sequence[str]) -> Iterator[list[str]]:
        """Split questions into texts that the model reads whole."""
        text: list[str] = []
        ends = self._length("")
        length = ends
        for question in questions:
            tokens = self._length(self._prompt(question)) - ends
            if text and length + tokens > self._longest:
                yield text
                text, length = [], ends
            text.append(question)
            length += tokens
        yield text

    def _pass(
        self, pictures: Sequence[Prepared], asked: list[list[str]], lowest: float
    ) -> list[list[_Answer]]:
        """Return the answers about each picture to questions that are one text."""
        texts = [" ".join(map(self._prompt, questions)) for questions in asked]
        tokens = self._tokenizer(
            texts, padding=True, return_tensors="pt", return_offsets_mapping=True
        )
        offsets = tokens.pop("offset_mapping")
        tokens.setdefault("token_type_ids", torch.zeros_like(tokens["input_ids"]))
        with torch.inference_mode():
            outputs = self._model(**self._inputs(pictures, **tokens))
            scores = outputs.logits.sigmoid()
            # Only for its boxes: all are above a threshold below 0.
            boxes = [result["boxes"] for result in self._processed(outputs, pictures, -1.0)]
        answers = []
        for row, questions in enumerate(asked):
            end = 0
            of_picture: list[_Answer] = []
            for question in questions:
                phrase = _without_full_stops(question)
                start = texts[row].index(phrase, end)
                end = start + len(phrase)
                begins, stops = offsets[row].unbind(-1)
                in_question = (stops > begins) & (begins >= start) & (stops <= end)
                score = scores[row][:, : len(in_question)][:, in_question.to(self._device)].mean(-1)
                above = score > lowest  # not a question without a token, whose mean is no number
                of_picture.append((question, {"scores": score[above], "boxes": boxes[row][above]}))
            answers.append(of_picture)
        return answers


class Sam3(_OpenVocabulary):
    """SAM 3: one pass of the image encoder, then a small one for each question.

    A box scores as in transformers' post-processing, which needs torchvision.
    """

    types = ("sam3", "sam3_video")  # the published files hold a tracker for videos too
    loader = "Sam3Model"
    image_loader = "ViTImageProcessorPil"  # as its own, which needs torchvision

    def detect(
        self, pictures: Sequence[Prepared], asked: Sequence[Sequence[str]], lowest: float
    ) -> list[Found]:
        detections = []
        for picture, questions in zip(pictures, asked, strict=True):
            answers, presence = [], []
            scale = torch.tensor([*picture.size, *picture.size], device=self._device)
            with torch.inference_mode():
                pixels = self._inputs([picture])["pixel_values"]
                seen = self._model.get_vision_features(pixel_values=pixels)
                for question in questions:
                    text = self._padded([question])
                    on_device = {name: values.to(self._device) for name, values in text.items()}
                    outputs = self._model(vision_embeds=seen, **on_device)
                    is_there = outputs.presence_logits.sigmoid()
                    score = (outputs.pred_logits.sigmoid() * is_there)[0]
                    chosen = score > lowest
                    boxes = outputs.pred_boxes[0][chosen] * scale
                    answers.append((question, {"scores": score[chosen], "boxes": boxes}))
                    presence.append(exact(is_there.item()))
            detections.append(_joined(answers)._replace(presence=presence))
        return detections


def _without_full_stops(question: str) -> str:
    """Return a question as the model's tokenizer reads it; a full stop would make two of it."""
    return " ".join(re.sub("[.?]", " ", question.lower()).split())


def _floats(result: Mapping[str, Any]) -> tuple[list[float], list[tuple[float, ...]]]:
    """Return scores and boxes of one picture, as lists."""
    scores = [exact(score) for score in result["scores"].tolist()]
    return scores, [tuple(map(exact, box)) for box in result["boxes"].tolist()]


def _joined(answers: Iterable[_Answer]) -> Found:
    """Return the answers to all questions about a picture, in their order."""
    joined = Found([], [], [])
    for question, result in answers:
        scores, boxes = _floats(result)
        joined.labels.extend([question] * len(scores))
        joined.scores.extend(scores)
        joined.boxes.extend(boxes)
    return joined
