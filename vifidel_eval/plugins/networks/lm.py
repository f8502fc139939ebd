"""Fluency: how likely a caption is as a sentence, regardless of its image.

An LSTM reads a caption word by word and gives each next word, and the caption's end, a probability
(VIFIDEL, sections 4.2 and 4.4). Words are lower-case runs of letters and digits; those that are
rare in training count as one word, ``<unk>``. `train` trains one, and goes on where it was stopped.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import click
import numpy as np

from ...captions.rows import Rows
from ...doors.arguments import Option, check_whole, constructor, option
from ...errors import VifidelError
from ...evaluation import Evaluation, Floats, Integers
from ...io.files import write_whole
from ...io.image_ids import ImageId
from ...io.outputs import Parts, check_output
from ...kernels.bags import joined
from ...scorers.base import Progress, Scorer
from ...scorers.record import MADHYASTHA_2019, Metric
from ...scorers.registry import register
from ...words.content_words import END, piece_runs
from ..pytorch import PickledArguments, length_sorted, load_libraries, read_checkpoint

# The first token numbers; the words of the vocabulary follow.
_END, _START, _UNKNOWN = range(3)
_SPECIAL = 3

# The first entry of the files of unfinished trainings and of models.
_STATE = "vifidel-eval training state 1"
_MODEL = "vifidel-eval language model 1"
_REMEDY = "get a fresh copy or train a new one"

_DROPOUT = 0.3
# How many tokens are scored at once: bounds memory.
_SCORED_TOKENS = 2048

_VALIDATION_SHARE = 0.05
_BATCH = 64
# Captions of similar length make a batch, so that little of it is padding; they are sorted in pools
# of this many batches, so that an epoch's batches stay random.
_POOL = 64
_LEARNING_RATE = 5e-3  # of the first epoch; it falls linearly


def caption_words(captions: Iterable[str]) -> list[list[str]]:
    """Return the words of each caption, in order."""
    words: list[list[str]] = [[]]
    runs = cache(piece_runs)
    for piece in joined(captions).split():
        if piece == END:
            words.append([])
        else:
            words[-1] += runs(piece)
    return words[:-1]


def _new_network(words: int, hidden: int) -> Any:
    """Return the untrained network; it reads and predicts words with the same embeddings."""
    import torch

    network = torch.nn.ModuleDict(
        {
            "embedding": torch.nn.Embedding(words + _SPECIAL, hidden),
            "dropout": torch.nn.Dropout(_DROPOUT),
            "lstm": torch.nn.LSTM(hidden, hidden, batch_first=True),
            "output": torch.nn.ParameterDict({"bias": torch.zeros(words + _SPECIAL)}),
        }
    )
    torch.nn.init.uniform_(network["embedding"].weight, -0.1, 0.1)
    return network


def _states_of(network: Any, sequences: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    """Return states, (tokens with ends, hidden), and the tokens to be predicted from them."""
    import torch

    targets = torch.nn.utils.rnn.pad_sequence(
        [torch.tensor([*sequence, _END]) for sequence in sequences], True, _END
    )
    lengths = torch.tensor([len(sequence) + 1 for sequence in sequences])
    real = torch.arange(targets.shape[1]) < lengths[:, None]
    inputs = torch.cat([torch.full((len(targets), 1), _START), targets[:, :-1]], dim=1)
    # A state knows only what was read before it: the padding after the end changes none.
    states, _ = network["lstm"](network["dropout"](network["embedding"](inputs)))
    return network["dropout"](states[real]), targets[real]


def _logits_of(network: Any, states: Any) -> Any:
    return states @ network["embedding"].weight.T + network["output"]["bias"]


def _losses_of(
    network: Any, sequences: Sequence[Sequence[int]]
) -> Iterator[tuple[list[int], Floats, Integers]]:
    """Yield batches of captions with a word: places, cross-entropies of all tokens, lengths."""
    import torch

    worded = [at for at, sequence in enumerate(sequences) if sequence]
    # The end is a token too.
    for batch in length_sorted([len(sequences[at]) + 1 for at in worded], _SCORED_TOKENS):
        places = [worded[at] for at in batch]
        with torch.inference_mode():
            states, targets = _states_of(network, [sequences[at] for at in places])
            parts = zip(states.split(_SCORED_TOKENS), targets.split(_SCORED_TOKENS), strict=True)
            losses = [
                torch.nn.functional.cross_entropy(_logits_of(network, x), y, reduction="none")
                for x, y in parts
            ]
        lengths = np.array([len(sequences[at]) + 1 for at in places])
        yield places, torch.cat(losses).double().numpy(), lengths


def _encoded(tokens: Mapping[str, int], captions: Sequence[Sequence[str]]) -> list[list[int]]:
    """Return the token numbers of captions' words."""
    return [[tokens.get(word, _UNKNOWN) for word in words] for words in captions]


