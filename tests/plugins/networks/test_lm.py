import hashlib
import math
from importlib import metadata

import numpy as np
import pytest
from host_metrics import evaluate

torch = pytest.importorskip("torch", reason="needs PyTorch")
pytestmark = pytest.mark.pytorch

from vifidel_eval.errors import VifidelError  # noqa: E402
from vifidel_eval.plugins.networks.lm import LanguageModel, caption_words, train  # noqa: E402

ANIMALS = ("dog", "cat", "horse", "cow", "bird")
PLACES = ("field", "park", "street", "garden")
CAPTIONS = {
    number: [f"A {animal} is in the {place}.", f"the {animal} runs through a {place}"]
    for number, (animal, place) in enumerate((a, p) for a in ANIMALS for p in PLACES)
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "lm.pt"
    many = {number: texts * 16 for number, texts in CAPTIONS.items()}
    before = torch.get_num_threads()
    torch.set_num_threads(1)  # threads only get in each other's way in a network this small
    train(many, path, epochs=24, hidden=12, min_count=4)
    yield path
    torch.set_num_threads(before)


def score(scorer, captions):
    gts = {number: [] for number in range(len(captions))}
    return scorer.compute_score(gts, {n: [caption] for n, caption in enumerate(captions)})


def numpy_score(path, words):
    """The score of some words from the weights alone: an LSTM step by step."""
    content = torch.load(path, weights_only=True)
    weights = {name: value.double().numpy() for name, value in content["weights"].items()}
    tokens = {word: number for number, word in enumerate(content["words"], 3)}
    numbers = [tokens.get(word, 2) for word in words]

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    h = c = np.zeros(12)
    losses = []
    for read, expected in zip([1, *numbers], [*numbers, 0], strict=True):
        gates = (
            weights["lstm.weight_ih_l0"] @ weights["embedding.weight"][read]
            + weights["lstm.bias_ih_l0"]
            + weights["lstm.weight_hh_l0"] @ h
            + weights["lstm.bias_hh_l0"]
        )
        i, f, g, o = np.split(gates, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        logits = weights["embedding.weight"] @ h + weights["output.bias"]
        losses.append(np.log(np.exp(logits).sum()) - logits[expected])
    return math.exp(-np.mean(losses))


@pytest.mark.parametrize(
    ("caption", "words"),
    [
        ("A dog is in the park.", "a dog is in the park".split()),
        ("THE COW runs", "the cow runs".split()),
        ("a zebra isn't in the zoo", "a zebra is in the zoo".split()),
        ("dog", ["dog"]),
    ],
)
def test_score_is_that_of_an_lstm_written_by_hand(model, caption, words):
    _, scores = score(LanguageModel(model), [caption])
    assert scores[0] == pytest.approx(numpy_score(model, words), rel=1e-9)


def test_score_does_not_depend_on_the_batch(model):
    random = np.random.default_rng(0)
    vocabulary = [*ANIMALS, *PLACES, "a", "the", "in", "unheard"]
    captions = [
        " ".join(random.choice(vocabulary, size)) for size in random.integers(1, 30, 300)
    ] + [" ".join(random.choice(vocabulary, 5000))]  # more tokens than are scored at once
    scorer = LanguageModel(model)
    corpus, scores = score(scorer, captions)
    alone = [score(scorer, [caption])[1][0] for caption in captions]
    np.testing.assert_allclose(scores, alone, rtol=1e-12)
    assert corpus == pytest.approx(np.mean(alone), rel=1e-12)
    assert len(np.unique(scores.round(9))) > 200
    assert ((scores > 0) & (scores <= 1)).all()


def test_captions_without_a_word_score_zero_and_are_counted(model):
    gts = {7: [], 3: ["a dog"], 5: [""], 4: []}
    res = {3: [" ... "], 4: [""], 5: ["a dog"], 7: ["the dog runs"]}
    steps = []
    evaluation = evaluate(LanguageModel(model), gts, res, steps.append)
    assert evaluation.ids == [7, 3, 5, 4]
    assert evaluation.counts == {"undefined": 0, "no_words": 2, "no_claim": 2}
    assert (evaluation.scores > 0).tolist() == [True, False, True, False]
    assert evaluation.score == pytest.approx(evaluation.scores.sum() / 4)
    assert sum(steps) == 4


def test_signature_pins_the_model(model, tmp_path):
    scorer = LanguageModel(str(model))
    digest = hashlib.sha256(model.read_bytes()).hexdigest()[:8]
    version = torch.__version__.partition("+")[0]
    assert scorer.method() == "LM"
    versions = f"torch:{version}|version:{metadata.version('vifidel_eval')}"
    assert scorer.signature() == f"LM|model:{digest}|captions:answers-1|{versions}"
    other = tmp_path / "lm.pt"
    train(CAPTIONS, other, epochs=1, hidden=12, min_count=4)
    assert LanguageModel(other).signature() != scorer.signature()


def test_words_include_stop_words_and_single_letters():
    captions = ["A man isn't near the T-shirt, it's 2 dogs'", "", "Ein Hündchen 猫"]
    assert caption_words(captions) == [
        ["a", "man", "is", "near", "the", "t", "shirt", "it", "2", "dogs"],
        [],
        ["ein", "hündchen", "猫"],
    ]


class TestDamagedAndForeignFiles:
    def refused(self, path, message):
        with pytest.raises(VifidelError, match=rf"{path.name}: {message}") as caught:
            LanguageModel(path)
        assert "train a new one" in str(caught.value)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize("content", [[1, 2], {"weights": {}}, {"format": "of others"}])
    def test_pytorch_files_of_others(self, tmp_path, content):
        path = tmp_path / "lm.pt"
        torch.save(content, path)
        self.refused(path, "not a vifidel-eval language model 1")

    @pytest.mark.parametrize("change", ["word", "missing", "type"])
    def test_content_that_does_not_fit(self, tmp_path, model, change):
        content = torch.load(model, weights_only=True)
        {
            "word": lambda: content["words"].append("unicorn"),
            "missing": lambda: content["weights"].pop("output.bias"),
            "type": lambda: content.update(words=7),
        }[change]()
        path = tmp_path / "lm.pt"
        torch.save(content, path)
        self.refused(path, "not a vifidel-eval language model 1, or damaged")
