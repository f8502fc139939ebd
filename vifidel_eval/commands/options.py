"""The options that decide how metrics are computed, shared by every command that scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ..errors import VifidelError
from ..text_tables import FORMATS

if TYPE_CHECKING:
    from tqdm import tqdm

    from ..scorers import Scorer, Vifidel

FILE = click.Path(path_type=Path)


@dataclass(frozen=True)
class TransportOptions:
    """What a user chose of the image side and the word vectors; one field an option."""

    objects: tuple[Path, ...]
    threshold: float | None
    categories: tuple[Path, ...]
    vectors: str | None
    stop_words: Path | None
    p: str | None
    presence: bool
    raw_vectors: bool

    def files(self) -> list[Path | None]:
        """Return the files that are read, which no output may replace."""
        return [*self.objects, *self.categories, self.stop_words]

    def word_settings(self) -> dict[str, Any]:
        """Return the arguments that the optimal-transport metrics share."""
        from ..files import read_text
        from ..text.words import STOP_WORDS
        from ..vectors import load_vectors

        words = STOP_WORDS
        if self.stop_words is not None:
            words = frozenset(read_text(self.stop_words, VifidelError).split())
        return {
            "vectors": load_vectors(self.vectors),
            "normalize": not self.raw_vectors,
            "stop_words": words,
        } | ({"p": int(self.p)} if self.p else {})

    def vifidel(
        self,
        word_settings: Mapping[str, Any],
        references: bool = True,
    ) -> Vifidel:
        """Return VIFIDEL's scorer; the arguments are those of `MetricOptions.makers`."""
        from .. import scorers
        from ..annotations import read_objects

        objects = read_objects(self.objects, self.threshold, self.categories)
        return scorers.Vifidel(
            objects,
            references=references,
            counts=not self.presence,
            **word_settings,
        )


@dataclass(frozen=True)
class MetricOptions(TransportOptions):
    """What a user chose of all metrics; one field an option of `metric_options`."""

    metrics: str | None
    language_model: Path | None
    tiger_checkpoint: Path | None
    tiger_vocabulary: Path | None
    tiger_features: Path | None
    vilbert_checkpoint: Path | None
    vilbert_vocabulary: Path | None
    vilbert_features: Path | None
    vilbert_layer: int
    vilbert_config: Path | None
    device: str | None

    def names(self, default: Iterable[str], references: bool = True) -> list[str]:
        """Return the metrics to compute, checked against what they need.

        Parameters
        ----------
        default : iterable of str
            What is computed where the user names none.
        references : bool
            Whether there are references.

        Raises
        ------
        click.UsageError
            If a metric lacks what it needs.
        """
        from ..metrics import NEEDS_REFERENCES, parse

        names = list(default) if self.metrics is None else parse(self.metrics)
        parts = {part for name in names for part in name.split("+")}
        if not references and parts & NEEDS_REFERENCES:
            raise click.UsageError(f"{min(parts & NEEDS_REFERENCES)} needs --references.")
        if not self.objects and "VIFIDEL" in parts:
            raise click.UsageError("VIFIDEL needs --objects, or name other --metrics.")
        if self.language_model is None and "LM" in parts:
            raise click.UsageError("LM needs --language-model FILE; train-lm writes one.")
        if None in self._tiger_files() and "TIGEr" in parts:
            raise click.UsageError(
                "TIGEr needs --tiger-checkpoint, --tiger-vocabulary and --tiger-features FILE."
            )
        if None in self._vilbert_files() and "ViLBERTScore" in parts:
            raise click.UsageError(
                "ViLBERTScore needs --vilbert-checkpoint, --vilbert-vocabulary and "
                "--vilbert-features FOLDER."
            )
        return names

    def files(self) -> list[Path | None]:
        files = [*super().files(), self.language_model, *self._tiger_files()]
        if self.tiger_features is not None:
            from ..networks.scan_features import ids_path

            files.append(ids_path(self.tiger_features))
        return [*files, *self._vilbert_files(), self.vilbert_config]

    def _tiger_files(self) -> list[Path | None]:
        return [self.tiger_checkpoint, self.tiger_vocabulary, self.tiger_features]

    def _vilbert_files(self) -> list[Path | None]:
        return [self.vilbert_checkpoint, self.vilbert_vocabulary, self.vilbert_features]

    def makers(self, references: bool = True) -> Mapping[str, Callable[[], Scorer]]:
        """Return what makes each metric's scorer; nothing is read before it is needed.

        Parameters
        ----------
        references : bool
            Whether VIFIDEL weights words by references.
        """
        from .. import scorers
        from ..text.tokenization import Tokenization

        word_settings = cache(self.word_settings)
        tokens = cache(Tokenization)

        def tiger() -> Scorer:
            from ..networks.scan_features import read_regions

            features = read_regions(str(self.tiger_features))
            return scorers.Tiger(
                str(self.tiger_checkpoint),
                str(self.tiger_vocabulary),
                features,
                self.device,
            )

        def vilbertscore() -> Scorer:
            from ..networks.vilbert_features import DetectorFeatures

            features = DetectorFeatures(str(self.vilbert_features))
            return scorers.ViLBERTScore(
                str(self.vilbert_checkpoint),
                str(self.vilbert_vocabulary),
                features,
                self.vilbert_layer,
                self.device,
                self.vilbert_config,
            )

        return {
            "VIFIDEL": lambda: self.vifidel(word_settings(), references),
            "WMD": lambda: scorers.Wmd("best", **word_settings()),
            "WMD-worst": lambda: scorers.Wmd("worst", **word_settings()),
            "WMD-mean": lambda: scorers.Wmd("mean", **word_settings()),
            "BLEU": lambda: scorers.Bleu(tokens()),
            "ROUGE_L": lambda: scorers.RougeL(tokens()),
            "CIDEr": lambda: scorers.Cider(tokens()),
            "METEOR": lambda: scorers.Meteor(tokens()),
            "SPICE": lambda: scorers.Spice(tokens()),
            "LM": lambda: scorers.LanguageModel(str(self.language_model)),
            "TIGEr": tiger,
            "ViLBERTScore": vilbertscore,
        }


