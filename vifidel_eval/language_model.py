"""A recurrent language model of caption words (VIFIDEL, sections 4.2 and 4.4).

An LSTM reads a caption word by word and gives each next word, and the caption's end, a
probability. Words are lower-case runs of letters and digits, stop words and the article *a*
included; a raw caption and its Penn Treebank tokenisation give the same ones. Words that are
rare in training count as one word, ``<unk>``.

PyTorch does the work (``pip install 'vifidel-eval[lm]'``) and is loaded when first used.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import VifidelError
from .files import check_output, write_whole
from .image_ids import ImageId
from .pytorch import length_sorted, load_torch, read_checkpoint
from .words import END, piece_runs, pieces

# What needs PyTorch, and the extra that installs it.
_NEEDS_TORCH = ("the language model", "lm")

# The first token numbers; the words of the vocabulary follow.
_END, _START, _UNKNOWN = range(3)
_SPECIAL = 3

_MODEL = "vifidel-eval language model 1"
_STATE = "vifidel-eval training state 1"

_VALIDATION_SHARE = 0.05
_BATCH = 64
# Captions of like length make a batch, so that little of it is padding; they are sorted in pools
# of this many batches, so that an epoch's batches stay random.
_POOL = 64
_LEARNING_RATE = 5e-3  # of the first epoch; it falls linearly
_DROPOUT = 0.3
# How many tokens are scored at once: bounds memory.
_SCORED_TOKENS = 2048


def caption_words(captions: Iterable[str]) -> list[list[str]]:
    """Return the words of each caption, in order.

    Examples
    --------
    >>> caption_words(["A dog isn't a T-shirt.", "..."])
    [['a', 'dog', 'is', 'a', 't', 'shirt'], []]
    """
    words: list[list[str]] = []
    caption: list[str] = []
    runs: dict[str, list[str]] = {}
    for piece in pieces(captions):
        if piece == END:
            words.append(caption)
            caption = []
        else:
            if piece not in runs:
                runs[piece] = piece_runs(piece)
            caption += runs[piece]
    return words


@dataclass(frozen=True)
class Epoch:
    """One pass of a training over all captions.

    Attributes
    ----------
    number : int
        From 1.
    perplexity : float
        Of the validation captions after it, per token, their ends included; at least 1.
    best : bool
        Whether no epoch before was as good; the output file holds the best one.
    resumed : bool
        Whether an earlier, interrupted run computed it.
    """

    number: int
    perplexity: float
    best: bool
    resumed: bool


class WordModel:
    """A trained language model.

    Parameters
    ----------
    words : sequence of str
        The vocabulary, in the order of the network's tokens after the three special ones.
    network : torch.nn.ModuleDict
        As `train` makes it.
    digest : str
        SHA-256 of the file it comes from, hexadecimal.
    """

    def __init__(self, words: Sequence[str], network: Any, digest: str) -> None:
        self._tokens = {word: token for token, word in enumerate(words, _SPECIAL)}
        # In double precision the batch that a caption is scored in leaves no trace in 12 digits.
        self._network = network.double().eval()
        self.digest = digest

    def log_probabilities(
        self, captions: Sequence[str], on_progress: Callable[[int], object] | None = None
    ) -> NDArray[np.float64]:
        """Return the mean log-probability of each caption's tokens, its end included.

        Parameters
        ----------
        captions : sequence of str
            Raw or tokenised.
        on_progress : callable, optional
            Called with the number of captions just scored.

        Returns
        -------
        (number of captions,) float64
            Natural logarithms, at most 0; NaN for a caption without a word.
        """
        sequences = [_encoded(self._tokens, words) for words in caption_words(captions)]
        means = np.full(len(sequences), np.nan)
        done = 0
        for batch in _length_sorted(sequences):
            losses, lengths = _losses(self._network, [sequences[at] for at in batch])
            starts = np.cumsum(lengths) - lengths
            means[batch] = np.minimum(-np.add.reduceat(losses, starts) / lengths, 0.0)
            done += len(batch)
            if on_progress is not None:
                on_progress(len(batch))
        if on_progress is not None and done < len(sequences):
            on_progress(len(sequences) - done)  # those without a word
        return means


def load(path: str | os.PathLike[str]) -> WordModel:
    """Return the language model that `train` wrote to a file.

    Raises
    ------
    MetricUnavailable
        If PyTorch is not installed.
    VifidelError
        If the file cannot be read, is damaged, or is something else.
    """
    torch = load_torch(*_NEEDS_TORCH)
    content, digest = _read(torch, path, _MODEL, "get it again or train it anew")
    try:
        words, weights = content["words"], content["weights"]
        hidden = weights["embedding.weight"].shape[1]
        # Before a network of that size is made: the shape that the file really holds.
        fits = weights["embedding.weight"].shape[0] == len(words) + _SPECIAL
        finite = all(bool(torch.isfinite(weight).all()) for weight in weights.values())
        if not fits or not finite or len(set(words)) < len(words):
            raise ValueError
        network = _network(torch, len(words), hidden)
        network.load_state_dict(weights)
    except Exception:  # whatever is missing or of another type or shape
        raise VifidelError(
            f"{path}: the language model in it is damaged; get it again or train it anew."
        ) from None
    return WordModel(words, network, digest)


def state_path(output: str | os.PathLike[str]) -> Path:
    """Return the file that holds an unfinished training of `output`."""
    return Path(f"{os.fspath(output)}.training")


def train(
    captions: Mapping[ImageId, Sequence[str]],
    output: str | os.PathLike[str],
    seed: int = 0,
    epochs: int = 8,
    hidden: int = 256,
    min_count: int = 5,
    on_progress: Callable[[float], object] | None = None,
    on_epoch: Callable[[Epoch], object] | None = None,
) -> list[Epoch]:
    """Train a language model and write its best epoch to a file.

    One twentieth of the images is set aside; after each epoch the perplexity of their captions
    decides whether the epoch is the best. `output` holds the best epoch so far, whole, from the
    first epoch on. Beside it, in `state_path`, stands all that the next epoch needs: the same
    call after an interruption goes on from the last complete epoch and ends with the same file
    as a training that was not interrupted. A complete training removes the state.

    Equal arguments give equal files on one machine: the number of threads is kept through an
    interruption, but another processor or release of PyTorch may round differently.

    Parameters
    ----------
    captions : mapping
        Image id to captions, as `vifidel_eval.captions.read_references` returns them.
    output : path
        File to write.
    seed : int
        Decides the validation images, the first weights, the order of batches and the dropout;
        at least 0.
    epochs : int
        Passes over all captions; at least 1.
    hidden : int
        Size of the LSTM's state and of its word embeddings; at least 1.
    min_count : int
        Words seen fewer times in training are ``<unk>``.
    on_progress : callable, optional
        Called with the share of an epoch just done; in all it adds up to `epochs`.
    on_epoch : callable, optional
        Called after each epoch, and first for those of an interrupted run.

    Returns
    -------
    list of Epoch
        All epochs, those of an interrupted run included.

    Raises
    ------
    MetricUnavailable
        If PyTorch is not installed.
    VifidelError
        If a number is too small, fewer than two images have a caption with a word, a file cannot
        be written, or the unfinished training beside `output` is damaged or has other captions or
        settings.
    """
    if seed < 0 or min(epochs, hidden, min_count) < 1:
        raise VifidelError(
            "seed must be at least 0, epochs, hidden and min_count at least 1; found "
            f"{seed}, {epochs}, {hidden} and {min_count}."
        )
    torch = load_torch(*_NEEDS_TORCH)
    check_output(Path(output), [])
    training, validation = _split(captions, seed)
    counts = Counter(word for words in training for word in words)
    vocabulary = sorted(word for word, count in counts.items() if count >= min_count)
    tokens = {word: token for token, word in enumerate(vocabulary, _SPECIAL)}
    training_sequences = [_encoded(tokens, words) for words in training]
    validation_sequences = [_encoded(tokens, words) for words in validation]
    settings = {
        "captions": _digest(captions),
        "seed": seed,
        "epochs": epochs,
        "hidden": hidden,
        "min_count": min_count,
    }
    state = _read_state(torch, state_path(output), settings)
    threads = torch.get_num_threads() if state is None else state["threads"]
    report = _Report(on_epoch)
    with _repeatable(torch, threads):
        _seed_torch(torch, seed, 0)
        network = _network(torch, len(vocabulary), hidden)
        adam = torch.optim.Adam(network.parameters(), lr=_LEARNING_RATE)
        best = None
        if state is not None:
            network.load_state_dict(state["network"])
            adam.load_state_dict(state["adam"])
            best = state["best"]
            write_whole(output, _packed(torch, best))  # it may have been moved away since
            for perplexity in state["perplexities"]:
                report.add(perplexity, resumed=True)
                if on_progress is not None:
                    on_progress(1.0)
        for epoch in range(len(report.epochs) + 1, epochs + 1):
            # Each epoch seeds itself, so no generator's state has to outlive an interruption.
            _seed_torch(torch, seed, epoch)
            random = np.random.default_rng([seed, epoch])
            for group in adam.param_groups:
                group["lr"] = _LEARNING_RATE * (1 - (epoch - 1) / epochs)
            _train_epoch(network, adam, training_sequences, random, on_progress)
            perplexity = _perplexity(network, validation_sequences)
            perplexities = [*(done.perplexity for done in report.epochs), perplexity]
            if best is None or perplexity < best["perplexity"]:
                best = {
                    "format": _MODEL,
                    "words": vocabulary,
                    "weights": _weights(network),
                    "settings": settings,
                    "epoch": epoch,
                    "perplexity": perplexity,
                }
                write_whole(output, _packed(torch, best))
            state = {
                "format": _STATE,
                "settings": settings,
                "threads": threads,
                "network": _weights(network),
                "adam": adam.state_dict(),
                "perplexities": perplexities,
                "best": best,
            }
            write_whole(state_path(output), _packed(torch, state))
            report.add(perplexity, resumed=False)
    state_path(output).unlink(missing_ok=True)
    return report.epochs


class _Report:
    """Tells the caller of epochs and keeps them."""

    def __init__(self, on_epoch: Callable[[Epoch], object] | None) -> None:
        self.epochs: list[Epoch] = []
        self._on_epoch = on_epoch

    def add(self, perplexity: float, resumed: bool) -> None:
        best = all(perplexity < epoch.perplexity for epoch in self.epochs)
        self.epochs.append(Epoch(len(self.epochs) + 1, perplexity, best, resumed))
        if self._on_epoch is not None:
            self._on_epoch(self.epochs[-1])


def _network(torch: ModuleType, words: int, hidden: int) -> Any:
    """Return the untrained network; it reads and predicts words with the same embeddings."""
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


def _states(network: Any, sequences: list[NDArray[np.int64]]) -> tuple[Any, Any]:
    """Run the network over captions; return its states and what it should predict from them.

    Returns
    -------
    states : (tokens, hidden) tensor
    targets : (tokens,) int64 tensor
        Token numbers of one caption after the other, an end after each.
    """
    torch = load_torch(*_NEEDS_TORCH)
    lengths = np.array([len(sequence) for sequence in sequences]) + 1
    real = np.arange(lengths.max()) < lengths[:, np.newaxis]
    targets = np.full(real.shape, _END)
    for row, sequence in zip(targets, sequences, strict=True):
        row[: len(sequence)] = sequence
    read = np.concatenate([np.full((len(targets), 1), _START), targets[:, :-1]], axis=1)
    embedded = network["dropout"](network["embedding"](torch.from_numpy(read)))
    # A state knows only what was read before it: the padding after the end changes none.
    states, _ = network["lstm"](embedded)
    return network["dropout"](states[torch.from_numpy(real)]), torch.from_numpy(targets[real])


def _logits(network: Any, states: Any) -> Any:
    return states @ network["embedding"].weight.T + network["output"]["bias"]


def _losses(
    network: Any, sequences: list[NDArray[np.int64]]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the cross-entropy of each token, and how many tokens each caption has."""
    torch = load_torch(*_NEEDS_TORCH)
    with torch.inference_mode():
        states, targets = _states(network, sequences)
        losses = [
            torch.nn.functional.cross_entropy(_logits(network, some), target, reduction="none")
            for some, target in zip(
                states.split(_SCORED_TOKENS), targets.split(_SCORED_TOKENS), strict=True
            )
        ]
        lengths = np.array([len(sequence) + 1 for sequence in sequences])
        return torch.cat(losses).double().numpy(), lengths


