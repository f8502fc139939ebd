"""A CLIP of transformers with random weights, and pictures, made without a download."""

from pathlib import Path

import tokenizers
import torch
import transformers
from drawn_pictures import drawn
from tokenizers import models, normalizers, pre_tokenizers, processors

WORDS = "a photo depicts the dog cat ball frisbee on red grass catches sleeps beside".split()
LONGEST = 16


def clip(folder: Path, seed: int = 0, **vision) -> Path:
    """Save a tiny CLIP into a folder as `save_pretrained` does; unknown words are one token."""
    tokenizer = _tokenizer()
    small = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = transformers.CLIPConfig(
        vision_config={
            "hidden_size": 32, "image_size": 32, "patch_size": 8, "projection_dim": 24,
            **small, **vision,
        },
        text_config={
            "vocab_size": len(tokenizer), "hidden_size": 32, "max_position_embeddings": LONGEST,
            "bos_token_id": len(tokenizer) - 2, "eos_token_id": len(tokenizer) - 1,
            "pad_token_id": len(tokenizer) - 1, "projection_dim": 24, **small,
        },
        projection_dim=24,
    )  # fmt: skip
    torch.manual_seed(seed)
    model = transformers.CLIPModel(config)
    for weights in model.parameters():
        if weights.dim() > 1:  # larger than usual, so that cosines differ as of a trained one
            torch.nn.init.normal_(weights, std=0.3)
    model.save_pretrained(folder)
    images = transformers.CLIPImageProcessorPil(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    )
    transformers.CLIPProcessor(images, tokenizer).save_pretrained(folder)
    return folder


def _tokenizer() -> transformers.PreTrainedTokenizerFast:
    ends = ["<|startoftext|>", "<|endoftext|>"]
    words = {word: number for number, word in enumerate(["?", *WORDS, *ends])}
    tokenizer = tokenizers.Tokenizer(models.WordLevel(words, unk_token="?"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{ends[0]} $A {ends[1]}", special_tokens=[(end, words[end]) for end in ends]
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=ends[0],
        eos_token=ends[1],
        pad_token=ends[1],
        unk_token="?",
        model_max_length=LONGEST,
    )


def pictures(folder: Path, count: int = 10) -> Path:
    """Draw ``1.png`` and so on, of different sizes."""
    folder.mkdir()
    for number in range(1, count + 1):
        drawn(number, (120 + 9 * number, 90)).save(folder / f"{number}.png")
    return folder
