"""The sizes of ViLBERT's encoder, and the weights that they call for."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field, fields
from typing import Any

from ...errors import VifidelError
from ...io.files import parse_json, read_text

#: A caption's most tokens; further ones are cut off, the closing ``[SEP]`` with them.
MOST_TOKENS = 37

#: The parts of an attention, as the weights call them.
ATTENTION = ("query", "key", "value")
#: The weights of the word embeddings.
WORDS = "bert.embeddings.word_embeddings.weight"


def _key(name: str, default: Any) -> Any:
    """Return a field that the JSON file calls `name`."""
    return field(default=default, metadata={"key": name})


@dataclass(frozen=True)
class Architecture:
    """Sizes of the encoder; by default those of ``bert_base_6layer_6conect.json``.

    Attributes
    ----------
    vocabulary, positions, segments, features : int
        Rows of the embeddings, and the length of a region's feature.
    text, text_hidden, text_heads : int
        Width of the text stream, of its feed-forward layers, and its attention heads.
    image, image_hidden, image_heads : int
        The same of the image stream.
    co, co_heads : int
        Width and heads of the co-attention.
    text_before, image_before : tuple of int
        How many layers of its own each stream has passed before each co-attention block.
    digest : str
        SHA-256 of the file these are from, hexadecimal; empty for the default.
    """

    vocabulary: int = _key("vocab_size", 30522)
    positions: int = _key("max_position_embeddings", 512)
    segments: int = _key("type_vocab_size", 2)
    features: int = _key("v_feature_size", 2048)
    text: int = _key("hidden_size", 768)
    text_hidden: int = _key("intermediate_size", 3072)
    text_heads: int = _key("num_attention_heads", 12)
    image: int = _key("v_hidden_size", 1024)
    image_hidden: int = _key("v_intermediate_size", 1024)
    image_heads: int = _key("v_num_attention_heads", 8)
    co: int = _key("bi_hidden_size", 1024)
    co_heads: int = _key("bi_num_attention_heads", 8)
    text_before: tuple[int, ...] = _key("t_biattention_id", (6, 7, 8, 9, 10, 11))
    image_before: tuple[int, ...] = _key("v_biattention_id", (0, 1, 2, 3, 4, 5))
    digest: str = ""


def read_architecture(path: str | os.PathLike[str]) -> Architecture:
    """Return the sizes in a configuration of ``vilbert-multi-task``.

    Raises
    ------
    VifidelError
        If the file cannot be read, lacks a size, or describes an encoder that is not supported.
    """
    text = read_text(path, VifidelError)
    content = parse_json(text, str(path), VifidelError)
    if not isinstance(content, dict):
        raise VifidelError(f"{path}: no configuration of ViLBERT; give the JSON object of one.")
    sizes: dict[str, Any] = {"digest": hashlib.sha256(text.encode()).hexdigest()}
    for size in fields(Architecture)[:-1]:
        key = size.metadata["key"]
        value = content.get(key)
        several = isinstance(size.default, tuple)
        numbers = value if several else [value]
        if (
            not isinstance(numbers, list)
            or not numbers
            or not all(type(number) is int and number >= 1 - several for number in numbers)
        ):
            raise VifidelError(
                f"{path}: {key} is {value!r:.40} instead of "
                f"{'whole numbers' if several else 'a whole number'}; give the configuration "
                "that the checkpoint was trained with."
            )
        sizes[size.name] = tuple(numbers) if several else value
    architecture = Architecture(**sizes)
    befores = (architecture.text_before, architecture.image_before)
    widths = (
        (architecture.text, architecture.text_heads),
        (architecture.image, architecture.image_heads),
        (architecture.co, architecture.co_heads),
    )
    if len({len(before) for before in befores}) > 1 or any(
        list(before) != sorted(before) for before in befores
    ):
        problem = "t_biattention_id and v_biattention_id do not name the same number of blocks"
    elif architecture.positions < MOST_TOKENS:
        problem = f"fewer than {MOST_TOKENS} positions"
    elif any(width % heads for width, heads in widths):
        problem = "a width is not divisible by its number of attention heads"
    elif any(content.get(key, "gelu") != "gelu" for key in ("hidden_act", "v_hidden_act")):
        problem = "its activation is not gelu, which is the only one supported"
    elif content.get("dynamic_attention"):
        problem = "it uses dynamic attention, which is not supported"
    else:
        return architecture
    raise VifidelError(f"{path}: {problem}; give another configuration.")


def weight_shapes(sizes: Architecture, layer: int) -> dict[str, tuple[int, ...]]:
    """Return name and shape of every weight that the states after a block depend on."""
    shapes: dict[str, tuple[int, ...]] = {
        WORDS: (sizes.vocabulary, sizes.text),
        "bert.embeddings.position_embeddings.weight": (sizes.positions, sizes.text),
        "bert.embeddings.token_type_embeddings.weight": (sizes.segments, sizes.text),
    }

    def linear(name: str, inputs: int, outputs: int) -> None:
        shapes.update({f"bert.{name}.weight": (outputs, inputs), f"bert.{name}.bias": (outputs,)})

    def norm(name: str, width: int) -> None:
        shapes.update({f"bert.{name}.weight": (width,), f"bert.{name}.bias": (width,)})

    def feed_forward(inner: str, outer: str, width: int, hidden: int) -> None:
        linear(f"{inner}.dense", width, hidden)
        linear(f"{outer}.dense", hidden, width)
        norm(f"{outer}.LayerNorm", width)

    norm("embeddings.LayerNorm", sizes.text)
    linear("v_embeddings.image_embeddings", sizes.features, sizes.image)
    linear("v_embeddings.image_location_embeddings", 5, sizes.image)
    norm("v_embeddings.LayerNorm", sizes.image)
    for stream, number_of_layers, width, hidden in (
        ("layer", sizes.text_before[layer], sizes.text, sizes.text_hidden),
        ("v_layer", sizes.image_before[layer], sizes.image, sizes.image_hidden),
    ):
        for number in range(number_of_layers):
            name = f"encoder.{stream}.{number}"
            for part in ATTENTION:
                linear(f"{name}.attention.self.{part}", width, width)
            linear(f"{name}.attention.output.dense", width, width)
            norm(f"{name}.attention.output.LayerNorm", width)
            feed_forward(f"{name}.intermediate", f"{name}.output", width, hidden)
    for block in range(layer + 1):
        name = f"encoder.c_layer.{block}"
        for number, stream, width, hidden in (
            (1, "v", sizes.image, sizes.image_hidden),
            (2, "t", sizes.text, sizes.text_hidden),
        ):
            for part in ATTENTION:
                linear(f"{name}.biattention.{part}{number}", width, sizes.co)
            linear(f"{name}.biOutput.dense{number}", sizes.co, width)
            norm(f"{name}.biOutput.LayerNorm{number}", width)
            feed_forward(f"{name}.{stream}_intermediate", f"{name}.{stream}_output", width, hidden)
    return shapes
