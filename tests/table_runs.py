"""Runs of ``score-table`` over made-up files."""

import hashlib
import json
import random

import pyarrow as pa
from click.testing import CliRunner
from pyarrow import parquet

from vifidel_eval.commands.main import main

WORDS = (
    "dog cat man woman horse ball frisbee car street table pizza boat runs catches rides eats sits "
    "on a the large small red"
).split()
LABELS = ["person", "dog", "cat", "horse", "car", "pizza", "boat", "frisbee"]


def rows(number, seed=0):
    chance = random.Random(seed)
    return [
        {
            "id": at,
            "caption": " ".join(chance.choices(WORDS, k=8)),
            "labels": chance.sample(LABELS, chance.randint(0, 4)),
        }
        for at in range(number)
    ]


def tables(folder, files=3, number=40):
    folder.mkdir()
    for at in range(files):
        table = pa.Table.from_pylist(rows(number, seed=at))
        parquet.write_table(table, folder / f"part-{at}.parquet")
    return folder


def invoke(*arguments):
    """Run the command in this process; the tests of workers and signals start others."""
    return CliRunner().invoke(main, ["score-table", "--workers", "1", *map(str, arguments)])


def done(*arguments):
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    return result


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def manifest(folder):
    return json.loads((folder / "manifest.json").read_text())
