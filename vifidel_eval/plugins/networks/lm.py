"""Fluency: how likely a caption is as a sentence, regardless of its image.

An LSTM reads a caption word by word and gives each next word, and the caption's end, a probability
(VIFIDEL, sections 4.2 and 4.4). Words are lower-case runs of letters and digits; those that are
rare in training count as one word, ``<unk>``. `language_training` trains one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ...captions.rows import Rows
from ...errors import VifidelError
from ...evaluation import Evaluation, Floats, Integers
from ...io.image_ids import ImageId
from ...io.options import Option
from ...kernels.bags import joined
from ...scorers.base import Progress, Scorer
from ...scorers.papers import MADHYASTHA_2019
from ...scorers.record import Metric
from ...scorers.registry import register
from ...words.content_words import END, piece_runs
from ..pytorch import MadeAgain, length_sorted, load_libraries, read_checkpoint

# The first token numbers; the words of the vocabulary follow.
_END, _START, _UNKNOWN = range(3)
#: How many tokens are no words.
SPECIAL = 3

#: What a model's file says of itself.
MODEL = "vifidel-eval language model 1"
_REMEDY = "get a fresh copy or train a new one"

_DROPOUT = 0.3
# How many tokens are scored at once: bounds memory.
_SCORED_TOKENS = 2048


def caption_words(captions: Iterable[str]) -> list[list[str]]:
    """Return the words of each caption, in order.

    >>> caption_words(["A dog isn't a T-shirt.", "..."])
    [['a', 'dog', 'is', 'a', 't', 'shirt'], []]
    """
    words: list[list[str]] = [[]]
    runs = cache(piece_runs)
    for piece in joined(captions).split():
        if piece == END:
            words.append([])
        else:
            words[-1] += runs(piece)
    return words[:-1]


def new_network(words: int, hidden: int) -> Any:
    """Return the untrained network; it reads and predicts words with the same embeddings."""
    import torch

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


def states_of(network: Any, sequences: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    """Return states, (tokens with ends, hidden), and the tokens to be predicted from them."""
    import torch

    targets = torch.nn.utils.rnn.pad_sequence(
        [torch.tensor([*sequence, _END]) for sequence in sequences], True, _END
    )
    lengths = torch.tensor([len(sequence) + 1 for sequence in sequences])
    real = torch.arange(targets.shape[1]) < lengths[:, None]
    read = torch.cat([torch.full((len(targets), 1), _START), targets[:, :-1]], dim=1)
    # A state knows only what was read before it: the padding after the end changes none.
    states, _ = network["lstm"](network["dropout"](network["embedding"](read)))
    return network["dropout"](states[real]), targets[real]


def logits_of(network: Any, states: Any) -> Any:
    """Return what the network makes of each state: (tokens, number of tokens that it knows)."""
    return states @ network["embedding"].weight.T + network["output"]["bias"]


def losses_of(
    network: Any, sequences: Sequence[Sequence[int]]
) -> Iterator[tuple[list[int], Floats, Integers]]:
    """Yield batches of captions with a word: places, cross-entropies of all tokens, lengths."""
    import torch

    worded = [at for at, sequence in enumerate(sequences) if sequence]
    # The end is a token too.
    for batch in length_sorted([len(sequences[at]) + 1 for at in worded], _SCORED_TOKENS):
        places = [worded[at] for at in batch]
        with torch.inference_mode():
            states, targets = states_of(network, [sequences[at] for at in places])
            parts = zip(states.split(_SCORED_TOKENS), targets.split(_SCORED_TOKENS), strict=True)
            losses = [
                torch.nn.functional.cross_entropy(logits_of(network, some), own, reduction="none")
                for some, own in parts
            ]
        lengths = np.array([len(sequences[at]) + 1 for at in places])
        yield places, torch.cat(losses).double().numpy(), lengths


def encoded(tokens: Mapping[str, int], words: Sequence[str]) -> list[int]:
    """Return the token numbers of a caption's words."""
    return [tokens.get(word, _UNKNOWN) for word in words]


class LanguageModel(MadeAgain, Scorer):
    """Fluency of captions by a recurrent language model (VIFIDEL, sections 4.2 and 4.4).

    A caption scores exp(-mean cross-entropy of its tokens), its end included: the inverse of its
    perplexity, in (0, 1]. A caption without a word says nothing and scores 0. Neither the image
    nor the references count; the references only give the image ids and their order. Words that
    the model does not know count as one rare word.

    Parameters
    ----------
    model : path
        A file that ``vifidel-eval train-lm`` or `language_training.train` wrote.

    Raises
    ------
    MetricUnavailable
        If PyTorch is not installed.
    VifidelError
        If the file is missing, damaged, or something else.
    """

    def __init__(self, model: str | os.PathLike[str]) -> None:
        super().__init__()
        load_libraries("the language model", {"PyTorch": "torch"})
        content, digest = read_checkpoint(model, MODEL, _REMEDY)
        if not isinstance(content, dict) or content.get("format") != MODEL:
            raise VifidelError(f"{model}: not a {MODEL}, or damaged; {_REMEDY}.")
        try:
            words, weights = content["words"], content["weights"]
            network = new_network(len(words), weights["embedding.weight"].shape[1])
            network.load_state_dict(weights)
        except Exception:  # something is missing, or has another type or shape
            raise VifidelError(
                f"{model}: the language model in it is damaged; {_REMEDY}."
            ) from None
        self._tokens = {word: token for token, word in enumerate(words, SPECIAL)}
        # In double precision the batch that a caption is scored in leaves no trace in 12 digits.
        self._network = network.double().eval()
        self._digest = digest[:8]

    def method(self) -> str:
        return "LM"

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        return self._pinned(f"model:{self._digest}", package="torch")

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        sequences = [encoded(self._tokens, words) for words in caption_words(rows.captions)]
        means = np.full(len(sequences), -np.inf)
        wordless = len(sequences)
        for places, losses, lengths in losses_of(self._network, sequences):
            starts = np.cumsum(lengths) - lengths
            means[places] = np.minimum(-np.add.reduceat(losses, starts) / lengths, 0.0)
            wordless -= len(places)
            on_progress(len(places))
        if wordless:
            on_progress(wordless)
        counts = {"no_words": wordless}
        return {self.main: Evaluation(rows.ids, np.exp(means), counts=counts)}


register(
    Metric(
        "LM",
        "Fluency of the caption alone: inverse perplexity under a trained language model",
        LanguageModel,
        lambda settings: LanguageModel(settings.options["language_model"]),
        rank=110,
        references=False,
        options=(Option("language_model", "Model that train-lm wrote, for LM.", required=True),),
        packages=("torch",),
        papers=(MADHYASTHA_2019,),
    )
)
