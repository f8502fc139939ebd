import pytest

from vifidel_eval.report.html.categories import categories

DATA = {
    "ids": list("abcd"),
    "labels": ["dog", "cat", "rare"],
    "objects": [[0, 1, 5], [0, 2, 5, 1, 1, 5], [1, 1, 5, 2, 1, 5], [0, 1, 5, 1, 1, 5]],
    "scores": [[[0.2, 0.4, 0.9, None]]],
    "lowerIsBetter": [False],
}
# Plans of which only the places of unmentioned objects matter.
PLANS = {"plans": [[[[], [], [], [0], []], [[], [], [], [1], []], [[], [], [], [], []], None]]}


def test_the_worst_categories_come_first():
    (rows,) = categories(DATA, PLANS)
    # Dogs are in images 0 and 1, cats in 1 and 2; image 3 has no score, *rare* is in one image.
    assert [(row.label, row.images) for row in rows] == [("dog", 2), ("cat", 2)]
    assert [row.mean for row in rows] == pytest.approx([0.3, 0.65])
    assert [row.apart for row in rows] == pytest.approx([-0.2, 0.15])
    assert [row.left_out for row in rows] == [0.5, 0.5]


def test_where_lower_is_better_the_highest_are_the_worst():
    (rows,) = categories({**DATA, "lowerIsBetter": [True]}, PLANS)
    assert [row.label for row in rows] == ["cat", "dog"]
    assert [row.apart for row in rows] == pytest.approx([-0.15, 0.2])
