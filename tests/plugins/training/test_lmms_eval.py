"""The task for lmms-eval, run by its own TaskManager and evaluator with its dummy model."""

import io
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import call, done
from PIL import Image

import vifidel_eval
from vifidel_eval import VifidelError
from vifidel_eval.integrations import LMMS_EVAL

pytestmark = [pytest.mark.pytorch, pytest.mark.slow]

REFERENCES = {1: ["a dog on grass", "a dog"], 2: ["a cat on a couch", "a cat sleeps"]}
OBJECTS = {1: ["dog"], 2: ["cat", "couch"]}
CAPTION = "a dog and a zebra"

RUN = """
import json, sys
from lmms_eval import evaluator
from lmms_eval.loggers import EvaluationTracker
from lmms_eval.tasks import TaskManager

written, *folders = sys.argv[1:]
tracker = EvaluationTracker(output_path=written)
tasks = TaskManager(include_path=folders, include_defaults=False)
found = evaluator.simple_evaluate(
    model="dummy", model_args="response=a dog and a zebra", tasks=["mine"], task_manager=tasks,
    batch_size=1, device="cpu", log_samples=True, evaluation_tracker=tracker,
)
samples = found.pop("samples")
tracker.save_results_aggregated(results=found, samples=samples, datetime_str="now")
tracker.save_results_samples(task_name="mine", samples=samples["mine"])
print("\\n" + json.dumps(found["results"]["mine"]))
"""


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    """What lmms-eval's evaluator found, and the file of samples that it wrote."""
    pytest.importorskip("lmms_eval")
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    tmp_path = tmp_path_factory.mktemp("lmms")
    Image.new("RGB", (8, 8)).save(content := io.BytesIO(), "PNG")
    picture = {"bytes": content.getvalue(), "path": None}
    table = pa.table({
        "image": [picture] * len(REFERENCES), "answer": list(REFERENCES.values()),
        "question_id": [f"COCO_val2014_{image_id:012d}.jpg" for image_id in REFERENCES],
    })  # fmt: skip
    text = {"dtype": "string", "_type": "Value"}
    features = {"image": {"_type": "Image"}, "question_id": text}
    features["answer"] = {"feature": text, "_type": "List"}
    known = json.dumps({"info": {"features": features}})
    table = table.replace_schema_metadata({"huggingface": known})
    parquet.write_table(table, tmp_path / "val.parquet")
    tasks = tmp_path / "tasks"
    tasks.mkdir()
    (tasks / "mine.yaml").write_text(
        f"include: {LMMS_EVAL / 'vifidel_coco_caption.yaml'}\n"
        "task: mine\n"
        "dataset_path: parquet\n"
        f"dataset_kwargs:\n  data_files:\n    val: {tmp_path / 'val.parquet'}\n"
    )
    (tmp_path / "objects.json").write_text(json.dumps(OBJECTS))
    environment = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "cache")}
    environment["VIFIDEL_OBJECTS"] = str(tmp_path / "objects.json")
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path / "written"), str(LMMS_EVAL), str(tasks)],
        env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    (samples,) = tmp_path.glob("written/**/*_samples_mine.jsonl")
    return json.loads(done.stdout.splitlines()[-1]), samples


def test_its_own_evaluator_gives_our_scores(evaluated):
    result, _ = evaluated
    run = vifidel_eval.evaluate(
        {"model": dict.fromkeys(REFERENCES, CAPTION)},
        references=REFERENCES,
        objects=OBJECTS,
        metrics=["VIFIDEL-PRF", "VIFIDEL-H", "CHAIR"],
    )
    ours = run.scores["model"]
    theirs = {name.removesuffix(",none"): score for name, score in result.items()}
    theirs = {name: score for name, score in theirs.items() if name in ours}
    assert len(theirs) == 7
    assert theirs == pytest.approx({name: ours[name] for name in theirs}, rel=1e-12)


def test_they_are_read_as_the_page_says(evaluated, tmp_path, monkeypatch):
    _, samples = evaluated
    monkeypatch.chdir(tmp_path)
    (tmp_path / "samples.jsonl").write_text(samples.read_text("utf-8"))
    (tmp_path / "captions.json").write_text(json.dumps(REFERENCES))
    page = (Path(__file__).parents[3] / "docs" / "captions.md").read_text("utf-8")
    (command,) = re.findall(r"```bash\n(vifidel-eval score .*?--id-field.*?)```", page, re.S)
    program, *arguments = shlex.split(command.replace("\\\n", " "))
    assert program == "vifidel-eval"
    done(*arguments, "--metrics", "ROUGE_L", "--output", "scores.json")
    (scores,) = vifidel_eval.load("scores.json").scores.values()
    by_id = vifidel_eval.evaluate(
        {"x": dict.fromkeys(REFERENCES, CAPTION)}, REFERENCES, metrics="ROUGE_L"
    )
    assert scores == by_id.scores["x"]


def test_what_would_be_lost_is_refused(tmp_path, monkeypatch):
    task = runpy.run_path(str(LMMS_EVAL / "vifidel_lmms.py"))
    with pytest.raises(VifidelError, match=r"image 7.*'answer' is 'a dog'; expected a list"):
        task["process_results"]({"image_id": 7, "answer": "a dog"}, ["a dog"])
    (tmp_path / "objects.json").write_text('{"7": ["dog"]}')
    monkeypatch.setenv("VIFIDEL_OBJECTS", str(tmp_path / "objects.json"))
    item = {"image_id": 7, "answer": ["a dog runs"], "pred": "a dog"}
    # As distributed samplers pad the last batch.
    assert task["vifidel_f"]([item, item]) == task["vifidel_f"]([item])
    with pytest.raises(VifidelError, match=r"image 7 has two different answers; .* set repeats to"):
        task["vifidel_f"]([item, item | {"pred": "a cat"}])


def test_the_command_prints_a_folder_with_the_task():
    assert call("info", "--lmms-eval").stdout == f"{LMMS_EVAL}\n"
    assert (LMMS_EVAL / "vifidel_coco_caption.yaml").is_file()
