"""A second, plain ViLBERT and ViLBERTScore, and random files for both.

One caption and one image at a time, no padding, no masks, double precision: as the formulas of
Lu et al. (2019, 2020) and of the ViLBERTScore program read. `random_weights` spreads the weights
so that tokens stay apart; with greater ones all states become one and every mistake is hidden.
"""

import json
import math

import numpy as np

CONFIG = {
    **{"hidden_act": "gelu", "v_hidden_act": "gelu"},
    **{"max_position_embeddings": 40, "type_vocab_size": 2, "v_feature_size": 10},
    **{"hidden_size": 24, "intermediate_size": 40, "num_attention_heads": 4},
    **{"v_hidden_size": 32, "v_intermediate_size": 36, "v_num_attention_heads": 2},
    **{"bi_hidden_size": 48, "bi_num_attention_heads": 3},
    **{"t_biattention_id": [2, 3, 4], "v_biattention_id": [0, 1, 2]},
}
WORDS = (
    "a dog cat man woman red ball park runs sits on in the with hat ##s ##ing . , ' t isn".split()
)
PIECES = ["[PAD]", "[UNK]", "[MASK]", "[SEP]", "[CLS]", *WORDS]
TASK = 7
MOST_TOKENS = 37


def random_weights(seed=0, tasks=True):
    """Return a checkpoint's weights by name, those that the score does not need included."""
    random = np.random.default_rng(seed)
    text, text_hidden = CONFIG["hidden_size"], CONFIG["intermediate_size"]
    image, image_hidden = CONFIG["v_hidden_size"], CONFIG["v_intermediate_size"]
    co = CONFIG["bi_hidden_size"]
    weights = {}

    def embedding(name, rows):
        weights[f"bert.embeddings.{name}.weight"] = 0.5 * random.standard_normal((rows, text))

    def linear(name, inputs, outputs):
        matrix = random.standard_normal((outputs, inputs)) * 0.5 / math.sqrt(inputs)
        weights[f"bert.{name}.weight"] = matrix
        weights[f"bert.{name}.bias"] = 0.1 * random.standard_normal(outputs)

    def norm(name, width):
        weights[f"bert.{name}.weight"] = 1 + 0.1 * random.standard_normal(width)
        weights[f"bert.{name}.bias"] = 0.1 * random.standard_normal(width)

    embedding("word_embeddings", len(PIECES))
    embedding("position_embeddings", CONFIG["max_position_embeddings"])
    embedding("token_type_embeddings", 2)
    if tasks:
        embedding("task_embeddings", 20)
    norm("embeddings.LayerNorm", text)
    linear("v_embeddings.image_embeddings", CONFIG["v_feature_size"], image)
    linear("v_embeddings.image_location_embeddings", 5, image)
    norm("v_embeddings.LayerNorm", image)
    for stream, layers, width, hidden in (
        ("layer", 5, text, text_hidden),
        ("v_layer", 3, image, image_hidden),
    ):
        for number in range(layers):
            name = f"encoder.{stream}.{number}"
            for part in ("query", "key", "value"):
                linear(f"{name}.attention.self.{part}", width, width)
            linear(f"{name}.attention.output.dense", width, width)
            norm(f"{name}.attention.output.LayerNorm", width)
            linear(f"{name}.intermediate.dense", width, hidden)
            linear(f"{name}.output.dense", hidden, width)
            norm(f"{name}.output.LayerNorm", width)
    for number in range(3):
        name = f"encoder.c_layer.{number}"
        for part in ("query", "key", "value"):
            linear(f"{name}.biattention.{part}1", image, co)
            linear(f"{name}.biattention.{part}2", text, co)
        for side, stream, width, hidden in (
            (1, "v", image, image_hidden),
            (2, "t", text, text_hidden),
        ):
            linear(f"{name}.biOutput.dense{side}", co, width)
            linear(f"{name}.biOutput.q_dense{side}", co, width)
            norm(f"{name}.biOutput.LayerNorm{side}", width)
            linear(f"{name}.{stream}_intermediate.dense", width, hidden)
            linear(f"{name}.{stream}_output.dense", hidden, width)
            norm(f"{name}.{stream}_output.LayerNorm", width)
    linear("t_pooler.dense", text, co)
    weights["cls.predictions.bias"] = np.zeros(len(PIECES))
    return {name: weight.astype(np.float32) for name, weight in weights.items()}


def unused(name):
    """Return whether the score does not depend on a weight: it comes after the last block."""
    return any(
        part in name for part in ("encoder.layer.4.", "v_layer.2.", "q_dense", "pooler", "cls.")
    )


def write_config(path, **changes):
    path.write_text(json.dumps({**CONFIG, "vocab_size": len(PIECES), **changes}), "utf-8")
    return path


def write_vocabulary(path):
    path.write_text("\n".join(PIECES) + "\n", "utf-8")
    return path


def random_image(random, regions=6, width=640, height=480):
    """Return an image in the four arrays of an ``.npz`` file."""
    corners = random.uniform(0, 200, (regions, 2))
    return {
        "features": random.exponential(size=(regions, CONFIG["v_feature_size"])).astype("f4"),
        "boxes": np.hstack([corners, corners + random.uniform(20, 200, (regions, 2))]).astype("f4"),
        "width": width,
        "height": height,
    }


def tokens(text):
    """Return the tokens of a caption whose words are single pieces, separated by blanks."""
    return [4, *(PIECES.index(word) if word in PIECES else 1 for word in text.lower().split()), 3]


