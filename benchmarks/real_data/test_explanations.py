"""Explanations of captions of val2017."""

from collections import defaultdict
from itertools import count

from plan_checks import check

from vifidel_eval import Vifidel
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.captions.rows import Rows, make_rows
from vifidel_eval.explain.findings import find
from vifidel_eval.show.report.data import plans_of


def test_plans_of_people_s_captions(coco):
    gold = read_references(coco / "captions_val2017_references.json")
    scorer = Vifidel(coco / "instances_val2017.json")
    for name in ("human", "shuffled", "degenerate"):
        captions = read_results(coco / f"captions_val2017_{name}_results.json")
        ids = [image_id for image_id in list(gold)[:700] if image_id in captions]
        rows = Rows([captions[i] for i in ids], [gold[i] for i in ids], ids)
        explanations = list(scorer.explain_rows(rows))
        numbers = defaultdict(count().__next__, {None: -1})
        plans = plans_of(explanations, ids, numbers)
        check(explanations, plans, list(numbers)[1:])


def test_people_hallucinate_seldom_and_captions_of_other_images_often(coco):
    scorer = Vifidel(coco / "instances_val2017.json", references=False)
    shares = {}
    for name in ("human", "shuffled"):
        captions = read_results(coco / f"captions_val2017_{name}_results.json")
        rows = make_rows(list(captions.values())[:1000], list(captions)[:1000])
        found = find(part for (part,) in scorer.explained([rows]))
        shares[name] = found.hallucinating / found.captions
    assert shares["human"] < 0.06
    assert shares["shuffled"] > 0.6
