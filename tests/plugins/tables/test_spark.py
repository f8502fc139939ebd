"""Captions in Spark on `local[2,4]`: two tasks at once, and a task may fail four times.

CaptionFields are the bits of `Vifidel.score`, whatever happens to the tasks.
"""

import os
import re
import sys
import threading
import time
from pathlib import Path

import pytest

from vifidel_eval import MetricUnavailable, Vifidel
from vifidel_eval.scorers import VifidelPRF

pa = pytest.importorskip("pyarrow", reason="needs pyarrow")

from tables_page import check_scored, recipe, write_captions  # noqa: E402

from vifidel_eval import spark as captions_in_spark  # noqa: E402

ROOT = Path(__file__).parents[3]
# pip installs pandas 3 beside a PySpark that is not sure of it; nothing here is done with pandas.
PANDAS_3 = "ignore:PySpark does not yet fully support pandas >= 3.0.0:FutureWarning"
in_spark = [pytest.mark.slow, pytest.mark.java, pytest.mark.engine]
in_spark.append(pytest.mark.filterwarnings(PANDAS_3))

NOUNS = (
    "dog cat horse bird sheep cow bear zebra car bus train truck boat bicycle table chair couch "
    "bed bottle cup bowl fork knife spoon apple banana orange pizza cake sandwich"
).split()
#: Columns of the test tables: an id, a caption, labels and references, in Spark's SQL.
COLUMNS = (
    "id",
    "id div 3 AS image",  # three captions per image
    "concat('a ', {0}[id % 30], ' and a ', {0}[(id div 7) % 30], ' near the ', {0}[id % 11])"
    " AS caption",
    "array({0}[(id div 3) % 30], {0}[(id div 3) % 7], {0}[(id div 90) % 30]) AS labels",
    "array(concat('one ', {0}[(id div 3) % 30]), concat('the ', {0}[(id div 3) % 13])) AS refs",
)


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    sql = pytest.importorskip("pyspark.sql", reason="needs pyspark")
    folder = tmp_path_factory.mktemp("spark")
    patch = pytest.MonkeyPatch()
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "driver.bindAddress": "127.0.0.1", "local.dir": str(folder), "speculation": "true",
        "sql.warehouse.dir": str(folder / "warehouse"), "ui.enabled": "false",
        "ui.showConsoleProgress": "false", "sql.execution.arrow.maxRecordsPerBatch": "1000",
    }  # fmt: skip
    builder = sql.SparkSession.builder.master("local[2,4]")
    for name, value in settings.items():
        builder = builder.config(f"spark.{name}", value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
    patch.undo()


def table_of(spark, rows: int, partitions: int):
    """Return captions made up from `NOUNS`, three per image."""
    nouns = f"array({', '.join(map(repr, NOUNS))})"
    return spark.range(0, rows, 1, partitions).selectExpr(*(c.format(nouns) for c in COLUMNS))


def scored(frame, **settings) -> pa.Table:
    """Return ids and scores by references and without them, sorted by id."""
    column = captions_in_spark.vifidel("caption", "labels", references="refs", **settings)
    return frame.withColumn("fidelity", column).select("id", "fidelity").toArrow().sort_by("id")


def bits(table: pa.Table) -> tuple[list[int], dict[str, list[object]]]:
    """Return ids, and each column with its numbers as hexadecimal digits, which hide no bit."""
    struct = table["fidelity"].combine_chunks()
    values = {name: struct.field(name).to_pylist() for name in struct.type.names}
    return table["id"].to_pylist(), {
        name: [value.hex() if isinstance(value, float) else value for value in column]
        for name, column in values.items()
    }


class Workers:
    """The Python workers of a session, seen from outside while a job runs."""

    def __init__(self, session):
        self.psutil = pytest.importorskip("psutil", reason="needs psutil")
        self.status = session.sparkContext.statusTracker()
        self.jvm = self.psutil.Process(session.sparkContext._gateway.proc.pid)

    def processes(self):
        """Return the processes that the daemon of PySpark has forked."""
        children = self.jvm.children(recursive=True)
        daemons = {child.pid for child in children if child.ppid() == self.jvm.pid}
        return [child for child in children if child.ppid() in daemons]

    def kill_one(self, job: threading.Thread) -> bool:
        """Kill a worker when a part of the tasks is done; return whether a task failed."""
        while job.is_alive():
            stages = map(self.status.getStageInfo, self.status.getActiveStageIds())
            stages = [stage for stage in stages if stage is not None]
            if any(stage.numFailedTasks for stage in stages):
                return True
            if any(stage.numCompletedTasks for stage in stages):
                for process in self.processes()[:1]:
                    process.kill()  # SIGKILL
                    time.sleep(0.2)
            time.sleep(0.01)
        return False

    def peak_megabytes(self) -> list[float]:
        """Return the largest resident memory that each worker has had."""
        status = [Path(f"/proc/{p.pid}/status").read_text("utf-8") for p in self.processes()]
        return [int(re.search(r"VmHWM:\s+(\d+) kB", text)[1]) / 1e3 for text in status]


class TestInSpark:
    pytestmark = in_spark

    def test_partitions_change_no_bit(self, spark):
        rows = 1_500
        metrics = ("VIFIDEL", "VIFIDEL-PRF")
        frame = table_of(spark, rows, 2)
        expected = bits(scored(frame, metrics=metrics))
        columns = frame.toArrow().sort_by("id").to_pydict()
        texts = columns["caption"], columns["labels"], columns["refs"]
        by_rows = Vifidel().score(texts[0], objects=texts[1], references=texts[2])
        prf = VifidelPRF().score_columns(texts[0], objects=texts[1], references=texts[2])
        assert expected[0] == list(range(rows))
        assert expected[1]["VIFIDEL"] == [value.hex() for value in by_rows.tolist()]
        assert expected[1]["VIFIDEL_F"] == [v.hex() for v in prf["VIFIDEL-F"].tolist()]
        assert len(set(expected[1]["VIFIDEL"])) > rows / 10  # captions differ within an image
        for partitions in (1, 7, 64):
            assert bits(scored(frame.repartition(partitions), metrics=metrics)) == expected

    def test_a_killed_worker_changes_no_bit(self, spark):
        frame = table_of(spark, 60_000, 30)
        undisturbed = bits(scored(frame))
        disturbed = []
        job = threading.Thread(target=lambda: disturbed.append(scored(frame)))
        job.start()
        killed = Workers(spark).kill_one(job)
        job.join()
        assert killed, "no task failed: the job was over before a worker was killed"
        assert bits(disturbed[0]) == undisturbed

    @pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
    def test_a_worker_stays_small(self, spark):
        scored(table_of(spark, 20_000, 4), metrics=("VIFIDEL", "VIFIDEL-PRF", "VIFIDEL-H", "WMD"))
        megabytes = Workers(spark).peak_megabytes()
        assert megabytes
        assert max(megabytes) < 400

    def test_poison_rows_get_a_status_and_the_others_their_scores(self, spark):
        dog = [("dog", 0.9)]
        rows = [
            ("ok", "a dog", dog, ["a dog"]),
            ("no objects", "a dog", None, ["a dog"]),
            ("bad caption", None, dog, ["a dog"]),
            ("bad labels", "a dog", [(None, 0.9)], ["a dog"]),
            ("unweighted", "a dog", dog, None),
            ("bad references", "a dog", dog, [None]),
        ]
        frame = spark.createDataFrame(
            [(number, *row) for number, row in enumerate(rows)],
            "id long, expected string, caption string, "
            "labels array<struct<label:string,score:double>>, refs array<string>",
        ).repartition(3)
        result = scored(frame)["fidelity"].to_pylist()
        assert [row["status"] for row in result] == [row[0] for row in rows]
        assert [row["VIFIDEL"] for row in result] == [1.0, None, None, None, 1.0, None]

    def test_the_recipe_of_the_page(self, spark, tmp_path, monkeypatch):
        write_captions(tmp_path)
        monkeypatch.chdir(tmp_path)
        code = recipe("spark")
        for name in ("captions", "scored"):  # the JVM stays in its own folder
            code = code.replace(f'"{name}"', repr(f"{tmp_path}/{name}"))
        exec(compile(code, "tables.md", "exec"), {"spark": spark})
        check_scored(tmp_path / "scored", references=True, struct="fidelity")

    def test_a_column_of_a_wrong_type_is_one_sentence(self, spark):
        frame = spark.sql("SELECT 'a dog' AS caption, 7 AS labels")
        with pytest.raises(Exception, match=r"(?s)VifidelError: .*labels.*int32"):
            frame.select(captions_in_spark.vifidel("caption", "labels")).toArrow()


def test_without_pyspark_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql.functions", None)
    with pytest.raises(MetricUnavailable, match=r"install 'pyspark>=4.1' 'pandas<3' pyarrow\.$"):
        captions_in_spark.vifidel("caption", "labels")
