"""Training of the language model, resumed where it was interrupted."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from ...errors import VifidelError
from ...io.files import write_whole
from ...io.image_ids import ImageId
from ...io.options import check_whole, option, taking
from ...io.records import Parts, check_output
from ..pytorch import load_libraries
from .lm import (
    MODEL,
    SPECIAL,
    caption_words,
    encoded,
    logits_of,
    losses_of,
    new_network,
    states_of,
)

_STATE = "vifidel-eval training state 1"

_VALIDATION_SHARE = 0.05
_BATCH = 64
# Captions of similar length make a batch, so that little of it is padding; they are sorted in pools
# of this many batches, so that an epoch's batches stay random.
_POOL = 64
_LEARNING_RATE = 5e-3  # of the first epoch; it falls linearly


@dataclass(frozen=True)
class Training:
    """What a language model is trained with."""

    seed: int = option(0, "Seed of all randomness.", click.IntRange(0), section="")
    epochs: int = option(
        8, "Passes over all captions; the best one is kept.", click.IntRange(1), section=""
    )
    hidden: int = option(
        256, "Size of the LSTM's state and of its word embeddings.", click.IntRange(1), section=""
    )
    min_count: int = option(5, "Words seen fewer times in training are ``<unk>``.", int)


@dataclass(frozen=True)
class Epoch:
    """One pass of a training over all captions."""

    #: From 1.
    number: int
    #: Of the validation captions after it, per token, their ends included; at least 1.
    perplexity: float
    #: Whether no epoch before was as good; the output file holds the best one.
    best: bool
    #: Whether an earlier, interrupted run computed it.
    resumed: bool


@taking(Training)
def train(
    captions: Mapping[ImageId, Sequence[str]],
    output: str | os.PathLike[str],
    on_progress: Callable[[float], object] = lambda _: None,
    on_epoch: Callable[[Epoch], object] = lambda _: None,
    **settings: Any,
) -> list[Epoch]:
    """Train a language model and write its best epoch to a file.

    One twentieth of the images is set aside; the perplexity of their captions decides which epoch
    is the best. After an interruption the same call continues from the last complete epoch, whose
    state is in a file ``.unfinished`` beside `output`, and ends with the same file.

    Parameters
    ----------
    captions : mapping
        Image id to captions, as `vifidel_eval.captions.read_references` returns them.
    output : path
        File to write.
    on_progress, on_epoch : callable
        Called with the share of an epoch just done, and with each epoch; all epochs, those of an
        interrupted run first, are returned too.
    **settings
        No others.

    Raises
    ------
    VifidelError
        If a number is too small, fewer than two images have a caption with a word, a file cannot
        be written, or the unfinished training is damaged or has other captions or settings.
    """
    seed, epochs, hidden, min_count = vars(Training(**settings)).values()
    check_whole(0, seed=seed)
    check_whole(1, epochs=epochs, hidden=hidden, min_count=min_count)
    (torch,) = load_libraries("the language model", {"PyTorch": "torch"})
    check_output(Path(output), [])
    training, validation = _split(captions, seed)
    counts = Counter(word for words in training for word in words)
    vocabulary = sorted(word for word, count in counts.items() if count >= min_count)
    tokens = {word: token for token, word in enumerate(vocabulary, SPECIAL)}
    training_sequences = [encoded(tokens, words) for words in training]
    validation_sequences = [encoded(tokens, words) for words in validation]
    texts = json.dumps([[str(image_id), list(own)] for image_id, own in captions.items()])
    settings = {
        "captions": hashlib.sha256(texts.encode()).hexdigest(),
        **vars(Training(**settings)),
    }
    parts = Parts(Path(output))
    state = _read_state(parts, settings)
    threads = torch.get_num_threads() if state is None else state["threads"]
    done: list[Epoch] = []

    def report(perplexity: float, resumed: bool) -> None:
        best = all(perplexity < epoch.perplexity for epoch in done)
        done.append(Epoch(len(done) + 1, perplexity, best, resumed))
        on_epoch(done[-1])

    with _repeatable(threads):
        _seed_torch(seed, 0)
        network = new_network(len(vocabulary), hidden)
        adam = torch.optim.Adam(network.parameters(), lr=_LEARNING_RATE)
        best = None
        if state is not None:
            network.load_state_dict(state["network"])
            adam.load_state_dict(state["adam"])
            best = state["best"]
            write_whole(output, _packed(best))  # it may have been moved away since
            for perplexity in state["perplexities"]:
                report(perplexity, resumed=True)
                on_progress(1.0)
        for epoch in range(len(done) + 1, epochs + 1):
            # Each epoch seeds itself, so no generator's state has to outlive an interruption.
            _seed_torch(seed, epoch)
            random = np.random.default_rng([seed, epoch])
            for group in adam.param_groups:
                group["lr"] = _LEARNING_RATE * (1 - (epoch - 1) / epochs)
            _train_epoch(network, adam, training_sequences, random, on_progress)
            perplexity = _perplexity(network, validation_sequences)
            if best is None or perplexity < best["perplexity"]:
                best = {
                    "format": MODEL,
                    "words": vocabulary,
                    "weights": {name: own.clone() for name, own in network.state_dict().items()},
                    "settings": settings,
                    "epoch": epoch,
                    "perplexity": perplexity,
                }
                write_whole(output, _packed(best))
            state = {
                "threads": threads,
                "network": network.state_dict(),
                "adam": adam.state_dict(),
                "perplexities": [*(before.perplexity for before in done), perplexity],
                "best": best,
            }
            packed = base64.b64encode(_packed(state)).decode()
            parts.add(_STATE, {"settings": settings, "packed": packed}, alone=True)
            report(perplexity, resumed=False)
    parts.clear()
    return done


def _train_epoch(
    network: Any,
    adam: Any,
    sequences: list[list[int]],
    random: np.random.Generator,
    on_progress: Callable[[float], object],
) -> None:
    import torch

    network.train()
    for batch in _random_batches([len(sequence) for sequence in sequences], random):
        states, targets = states_of(network, [sequences[at] for at in batch])
        loss = torch.nn.functional.cross_entropy(logits_of(network, states), targets)
        adam.zero_grad()
        loss.backward()
        adam.step()
        on_progress(len(batch) / len(sequences))


def _perplexity(network: Any, sequences: list[list[int]]) -> float:
    network.eval()
    losses = [losses for _, losses, _ in losses_of(network, sequences)]
    return float(np.exp(np.concatenate(losses).mean()))


def _random_batches(lengths: list[int], random: np.random.Generator) -> list[NDArray[np.int64]]:
    order = random.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), _POOL * _BATCH):
        pool = order[start : start + _POOL * _BATCH]
        pool = pool[np.argsort(np.array(lengths)[pool], kind="stable")]
        batches += [pool[at : at + _BATCH] for at in range(0, len(pool), _BATCH)]
    return [batches[at] for at in random.permutation(len(batches))]


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


@contextmanager
def _repeatable(threads: int) -> Iterator[None]:
    """Use so many threads, as sums depend on it; leave PyTorch as the caller had it."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(before)