class LanguageModel(PickledArguments, Scorer):
    """Fluency of captions by a recurrent language model (VIFIDEL, sections 4.2 and 4.4).

    A caption scores exp(-mean cross-entropy of its tokens), its end included: the inverse of its
    perplexity, in (0, 1]. A caption without a word says nothing and scores 0. Neither the image
    nor the references count; the references only give the image ids and their order. Words that
    the model does not know count as one rare word.

    Parameters
    ----------
    model : path
        A file that ``vifidel-eval train-lm`` or `train` wrote.

    Without PyTorch that is a `MetricUnavailable`; a file that is missing, damaged, or something
    else is a `VifidelError`.
    """

    @constructor
    def __init__(self, model: str | os.PathLike[str]) -> None:
        super().__init__()
        load_libraries("the language model", {"PyTorch": "torch"})
        content, digest = read_checkpoint(model, _MODEL, _REMEDY)
        try:
            words, weights = content["words"], content["weights"]
            network = _new_network(len(words), weights["embedding.weight"].shape[1])
            network.load_state_dict(weights)
            are_words = isinstance(words, list) and all(isinstance(word, str) for word in words)
            if not are_words or len(set(words)) < len(words):
                raise TypeError
            if not all(weight.isfinite().all() for weight in weights.values()):
                raise ValueError
        except Exception:  # something else, or something is missing or has another type or shape
            raise VifidelError(f"{model}: not a {_MODEL}, or damaged; {_REMEDY}.") from None
        self._tokens = {word: token for token, word in enumerate(words, _SPECIAL)}
        # In double precision the batch that a caption is scored in leaves no trace in 12 digits.
        self._network = network.double().eval()
        self._digest = digest[:8]

    def method(self) -> str:
        return "LM"

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        return self._pinned(f"model:{self._digest}", package="torch")

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        sequences = _encoded(self._tokens, caption_words(rows.captions))
        means = np.full(len(sequences), -np.inf)
        wordless = len(sequences)
        for places, losses, lengths in _losses_of(self._network, sequences):
            starts = np.cumsum(lengths) - lengths
            means[places] = np.minimum(-np.add.reduceat(losses, starts) / lengths, 0.0)
            wordless -= len(places)
            on_progress(len(places))
        on_progress(wordless)
        return {self.main: Evaluation(rows.ids, np.exp(means), counts={"no_words": wordless})}


register(
    Metric(
        "LM",
        "Fluency of the caption alone: inverse perplexity under a trained language model",
        LanguageModel,
        lambda settings: LanguageModel(settings.options["language_model"]),
        rank=110,
        references=False,
        options=(Option("language_model", "For LM: a model written by train-lm.", required=True),),
        packages=("torch",),
        papers=(MADHYASTHA_2019,),
    )
)