def _train_epoch(
    network: Any,
    adam: Any,
    sequences: list[NDArray[np.int64]],
    random: np.random.Generator,
    on_progress: Callable[[float], object] | None,
) -> None:
    torch = load_torch(*_NEEDS_TORCH)
    network.train()
    for batch in _random_batches([len(sequence) for sequence in sequences], random):
        states, targets = _states(network, [sequences[at] for at in batch])
        loss = torch.nn.functional.cross_entropy(_logits(network, states), targets)
        adam.zero_grad()
        loss.backward()
        adam.step()
        if on_progress is not None:
            on_progress(len(batch) / len(sequences))


def _perplexity(network: Any, sequences: list[NDArray[np.int64]]) -> float:
    network.eval()
    losses = [
        _losses(network, [sequences[at] for at in batch])[0] for batch in _length_sorted(sequences)
    ]
    return float(np.exp(np.concatenate(losses).mean()))


def _random_batches(lengths: list[int], random: np.random.Generator) -> list[NDArray[np.int64]]:
    order = random.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), _POOL * _BATCH):
        pool = order[start : start + _POOL * _BATCH]
        pool = pool[np.argsort(np.array(lengths)[pool], kind="stable")]
        batches += [pool[at : at + _BATCH] for at in range(0, len(pool), _BATCH)]
    return [batches[at] for at in random.permutation(len(batches))]


