"""TIGEr against the original program."""

import csv
import json

import numpy as np
import pytest
import torch

from vifidel_eval.plugins.networks.scan import Scan, Tokenizer, ground
from vifidel_eval.plugins.networks.tiger import (
    divergence,
    read_regions,
    region_rank_similarity,
    relative_norm,
    weight_distribution_similarity,
)
from vifidel_eval.scorers import Tiger


class Original:
    """What went into the original program and what it wrote."""

    def __init__(self, folder):
        self.files = [folder / name for name in ("model_best.pth", "coco_precomp_vocab.json")]
        self.features = folder / "precomp" / "cand_ims.npy"
        ids = (folder / "precomp" / "cand_ids.txt").read_text("utf-8").split()
        captions = (folder / "precomp" / "cand_caps.txt").read_text("utf-8").splitlines()
        self.references: dict[int, list[str]] = {}
        for image_id, caption in zip(ids, captions, strict=True):
            self.references.setdefault(int(image_id), []).append(caption)
        with open(folder / "usecase_score.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        self.candidates = [(int(row["imgid"]), row["caption"], float(row["TIGER"])) for row in rows]
        self.arrays = dict(np.load(folder / "oracle.npz"))

    def grounding_calls(self):
        """Return image id and caption of each recorded call: references, then candidates."""
        return [
            (image_id, caption)
            for image_id in dict.fromkeys(image_id for image_id, _, _ in self.candidates)
            for caption in (
                *self.references[image_id],
                *(caption for i, caption, _ in self.candidates if i == image_id),
            )
        ]


@pytest.fixture
def oracle_folder(oracles):
    return oracles / "tiger"


@pytest.fixture
def original(oracle_folder):
    return Original(oracle_folder)


def test_stages_of_the_original_encoders(original):
    scan, tokenizer = Scan(*original.files), Tokenizer()
    features, arrays = read_regions(original.features), original.arrays
    calls = original.grounding_calls()
    assert len(calls) == 50
    words = [tokenizer(caption) for _, caption in calls]
    images = [features.read(image_id) for image_id, _ in calls]
    regions = scan.regions(images)
    vectors, is_word = scan.words([scan.tokens(tokens) for tokens in words])
    end_to_end = scan.groundings(regions, words)
    for at in range(len(calls)):
        of_image, caption = arrays[f"ground_{at}_img"], arrays[f"ground_{at}_cap"]
        similarity = arrays[f"ground_{at}_sim"]
        raw = arrays["raw_features"][list(original.references).index(calls[at][0])]
        np.testing.assert_array_equal(images[at].features, raw)
        np.testing.assert_allclose(regions[at], of_image, rtol=0, atol=2e-6)
        assert is_word[at].sum() == len(caption)
        np.testing.assert_allclose(vectors[at][is_word[at]], caption, rtol=0, atol=2e-6)
        alone = ground(
            torch.from_numpy(of_image)[None],
            torch.from_numpy(caption)[None],
            torch.ones(1, len(caption), dtype=torch.bool),
        )
        np.testing.assert_allclose(alone[0], similarity, rtol=0, atol=1e-12)
        np.testing.assert_allclose(end_to_end[at], similarity, rtol=0, atol=3e-6)
        assert np.ptp(similarity) > 0.05  # a mistake would show


def test_scores_of_the_original_groundings(original):
    calls = original.grounding_calls()
    vector_of = {call: original.arrays[f"ground_{at}_sim"] for at, call in enumerate(calls)}
    for image_id, caption, tiger in original.candidates:
        references = original.references[image_id]
        reference = np.mean([vector_of[image_id, text] for text in references], axis=0)
        candidate = vector_of[image_id, caption]
        assert np.diff(np.sort(candidate)).min() > 1e-6  # no rounding changes the ranking
        rrs = region_rank_similarity(reference, candidate)
        wds = weight_distribution_similarity(reference, candidate)
        assert (rrs + wds) / 2 == pytest.approx(tiger, abs=1e-12)


def test_scores_of_the_original_program(original):
    scorer = Tiger(*original.files, original.features)
    # As many systems as an image has candidates, each with one of them.
    systems: list[dict] = []
    for image_id, caption, tiger in original.candidates:
        system = next((s for s in systems if image_id not in s), None)
        if system is None:
            systems.append(system := {})
        system[image_id] = caption, tiger
    assert len(systems) == 3
    for system in systems:
        gts = {image_id: original.references[image_id] for image_id in system}
        res = {image_id: [caption] for image_id, (caption, _) in system.items()}
        expected = [tiger for _, tiger in system.values()]
        np.testing.assert_allclose(scorer.compute_score(gts, res)[1], expected, rtol=0, atol=1e-6)


def test_quantities_of_the_original_program(oracle_folder):
    document = json.loads((oracle_folder / "oracle.json").read_text("utf-8"))
    for entry in document["per_caption"]:
        r, c = np.array(entry["ref_vec"]), np.array(entry["cand_vec"])
        assert region_rank_similarity(r, c) == pytest.approx(entry["ndcg"], abs=1e-12)
        assert divergence(r, c) == pytest.approx(entry["kl"], abs=1e-12)
        assert relative_norm(r, c) == pytest.approx(entry["d_rel"], abs=1e-12)