@dataclass(frozen=True)
class Training:
    """What a language model is trained with."""

    seed: int = option(0, "Random seed.", click.IntRange(0), section="")
    epochs: int = option(
        8, "Passes over all captions. The best epoch is kept.", click.IntRange(1), section=""
    )
    hidden: int = option(
        256, "Size of the LSTM's state and its word embeddings.", click.IntRange(1), section=""
    )
    min_count: int = option(5, "Words seen fewer times in training are ``<unk>``.", int)

    def __post_init__(self) -> None:
        check_whole(0, seed=self.seed)
        check_whole(1, epochs=self.epochs, hidden=self.hidden, min_count=self.min_count)


@dataclass(frozen=True)
class Epoch:
    """One pass of a training over all captions, the first with `number` 1."""

    number: int
    #: Of the validation captions after it, per token, their ends included; at least 1.
    perplexity: float
    #: Whether no epoch before was as good, and whether an earlier, interrupted run computed it.
    best: bool
    resumed: bool


def train(
    captions: Mapping[ImageId, Sequence[str]],
    output: str | os.PathLike[str],
    on_progress: Callable[[float], object] = lambda _: None,
    on_epoch: Callable[[Epoch], object] = lambda _: None,
    **settings: Any,
) -> list[Epoch]:
    """Train a language model as `Training` says; write its best epoch, and go on after a stop.

    The perplexity of captions of a twentieth of the images, set aside, says which is the best.
    """
    training = Training(**settings)
    (torch,) = load_libraries("the language model", {"PyTorch": "torch"})
    check_output(Path(output), [])
    seen, aside = _split(captions, training.seed)
    counts = Counter(word for words in seen for word in words)
    vocabulary = sorted(word for word, count in counts.items() if count >= training.min_count)
    tokens = {word: token for token, word in enumerate(vocabulary, _SPECIAL)}
    seen_sequences, aside_sequences = _encoded(tokens, seen), _encoded(tokens, aside)
    texts = json.dumps([[str(image_id), list(of_image)] for image_id, of_image in captions.items()])
    settings = {"captions": hashlib.sha256(texts.encode()).hexdigest(), **vars(training)}
    parts = Parts(Path(output))
    state = _read_state(parts, settings)
    threads = torch.get_num_threads() if state is None else state["threads"]
    done: list[Epoch] = []

    def report(perplexity: float, resumed: bool) -> None:
        best = all(perplexity < epoch.perplexity for epoch in done)
        done.append(Epoch(len(done) + 1, perplexity, best, resumed))
        on_epoch(done[-1])

    with ExitStack() as restored, torch.random.fork_rng(devices=[]):
        restored.callback(torch.set_num_threads, torch.get_num_threads())
        torch.set_num_threads(threads)  # sums depend on it
        _seed_torch(training.seed, 0)
        network = _new_network(len(vocabulary), training.hidden)
        adam = torch.optim.Adam(network.parameters())
        best = None
        if state is not None:
            network.load_state_dict(state["network"])
            adam.load_state_dict(state["adam"])
            best = state["best"]
            write_whole(output, _packed(best))  # it may have been moved away since
            for perplexity in state["perplexities"]:
                report(perplexity, resumed=True)
                on_progress(1.0)
        for epoch in range(len(done) + 1, training.epochs + 1):
            # So that no generator's state has to outlive an interruption.
            _seed_torch(training.seed, epoch)
            random = np.random.default_rng([training.seed, epoch])
            adam.param_groups[0]["lr"] = _LEARNING_RATE * (1 - (epoch - 1) / training.epochs)
            _train_epoch(network, adam, seen_sequences, random, on_progress)
            perplexity = _perplexity(network, aside_sequences)
            if best is None or perplexity < best["perplexity"]:
                best = _model(network, vocabulary, settings, epoch, perplexity)
                write_whole(output, _packed(best))
            perplexities = [*(before.perplexity for before in done), perplexity]
            packed = _packed(_state(network, adam, threads, perplexities, best))
            content = {"settings": settings, "packed": base64.b64encode(packed).decode()}
            parts.add(_STATE, content, alone=True)
            report(perplexity, resumed=False)
    parts.clear()
    return done


