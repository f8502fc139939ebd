"""VifidelMetric as TorchMetrics and Lightning use it, beside an evaluation of all captions."""

import pickle

import pytest

import vifidel_eval
from vifidel_eval import VifidelError

torch = pytest.importorskip("torch")
pytest.importorskip("torchmetrics")
VifidelMetric = pytest.importorskip("vifidel_eval.integrations.torchmetrics").VifidelMetric
pytestmark = pytest.mark.pytorch

CAPTIONS = ["a dog catches a frisbee", "a zebra in the snow", "two cats on a couch", "a dog", "so"]
OBJECTS = [["dog", "frisbee"], ["dog"], ["cat", "cat", "couch"], [], ["dog"]]
REFERENCES = [["a dog with a frisbee"], ["a dog"], ["cats sleep"], [], ["a dog runs"]]
COLUMNS = ["VIFIDEL-F", "VIFIDEL-Hi", "VIFIDEL-Hs", "VIFIDEL-T", "VIFIDEL", "WMD"]


def updated(metric, *parts):
    for part in parts:
        metric.update(CAPTIONS[part], OBJECTS[part], REFERENCES[part])
    return metric


@pytest.fixture(scope="module")
def scores():
    """The corpus scores of an evaluation of all captions at once."""
    numbers = range(len(CAPTIONS))
    run = vifidel_eval.evaluate(
        {"all": dict(zip(numbers, CAPTIONS, strict=True))},
        references=dict(zip(numbers, REFERENCES, strict=True)),
        objects=dict(zip(numbers, OBJECTS, strict=True)),
        metrics=["VIFIDEL", "VIFIDEL-PRF", "VIFIDEL-H", "WMD"],
    )
    return run.scores["all"]


def test_batches_add_up_to_the_run(scores):
    metric = updated(VifidelMetric(COLUMNS), slice(0, 2), slice(2, 2), slice(2, 5))
    result = metric.compute()
    assert list(result) == COLUMNS
    for name, score in result.items():
        assert score.dtype == torch.float64
        assert float(score) == pytest.approx(scores[name], rel=1e-12)


def test_merged_processes_equal_one(scores):
    one, other = (updated(VifidelMetric(COLUMNS), part) for part in (slice(3), slice(3, 5)))
    one.merge_state(other)
    for name, score in one.compute().items():
        assert float(score) == pytest.approx(scores[name], rel=1e-12)


def test_one_column_is_a_number_and_pickles(scores):
    metric = pickle.loads(pickle.dumps(updated(VifidelMetric("VIFIDEL-F"), slice(0, 5))))
    assert float(metric.compute()) == pytest.approx(scores["VIFIDEL-F"], rel=1e-12)
    metric.reset()
    metric.update(["a dog"], [[]], [[]])
    assert torch.isnan(metric.compute())  # nothing is known of the image


@pytest.mark.parametrize(
    "convert",
    [torch.nn.Module.half, torch.nn.Module.bfloat16, lambda module: module.to(torch.bfloat16)],
)
def test_a_module_of_lower_precision_loses_no_counts(convert):
    module = torch.nn.Module()
    module.metric = updated(VifidelMetric("VIFIDEL-F"), slice(0, 5))
    before = module.metric.compute()
    convert(module)
    assert module.metric.sums.dtype == torch.float64
    assert module.metric.compute() == before
    module.metric.reset()
    assert module.metric.sums.dtype == torch.float64


def test_direction():
    assert VifidelMetric("VIFIDEL-F").higher_is_better is True
    assert VifidelMetric("VIFIDEL-Hi").higher_is_better is False
    assert VifidelMetric(COLUMNS).higher_is_better is None


def test_what_is_refused():
    for columns, sentence in (
        ([], "name at least one column"),
        (None, r"VifidelMetric: columns must be str \| Sequence\[str\], not None"),
    ):
        with pytest.raises(VifidelError, match=sentence):
            VifidelMetric(columns)
    with pytest.raises(VifidelError, match=r"captions must be Sequence.str., not 5"):
        VifidelMetric(references=False).update(5)
