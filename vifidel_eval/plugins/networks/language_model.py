"""A recurrent language model of caption words (VIFIDEL, sections 4.2 and 4.4).

An LSTM reads a caption word by word and gives each next word, and the caption's end, a
probability. Words are lower-case runs of letters and digits, stop words and the article *a*
included; a raw caption and its Penn Treebank tokenisation give the same ones. Words that are
rare in training count as one word, ``<unk>``. `vifidel_eval.plugins.networks.language_training`
trains one.

PyTorch does the work and is loaded when first used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import VifidelError
from ...words.content_words import END, piece_runs, pieces
from ..pytorch import length_sorted, load_torch, read_checkpoint

#: What needs PyTorch, and the extra that installs it.
NEEDED_BY = "the language model"

# The first token numbers; the words of the vocabulary follow.
_END, _START, _UNKNOWN = range(3)
#: How many tokens are no words.
SPECIAL = 3

#: What a model's file says of itself.
MODEL = "vifidel-eval language model 1"

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


class WordModel:
    """A trained language model.

    Parameters
    ----------
    words : sequence of str
        The vocabulary, in the order of the network's tokens after the three special ones.
    network : torch.nn.ModuleDict
        As `new_network` makes it.
    digest : str
        SHA-256 of the file it comes from, hexadecimal.
    """

    def __init__(self, words: Sequence[str], network: Any, digest: str) -> None:
        self._tokens = {word: token for token, word in enumerate(words, SPECIAL)}
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
        sequences = [encoded(self._tokens, words) for words in caption_words(captions)]
        means = np.full(len(sequences), np.nan)
        done = 0
        for batch in batches_of(sequences):
            losses, lengths = losses_of(self._network, [sequences[at] for at in batch])
            starts = np.cumsum(lengths) - lengths
            means[batch] = np.minimum(-np.add.reduceat(losses, starts) / lengths, 0.0)
            done += len(batch)
            if on_progress is not None:
                on_progress(len(batch))
        if on_progress is not None and done < len(sequences):
            on_progress(len(sequences) - done)  # those without a word
        return means


def load(path: str | os.PathLike[str]) -> WordModel:
    """Return the language model that training wrote to a file.

    Raises
    ------
    MetricUnavailable
        If PyTorch is not installed.
    VifidelError
        If the file cannot be read, is damaged, or is something else.
    """
    torch = load_torch(NEEDED_BY)
    content, digest = read_own(torch, path, MODEL, "get a fresh copy or train a new one")
    try:
        words, weights = content["words"], content["weights"]
        hidden = weights["embedding.weight"].shape[1]
        # Before a network of that size is made: the shape that the file really holds.
        fits = weights["embedding.weight"].shape[0] == len(words) + SPECIAL
        finite = all(bool(torch.isfinite(weight).all()) for weight in weights.values())
        if not fits or not finite or len(set(words)) < len(words):
            raise ValueError
        network = new_network(torch, len(words), hidden)
        network.load_state_dict(weights)
    except Exception:  # something is missing, or has another type or shape
        raise VifidelError(
            f"{path}: the language model in it is damaged; get a fresh copy or train a new one."
        ) from None
    return WordModel(words, network, digest)


def new_network(torch: ModuleType, words: int, hidden: int) -> Any:
    """Return the untrained network; it reads and predicts words with the same embeddings."""
    network = torch.nn.ModuleDict(
        {
            "embedding": torch.nn.Embedding(words + SPECIAL, hidden),
            "dropout": torch.nn.Dropout(_DROPOUT),
            "lstm": torch.nn.LSTM(hidden, hidden, batch_first=True),
            "output": torch.nn.ParameterDict({"bias": torch.zeros(words + SPECIAL)}),
        }
    )
    torch.nn.init.uniform_(network["embedding"].weight, -0.1, 0.1)
    return network


def states_of(network: Any, sequences: list[NDArray[np.int64]]) -> tuple[Any, Any]:
    """Run the network over captions; return its states and what it should predict from them.

    Returns
    -------
    states : (tokens, hidden) tensor
    targets : (tokens,) int64 tensor
        Token numbers of one caption after the other, an end after each.
    """
    torch = load_torch(NEEDED_BY)
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


def logits_of(network: Any, states: Any) -> Any:
    """Return what the network makes of each state: (tokens, number of tokens that it knows)."""
    return states @ network["embedding"].weight.T + network["output"]["bias"]


def losses_of(
    network: Any, sequences: list[NDArray[np.int64]]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the cross-entropy of each token, and how many tokens each caption has."""
    torch = load_torch(NEEDED_BY)
    with torch.inference_mode():
        states, targets = states_of(network, sequences)
        losses = [
            torch.nn.functional.cross_entropy(logits_of(network, some), target, reduction="none")
            for some, target in zip(
                states.split(_SCORED_TOKENS), targets.split(_SCORED_TOKENS), strict=True
            )
        ]
        lengths = np.array([len(sequence) + 1 for sequence in sequences])
        return torch.cat(losses).double().numpy(), lengths


def batches_of(sequences: list[NDArray[np.int64]]) -> Iterator[list[int]]:
    """Yield batches of the captions that have a word, short ones first."""
    worded = [at for at, sequence in enumerate(sequences) if len(sequence)]
    # The end is a token too.
    for batch in length_sorted([len(sequences[at]) + 1 for at in worded], _SCORED_TOKENS):
        yield [worded[at] for at in batch]


def encoded(tokens: Mapping[str, int], words: Sequence[str]) -> NDArray[np.int64]:
    """Return the token numbers of a caption's words."""
    return np.array([tokens.get(word, _UNKNOWN) for word in words], dtype=np.int64)


def read_own(
    torch: ModuleType, path: str | os.PathLike[str], kind: str, remedy: str
) -> tuple[dict[str, Any], str]:
    """Return the content of one of our files and its SHA-256; no code in it can run."""
    content, digest = read_checkpoint(torch, path, kind, remedy)
    if not isinstance(content, dict) or content.get("format") != kind:
        raise VifidelError(f"{path}: not a {kind}, or damaged; {remedy}.")
    return content, digest
