"""Detectors of transformers with tiny configurations and random weights, made without a download.

Each function saves a model into a folder as `save_pretrained` does, so that tests load it as a user
loads one.
"""

from pathlib import Path

import tokenizers
import torch
import transformers
from tokenizers import models, normalizers, pre_tokenizers, processors

CLASSES = ("person", "dog", "cat", "frisbee")
WORDS = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] . ? a the dog cat frisbee skate ##board board squirrel bench "
    "lamp nut hot person ball box kite"
).split()
#: Sizes that models share, those of the detectors after DETR, and the tokens of CLIP's tokenizer.
LAYERS = {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 32}
STAGES = {"depths": [1, 1, 1, 1], "out_features": ["stage2", "stage3", "stage4"]}
TRANSFORMER = {
    **{"d_model": 32, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "num_queries": 10},
    **{"encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_layers": 1},
}
TOKENS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}


def rt_detr(folder: Path, **changed) -> Path:
    backbone = transformers.RTDetrResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16, 24, 32], layer_type="basic", **STAGES
    )
    config = transformers.RTDetrConfig(
        backbone_config=backbone, encoder_hidden_dim=32, decoder_layers=1, **TRANSFORMER,
        encoder_in_channels=[16, 24, 32], decoder_in_channels=[32, 32, 32], **_classes(changed),
    )  # fmt: skip
    processor = transformers.RTDetrImageProcessorPil(size={"height": 64, "width": 64})
    return _saved(folder, transformers.RTDetrForObjectDetection, config, processor)


def yolos(folder: Path, **changed) -> Path:
    sizes = {"image_size": [64, 64], "patch_size": 16, "num_detection_tokens": 5, **LAYERS}
    config = transformers.YolosConfig(num_hidden_layers=2, **sizes, **_classes(changed))
    processor = transformers.YolosImageProcessorPil(size={"shortest_edge": 64, "longest_edge": 96})
    return _saved(folder, transformers.YolosForObjectDetection, config, processor)


def owlv2(folder: Path) -> Path:
    return _owl(folder, "Owlv2")


def owlvit(folder: Path) -> Path:
    return _owl(folder, "OwlViT")


def grounding_dino(folder: Path, **changed) -> Path:
    return _grounding(folder, "GroundingDino", changed)


def mm_grounding_dino(folder: Path, **changed) -> Path:
    return _grounding(folder, "MMGroundingDino", changed)


def sam3(folder: Path) -> Path:
    torch.manual_seed(0)
    tokenizer = _clip_tokenizer(32)
    vision = {
        "fpn_hidden_size": 32,
        "backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]],
        "backbone_config": {
            **{"model_type": "sam3_vit_model", **LAYERS, "intermediate_size": 64},
            **{"num_hidden_layers": 2, "image_size": 56, "patch_size": 14, "window_size": 2},
            **{"pretrain_image_size": 28, "global_attn_indexes": [1]},
        },
    }
    small = {**LAYERS, "num_layers": 1}
    config = transformers.Sam3Config(
        vision_config=vision,
        text_config={
            **{"vocab_size": len(tokenizer), **LAYERS, "projection_dim": 16},
            **{"num_hidden_layers": 1, "max_position_embeddings": 32, **TOKENS},
        },
        geometry_encoder_config=small,
        detr_encoder_config=small,
        detr_decoder_config={**small, "num_queries": 7},
        mask_decoder_config={"hidden_size": 32, "num_attention_heads": 2},
    )
    model = transformers.Sam3Model(config)
    model.save_pretrained(folder)
    # As the processor of the published model says it; the class itself needs torchvision.
    transformers.ViTImageProcessorPil(
        size={"height": 56, "width": 56}, image_mean=[0.5] * 3, image_std=[0.5] * 3
    ).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _classes(changed: dict) -> dict:
    names = changed.pop("names", CLASSES)
    of_id = dict(enumerate(names))
    return {"id2label": of_id, "label2id": {name: at for at, name in of_id.items()}, **changed}


def _saved(folder: Path, kind: type, config: object, processor: object) -> Path:
    torch.manual_seed(0)
    kind(config).save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def _owl(folder: Path, name: str) -> Path:
    tokenizer = _clip_tokenizer(16)
    images = _kind(name, "ImageProcessorPil")(size={"height": 64, "width": 64})
    config = _kind(name, "Config")(
        vision_config={"image_size": 64, "patch_size": 16, "num_hidden_layers": 2, **LAYERS},
        text_config={"vocab_size": len(tokenizer), "num_hidden_layers": 1, **LAYERS, **TOKENS},
        projection_dim=32,
    )
    processor = _kind(name, "Processor")(image_processor=images, tokenizer=tokenizer)
    return _saved(folder, _kind(name, "ForObjectDetection"), config, processor)


def _kind(name: str, of: str) -> type:
    return getattr(transformers, f"{name}{of}")


def _grounding(folder: Path, name: str, changed: dict) -> Path:
    backbone = transformers.SwinConfig(
        image_size=64, embed_dim=8, num_heads=[1, 1, 2, 2], window_size=7, **STAGES
    )
    text = transformers.BertConfig(vocab_size=len(WORDS), num_hidden_layers=1, **LAYERS)
    config = _kind(name, "Config")(
        backbone_config=backbone, text_config=text, decoder_layers=2, **TRANSFORMER, **changed
    )
    images = transformers.GroundingDinoImageProcessorPil(
        size={"shortest_edge": 64, "longest_edge": 96}
    )
    processor = transformers.GroundingDinoProcessor(images, _bert_tokenizer())
    return _saved(folder, _kind(name, "ForObjectDetection"), config, processor)


def _bert_tokenizer():
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    special = {f"{name[1:-1].lower()}_token": name for name in WORDS[:5]}
    names = ["input_ids", "token_type_ids", "attention_mask"]
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_input_names=names, **special
    )


def _clip_tokenizer(length: int):
    """Return a tokenizer of whole words with CLIP's tokens at the ends."""
    words = ["!", "<|startoftext|>", "<|endoftext|>", "photo", "of", *WORDS[5:]]
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = tokenizers.Tokenizer(models.WordLevel(vocabulary, unk_token="<|endoftext|>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<|startoftext|> $A <|endoftext|>",
        special_tokens=[("<|startoftext|>", 1), ("<|endoftext|>", 2)],
    )
    special = {"bos_token": "<|startoftext|>", "eos_token": "<|endoftext|>", "pad_token": "!"}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<|endoftext|>", model_max_length=length, **special
    )
