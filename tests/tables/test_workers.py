import os

import pytest
from killed_worker import work

from vifidel_eval.errors import VifidelError
from vifidel_eval.tables.workers import Pool

posix = pytest.mark.skipif(os.name != "posix", reason="kill -9")


def run(tasks, workers=2, follow=False):
    rows, done = [], {}

    def on_done(number, returned):
        done[number] = returned
        # Of the first two tasks follows another, when both are done.
        return [(tasks[0][0], "ab", 0)] if follow and set(done) == {0, 1} else []

    Pool(work, workers).run(tasks, rows.append, on_done)
    return rows, done


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_all_tasks_are_done_once(tmp_path, workers):
    rows, done = run([(tmp_path, name, 0) for name in "abc"], workers)
    assert done == {0: "A", 1: "B", 2: "C"}
    assert rows == [5] * 6


@pytest.mark.parametrize("workers", [1, 2])
def test_tasks_that_follow_from_others_are_done(tmp_path, workers):
    rows, done = run([(tmp_path, name, 0) for name in "ab"], workers, follow=True)
    assert done == {0: "A", 1: "B", 2: "AB"}
    assert rows == [5] * 6


def test_no_tasks():
    assert run([]) == ([], {})


@posix
def test_the_task_of_a_killed_worker_is_done_again_and_its_rows_count_once(tmp_path):
    rows, done = run([(tmp_path, "a", 2), (tmp_path, "b", 0), (tmp_path, "c", 1)])
    assert done == {0: "A", 1: "B", 2: "C"}
    assert sum(rows) == 30
    assert min(rows) > 0


@posix
def test_a_worker_that_is_killed_again_and_again(tmp_path):
    with pytest.raises(VifidelError, match=r"killed 3 times, perhaps because memory ran out"):
        run([(tmp_path, "a", 100), (tmp_path, "b", 0)])


def test_a_task_that_is_refused_ends_all(tmp_path):
    with pytest.raises(VifidelError, match=r"^no is refused\.$"):
        run([(tmp_path, "a", 0), (tmp_path, "no", -1), (tmp_path, "c", 0)])


def test_a_bug_shows_where_it_is(tmp_path):
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        run([(tmp_path, "a", 0), (tmp_path, "bug", 0)])
