"""ViLBERT's two-stream encoder: a caption's words in the light of the image's regions.

Lu et al., NeurIPS 2019 and CVPR 2020 ("12-in-1"). The words of a caption and the regions of an
image go through a transformer each; in co-attention blocks either stream attends to the other.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch
from torch import nn
from torch.nn.functional import gelu, scaled_dot_product_attention
from torch.nn.utils.rnn import pad_sequence

from ...doors.arguments import is_whole
from ...errors import VifidelError
from ...io.files import parse_json, read_text
from ..pytorch import load_weights, read_checkpoint
from . import MOST_TOKENS
from .regions import Regions

# The task that the multi-task model is told: retrieval on COCO.
_TASK = 7
_EPSILON = 1e-12

_WORDS = "bert.embeddings.word_embeddings.weight"
_TASKS = "bert.embeddings.task_embeddings.weight"
_BLOCKS = "bert.encoder.c_layer."
_ATTENTION = ("query", "key", "value")
# What weights are called in older files.
_FORMER = {"gamma": "weight", "beta": "bias"}

_REMEDY = "get a fresh copy, or give the configuration of this one (--vilbert-config, config=)"


@dataclass(frozen=True)
class Architecture:
    """Sizes as configurations call them; by default those of ``bert_base_6layer_6conect.json``."""

    vocab_size: int = 30522
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    v_feature_size: int = 2048  #: the length of a region's feature
    #: Width of the stream of words, of its feed-forward layers, and its attention heads.
    hidden_size: int = 768
    intermediate_size: int = 3072
    num_attention_heads: int = 12
    v_hidden_size: int = 1024
    v_intermediate_size: int = 1024
    v_num_attention_heads: int = 8
    bi_hidden_size: int = 1024  #: the same of the co-attention
    bi_num_attention_heads: int = 8
    #: How many layers of its own each stream has passed before each co-attention block.
    t_biattention_id: tuple[int, ...] = (6, 7, 8, 9, 10, 11)
    v_biattention_id: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    digest: str = ""  #: SHA-256 of the file these are from; empty for the default


def read_architecture(path: str | os.PathLike[str]) -> Architecture:
    """Return the sizes in a configuration of ``vilbert-multi-task``, or raise what is wrong."""
    text = read_text(path, VifidelError)
    content = parse_json(text, str(path), VifidelError)
    if not isinstance(content, dict):
        raise VifidelError(f"{path}: not a configuration of ViLBERT; give its JSON object.")
    sizes: dict[str, Any] = {"digest": hashlib.sha256(text.encode()).hexdigest()}
    for size in fields(Architecture)[:-1]:
        value, several = content.get(size.name), isinstance(size.default, tuple)
        numbers = value if isinstance(value, list) else [value]
        whole = [is_whole(number, 1 - several) for number in numbers]
        if isinstance(value, list) != several or not whole or not all(whole):
            raise VifidelError(
                f"{path}: {size.name} is {value!r:.40} instead of "
                f"{'whole numbers' if several else 'a whole number'}; give the configuration "
                "that the checkpoint was trained with."
            )
        sizes[size.name] = tuple(numbers) if several else value
    architecture = Architecture(**sizes)
    befores = architecture.t_biattention_id, architecture.v_biattention_id
    problems = {
        "t_biattention_id and v_biattention_id do not name the same number of blocks": (
            len(befores[0]) != len(befores[1])
            or any(list(layers) != sorted(layers) for layers in befores)
        ),
        f"fewer than {MOST_TOKENS} positions": architecture.max_position_embeddings < MOST_TOKENS,
        "a width is not divisible by its number of attention heads": any(
            sizes[f"{stream}hidden_size"] % sizes[f"{stream}num_attention_heads"]
            for stream in ("", "v_", "bi_")
        ),
        "its activation is not gelu, which is the only one supported": any(
            content.get(key, "gelu") != "gelu" for key in ("hidden_act", "v_hidden_act")
        ),
        "it uses dynamic attention, which is not supported": content.get("dynamic_attention"),
    }
    for problem, is_so in problems.items():
        if is_so:
            raise VifidelError(f"{path}: {problem}; give another configuration.")
    return architecture


def new_network(sizes: Architecture, layer: int, tasks: int = 0) -> Any:
    """Return what the states after the block `layer` depend on, without weights."""

    def output(inputs: int, width: int, number: str = "") -> dict[str, Any]:
        norm = nn.LayerNorm(width, eps=_EPSILON)
        return {f"dense{number}": nn.Linear(inputs, width), f"LayerNorm{number}": norm}

    def attention(inputs: int, outputs: int, number: str = "") -> dict[str, Any]:
        return {part + number: nn.Linear(inputs, outputs) for part in _ATTENTION}

    def feed_forward(width: int, hidden: int, stream: str = "") -> dict[str, Any]:
        inner = {"dense": nn.Linear(width, hidden)}
        return {f"{stream}intermediate": inner, f"{stream}output": output(hidden, width)}

    def own_layer(width: int, hidden: int) -> dict[str, Any]:
        self_attention = {"self": attention(width, width), "output": output(width, width)}
        return {"attention": self_attention, **feed_forward(width, hidden)}

    def co_attention() -> dict[str, Any]:
        return {
            "biattention": attention(image, common, "1") | attention(text, common, "2"),
            "biOutput": output(common, image, "1") | output(common, text, "2"),
            **feed_forward(image, sizes.v_intermediate_size, "v_"),
            **feed_forward(text, sizes.intermediate_size, "t_"),
        }

    def modules(parts: Any) -> Any:
        if isinstance(parts, dict):
            return nn.ModuleDict({name: modules(part) for name, part in parts.items()})
        return nn.ModuleList(map(modules, parts)) if isinstance(parts, list) else parts

    text, image, common = sizes.hidden_size, sizes.v_hidden_size, sizes.bi_hidden_size
    text_layers, image_layers = sizes.t_biattention_id[layer], sizes.v_biattention_id[layer]
    with torch.device("meta"):  # no memory and no random numbers before the weights come
        embeddings = {
            "word_embeddings": nn.Embedding(sizes.vocab_size, text),
            "position_embeddings": nn.Embedding(sizes.max_position_embeddings, text),
            "token_type_embeddings": nn.Embedding(sizes.type_vocab_size, text),
            "LayerNorm": nn.LayerNorm(text, eps=_EPSILON),
        }
        if tasks:
            embeddings["task_embeddings"] = nn.Embedding(tasks, text)
        of_regions = {
            "image_embeddings": nn.Linear(sizes.v_feature_size, image),
            "image_location_embeddings": nn.Linear(5, image),
            "LayerNorm": nn.LayerNorm(image, eps=_EPSILON),
        }
        encoder = {
            "layer": [own_layer(text, sizes.intermediate_size) for _ in range(text_layers)],
            "v_layer": [own_layer(image, sizes.v_intermediate_size) for _ in range(image_layers)],
            "c_layer": [co_attention() for _ in range(layer + 1)],
        }
        return modules(
            {"bert": {"embeddings": embeddings, "v_embeddings": of_regions, "encoder": encoder}}
        )


class Vilbert:
    """The part of a ViLBERT checkpoint that leads to the words' states after the block `layer`."""

    def __init__(
        self, path: str | os.PathLike[str], architecture: Architecture, layer: int, device: Any
    ) -> None:
        blocks = len(architecture.t_biattention_id)
        if not is_whole(layer, -blocks, blocks - 1):
            raise VifidelError(
                f"layer must be a co-attention block, from {-blocks} to {blocks - 1}, not "
                f"{layer!r:.40}."
            )
        self.layer = layer % blocks
        content, self.digest = read_checkpoint(path, "ViLBERT checkpoint", "get a fresh copy")
        weights: dict[str, Any] = {}
        for name, weight in content.items() if isinstance(content, Mapping) else ():
            start, _, last = str(name).removeprefix("module.").rpartition(".")
            weights[f"{start}.{_FORMER.get(last, last)}"] = weight
        if _WORDS not in weights:
            raise VifidelError(
                f"{path}: not a ViLBERT checkpoint, because it has no {_WORDS}; give "
                "multi_task_model.bin."
            )
        self.has_tasks = _TASKS in weights  # it is told one after [CLS], as the published model is
        tasks = [*getattr(weights.get(_TASKS), "shape", ()), 0][0]
        network = new_network(architecture, self.layer, self.has_tasks and max(tasks, _TASK + 1))
        load_weights(network, weights, str(path), _REMEDY, device, torch.float32)
        found_blocks = len({name.split(".")[3] for name in weights if name.startswith(_BLOCKS)})
        if found_blocks != blocks:
            raise VifidelError(
                f"{path}: {found_blocks} co-attention blocks instead of {blocks}; {_REMEDY}."
            )
        self._device = device
        self._sizes = architecture
        self._network = network["bert"]

    def image_states(self, regions: Regions) -> Any:
        """Return (regions + 1, width) of an image before any caption, the whole of it first."""
        embeddings = self._network["v_embeddings"]
        features, locations = map(torch.from_numpy, regions.inputs())
        with torch.inference_mode():
            content = embeddings["image_embeddings"](features.to(self._device))
            place = embeddings["image_location_embeddings"](locations.to(self._device))
            return embeddings["LayerNorm"](content + place).cpu()

    def word_states(self, captions: Sequence[Sequence[int]], images: Sequence[Any]) -> Any:
        """Return states of tokens, (captions, longest, width); a task is one more, in place 1."""
        with torch.inference_mode():
            tokens = pad_sequence([torch.tensor(caption) for caption in captions], batch_first=True)
            lengths = torch.tensor([len(caption) for caption in captions]) + self.has_tasks
            regions = torch.tensor([len(image) for image in images])
            text = self._embedded(tokens.to(self._device))
            image = pad_sequence(list(images), batch_first=True).to(self._device)
            return self._after_block(text, _mask(lengths, text), image, _mask(regions, image)).cpu()

    def _embedded(self, tokens: Any) -> Any:
        embeddings = self._network["embeddings"]
        text = (
            embeddings["word_embeddings"](tokens)
            + embeddings["position_embeddings"].weight[: tokens.shape[1]]
            + embeddings["token_type_embeddings"].weight[0]
        )
        if self.has_tasks:
            # The task comes after [CLS]; the words keep their own positions.
            task = embeddings["task_embeddings"].weight[_TASK].expand(len(text), 1, -1)
            text = torch.cat([text[:, :1], task, text[:, 1:]], dim=1)
        return embeddings["LayerNorm"](text)

    def _after_block(self, text: Any, text_mask: Any, image: Any, image_mask: Any) -> Any:
        sizes, encoder = self._sizes, self._network["encoder"]
        heads = sizes.bi_num_attention_heads
        of_text, of_image = (0, *sizes.t_biattention_id), (0, *sizes.v_biattention_id)
        for number, block in enumerate(encoder["c_layer"]):
            for layer in encoder["layer"][slice(*of_text[number : number + 2])]:
                text = self._own_layer(layer, text, text_mask, sizes.num_attention_heads)
            for layer in encoder["v_layer"][slice(*of_image[number : number + 2])]:
                image = self._own_layer(layer, image, image_mask, sizes.v_num_attention_heads)
            # Each attends to the other's states before the block. In the names, 1 is the image.
            inner, out = block["biattention"], block["biOutput"]
            asking = inner["query2"], inner["key1"], inner["value1"]
            from_image = self._attended(text, image, image_mask, heads, asking)
            if number < self.layer:  # after the last block, nobody reads the image
                asking = inner["query1"], inner["key2"], inner["value2"]
                from_text = self._attended(image, text, text_mask, heads, asking)
                image = self._feed_forward(block, _added(out, from_text, image, "1"), "v_")
            text = self._feed_forward(block, _added(out, from_image, text, "2"), "t_")
        return text

    def _own_layer(self, layer: Any, states: Any, mask: Any, heads: int) -> Any:
        projections = [layer["attention"]["self"][part] for part in _ATTENTION]
        attended = self._attended(states, states, mask, heads, projections)
        return self._feed_forward(layer, _added(layer["attention"]["output"], attended, states))

    def _attended(
        self, asking: Any, asked: Any, mask: Any, heads: int, modules: Sequence[Any]
    ) -> Any:
        query, key, value = (
            # (captions, heads, places, width of a head)
            module(states).unflatten(-1, (heads, -1)).transpose(1, 2)
            for states, module in zip((asking, asked, asked), modules, strict=True)
        )
        seen = scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return seen.transpose(1, 2).flatten(-2)

    def _feed_forward(self, layer: Any, states: Any, stream: str = "") -> Any:
        hidden = gelu(layer[f"{stream}intermediate"]["dense"](states))
        return _added(layer[f"{stream}output"], hidden, states)


def _added(output: Any, states: Any, before: Any, number: str = "") -> Any:
    return output[f"LayerNorm{number}"](output[f"dense{number}"](states) + before)


def _mask(lengths: Any, states: Any) -> Any:
    """Return where a padded batch is real, in a shape that all heads and queries share."""
    places = torch.arange(states.shape[1])
    return (places < lengths[:, None])[:, None, None, :].to(states.device)