_TRANSPORT = (
    click.option(
        "--objects",
        multiple=True,
        type=FILE,
        help="What the images show: COCO or LVIS instances, COCO detection results, PASCAL VOC "
        "XML (folder or file), Open Images boxes, labels by image id. Several: their union.",
    ),
    click.option(
        "--threshold",
        type=click.FloatRange(0, 1),
        help="Lowest detection score that counts.  [default: 0.6; Open Images 0.4]",
    ),
    click.option(
        "--categories",
        multiple=True,
        type=FILE,
        help="Names of category ids where --objects has only ids: a COCO file with categories, "
        "or Open Images class descriptions.",
    ),
    click.option(
        "--vectors",
        help="Word vectors: a gensim, word2vec, GloVe or fastText file, or a gensim-downloader "
        "name.  [default: embedded]",
    ),
    click.option(
        "--stop-words",
        type=FILE,
        help="Text file of the words to leave out of captions.  [default: English]",
    ),
    click.option(
        "--p",
        type=click.Choice(["1", "2"]),
        help="Exponent of the travel cost.  [default: 2; WMD 1]",
    ),
    click.option("--presence", is_flag=True, help="Count each object label once an image."),
    click.option("--raw-vectors", is_flag=True, help="Do not scale word vectors to length 1."),
)
_METRICS = (
    click.option(
        "--metrics",
        help="Comma-separated: VIFIDEL, WMD, WMD-worst, WMD-mean, BLEU, ROUGE_L, CIDEr, METEOR, "
        "SPICE, LM, TIGEr, ViLBERTScore, or combinations such as VIFIDEL+CIDEr.  [default: all "
        "that run without Java or downloads]",
    ),
    click.option("--language-model", type=FILE, help="What train-lm wrote, for LM."),
    click.option("--tiger-checkpoint", type=FILE, help="SCAN's model_best.pth, for TIGEr."),
    click.option(
        "--tiger-vocabulary", type=FILE, help="SCAN's coco_precomp_vocab.json, for TIGEr."
    ),
    click.option(
        "--tiger-features",
        type=FILE,
        help="Region features for TIGEr: SCAN's NAME_ims.npy beside NAME_ids.txt, or "
        "bottom-up-attention TSV.",
    ),
    click.option(
        "--vilbert-checkpoint",
        type=FILE,
        help="multi_task_model.bin of vilbert-multi-task, for ViLBERTScore.",
    ),
    click.option(
        "--vilbert-vocabulary", type=FILE, help="vocab.txt of bert-base-uncased, for ViLBERTScore."
    ),
    click.option(
        "--vilbert-features",
        type=FILE,
        help="Region features for ViLBERTScore: a folder with one .npz file an image, as "
        "convert-features writes them.",
    ),
    click.option(
        "--vilbert-layer",
        type=int,
        default=-1,
        show_default=True,
        help="Co-attention block whose states ViLBERTScore compares, from 0 or from the end.",
    ),
    click.option(
        "--vilbert-config",
        type=FILE,
        help="JSON configuration of a ViLBERT of other sizes than the published one.",
    ),
    click.option(
        "--device",
        help="Where PyTorch computes TIGEr and ViLBERTScore, such as cuda.  [default: cpu]",
    ),
)


def progress_bar(total: int, unit: str = " captions") -> tqdm[NoReturn]:
    """Return a bar for long work; there is none where nobody watches or the work is short."""
    from tqdm import tqdm

    return tqdm(total=total, unit=unit, disable=None, delay=1, leave=False)


def format_option(help_text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option ``--format``; the command gets what the user chose as ``style``."""
    return click.option(
        "--format",
        "style",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help=help_text,
    )


def gathered(
    kind: type[Any], options: Sequence[Callable[..., Any]], name: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds options, which a command gets as one object.

    Parameters
    ----------
    kind : dataclass
        With one field an option.
    options : sequence
        What ``click.option`` returns, in the order of ``--help``.
    name : str
        The command's argument that takes the object.
    """
    names = [field.name for field in fields(kind)]

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def gathering(**given: Any) -> Any:
            chosen = kind(**{name: given.pop(name) for name in names})
            return command(**{name: chosen}, **given)

        for option in reversed(options):
            gathering = option(gathering)
        return gathering

    return decorate


#: Adds the options of `TransportOptions`; the command gets them together as ``options``.
transport_options = gathered(TransportOptions, _TRANSPORT, "options")
#: Adds the options of `MetricOptions`; the command gets them together as ``options``.
metric_options = gathered(MetricOptions, [*_METRICS, *_TRANSPORT], "options")
