"""Open-vocabulary detectors of transformers: OWL, Grounding DINO and SAM 3.

What comes out of a model goes through the library's own post-processing, except where the
docstrings say why not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

from ...errors import VifidelError
from .detectors import Found, Prepared, exact
from .model_files import ModelFiles
from .transformers_models import TransformersDetector, floats, from_folder

# How OWL was trained to be asked (Minderer et al., 2022).
_PROMPT = "a photo of a {}"


class _Asked(TransformersDetector):
    """A model that looks for what it is asked."""

    def __init__(
        self,
        files: ModelFiles,
        torch: ModuleType,
        transformers: ModuleType,
        loader: str,
        device: Any,
    ) -> None:
        super().__init__(files, torch, transformers, loader, device)
        self._tokenizer = from_folder(files, "tokenizer", transformers.AutoTokenizer)

    def _prompt(self, question: str) -> str:
        return question

    def _longest(self) -> int:
        """Return how many tokens of a text the model reads, those at its ends included."""
        raise NotImplementedError

    def check(self, questions: Iterable[str]) -> None:
        for question in dict.fromkeys(questions):
            tokens = self._length(self._prompt(question))
            if tokens > self._longest():
                raise VifidelError(
                    f"the question {question!r:.60} has {tokens} tokens as {self.files.name} is "
                    f"asked, which reads {self._longest()}; leave it out, or take another model."
                )

    def _length(self, text: str) -> int:
        """Return how many tokens a text has, those at its ends included."""
        return len(self._tokenizer(text, verbose=False)["input_ids"])

    def _padded(self, texts: list[str], length: int) -> dict[str, Any]:
        """Return tokens of texts, padded to a length."""
        read = self._tokenizer(texts, padding="max_length", max_length=length, return_tensors="pt")
        return {name: read[name] for name in ("input_ids", "attention_mask")}


class Owl(_Asked):
    """OWL-ViT and OWLv2: all questions about a picture in one pass of the image encoder."""

    def _prompt(self, question: str) -> str:
        return _PROMPT.format(question)

    def _longest(self) -> int:
        return int(self._model.config.text_config.max_position_embeddings)

    def detect(
        self, pictures: Sequence[Prepared], asked: Sequence[Sequence[str]], lowest: float
    ) -> list[Found]:
        torch = self._torch
        most = max(map(len, asked))
        texts = [self._prompt(question) for questions in asked for question in questions]
        tokens = self._padded(texts, self._longest())
        # A picture with fewer questions than another has rows of zeros, which OWL leaves out.
        rows = torch.zeros(len(asked), most, dtype=torch.bool)
        for row, questions in zip(rows, asked, strict=True):
            row[: len(questions)] = True
        spread = {
            name: torch.zeros(len(asked) * most, self._longest(), dtype=values.dtype)
            for name, values in tokens.items()
        }
        for name, values in tokens.items():
            spread[name][rows.flatten()] = values
        with torch.inference_mode():
            outputs = self._model(**self._together(pictures), **self._on_device(spread))
            # Each question for itself: the library gives a box to the best of all that were asked,
            # and an answer should not depend on what else was asked.
            by_question = [
                self._images.post_process_object_detection(
                    SimpleNamespace(
                        logits=outputs.logits[..., at : at + 1], pred_boxes=outputs.pred_boxes
                    ),
                    threshold=lowest,
                    target_sizes=self._sizes(pictures),
                )
                for at in range(most)
            ]
        return [
            _joined(
                (question, results[row])
                for question, results in zip(questions, by_question, strict=False)
            )
            for row, questions in enumerate(asked)
        ]


class GroundingDino(_Asked):
    """Grounding DINO, MM Grounding DINO and LLMDet: questions as one text.

    Each box has a score for each token of the text. That of a question is the mean over its own
    tokens, as in the authors' evaluation of phrases (Liu et al., 2023); the library's
    post-processing returns the words of the highest tokens instead, which may belong to no question
    or to two.
    """

    def _longest(self) -> int:
        return int(self._model.config.max_text_len)

    def _prompt(self, question: str) -> str:
        return f"{_one_phrase(question)}."

    def detect(
        self, pictures: Sequence[Prepared], asked: Sequence[Sequence[str]], lowest: float
    ) -> list[Found]:
        passes = [list(self._passes(questions)) for questions in asked]
        found: list[list[tuple[str, Mapping[str, Any]]]] = [[] for _ in pictures]
        for number in range(max(map(len, passes))):
            rows = [row for row, texts in enumerate(passes) if number < len(texts)]
            some = [pictures[row] for row in rows]
            for row, of_row in zip(
                rows, self._pass(some, [passes[row][number] for row in rows], lowest), strict=True
            ):
                found[row] += of_row
        return [_joined(of_picture) for of_picture in found]

    def _passes(self, questions: Sequence[str]) -> Iterator[list[str]]:
        """Split questions into texts that the model reads whole."""
        text: list[str] = []
        ends = self._length("")
        length = ends
        for question in questions:
            tokens = self._length(self._prompt(question)) - ends
            if text and length + tokens > self._longest():
                yield text
                text, length = [], ends
            text.append(question)
            length += tokens
        yield text

    def _pass(
        self, pictures: Sequence[Prepared], asked: list[list[str]], lowest: float
    ) -> list[list[tuple[str, Mapping[str, Any]]]]:
        """Return, for each picture, its questions with their scores and boxes."""
        torch = self._torch
        texts = [" ".join(map(self._prompt, questions)) for questions in asked]
        tokens = self._tokenizer(
            texts, padding=True, return_tensors="pt", return_offsets_mapping=True
        )
        offsets = tokens.pop("offset_mapping")
        tokens.setdefault("token_type_ids", torch.zeros_like(tokens["input_ids"]))
        with torch.inference_mode():
            outputs = self._model(**self._together(pictures), **self._on_device(tokens))
            scores = outputs.logits.sigmoid()
            # Only for its boxes: all are above a threshold below 0.
            boxes = [
                of_picture["boxes"]
                for of_picture in self._images.post_process_object_detection(
                    outputs, threshold=-1.0, target_sizes=self._sizes(pictures)
                )
            ]
        results = []
        for row, questions in enumerate(asked):
            end = 0
            of_picture: list[tuple[str, Mapping[str, Any]]] = []
            for question in questions:
                phrase = _one_phrase(question)
                start = texts[row].index(phrase, end)
                end = start + len(phrase)
                begins, stops = offsets[row].unbind(-1)
                own = (stops > begins) & (begins >= start) & (stops <= end)
                score = scores[row][:, : len(own)][:, own.to(self._device)].mean(-1)
                kept = score > lowest  # not a question without a token, whose mean is no number
                of_picture.append((question, {"scores": score[kept], "boxes": boxes[row][kept]}))
            results.append(of_picture)
        return results


class Sam3(_Asked):
    """SAM 3: one pass of the image encoder, then a small one for each question.

    The score of a box is the model's own times its answer to whether the thing is there at all
    (``presence_logits``), as in transformers' post-processing, which needs torchvision. That
    answer is returned beside the boxes.
    """

    def _load_images(self, transformers: ModuleType) -> Any:
        # What its own image processor does (size, mean, deviation), which needs torchvision.
        return from_folder(self.files, "image processor", transformers.ViTImageProcessorPil)

    def _longest(self) -> int:
        return int(self._model.config.text_config.max_position_embeddings)

    def detect(
        self, pictures: Sequence[Prepared], asked: Sequence[Sequence[str]], lowest: float
    ) -> list[Found]:
        return [
            self._of_picture(picture, questions, lowest)
            for picture, questions in zip(pictures, asked, strict=True)
        ]

    def _of_picture(self, picture: Prepared, questions: Sequence[str], lowest: float) -> Found:
        torch = self._torch
        width, height = picture.size
        found, presence = [], []
        with torch.inference_mode():
            pixels = self._together([picture])["pixel_values"]
            seen = self._model.get_vision_features(pixel_values=pixels)
            scale = torch.tensor([width, height, width, height], device=self._device)
            for question in questions:
                text = self._on_device(self._padded([question], self._longest()))
                outputs = self._model(vision_embeds=seen, **text)
                there = outputs.presence_logits.sigmoid()
                score = (outputs.pred_logits.sigmoid() * there)[0]
                kept = score > lowest
                boxes = outputs.pred_boxes[0][kept] * scale
                found.append((question, {"scores": score[kept], "boxes": boxes}))
                presence.append(exact(there.item()))
        return _joined(found)._replace(presence=presence)


def _one_phrase(question: str) -> str:
    """Return a question as the model's tokenizer reads it; a full stop would make two of it."""
    return " ".join(re.sub("[.?]", " ", question.lower()).split())


def _joined(by_question: Iterable[tuple[str, Mapping[str, Any]]]) -> Found:
    """Return what was found for all questions about a picture, in their order."""
    joined = Found([], [], [])
    for question, found in by_question:
        scores, boxes = floats(found)
        joined.labels.extend([question] * len(scores))
        joined.scores.extend(scores)
        joined.boxes.extend(boxes)
    return joined