class Plain:
    """The formulas, over a checkpoint's weights."""

    def __init__(self, weights):
        self.weights = {name: weight.astype(np.float64) for name, weight in weights.items()}
        self.has_tasks = "bert.embeddings.task_embeddings.weight" in weights

    def linear(self, x, name):
        return x @ self.weights[f"bert.{name}.weight"].T + self.weights[f"bert.{name}.bias"]

    def norm(self, x, name):
        centred = x - x.mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-12)
        return scaled * self.weights[f"bert.{name}.weight"] + self.weights[f"bert.{name}.bias"]

    def attention(self, asking, asked, heads, query, key, value):
        q, k, v = self.linear(asking, query), self.linear(asked, key), self.linear(asked, value)
        seen = np.empty_like(q)
        size = q.shape[1] // heads
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            weights = np.exp(q[:, part] @ k[:, part].T / math.sqrt(size))
            seen[:, part] = weights / weights.sum(axis=1, keepdims=True) @ v[:, part]
        return seen

    def feed_forward(self, x, inner, outer):
        hidden = self.linear(x, f"{inner}.dense")
        hidden = hidden * (1 + np.vectorize(math.erf)(hidden / math.sqrt(2))) / 2
        return self.norm(self.linear(hidden, f"{outer}.dense") + x, f"{outer}.LayerNorm")

    def layer(self, x, name, heads):
        at = f"{name}.attention"
        parts = [f"{at}.self.{part}" for part in ("query", "key", "value")]
        seen = self.linear(self.attention(x, x, heads, *parts), f"{at}.output.dense")
        x = self.norm(seen + x, f"{at}.output.LayerNorm")
        return self.feed_forward(x, f"{name}.intermediate", f"{name}.output")

    def block(self, text, image, name):
        heads, inner, out = CONFIG["bi_num_attention_heads"], f"{name}.biattention", "biOutput"
        asked = [f"{inner}.{part}" for part in ("query2", "key1", "value1")]
        for_text = self.linear(self.attention(text, image, heads, *asked), f"{name}.{out}.dense2")
        asked = [f"{inner}.{part}" for part in ("query1", "key2", "value2")]
        for_image = self.linear(self.attention(image, text, heads, *asked), f"{name}.{out}.dense1")
        text = self.norm(for_text + text, f"{name}.{out}.LayerNorm2")
        image = self.norm(for_image + image, f"{name}.{out}.LayerNorm1")
        return (
            self.feed_forward(text, f"{name}.t_intermediate", f"{name}.t_output"),
            self.feed_forward(image, f"{name}.v_intermediate", f"{name}.v_output"),
        )

    def states(self, caption, image):
        """Return the words' states after each block, (blocks, tokens, width)."""
        named = "bert.embeddings.{}_embeddings.weight"
        words = self.weights[named.format("word")][caption]
        words = words + self.weights[named.format("position")][: len(caption)]
        words = words + self.weights[named.format("token_type")][0]
        if self.has_tasks:
            words = np.insert(words, 1, self.weights[named.format("task")][TASK], axis=0)
        text = self.norm(words, "embeddings.LayerNorm")
        features, locations = image_inputs(image)
        regions = self.linear(features, "v_embeddings.image_embeddings")
        regions = regions + self.linear(locations, "v_embeddings.image_location_embeddings")
        regions = self.norm(regions, "v_embeddings.LayerNorm")
        done = []
        for number in range(2):
            text = self.layer(text, f"encoder.layer.{number}", CONFIG["num_attention_heads"])
        for number in range(3):
            if number > 0:
                text = self.layer(
                    text, f"encoder.layer.{number + 1}", CONFIG["num_attention_heads"]
                )
                regions = self.layer(
                    regions, f"encoder.v_layer.{number - 1}", CONFIG["v_num_attention_heads"]
                )
            text, regions = self.block(text, regions, f"encoder.c_layer.{number}")
            done.append(text)
        return np.array(done)

    def scores(self, candidate, references, image, layer=-1):
        """Return P, R and F of a caption, means over its references."""
        of_references = []
        for reference in references:
            sides = [tokens(text)[:MOST_TOKENS] for text in (candidate, reference)]
            lengths = [len(side) for side in sides]
            units = []
            for side in sides:
                rows = self.states(side, image)[layer][1 : len(side)]
                units.append([row / math.sqrt(sum(row**2)) for row in rows])
            of_references.append(matched(*units, *lengths))
        return np.mean(of_references, axis=0)


def matched(candidate, reference, candidate_length, reference_length):
    """Return P, R and F of unit vectors; the lengths are in tokens."""
    cosines = [[float(c @ r) for r in reference] for c in candidate]
    best = [max(row) for row in cosines]
    if reference_length < MOST_TOKENS:
        best = [max(cosine, 0) for cosine in best]
    precision = sum(best) / len(best)
    best = [max(column) for column in zip(*cosines, strict=True)]
    if candidate_length < MOST_TOKENS:
        best = [max(cosine, 0) for cosine in best]
    recall = sum(best) / len(best)
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0


def image_inputs(image):
    """Return features and locations of the regions, the whole image first."""
    boxes = []
    for x1, y1, x2, y2 in image["boxes"].astype(float):
        w, h = image["width"], image["height"]
        boxes.append([x1 / w, y1 / h, x2 / w, y2 / h, (y2 - y1) * (x2 - x1) / (w * h)])
    features = image["features"].astype(float)
    whole = sum(features) / len(features)
    return np.array([whole, *features]), np.array([[0, 0, 1, 1, 1], *boxes])
