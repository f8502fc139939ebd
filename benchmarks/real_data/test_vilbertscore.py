"""ViLBERTScore against the published program."""

import json
import pickle

import numpy as np
import pytest

from vifidel_eval.plugins.networks.regions import regions_of
from vifidel_eval.plugins.networks.vilbertscore import greedy_matching
from vifidel_eval.scorers import ViLBERTScore


@pytest.fixture
def oracle(oracles):
    """The folder with numbers of the published program for random weights."""
    return oracles / "vilbertscore"


@pytest.fixture
def published(oracle):
    """Its images, as the published program reads them."""
    with open(oracle / "data" / "imgs_rcnn.pkl", "rb") as file:
        entries = [packed.item() for packed in pickle.load(file)]
    return [
        {
            "features": entry["features"],
            "boxes": entry["bbox"],
            "width": entry["image_width"],
            "height": entry["image_height"],
        }
        for entry in entries
    ]


def published_scorer(oracle, published, **settings):
    return ViLBERTScore(
        oracle / "multi_task_model.bin",
        oracle / "vocab.txt",
        dict(enumerate(published)),
        config=oracle / "bert_base_6layer_6conect.json",
        **settings,
    )


def test_stages_of_the_published_program(oracle, published):
    """Tokens (A), image inputs (B) and words' states after every block (C)."""
    captions = json.loads((oracle / "oracle.json").read_text("utf-8"))
    calls = [captions["cand"], *zip(*captions["refs"], strict=True)]
    recorded = np.load(oracle / "oracle.npz")
    regions = [regions_of(image, "image") for image in published]
    inputs = [of_image.inputs() for of_image in regions]
    for at, name in enumerate(("call0_feat", "call0_loc")):
        np.testing.assert_allclose([pair[at] for pair in inputs], recorded[name], atol=1e-6)
    for layer in (0, 1):
        scorer = published_scorer(oracle, published, layer=layer)
        embedded = list(map(scorer._encoder.image_states, regions))
        for call, texts in enumerate(calls):
            tokens = [t[:37] for t in scorer._pieces.tokens(list(texts))]
            states = scorer._encoder.word_states(tokens, embedded).numpy()
            for row in range(len(tokens)):
                real = len(tokens[row])
                assert recorded[f"call{call}_mask"][row].sum() == real
                assert recorded[f"call{call}_ids"][row][:real].tolist() == tokens[row]
                np.testing.assert_allclose(
                    states[row][: real + 1],
                    recorded[f"call{call}_txt"][layer, row, : real + 1],
                    rtol=0,
                    atol=5e-6,
                )


def test_matching_of_the_published_program(oracle):
    """Stage D, with many negative cosines."""
    recorded = np.load(oracle / "bertscore_direct.npz")
    found = [
        greedy_matching(candidate[1:n_candidate], reference[1:n_reference])
        for candidate, reference, n_candidate, n_reference in zip(
            *(recorded[name] for name in ("cand", "ref", "n_cand", "n_ref")), strict=True
        )
    ]
    expected = np.column_stack([recorded[name] for name in "PRF"])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_scores_of_the_published_program(oracle, published):
    """Stage E, each pair and the means over five references."""
    recorded = json.loads((oracle / "oracle.json").read_text("utf-8"))
    scorer = published_scorer(oracle, published, layer=recorded["layer"])
    images = range(len(published))

    def scores(references):
        columns = scorer.score_columns(recorded["cand"], image_ids=images, references=references)
        return np.column_stack(list(columns.values()))

    expected = np.column_stack([recorded[name] for name in "PRF"])
    np.testing.assert_allclose(scores(recorded["refs"]), expected, rtol=0, atol=1e-6)
    pairs = np.array(recorded["pairs_PRF_by_ref"])
    assert pairs.shape == (5, 3, 5)
    for at in range(5):
        references = [[texts[at]] for texts in recorded["refs"]]
        np.testing.assert_allclose(scores(references), pairs[at].T, rtol=0, atol=1e-6)
