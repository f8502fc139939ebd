"""The paragraph for a paper's appendix that says how CHAIR was computed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import VifidelError
from ..files import read_json

_LISTS = {
    "rohrbach2018": "the synonyms published with CHAIR",
    "coco_synonyms": "the synonyms of vifidel-eval",
}


def paragraphs(path: Path) -> dict[str, str]:
    """Return the paragraph of each system of a file that ``score --output`` wrote.

    Raises
    ------
    VifidelError
        If the file is another one, or CHAIR is not among its metrics.
    """
    content = read_json(path, VifidelError)
    try:
        signature = content["signatures"].get("CHAIRi")
        systems = {} if signature is None else content["systems"]
        told = {name: _paragraph(signature, of_system) for name, of_system in systems.items()}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise VifidelError(
            f"{path}: not what score --output writes with --metrics CHAIR; score again."
        ) from None
    if not told:
        raise VifidelError(
            f"{path}: CHAIR is not among its metrics; score with --metrics CHAIR --output."
        )
    return told


def _paragraph(signature: str, system: Mapping[str, Any]) -> str:
    settings = dict(part.split(":", 1) for part in signature.split("|")[1:])
    overall, counts = system["overall"], system["counts"]["CHAIRi"]
    values = {name: overall[f"CHAIR{name}"] for name in ("s", "i")}
    values |= {name: overall[f"CHAIR-{name}"] for name in ("Recall", "Precision", "F1", "Len")}
    shown = {name: "-" if value is None else f"{value:.4f}" for name, value in values.items()}
    synonyms, _, digest = settings["synonyms"].partition("#")
    instances, *references = settings["objects"].split("+references")
    objects = f"the categories of its instances ({instances})"
    if references:
        objects += " and those that its reference captions mention by the same rules"
        objects += f" (digest {references[0].removeprefix('#')})"
    images, _, of_images = settings.get("images", "").partition("#")
    which = f"The {images} images have the digest {of_images}. " if images else ""
    if settings["drop-incomplete"] == "yes":
        ends = f"An incomplete last sentence was left out of {counts['incomplete']} captions."
    else:
        ends = "Captions were evaluated as generated."
    return (
        f"We report CHAIR (Rohrbach et al., 2018) as computed by vifidel-eval "
        f"{settings['version']}: CHAIRs {shown['s']}, CHAIRi {shown['i']}, Recall "
        f"{shown['Recall']}, Precision {shown['Precision']}, F1 {shown['F1']}, with captions of "
        f"{shown['Len']} tokens on average. Captions were split into sentences and Penn Treebank "
        f"tokens and made singular with TextBlob {settings['textblob']}; categories were found "
        f"with {_LISTS.get(synonyms, f'the list {synonyms}')} (digest {digest}). An image's "
        f"objects are {objects}. {which}{ends} Signature: {signature}."
    )