def _seed_torch(seed: int, epoch: int) -> None:
    import torch

    torch.manual_seed(int(np.random.SeedSequence([seed, epoch]).generate_state(1)[0]))


def _packed(content: dict[str, Any]) -> bytes:
    import torch

    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


def _read_state(parts: Parts, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the state of an unfinished training, if there is one, of these settings."""
    import torch

    if _STATE not in parts and not parts.damaged:
        return None
    remedy = "delete it to train from the start"
    try:
        if parts.damaged:  # the hours in it are not thrown away unasked
            raise ValueError
        known = parts[_STATE]["settings"]
        other = [name for name in settings if known[name] != settings[name]]
        packed = base64.b64decode(parts[_STATE]["packed"], validate=True)
        state: dict[str, Any] = torch.load(
            io.BytesIO(packed), map_location="cpu", weights_only=True
        )
    except Exception:  # PyTorch raises nearly anything for what it did not write
        raise VifidelError(f"{parts.path}: not a {_STATE}, or damaged; {remedy}.") from None
    if other:
        was = ", ".join(
            "other captions" if name == "captions" else f"{name} {known[name]}" for name in other
        )
        raise VifidelError(
            f"{parts.path}: an unfinished training with {was}; repeat that command to finish it, "
            f"or {remedy}."
        )
    return state
