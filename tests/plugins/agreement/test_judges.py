"""What moves a judge's scores: judges that like length, truth or a system by construction."""

import json
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import done
from scipy import stats

from vifidel_eval.errors import VifidelError
from vifidel_eval.evaluation import Evaluation
from vifidel_eval.plugins.agreement.judges import MADE_UP, ONE_MORE, WORDS_MORE, audit_judges
from vifidel_eval.scores.scores import Scores

SYSTEMS, IMAGES = ("a", "b", "c"), 80


def run_of(judge, systems=SYSTEMS, noise=0.0, seed=0):
    """Return a run whose judge is a function of words, made-up things and the system's number."""
    random = np.random.default_rng(seed)
    evaluations, captions, columns = {}, {}, []
    for number, name in enumerate(systems):
        words = random.integers(10, 14, IMAGES) * (1 + 3 * random.integers(2, size=IMAGES))
        made_up = random.poisson(0.5 + words / 40 + 0.3 * number).clip(max=3)
        score = judge(words, made_up, number) + noise * random.normal(size=IMAGES)
        if number == 1:
            score[5] = np.nan
        by_column = {"GPT": score, MADE_UP: made_up.astype(float)}
        evaluations[name] = {k: Evaluation(range(IMAGES), v) for k, v in by_column.items()}
        columns.append(np.stack([score, words, made_up, np.full(IMAGES, number)]))
        captions[name] = {at: "word " * n for at, n in enumerate(words)}
    signatures = {"GPT": "GPT|scores:given|files:1", MADE_UP: "VIFIDEL-H"}
    detail = Scores(signatures, evaluations)
    return SimpleNamespace(detail=detail, captions=captions.__getitem__), np.stack(columns)


def effects_of(scores, **arguments):
    result = audit_judges(scores, **arguments).findings["effects"]
    return {effect["kind"]: effect for effect in result}


def test_a_judge_that_likes_a_system():
    scores, _ = run_of(lambda words, made_up, system: 1 + 0.5 * (system == 2), noise=0.2)
    effects = effects_of(scores)
    assert effects["by c"]["low"] < 0.5 < effects["by c"]["high"]
    assert abs(effects["by c"]["matched"] - 0.5) < 0.15
    low, high = effects[WORDS_MORE]["low"], effects[WORDS_MORE]["high"]
    assert low < 0 < high


def test_coefficients_correlations_and_pairs_by_other_means():
    scores, columns = run_of(lambda w, m, s: 0.01 * w - 0.2 * m + 0.1 * s, noise=0.3, seed=4)
    effects = effects_of(scores)
    score, words, made_up, system = columns.transpose(1, 0, 2).reshape(4, -1)
    some = ~np.isnan(score)
    by = [system == 1, system == 2]
    causes = {
        WORDS_MORE: (words / 50, [made_up, *by]),
        ONE_MORE: (made_up, [words, *by]),
        "by b": (system == 1, [words, made_up]),
    }
    for kind, (cause, others) in causes.items():
        controls = np.stack([np.ones(some.sum()), *(other[some] for other in others)], axis=1)
        design = np.column_stack([controls, cause[some]])
        solution = np.linalg.lstsq(design, score[some], rcond=None)[0]
        assert effects[kind]["change"] == pytest.approx(solution[-1])
        rest = [
            values[some] - controls @ np.linalg.lstsq(controls, values[some], rcond=None)[0]
            for values in (cause.astype(float), score)
        ]
        assert effects[kind]["partial_r"] == pytest.approx(stats.pearsonr(*rest)[0])
        assert effects[kind]["captions"] == some.sum() == 3 * IMAGES - 1
    moved = []
    for one, other in combinations(columns, 2):
        for (y, w, m, _), (y2, w2, m2, _) in zip(one.T, other.T, strict=True):
            if m == m2 and w != w2 and not np.isnan(y + y2):
                moved.append(((w - w2) / 50, y - y2))
    dw, dy = np.array(moved).T
    assert effects[WORDS_MORE]["pairs"] == len(moved)
    assert effects[WORDS_MORE]["matched"] == pytest.approx((dw * dy).sum() / (dw * dw).sum())


def test_one_system_has_neither_pairs_nor_an_effect_of_its_own():
    scores, _ = run_of(lambda words, made_up, _: 0.4 * words / 50 - made_up, systems=("a",))
    effects = effects_of(scores)
    assert list(effects) == [WORDS_MORE, ONE_MORE]
    assert effects[WORDS_MORE]["change"] == pytest.approx(0.4)
    assert effects[WORDS_MORE]["pairs"] == 0
    assert np.isnan(effects[WORDS_MORE]["matched"])


@pytest.mark.parametrize(
    ("judge", "arguments", "says"),
    [
        (lambda w, m, s: w / 2, {"judges": ["Gemini"]}, "no judge 'Gemini'"),
        (lambda w, m, s: w / 2, {"made_up": "CHAIRi"}, "no column 'CHAIRi'"),
        (lambda w, m, s: 0 * w + 1.0, {}, "GPT is the same in all captions"),
        (lambda w, m, s: w * np.nan, {}, "GPT is the same in all captions"),
    ],
)
def test_refusals(judge, arguments, says):
    with pytest.raises(VifidelError, match=says):
        audit_judges(run_of(judge)[0], **arguments)
    alone, _ = run_of(judge)
    alone.detail = alone.detail.only([MADE_UP])
    with pytest.raises(VifidelError, match="--scores SYSTEM=FILE"):
        audit_judges(alone)


def test_the_command(run, write, tmp_path):
    texts = ["A dog.", "A dog and a zebra.", "A brown dog runs over the grass.", "A zebra, a dog."]
    results, objects, judged = [], {}, []
    for system in range(2):
        captions = {n: texts[(n * (system + 1) + n // 4) % 4] for n in range(16)}
        rows = [{"image_id": n, "caption": c} for n, c in captions.items()]
        results.append(write(rows, f"{system}.json"))
        lengths = {n: 0.1 * len(c.split()) - ("zebra" in c) for n, c in captions.items()}
        judged.append(write(lengths, f"judge{system}.json"))
        objects |= {n: {"dog": 1, "zebra": 0} for n in captions}
    scored, output = tmp_path / "scores.json", tmp_path / "judge.json"
    given = [part for n in range(2) for part in ("--scores", f"{n}: GPT={judged[n]}")]
    options = ("--objects", write(objects), "--metrics", "VIFIDEL-H", "--output", scored)
    result = done("score", *results, *given, *options)
    figure = tmp_path / "judge.svg"
    result = done("agreement", "judge", scored, "--output", output, "--figure", figure)
    # Zebras are made up, and each word is worth .1.
    message = "GPT gives 5 more (5 to 5) for 50 words more, at the same number of made-up things."
    assert message in result.stdout
    effects = {effect["kind"]: effect for effect in json.loads(output.read_text())["effects"]}
    assert effects[ONE_MORE]["change"] == pytest.approx(-1)
    assert "by 1" in figure.read_text()
    assert "no judge" in run("agreement", "judge", scored, "--judge", "x").stderr
