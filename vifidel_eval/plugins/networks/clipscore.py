"""CLIPScore: how close a caption is to its picture, and to its references, in CLIP's space."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import sqlite3
import warnings
import zlib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from io import BytesIO
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, TypeAlias

import click
import numpy as np

from ...captions.rows import Rows, image_ids_of
from ...doors.arguments import Option, constructor
from ...errors import VifidelError, warn
from ...evaluation import Column, Evaluation, evaluations_of
from ...io.caches import cache_folder
from ...io.files import check_path, first_line, read_kept
from ...io.image_ids import ImageId, match
from ...io.pictures import decode, file_names, find_pictures
from ...io.progress import progress_bar
from ...scorers.base import Progress, Scorer
from ...scorers.record import HESSEL_2021, Metric
from ...scorers.registry import register
from ...words.settings import DEVICE, Settings
from .. import pytorch
from .regions import BoundedCache, Floats32, digest_of_images

#: Where the pictures are: their folder, or the file of each image.
Images: TypeAlias = str | os.PathLike[str] | Mapping[Any, str | os.PathLike[str]]

_PREFIX, _WEIGHT = "A photo depicts", 2.5  # as published
_BREAKS = re.compile(r"[|\s]")  # of signatures
# Every batch is filled up to this size, and its texts have one length: products of matrices of one
# shape round each row alike, whatever the other rows are.
_BATCH = 8
_ROWS_AT_ONCE, _THREADS = 512, 4
# The vectors of 260 000 captions, of 512 numbers each, are kept for the next system.
_CAPTION_BYTES = 1 << 29

_Tokens = tuple[int, ...]


class _Clip:
    """A CLIP of transformers: pictures and texts to vectors."""

    def __init__(self, files: pytorch.ModelFiles, device: str | None) -> None:

        self.files, self.device = files, pytorch.find_device(device)
        config = pytorch.read_config(files)
        if config.model_type != "clip":
            raise VifidelError(
                f"{files.path}: a model of type {config.model_type!r} is not a CLIP; name one, "
                "such as openai/clip-vit-base-patch32."
            )
        model = pytorch.load_model(files, "CLIPModel", "compare pictures with texts")
        self._model = model.eval().to(self.device)
        self._images = pytorch.load_images(files)
        texts = config.text_config
        self._tokenizer = pytorch.load_tokenizer(files, texts.vocab_size)
        # Its vector is that of the token that ends a text; with 2, transformers looks for the last.
        if texts.eos_token_id not in (2, self._tokenizer.eos_token_id):
            raise VifidelError(
                f"{files.path}: texts end with token {self._tokenizer.eos_token_id} for its "
                f"tokenizer, and with {texts.eos_token_id} in config.json; get a fresh copy."
            )
        self.width: int = config.projection_dim
        self.longest: int = texts.max_position_embeddings

    def tokens(self, texts: list[str]) -> tuple[dict[str, _Tokens], set[str]]:
        """Return the tokens of each text that the model reads, and the texts that it cuts."""
        # A lone surrogate, which no UTF-8 has, is read as a question mark.
        clean = [text.encode(errors="replace").decode() for text in texts]
        listed = self._tokenizer([f"{_PREFIX} {text}" for text in clean], verbose=False)
        tokens = dict(zip(texts, listed["input_ids"], strict=True))
        cut = {text for text, of_text in tokens.items() if len(of_text) > self.longest}
        # The last token says that the text ends, and is what the model looks at.
        return {t: (*run[:-1][: self.longest - 1], run[-1]) for t, run in tokens.items()}, cut

    def of_texts(self, texts: list[_Tokens]) -> dict[_Tokens, Floats32]:
        """Return the vectors of texts."""
        import torch

        vectors: dict[_Tokens, Floats32] = {}
        for _, of_length in groupby(sorted(texts, key=len), len):
            while some := list(islice(of_length, _BATCH)):
                vectors |= zip(some, self.vectors("text", map(torch.tensor, some)), strict=True)
        return vectors

    def prepared(self, content: bytes) -> Any:
        """Return a picture as the model reads it; whatever is wrong with it is raised."""
        picture, _ = decode(BytesIO(content))
        return self._images(images=[picture], return_tensors="pt")["pixel_values"][0]

    def vectors(self, kind: str, inputs: Iterable[Any]) -> list[Floats32]:
        """Return the vectors of at most `_BATCH` inputs of a kind, ``"text"`` or ``"image"``."""
        import torch

        listed = list(inputs)
        if not listed:
            return []
        try:
            filled = torch.stack(listed + listed[-1:] * (_BATCH - len(listed))).to(self.device)
            with torch.inference_mode():
                output = getattr(self._model, f"get_{kind}_features")(filled).pooler_output
            vectors: Floats32 = output[: len(listed)].float().cpu().numpy()
        except Exception as problem:  # a processor of another model, too little memory
            raise VifidelError(
                f"{self.files.path}: the {kind} encoder of this model fails "
                f"({first_line(problem)}); get a fresh copy, or name another."
            ) from None
        if not (np.isfinite(vectors).all() and vectors.any(axis=1).all()):
            raise VifidelError(f"{self.files.path}: its vectors are not numbers; get a fresh copy.")
        return list(vectors)


@dataclass
class _Picture:
    """What is known of an image's picture."""

    digest: str = ""
    vector: Floats32 | None = None
    inputs: Any = None  # of the model; None once it has read them
    problem: str = ""