def _length_sorted(sequences: list[NDArray[np.int64]]) -> Iterator[list[int]]:
    """Yield batches of the captions that have a word, short ones first."""
    worded = [at for at, sequence in enumerate(sequences) if len(sequence)]
    # The end is a token too.
    for batch in length_sorted([len(sequences[at]) + 1 for at in worded], _SCORED_TOKENS):
        yield [worded[at] for at in batch]


def _encoded(tokens: Mapping[str, int], words: Sequence[str]) -> NDArray[np.int64]:
    return np.array([tokens.get(word, _UNKNOWN) for word in words], dtype=np.int64)


def _split(
    captions: Mapping[ImageId, Sequence[str]], seed: int
) -> tuple[list[list[str]], list[list[str]]]:
    """Return the words of training and of validation captions; an image's stay together."""
    numbers = [len(texts) for texts in captions.values()]
    words = iter(caption_words(text for texts in captions.values() for text in texts))
    images = [[caption for caption in islice(words, number) if caption] for number in numbers]
    images = [image for image in images if image]
    if len(images) < 2:
        raise VifidelError(
            f"a language model is trained on captions of two images or more; {len(images)} of "
            f"these {len(numbers)} images have a caption with a word."
        )
    order = np.random.default_rng([seed, 0]).permutation(len(images))
    aside = max(1, round(_VALIDATION_SHARE * len(images)))
    validation = set(order[:aside].tolist())
    parts: tuple[list[list[str]], list[list[str]]] = ([], [])
    for number, image in enumerate(images):
        parts[number in validation].extend(image)
    return parts