def _seed_torch(seed: int, epoch: int) -> None:
    import torch

    state = np.random.SeedSequence([seed, epoch]).generate_state(1)
    torch.manual_seed(int(state[0]))


def _model(
    network: Any,
    vocabulary: Sequence[str],
    settings: Mapping[str, Any],
    epoch: int,
    perplexity: float,
) -> dict[str, Any]:
    """Return what a model's file holds."""
    return {
        "format": _MODEL,
        "words": vocabulary,
        "weights": {name: weights.clone() for name, weights in network.state_dict().items()},
        "settings": settings,
        "epoch": epoch,
        "perplexity": perplexity,
    }


def _state(
    network: Any, adam: Any, threads: int, perplexities: list[float], best: dict[str, Any]
) -> dict[str, Any]:
    """Return what an unfinished training goes on from."""
    return {
        "threads": threads,
        "network": network.state_dict(),
        "adam": adam.state_dict(),
        "perplexities": perplexities,
        "best": best,
    }


def _train_epoch(
    network: Any,
    adam: Any,
    sequences: list[list[int]],
    random: np.random.Generator,
    on_progress: Callable[[float], object],
) -> None:
    import torch

    network.train()
    lengths = np.array([len(sequence) for sequence in sequences])
    order = random.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), _POOL * _BATCH):
        pool = order[start : start + _POOL * _BATCH]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[at : at + _BATCH] for at in range(0, len(pool), _BATCH)]
    for batch in (batches[at] for at in random.permutation(len(batches))):
        states, targets = _states_of(network, [sequences[at] for at in batch])
        loss = torch.nn.functional.cross_entropy(_logits_of(network, states), targets)
        adam.zero_grad()
        loss.backward()
        adam.step()
        on_progress(len(batch) / len(sequences))


def _perplexity(network: Any, sequences: list[list[int]]) -> float:
    network.eval()
    losses = [losses for _, losses, _ in _losses_of(network, sequences)]
    return float(np.exp(np.concatenate(losses).mean()))


def _split(
    captions: Mapping[ImageId, Sequence[str]], seed: int
) -> tuple[list[list[str]], list[list[str]]]:
    """Return the words of training and of validation captions; an image's stay together."""
    images = [list(filter(None, caption_words(texts))) for texts in captions.values()]
    images = list(filter(None, images))
    if len(images) < 2:
        raise VifidelError(
            f"training needs captions of at least two images; {len(images)} of these "
            f"{len(captions)} images have a caption with a word."
        )
    order = np.random.default_rng([seed, 0]).permutation(len(images))
    aside = set(order[: max(1, round(_VALIDATION_SHARE * len(images)))].tolist())
    training = [words for at, image in enumerate(images) if at not in aside for words in image]
    return training, [words for at, image in enumerate(images) if at in aside for words in image]


def _packed(content: dict[str, Any]) -> bytes:
    import torch

    torch.save(content, buffer := io.BytesIO())
    return buffer.getvalue()


def _read_state(parts: Parts, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the state of an unfinished training, if there is one, of these settings."""
    import torch

    if _STATE not in parts and not parts.damaged:
        return None
    remedy = "delete it to train from the start"
    try:
        part = parts[_STATE]
        saved = {name: part["settings"][name] for name in settings}
        packed = io.BytesIO(base64.b64decode(part["packed"], validate=True))
        state: dict[str, Any] = torch.load(packed, map_location="cpu", weights_only=True)
    except Exception:  # PyTorch raises nearly anything for files of others
        # The hours in it are not thrown away unasked.
        raise VifidelError(f"{parts.path}: not a {_STATE}, or damaged; {remedy}.") from None
    if different := [name for name in settings if saved[name] != settings[name]]:
        was = ", ".join(
            "other captions" if name == "captions" else f"{name} {saved[name]}"
            for name in different
        )
        raise VifidelError(
            f"{parts.path}: an unfinished training with {was}; repeat that command to finish it, "
            f"or {remedy}."
        )
    return state