class _OnDisk:
    """Vectors of pictures in the cache folder, by content; a folder that fails has none."""

    def __init__(self, clip: _Clip) -> None:
        made_by = [f"{name} {version(name)}" for name in ("pillow", "torch", "transformers")]
        pinned = " ".join([clip.files.digest, clip.device.type, *made_by])
        self._name = f"pictures-{hashlib.sha256(pinned.encode()).hexdigest()[:32]}.db"
        self._bytes = 4 * clip.width

    def find(self, digest: str) -> Floats32 | None:
        """Return the vector of a picture, if it is there and whole."""
        query = "SELECT vector, crc FROM vectors WHERE digest = ?"
        for vector, crc in self._run(query, [(digest,)]):
            if len(vector) == self._bytes and zlib.crc32(vector) == crc:
                return np.frombuffer(vector, "<f4")
        return None

    def add(self, pictures: Iterable[_Picture]) -> None:
        """Keep the vectors of pictures."""
        packed = {
            picture.digest: np.asarray(picture.vector, "<f4").tobytes() for picture in pictures
        }
        rows = [(digest, vector, zlib.crc32(vector)) for digest, vector in packed.items()]
        self._run("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)

    def _run(self, query: str, keys: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        with contextlib.suppress(OSError, sqlite3.Error):
            folder = cache_folder()
            folder.mkdir(parents=True, exist_ok=True)
            with contextlib.closing(sqlite3.connect(folder / self._name)) as database, database:
                columns = "(digest TEXT PRIMARY KEY, vector BLOB, crc INTEGER)"
                database.execute(f"CREATE TABLE IF NOT EXISTS vectors {columns}")
                return [row for key in keys for row in database.execute(query, key)]
        return []


class CLIPScore(pytorch.PickledArguments, Scorer):
    """CLIPScore and RefCLIPScore (Hessel et al., EMNLP 2021) under a CLIP of transformers.

    CLIPScore is the cosine between the vectors of the picture and of *A photo depicts* with the
    caption, times the weight, and 0 where it is negative. RefCLIPScore is its harmonic mean with
    the highest cosine between the caption and a reference, where there is one. Pictures are read as
    people see them: upright, what is transparent on white. Their vectors are kept in the cache
    folder, by the content of picture and model.

    Parameters
    ----------
    model : path or str
        A folder that `save_pretrained` wrote, or an id in the local cache of the Hugging Face Hub.
    images : path or mapping
        The folder of the pictures, or ``{image id: path}``.
    weight : float
        What cosines with pictures are multiplied by: 2.5 as published, 2 for PAC-S.
    references : bool
        Whether there is the column RefCLIPScore.
    device : str, optional
        Where to compute, as PyTorch calls it (``"cuda"``); by default the processor.
    download : bool
        Whether a model that is not here is fetched from the Hub.
    file_names : mapping, optional
        ``{image id: name}`` of pictures in the folder that are not named after their ids.

    Raises
    ------
    MetricUnavailable
        If PyTorch or transformers is not installed.
    VifidelError
        If there is no such model or it is no CLIP, or no picture can be read.
    """

    columns: tuple[Column, ...] = (Column("CLIPScore", main=True), Column("RefCLIPScore"))

    @constructor
    def __init__(
        self,
        model: str | os.PathLike[str],
        images: Images,
        weight: float = _WEIGHT,
        references: bool = True,
        device: str | None = None,
        download: bool = False,
        file_names: Mapping[ImageId, str] | None = None,
    ) -> None:
        super().__init__()
        if not 0 < weight < math.inf:
            raise VifidelError(f"weight must be a number above 0, not {weight!r:.40}.")
        pytorch.load_libraries("CLIPScore", {"PyTorch": "torch", "transformers": "transformers"})
        self.columns = self.columns if references else self.columns[:1]
        self._weight = weight
        files = pytorch.find_files(os.fspath(model), "CLIPScore", download=download)
        self._clip = _Clip(files, device)
        self._images, self._file_names = images, file_names or {}
        self._on_disk = _OnDisk(self._clip)
        self._known: dict[ImageId, _Picture] = {}
        self._texts = BoundedCache(_CAPTION_BYTES)

    def method(self) -> str:
        return "CLIPScore"

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        if image_ids is not None:
            self._see(image_ids)
        ids = set(self._known if image_ids is None else image_ids)
        pictures = digest_of_images({i: self._known[i].digest for i in ids})
        files = self._clip.files
        return self._pinned(
            f"model:{_BREAKS.sub('_', files.name)}#{files.digest[:8]}",
            f"prefix:{_PREFIX}",
            f"weight:{self._weight:g}",
            f"pictures:{pictures}",
            f"pillow:{version('pillow')}",
            package="torch",
            splitter="transformers",
        )

    def check_images(self, image_ids: Sequence[ImageId]) -> None:
        self._see(image_ids)

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        ids = image_ids_of(rows, "CLIPScore")
        self._see(ids)
        with_references = len(self.columns) > 1
        scores = np.full((2, len(rows)), np.nan)
        too_long: set[str] = set()
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = rows.part(start, start + _ROWS_AT_ONCE)
            references = chain.from_iterable(part.references) if with_references else ()
            tokens, cut = self._clip.tokens(list(dict.fromkeys([*part.captions, *references])))
            too_long |= cut
            vectors = self._texts.complete(tokens.values(), self._clip.of_texts)
            for at, caption in enumerate(part.captions, start):
                picture, of_caption = self._known[ids[at]].vector, vectors[tokens[caption]]
                if picture is None:
                    continue
                score = scores[0, at] = self._weight * max(_cosine(of_caption, picture), 0.0)
                if with_references and rows.references[at]:
                    near = max(_cosine(of_caption, vectors[tokens[r]]) for r in rows.references[at])
                    scores[1, at] = 2 * score * near / (score + near) if near > 0 else 0.0
            on_progress(len(part))
        truncated = [text for text in rows.captions if text in too_long]
        of_references = [text for text in chain(*rows.references) if text in too_long]
        for kind, texts in (("captions", truncated), ("references", of_references)):
            if texts:
                warn(
                    f"{len(texts)} {kind} have more than the {self._clip.longest} tokens that "
                    f"{self._clip.files.name} reads, such as {texts[0]!r:.60}; they are "
                    "truncated."
                )
        return evaluations_of(
            self.columns, rows.ids, scores.T, counts={"truncated": len(truncated)}
        )

    def _see(self, ids: Sequence[ImageId]) -> None:
        """Read the pictures of images that are not known yet; say which cannot be read."""
        new = [image_id for image_id in dict.fromkeys(ids) if image_id not in self._known]
        if not new:
            return
        if isinstance(self._images, Mapping):
            for image_id, path in self._images.items():
                check_path(path, VifidelError, f"the picture of image {image_id!r:.40}")
            places = {i: Path(self._images[as_]) for i, as_ in match(new, self._images).items()}
        else:
            places = find_pictures(Path(self._images), new, self._file_names)
        with (
            warnings.catch_warnings(),
            ThreadPoolExecutor(_THREADS) as pool,
            progress_bar(len(new), " pictures") as bar,
        ):
            warnings.filterwarnings("ignore", module="PIL")  # damaged pictures are named below
            for start in range(0, len(new), _BATCH):
                some = new[start : start + _BATCH]
                pictures = list(pool.map(self._look, map(places.get, some)))
                new_ones = [picture for picture in pictures if picture.inputs is not None]
                vectors = self._clip.vectors("image", [picture.inputs for picture in new_ones])
                for picture, vector in zip(new_ones, vectors, strict=True):
                    picture.vector, picture.inputs = vector, None
                self._on_disk.add(new_ones)
                self._known.update(zip(some, pictures, strict=True))
                bar.update(len(some))
        problems = {i: self._known[i].problem for i in new if self._known[i].problem}
        for image_id, why in islice(problems.items(), 1):
            problem = (
                f"{len(problems)} of {len(new)} images have no readable picture, such as "
                f"{image_id!r} ({why})"
            )
            if len(problems) == len(self._known):
                raise VifidelError(f"{problem}; is this the folder of the images?")
            warn(f"{problem}; CLIPScore is undefined there.")

    def _look(self, path: Path | None) -> _Picture:
        if path is None:
            return _Picture(problem="there is none")
        try:
            content = read_kept(path, VifidelError)
            picture = _Picture(hashlib.sha256(content).hexdigest())
            picture.vector = self._on_disk.find(picture.digest)
            if picture.vector is None:
                picture.inputs = self._clip.prepared(content)
        except Exception as problem:  # of the file, of Pillow or of the image processor
            return _Picture(problem=first_line(problem))
        return picture


def _cosine(first: Floats32, second: Floats32) -> float:
    a, b = first.astype(np.float64), second.astype(np.float64)
    return float(a @ b / math.sqrt((a @ a) * (b @ b)))


def _scorer_of(settings: Settings) -> CLIPScore:
    model, weight, device, download = map(settings.options.__getitem__, _OPTIONS)
    names = {} if isinstance(settings.images, Mapping) else file_names(settings.files)
    return CLIPScore(model, settings.images, weight, settings.references, device, download, names)


_OPTIONS = ("clip_model", "clip_weight", "device", "download")

register(
    Metric(
        "CLIPScore",
        "Cosine between caption and picture in CLIP's space; with references, RefCLIPScore",
        CLIPScore,
        _scorer_of,
        rank=140,
        references=False,
        images=True,
        options=(
            Option(
                "clip_model",
                "For CLIPScore: a CLIP model, either a folder saved by transformers or an id in "
                "the local Hugging Face cache, such as openai/clip-vit-base-patch32.",
                (Path, str),
                required=True,
                metavar="FOLDER_OR_ID",
            ),
            Option(
                "clip_weight",
                "For CLIPScore: weight of the image-text cosine; 2 for PAC-S.",
                click.FloatRange(min=0, min_open=True),
                default=_WEIGHT,
            ),
            Option(
                "download", "Download models that are not on this machine.", bool, default=False
            ),
            DEVICE,
        ),
        packages=("torch", "transformers"),
        papers=(HESSEL_2021,),
    )
)