def _digest(captions: Mapping[ImageId, Sequence[str]]) -> str:
    content = [[str(image_id), list(texts)] for image_id, texts in captions.items()]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def _weights(network: Any) -> dict[str, Any]:
    return {name: weight.clone() for name, weight in network.state_dict().items()}


@contextmanager
def _repeatable(torch: ModuleType, threads: int) -> Iterator[None]:
    """Use so many threads, as sums depend on it; leave PyTorch as the caller had it."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(before)


def _seed_torch(torch: ModuleType, seed: int, epoch: int) -> None:
    torch.manual_seed(int(np.random.SeedSequence([seed, epoch]).generate_state(1)[0]))


def _packed(torch: ModuleType, content: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


def _read(
    torch: ModuleType, path: str | os.PathLike[str], kind: str, remedy: str
) -> tuple[dict[str, Any], str]:
    """Return the content of one of our files and its SHA-256; no code in it can run."""
    content, digest = read_checkpoint(torch, path, kind, remedy)
    if not isinstance(content, dict) or content.get("format") != kind:
        raise VifidelError(f"{path}: no {kind}, or damaged; {remedy}.")
    return content, digest


def _read_state(
    torch: ModuleType, path: Path, settings: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the state of an unfinished training, if there is one, of these settings."""
    if not path.exists():
        return None
    remedy = "delete it to train from the start"
    state, _ = _read(torch, path, _STATE, remedy)
    other = [name for name in settings if state["settings"][name] != settings[name]]
    if other:
        was = ", ".join(
            "other captions" if name == "captions" else f"{name} {state['settings'][name]}"
            for name in other
        )
        raise VifidelError(
            f"{path}: an unfinished training with {was}; repeat that command to finish it, or "
            f"{remedy}."
        )
    return state
