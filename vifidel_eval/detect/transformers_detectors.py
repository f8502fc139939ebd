"""Detectors of transformers: closed ones, OWL, Grounding DINO and SAM 3.

Pictures are prepared by transformers' own image processors, those of Pillow: they need no
torchvision, and an answer does not depend on whether it is installed. What comes out of the model
goes through the library's own post-processing, except where the comments say why not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from ..errors import VifidelError
from ..files import first_line
from ..networks.pytorch import find_device, load_libraries
from .detectors import Detector, Found, Prepared, exact, installed_versions
from .model_files import NEEDED_BY, ModelFiles

if TYPE_CHECKING:
    from PIL import Image

# How OWL was trained to be asked (Minderer et al., 2022).
_PROMPT = "a photo of a {}"

# What DETR and its like call what is no class.
_NO_CLASSES = frozenset({"N/A", "no-object", "background", ""})
# What transformers calls classes that a configuration does not name.
_UNNAMED = re.compile(r"LABEL_\d+")

_OWL = ("owlvit", "owlv2")
_GROUNDING = ("grounding-dino", "mm-grounding-dino")
# The published files of SAM 3 hold a tracker for videos too.
_SAM = ("sam3", "sam3_video")

_BATCH_ON_DEVICE = 8

# Nothing is fetched, and no code that lies beside the weights is run.
_HARMLESS = {"local_files_only": True, "trust_remote_code": False}


def load_transformers(files: ModelFiles, device: str | None) -> Detector:
    """Return the detector in a folder of transformers; see `detectors.load_detector`."""
    torch, transformers = load_libraries(
        *NEEDED_BY, {"PyTorch": "torch", "transformers": "transformers"}
    )
    place = find_device(torch, device)
    try:
        config = transformers.AutoConfig.from_pretrained(files.path, **_HARMLESS)
    except Exception as problem:  # a broken file, or a type of model that is not known
        raise VifidelError(
            f"{files.path}: its config.json cannot be read by transformers "
            f"{transformers.__version__} ({first_line(problem)})."
        ) from None
    kinds: dict[str, tuple[type[_Owl | _GroundingDino | _Sam3], str]] = {
        **dict.fromkeys(_OWL, (_Owl, "AutoModelForZeroShotObjectDetection")),
        **dict.fromkeys(_GROUNDING, (_GroundingDino, "AutoModelForZeroShotObjectDetection")),
        **dict.fromkeys(_SAM, (_Sam3, "Sam3Model")),
    }
    if type(config) in transformers.MODEL_FOR_OBJECT_DETECTION_MAPPING:
        return _Closed(files, torch, transformers, "AutoModelForObjectDetection", place)
    if config.model_type not in kinds:
        raise VifidelError(
            f"{files.path}: a model of type {config.model_type!r} is no detector that can be used; "
            "name one of transformers' models for object detection, OWL, Grounding DINO or SAM 3."
        )
    kind, loader = kinds[config.model_type]
    return kind(files, torch, transformers, loader, place)


class _OfTransformers:
    """What all models of transformers have in common."""

    batch: int
    classes: tuple[str, ...] | None = None

    def __init__(
        self,
        files: ModelFiles,
        torch: ModuleType,
        transformers: ModuleType,
        loader: str,
        device: Any,
    ) -> None:
        self.files = files
        self._torch = torch
        self._device = device
        # Alone, a picture's digits do not depend on others; a graphics processor is worth it.
        self.batch = 1 if device.type == "cpu" else _BATCH_ON_DEVICE
        self._model = _loaded(files, transformers, loader).eval().to(device)
        self._images = self._load_images(transformers)
        self.enough = _shorter_side(self._images.size)

    def _load_images(self, transformers: ModuleType) -> Any:
        return _from_folder(
            self.files, "image processor", transformers.AutoImageProcessor, backend="pil"
        )

    def versions(self) -> dict[str, str]:
        return installed_versions("transformers", "torch", "pillow")

    def check(self, questions: Iterable[str]) -> None:
        pass

    def prepare(self, picture: Image.Image, size: tuple[int, int]) -> Prepared:
        inputs = self._images(images=[picture], return_tensors="pt")
        wanted = ("pixel_values", "pixel_mask")
        return Prepared({name: inputs[name] for name in wanted if name in inputs}, size)

    def _together(self, pictures: Sequence[Prepared]) -> dict[str, Any]:
        """Return the inputs of pictures of one shape as a batch on the device."""
        return {
            name: self._torch.cat([picture.inputs[name] for picture in pictures]).to(self._device)
            for name in pictures[0].inputs
        }

    def _on_device(self, texts: Mapping[str, Any]) -> dict[str, Any]:
        return {name: values.to(self._device) for name, values in texts.items()}

    def _sizes(self, pictures: Sequence[Prepared]) -> Any:
        """Return height and width of each picture, as post-processing takes them."""
        return self._torch.tensor([picture.size[::-1] for picture in pictures]).to(self._device)


class _Closed(_OfTransformers):
    """A model for object detection: it looks for its own classes in every picture."""

    def __init__(self, files: ModelFiles, *others: Any) -> None:
        super().__init__(files, *others)
        self._names = {int(at): name for at, name in self._model.config.id2label.items()}
        names = dict.fromkeys(name for _, name in sorted(self._names.items()))
        if all(map(_UNNAMED.fullmatch, names)):
            raise VifidelError(
                f"{files.path}: its config.json has no class names; add them as id2label."
            )
        self.classes = tuple(name for name in names if name not in _NO_CLASSES)

    def detect(
        self, pictures: Sequence[Prepared], asked: Sequence[Sequence[str]], lowest: float
    ) -> list[Found]:
        with self._torch.inference_mode():
            outputs = self._model(**self._together(pictures))
            results = self._images.post_process_object_detection(
                outputs, threshold=lowest, target_sizes=self._sizes(pictures)
            )
        return [
            Found([self._names[at] for at in found["labels"].tolist()], *_floats(found))
            for found in results
        ]


class _Asked(_OfTransformers):
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
        self._tokenizer = _from_folder(files, "tokenizer", transformers.AutoTokenizer)

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


class _Owl(_Asked):
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


class _GroundingDino(_Asked):
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


class _Sam3(_Asked):
    """SAM 3: one pass of the image encoder, then a small one for each question.

    The score of a box is the model's own times its answer to whether the thing is there at all
    (``presence_logits``), as in transformers' post-processing, which needs torchvision. That
    answer is returned beside the boxes.
    """

    def _load_images(self, transformers: ModuleType) -> Any:
        # What its own image processor does (size, mean, deviation), which needs torchvision.
        return _from_folder(self.files, "image processor", transformers.ViTImageProcessorPil)

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


def _from_folder(files: ModelFiles, what: str, loader: Any, **settings: Any) -> Any:
    try:
        return loader.from_pretrained(files.path, **_HARMLESS, **settings)
    except Exception as problem:  # the library raises nearly anything
        raise VifidelError(
            f"{files.path}: its {what} cannot be loaded ({first_line(problem)}); save the model "
            "again with its processor, or name another."
        ) from None


def _loaded(files: ModelFiles, transformers: ModuleType, loader: str) -> Any:
    """Return a model with all its weights."""
    logging = transformers.utils.logging
    verbosity, bar = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        model, report = _from_folder(
            files,
            "model",
            getattr(transformers, loader),
            use_safetensors=True,
            output_loading_info=True,
        )
    finally:
        logging.set_verbosity(verbosity)
        if bar:
            logging.enable_progress_bar()
    missing = sorted(map(str, [*report["missing_keys"], *report["mismatched_keys"]]))
    if missing:  # transformers gives them random values
        raise VifidelError(
            f"{files.path}: {len(missing)} of the model's weights are missing or of another shape, "
            f"such as {missing[0]:.60}; get a fresh copy, or name a model that was trained to "
            "detect."
        )
    return model


def _shorter_side(size: Mapping[str, Any]) -> int:
    """Return the shorter side that an image processor makes of a picture, in pixels."""
    named = {name: value for name, value in dict(size).items() if value}
    if "shortest_edge" in named:
        return int(named["shortest_edge"])
    return int(max(named.values()))


def _one_phrase(question: str) -> str:
    """Return a question as the model's tokenizer reads it; a full stop would make two of it."""
    return " ".join(re.sub("[.?]", " ", question.lower()).split())


def _floats(found: Mapping[str, Any]) -> tuple[list[float], list[tuple[float, ...]]]:
    """Return scores and boxes of one picture, as lists."""
    scores = [exact(score) for score in found["scores"].tolist()]
    return scores, [tuple(map(exact, box)) for box in found["boxes"].tolist()]


def _joined(by_question: Iterable[tuple[str, Mapping[str, Any]]]) -> Found:
    """Return what was found for all questions about a picture, in their order."""
    joined = Found([], [], [])
    for question, found in by_question:
        scores, boxes = _floats(found)
        joined.labels.extend([question] * len(scores))
        joined.scores.extend(scores)
        joined.boxes.extend(boxes)
    return joined
