"""The task for lmms-eval, run by its own TaskManager and evaluator with its dummy model."""

import io
import json
import subprocess
import sys

import pytest
from PIL import Image

import vifidel_eval
from vifidel_eval.integrations import LMMS_EVAL

pytestmark = [pytest.mark.pytorch, pytest.mark.slow]

REFERENCES = {1: ["a dog on grass", "a dog"], 2: ["a cat on a couch", "a cat sleeps"]}
OBJECTS = {1: ["dog"], 2: ["cat", "couch"]}
CAPTION = "a dog and a zebra"

RUN = """
import json, sys
from lmms_eval import evaluator
from lmms_eval.tasks import TaskManager

tasks = TaskManager(include_path=sys.argv[1:], include_defaults=False)
found = evaluator.simple_evaluate(
    model="dummy", model_args="response=a dog and a zebra", tasks=["mine"], task_manager=tasks,
    batch_size=1, device="cpu",
)
print("\\n" + json.dumps(found["results"]["mine"]))
"""


def picture():
    content = io.BytesIO()
    Image.new("RGB", (8, 8)).save(content, "PNG")
    return {"bytes": content.getvalue(), "path": None}


def test_its_own_evaluator_gives_our_scores(tmp_path, monkeypatch):
    pytest.importorskip("lmms_eval")
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    documents = [
        {
            "image": picture(),
            "question_id": f"COCO_val2014_{image_id:012d}.jpg",
            "answer": references,
        }
        for image_id, references in REFERENCES.items()
    ]
    table = pa.Table.from_pylist(documents)
    features = {
        "info": {
            "features": {
                "image": {"_type": "Image"},
                "question_id": {"dtype": "string", "_type": "Value"},
                "answer": {"feature": {"dtype": "string", "_type": "Value"}, "_type": "List"},
            }
        }
    }
    table = table.replace_schema_metadata({"huggingface": json.dumps(features)})
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
    monkeypatch.setenv("VIFIDEL_OBJECTS", str(tmp_path / "objects.json"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(LMMS_EVAL), str(tasks)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    run = vifidel_eval.evaluate(
        {"model": dict.fromkeys(REFERENCES, CAPTION)},
        references=REFERENCES,
        objects=OBJECTS,
        metrics=["VIFIDEL-PRF", "VIFIDEL-H", "CHAIR"],
    )
    ours = run.scores["model"]
    theirs = {
        name.removesuffix(",none"): score
        for name, score in found.items()
        if name.removesuffix(",none") in ours
    }
    assert len(theirs) == 7
    assert theirs == pytest.approx({name: ours[name] for name in theirs}, rel=1e-12)


def test_the_command_prints_a_folder_with_the_task(capsys):
    from vifidel_eval.commands.main import main

    with pytest.raises(SystemExit, match="0"):
        main(["info", "--lmms-eval"])
    printed = capsys.readouterr().out
    assert printed == f"{LMMS_EVAL}\n"
    assert (LMMS_EVAL / "vifidel_coco_caption.yaml").is_file()
