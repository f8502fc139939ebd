"""Plain TIGEr for the tests: files with random weights, and the formulas in loops over NumPy.

Shares no code with the package. The formulas are those of the published program (SCAN's encoders
at the constants of CapEval), caption by caption; tokens come in ready.
"""

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

WIDTH, WORD, SIZE = 12, 6, 8
WORDS = (
    "<pad> <start> <end> <unk> a dog cat ball red big runs is n't 's the in park , . ? `` ''"
).split()


def random_weights(seed: int = 0) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return the weights of both encoders, large enough for groundings to differ."""
    random = np.random.default_rng(seed)

    def matrix(*shape: int) -> np.ndarray:
        return random.normal(0, 1.2, shape).astype(np.float32)

    image = {"fc.weight": matrix(SIZE, WIDTH), "fc.bias": matrix(SIZE)}
    text = {"embed.weight": matrix(len(WORDS), WORD)}
    for direction in ("", "_reverse"):
        text |= {
            f"rnn.weight_ih_l0{direction}": matrix(3 * SIZE, WORD),
            f"rnn.weight_hh_l0{direction}": matrix(3 * SIZE, SIZE),
            f"rnn.bias_ih_l0{direction}": matrix(3 * SIZE),
            f"rnn.bias_hh_l0{direction}": matrix(3 * SIZE),
        }
    return image, text


def random_features(images: int, regions: int = 9, seed: int = 1) -> np.ndarray:
    shape = (images, regions, WIDTH)
    return np.random.default_rng(seed).exponential(1.0, shape).astype(np.float32)


def write_checkpoint(path: Path, seed: int = 0) -> Path:
    """Write a checkpoint as SCAN's training does."""
    import torch

    model = [{n: torch.from_numpy(w) for n, w in part.items()} for part in random_weights(seed)]
    content = {
        "epoch": 3,
        "model": model,
        "best_rsum": 1.5,
        "opt": argparse.Namespace(lambda_softmax=9.0, data_name="coco_precomp"),
        "Eiters": 7,
    }
    torch.save(content, path)
    return path


def write_vocabulary(path: Path, words: Sequence[str] = WORDS) -> Path:
    numbers = {word: number for number, word in enumerate(words)}
    names = {str(number): word for word, number in numbers.items()}
    content = {"word2idx": numbers, "idx2word": names, "idx": len(words)}
    path.write_text(json.dumps(content), "utf-8")
    return path


def normalised(vector: np.ndarray) -> np.ndarray:
    return vector / (math.sqrt(sum(x * x for x in vector)) + 1e-8)


def region_vectors(features: np.ndarray, seed: int = 0) -> np.ndarray:
    image, _ = random_weights(seed)
    weight, bias = image["fc.weight"].astype(float), image["fc.bias"].astype(float)
    return np.array([normalised(weight @ region.astype(float) + bias) for region in features])


def word_vectors(tokens: Sequence[str], seed: int = 0) -> np.ndarray:
    """Return the vectors of a caption's words, `<start>` and `<end>` included."""
    _, text = random_weights(seed)
    weights = {name: weight.astype(float) for name, weight in text.items()}
    known = [token if token in WORDS else "<unk>" for token in tokens]
    read = [weights["embed.weight"][WORDS.index(t)] for t in ("<start>", *known, "<end>")]

    def sigmoid(x: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-x))

    def states(inputs: Sequence[np.ndarray], direction: str) -> list[np.ndarray]:
        h, passed = np.zeros(SIZE), []
        for x in inputs:
            of_input = weights[f"rnn.weight_ih_l0{direction}"] @ x
            of_input += weights[f"rnn.bias_ih_l0{direction}"]
            of_state = weights[f"rnn.weight_hh_l0{direction}"] @ h
            of_state += weights[f"rnn.bias_hh_l0{direction}"]
            r, z = sigmoid(of_input + of_state)[: 2 * SIZE].reshape(2, SIZE)
            new = np.tanh(of_input[2 * SIZE :] + r * of_state[2 * SIZE :])
            h = (1 - z) * new + z * h
            passed.append(h)
        return passed

    forward, backward = states(read, ""), states(read[::-1], "_reverse")[::-1]
    return np.array([normalised((f + b) / 2) for f, b in zip(forward, backward, strict=True)])


def grounding(regions: np.ndarray, words: np.ndarray) -> np.ndarray:
    similarity = [[float(v @ w) for w in words] for v in regions]
    clipped = [[c if c > 0 else 0.1 * c for c in row] for row in similarity]
    scaled = [[0.0] * len(words) for _ in regions]
    for j in range(len(words)):
        norm = math.sqrt(sum(row[j] ** 2 for row in clipped)) + 1e-8
        for i in range(len(regions)):
            scaled[i][j] = clipped[i][j] / norm
    result = []
    for v, row in zip(regions, scaled, strict=True):
        weights = [math.exp(9.0 * t) for t in row]
        attended = sum(a / sum(weights) * w for a, w in zip(weights, words, strict=True))
        norms = math.sqrt(v @ v) * math.sqrt(attended @ attended)
        result.append(float(v @ attended) / max(norms, 1e-8))
    return np.array(result)


def dcg(gains: Sequence[float], order: Sequence[int]) -> float:
    return sum(gains[region] / math.log2(k + 1) for k, region in enumerate(order, 1))


def rrs(r: Sequence[float], c: Sequence[float]) -> float:
    gains = [(x - min(r)) / (max(r) - min(r)) for x in r]
    by_candidate = sorted(range(len(c)), key=lambda i: (-c[i], i))
    ideal = sorted(range(len(r)), key=lambda i: (-gains[i], i))
    return dcg(gains, by_candidate) / dcg(gains, ideal)


def kl(r: Sequence[float], c: Sequence[float]) -> float:
    p = [math.exp(x) / sum(map(math.exp, r)) for x in r]
    q = [math.exp(x) / sum(map(math.exp, c)) for x in c]
    return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))


def d_rel(r: Sequence[float], c: Sequence[float]) -> float:
    return math.log(math.sqrt(sum(x * x for x in r)) / math.sqrt(sum(x * x for x in c)))


def wds(r: Sequence[float], c: Sequence[float]) -> float:
    return 1 / (1 + math.exp(1.5 * (kl(r, c) + d_rel(r, c))))


def tiger(
    features: np.ndarray, references: Sequence[Sequence[str]], candidate: Sequence[str]
) -> tuple[float, float, float]:
    """Return RRS, WDS and TIGEr of tokenised captions."""
    regions = region_vectors(features)
    r = np.mean([grounding(regions, word_vectors(tokens)) for tokens in references], axis=0)
    c = grounding(regions, word_vectors(candidate))
    return rrs(r, c), wds(r, c), (rrs(r, c) + wds(r, c)) / 2
