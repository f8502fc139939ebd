import asyncio
import math

import pytest

from vifidel_eval import VifidelError
from vifidel_eval.integrations import CaptionScores
from vifidel_eval.scorers import VifidelH, VifidelPRF

COLUMNS = ["VIFIDEL-F", "VIFIDEL-Hi"]
OBJECTS = {"dog": 1, "zebra": 0}
# What is written, the objects, the references, and what is made up.
SAMPLES = [
    ("a dog and a zebra", OBJECTS, ["a dog runs"], ["zebra"]),
    ("a cat on a mat", None, ["a cat"], ["mat"]),
    ("a squirrel", ["squirrel"], [], []),
]


def expected(caption, objects, references):
    """Return what the metrics themselves say of one row."""
    row = {"references": [references]} | ({} if objects is None else {"objects": [objects]})
    return {
        column: float(scorer().score_columns([caption], **row)[column][0])
        for scorer, column in zip((VifidelPRF, VifidelH), COLUMNS, strict=True)
    }


@pytest.mark.parametrize(("caption", "objects", "references", "made_up"), SAMPLES)
def test_a_caption_gets_what_its_metrics_say(caption, objects, references, made_up):
    scores = CaptionScores(COLUMNS)
    result = scores(caption, objects, references)
    assert result == pytest.approx(expected(caption, objects, references), nan_ok=True)
    assert scores.made_up(caption, objects, references) == made_up
    assert scores.higher_is_better == {"VIFIDEL-F": True, "VIFIDEL-Hi": False}


def test_what_is_missing_is_one_sentence():
    with pytest.raises(VifidelError, match="VIFIDEL-X"):
        CaptionScores("VIFIDEL-X")
    with pytest.raises(VifidelError, match="needs to know what the images show"):
        CaptionScores("VIFIDEL")("a dog")
    for asked in (CaptionScores(), CaptionScores().made_up):
        with pytest.raises(VifidelError, match="expected a list of references, found 'dog'"):
            asked("a dog", ["dog"], "dog")


@pytest.mark.engine
@pytest.mark.filterwarnings("ignore")  # of what it uses itself
def test_inspect(tmp_path):
    inspect = pytest.importorskip("inspect_ai", reason="needs inspect_ai")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from vifidel_eval.integrations import vifidel_scorer

    samples, outputs = [], []
    for number, (caption, objects, references, _) in enumerate(SAMPLES):
        metadata = {} if objects is None else {"objects": objects}
        given = {"target": references or "", "metadata": metadata, "id": number}
        samples.append(Sample(input="Describe.", **given))
        outputs.append(ModelOutput.from_content("mockllm/model", caption))
        outputs[-1].usage = ModelUsage()  # else its tokens are counted, by a file from elsewhere
    (log,) = inspect.eval(
        inspect.Task(dataset=samples, scorer=vifidel_scorer(COLUMNS)),
        model=get_model("mockllm/model", custom_outputs=outputs),
        display="none",
        log_dir=str(tmp_path),
        max_samples=1,
    )
    assert log.status == "success", log.error
    for result, (caption, objects, references, made_up) in zip(log.samples, SAMPLES, strict=True):
        (score,) = result.scores.values()
        assert score.value == pytest.approx(expected(caption, objects, references), nan_ok=True)
        assert score.metadata["made_up"] == made_up
    means = {one.name: one.metrics["mean"].value for one in log.results.scores}
    assert means["VIFIDEL-Hi"] == pytest.approx(0.5)  # of the two that are defined


@pytest.mark.engine
def test_lighteval():
    pytest.importorskip("lighteval", reason="needs lighteval")
    from lighteval.metrics import apply_metric
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc

    from vifidel_eval.integrations import vifidel_metric

    metric = vifidel_metric(COLUMNS)
    docs = [
        Doc(
            "Describe.",
            message,
            list(range(len(message))),
            specific=objects and {"objects": objects},
        )
        for _, objects, message, _ in SAMPLES
    ]
    responses = [ModelResponse(text=[caption]) for caption, *_ in SAMPLES]
    result = apply_metric(responses, docs, [metric])
    for scores, (caption, objects, references, _) in zip(result, SAMPLES, strict=True):
        assert scores == pytest.approx(expected(caption, objects, references), nan_ok=True)
    means = metric.get_corpus_aggregations()
    assert means["VIFIDEL-Hi"]([one["VIFIDEL-Hi"] for one in result]) == pytest.approx(0.5)
    assert math.isnan(means["VIFIDEL-Hi"]([math.nan]))


@pytest.mark.engine
@pytest.mark.filterwarnings("ignore")  # of what it uses itself
def test_weave():
    weave = pytest.importorskip("weave", reason="needs weave")
    scores = CaptionScores(COLUMNS)

    def scorer(output, objects):
        return scores(output, objects)

    rows = [{"image": n, "objects": objects} for n, objects in enumerate([["cat"], ["dog"]])]
    model = weave.op(lambda image: "a cat", name="model")
    result = asyncio.run(
        weave.Evaluation(dataset=rows, scorers=[weave.op(scorer, name="vifidel")]).evaluate(model)
    )
    assert result["vifidel"]["VIFIDEL-Hi"]["mean"] == pytest.approx(0.5)  # 0 and 1
