"""ViLBERT's two-stream encoder: a caption's words in the light of the image's regions.

Lu et al., NeurIPS 2019 and CVPR 2020 ("12-in-1"). The words of a caption and the regions of an
image go through a transformer each; in co-attention blocks either stream attends to the other.
Only what the words' states after one of these blocks depend on is loaded and computed. PyTorch
does the work and is loaded when first used.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import VifidelError
from ..pytorch import check_weights, read_checkpoint
from .vilbert_sizes import ATTENTION, WORDS, Architecture, weight_shapes

Floats32 = NDArray[np.float32]

# The task that the multi-task model is told: retrieval on COCO.
_TASK = 7
_EPSILON = 1e-12

_TASKS = "bert.embeddings.task_embeddings.weight"
_REMEDY = "get a fresh copy, or give the configuration of this one (--vilbert-config, config=)"


class Vilbert:
    """The part of a ViLBERT checkpoint that leads to the words' states after one block.

    Parameters
    ----------
    torch : module
        As `vifidel_eval.plugins.pytorch.load_torch` returns it.
    path : path
        ``multi_task_model.bin`` or ``pretrained_model.bin`` of ``vilbert-multi-task``.
    architecture : Architecture
        Its sizes.
    layer : int
        The co-attention block whose states count, from 0; negative from the last.
    device : torch.device
        Where to compute.

    Attributes
    ----------
    layer : int
        The block, from 0.
    has_tasks : bool
        Whether the model is told its task by a token after ``[CLS]`` (the multi-task one).
    digest : str
        SHA-256 of the file, hexadecimal.

    Raises
    ------
    VifidelError
        If the file cannot be read, lacks a weight, has one of another shape, or `layer` is
        not a block of it.
    """

    def __init__(
        self,
        torch: ModuleType,
        path: str | os.PathLike[str],
        architecture: Architecture,
        layer: int,
        device: Any,
    ) -> None:
        blocks = len(architecture.text_before)
        if type(layer) is not int or not -blocks <= layer < blocks:
            raise VifidelError(
                f"layer must be a co-attention block, from {-blocks} to {blocks - 1}, not "
                f"{layer!r:.40}."
            )
        self.layer = layer % blocks
        content, self.digest = read_checkpoint(
            torch, path, "ViLBERT checkpoint", "get a fresh copy"
        )
        weights = _plain_names(content, str(path)) if isinstance(content, Mapping) else {}
        if WORDS not in weights:
            raise VifidelError(
                f"{path}: not a ViLBERT checkpoint, since it has no {WORDS}; give "
                "multi_task_model.bin."
            )
        self.has_tasks = _TASKS in weights
        shapes = weight_shapes(architecture, self.layer)
        if self.has_tasks:
            tasks = [*getattr(weights[_TASKS], "shape", ()), 0][0]
            shapes[_TASKS] = (max(tasks, _TASK + 1), architecture.text)
        check_weights(torch, weights, shapes, str(path), _REMEDY)
        found = len({name.split(".")[3] for name in weights if _is_of_block(name)})
        if found != blocks:
            raise VifidelError(
                f"{path}: {found} co-attention blocks instead of {blocks}; {_REMEDY}."
            )
        self._torch = torch
        self._device = device
        self._sizes = architecture
        self._weights = {
            name.removeprefix("bert."): weights[name].to(device, torch.float32) for name in shapes
        }

    def image_states(self, features: Floats32, locations: Floats32) -> Any:
        """Return the embedded regions of an image, all that does not depend on a caption.

        Parameters
        ----------
        features : (number of regions, length of a feature) float32
        locations : (number of regions, 5) float32

        Returns
        -------
        (number of regions, width of the image stream) float32 tensor, on the processor
        """
        torch = self._torch
        with torch.inference_mode():
            content = self._linear(
                torch.from_numpy(features).to(self._device), "v_embeddings.image_embeddings"
            )
            place = self._linear(
                torch.from_numpy(locations).to(self._device),
                "v_embeddings.image_location_embeddings",
            )
            return self._norm(content + place, "v_embeddings.LayerNorm").cpu()

    def word_states(self, captions: Sequence[Sequence[int]], images: Sequence[Any]) -> Any:
        """Return the states of all tokens of some captions, each with its image.

        Parameters
        ----------
        captions : sequence of sequences of int
            Tokens, at least one each and not more than there are positions.
        images : sequence of tensor
            What `image_states` returned for the image of each caption.

        Returns
        -------
        (captions, tokens of the longest, width of the text stream) float32 tensor
            On the processor; one token more, in place 1, if the model is told its task. Rows
            after a caption's last token mean nothing.
        """
        torch, pad = self._torch, self._torch.nn.utils.rnn.pad_sequence
        with torch.inference_mode():
            tokens = pad([torch.tensor(caption) for caption in captions], batch_first=True)
            lengths = torch.tensor([len(caption) for caption in captions]) + self.has_tasks
            regions = torch.tensor([len(image) for image in images])
            text = self._embedded(tokens.to(self._device))
            image = pad(list(images), batch_first=True).to(self._device)
            return self._after_block(text, _mask(lengths, text), image, _mask(regions, image)).cpu()

    def _embedded(self, tokens: Any) -> Any:
        weights = self._weights
        text = (
            weights["embeddings.word_embeddings.weight"][tokens]
            + weights["embeddings.position_embeddings.weight"][: tokens.shape[1]]
            + weights["embeddings.token_type_embeddings.weight"][0]
        )
        if self.has_tasks:
            # The task comes after [CLS]; the words keep their own positions.
            task = weights["embeddings.task_embeddings.weight"][_TASK]
            task = task.expand(len(text), 1, -1)
            text = self._torch.cat([text[:, :1], task, text[:, 1:]], dim=1)
        return self._norm(text, "embeddings.LayerNorm")

    def _after_block(self, text: Any, text_mask: Any, image: Any, image_mask: Any) -> Any:
        sizes = self._sizes
        text_done = image_done = 0
        for block in range(self.layer + 1):
            for number in range(text_done, sizes.text_before[block]):
                text = self._own_layer(f"encoder.layer.{number}", text, text_mask, sizes.text_heads)
            for number in range(image_done, sizes.image_before[block]):
                image = self._own_layer(
                    f"encoder.v_layer.{number}", image, image_mask, sizes.image_heads
                )
            text_done, image_done = sizes.text_before[block], sizes.image_before[block]
            text, image = self._co_attention(
                f"encoder.c_layer.{block}", text, text_mask, image, image_mask, block < self.layer
            )
        return text

    def _own_layer(self, name: str, states: Any, mask: Any, heads: int) -> Any:
        seen = self._attended(
            states, states, mask, heads, [f"{name}.attention.self.{n}" for n in ATTENTION]
        )
        out = f"{name}.attention.output"
        states = self._norm(self._linear(seen, f"{out}.dense") + states, f"{out}.LayerNorm")
        return self._feed_forward(states, f"{name}.intermediate", f"{name}.output")

    def _co_attention(
        self, name: str, text: Any, text_mask: Any, image: Any, image_mask: Any, both: bool
    ) -> tuple[Any, Any]:
        """Return both streams after a block; the image stream only if it is needed further."""
        inner, out, heads = f"{name}.biattention", f"{name}.biOutput", self._sizes.co_heads
        # Both attend to what the other was before the block. In the names, 1 is the image.
        seen = self._attended(
            text, image, image_mask, heads, [f"{inner}.{n}" for n in ("query2", "key1", "value1")]
        )
        if both:
            read = self._attended(
                image,
                text,
                text_mask,
                heads,
                [f"{inner}.{n}" for n in ("query1", "key2", "value2")],
            )
            image = self._norm(self._linear(read, f"{out}.dense1") + image, f"{out}.LayerNorm1")
            image = self._feed_forward(image, f"{name}.v_intermediate", f"{name}.v_output")
        text = self._norm(self._linear(seen, f"{out}.dense2") + text, f"{out}.LayerNorm2")
        return self._feed_forward(text, f"{name}.t_intermediate", f"{name}.t_output"), image

    def _attended(
        self, asking: Any, asked: Any, mask: Any, heads: int, names: Sequence[str]
    ) -> Any:
        query, key, value = (
            # (captions, heads, places, width of a head)
            self._linear(states, name).unflatten(-1, (heads, -1)).transpose(1, 2)
            for states, name in zip((asking, asked, asked), names, strict=True)
        )
        attention = self._torch.nn.functional.scaled_dot_product_attention
        return attention(query, key, value, attn_mask=mask).transpose(1, 2).flatten(-2)

    def _feed_forward(self, states: Any, inner: str, outer: str) -> Any:
        hidden = self._torch.nn.functional.gelu(self._linear(states, f"{inner}.dense"))
        return self._norm(self._linear(hidden, f"{outer}.dense") + states, f"{outer}.LayerNorm")

    def _linear(self, states: Any, name: str) -> Any:
        weights = self._weights
        return self._torch.nn.functional.linear(
            states, weights[f"{name}.weight"], weights[f"{name}.bias"]
        )

    def _norm(self, states: Any, name: str) -> Any:
        weight, bias = self._weights[f"{name}.weight"], self._weights[f"{name}.bias"]
        return self._torch.nn.functional.layer_norm(states, weight.shape, weight, bias, _EPSILON)


def _mask(lengths: Any, states: Any) -> Any:
    """Return where a padded batch is real, in a shape that all heads and queries share."""
    places = lengths.new_tensor(range(states.shape[1]))
    return (places < lengths[:, None])[:, None, None, :].to(states.device)


def _is_of_block(name: str) -> bool:
    return name.startswith("bert.encoder.c_layer.")


def _plain_names(content: Mapping[Any, Any], where: str) -> dict[str, Any]:
    """Return weights by their present names; older files have other names for them."""
    plain: dict[str, Any] = {}
    for name, weight in content.items():
        start, _, last = str(name).removeprefix("module.").rpartition(".")
        today = f"{start}.{_FORMER.get(last, last)}"
        if today in plain:
            raise VifidelError(
                f"{where}: two weights for {today}, one of them named {name}; get the file again."
            )
        plain[today] = weight
    return plain


_FORMER = {"gamma": "weight", "beta": "bias"}
