"""Inventions in a report: a line per system, the first order, clicks, marks."""

import re

import numpy as np
import pytest
from example_files import EXAMPLE
from show.pages import PHONE, data_of, shown
from show.score_examples import scores_of

import vifidel_eval
from vifidel_eval.show.first_screen import first_screen
from vifidel_eval.show.report import overview

# Their captions repeat, as no model's do.
pytestmark = pytest.mark.filterwarnings("ignore:.* captions of system .* are the same")
DESK = {"width": 1200, "height": 800}
TRUE = "A dog runs on the grass beside a person."
#: Captions by what they make up: nothing, a zebra, a zebra twice, two things, one that nobody
#: looked for.
SAID = {
    "nothing": TRUE,
    "zebra": f"{TRUE} A zebra.",
    "twice": f"{TRUE} A zebra and two zebras.",
    "two": f"{TRUE} A zebra near a bus.",
    "unconfirmed": f"{TRUE} Perhaps a squirrel is near.",
}
MADE_UP = {"nothing": 0, "zebra": 1, "twice": 1, "two": 2, "unconfirmed": 0}
CAPTIONS = {
    "plain": [*["nothing"] * 20, "zebra", "twice", "unconfirmed", "two"],
    "florid": [*["nothing"] * 19, "two", "zebra", "two", "zebra", "zebra"],
}
IDS = list(range(1, 25))
REFERENCES = {i: ["a dog runs on grass beside a person", "a person and a dog"] for i in IDS}
OBJECTS = {i: {"dog": 1, "person": 1, "zebra": 0, "bus": 0} for i in IDS}


@pytest.fixture(scope="module", params=["CHAIR,VIFIDEL-H,VIFIDEL-PRF", "CHAIR", "VIFIDEL"])
def made_up(request, tmp_path_factory):
    systems = {
        name: dict(zip(IDS, map(SAID.get, message), strict=True))
        for name, message in CAPTIONS.items()
    }
    run = vifidel_eval.evaluate(systems, REFERENCES, OBJECTS, metrics=request.param)
    path = tmp_path_factory.mktemp("made-up") / "report.html"
    run.report(path, resamples=50)
    return path


def counted(system):
    return [MADE_UP[message] for message in CAPTIONS[system]]


def test_each_system_has_a_line_of_what_it_makes_up_most(made_up):
    body = re.sub(r"<[^>]+>", " ", made_up.read_text("utf-8").partition('id="made-up"')[2])
    table = " ".join(body.partition("All scores")[0].split())
    # Of 24 captions three mention what is not there: four things, a zebra three times and a bus
    # once: 3 / 24 and 4 / 24. Of florid 5 / 24 and 7 / 24.
    assert "plain 12.5 % 16.7 4.2 zebra 3, bus 1" in table
    assert "florid 20.8 % 29.2 0.0 zebra 5, bus 2" in table


@pytest.mark.parametrize(
    ("metrics", "number"), [("VIFIDEL-PRF", 71), ("VIFIDEL-PRF,VIFIDEL-H", 75)]
)
def test_the_report_counts_things_as_the_first_screen_does(metrics, number, tmp_path):
    # VIFIDEL-Hn of the 28 captions is .75; for VIFIDEL-F, a reference has the word of one more.
    _, dreaming, references, objects = EXAMPLE
    run = vifidel_eval.evaluate(dreaming, references, objects, metrics)
    assert re.search(rf"^dreaming .* {number}  pizza", first_screen(run.detail, None, 100), re.M)
    run.report(tmp_path / "report.html")
    assert f"<b>{number}</b> per 100 captions" in (tmp_path / "report.html").read_text("utf-8")


def test_images_of_which_most_is_made_up_come_first(made_up, visit):
    tab = visit(made_up.as_uri() + "#images?sort=inventions")
    together = np.add(counted("plain"), counted("florid"))
    expected = sorted(IDS, key=lambda i: (-together[i - 1], i))
    assert shown(tab) == list(map(str, expected[:20]))
    assert tab.locator("#order").inner_text() == "Images about which most is made up come first."
    assert tab.locator("article header p").first.inner_text() == "3 things made up"
    assert tab.locator("article header p").last.inner_text() == "nothing made up"
    tab.locator("#images [name=system]").select_option("plain")
    alone = sorted(IDS, key=lambda i: (-counted("plain")[i - 1], i))
    assert shown(tab) == list(map(str, alone[:20]))
    assert tab.locator("article header p").nth(1).inner_text() == "1 thing made up"


@pytest.mark.parametrize("viewport", [DESK, PHONE])
def test_a_click_shows_the_images_themselves(made_up, visit, viewport, follow):
    tab = visit(made_up.as_uri(), viewport=viewport)
    rows = tab.locator("#made-up tbody tr").filter(has=tab.get_by_role("link"))
    assert rows.count() == 2
    for system, row in enumerate(rows.all()):
        for thing in row.locator(".thing").all():
            name, captions = thing.inner_text().rstrip(",").split()
            follow(thing.get_by_role("link"))
            status = tab.locator(".status").inner_text()
            assert status.startswith(f"{captions} of 24 images")
            assert f"captions that make up “{name}”" in status
            assert f"system={list(CAPTIONS)[system]}&captions=absent&thing={name}" in tab.url
            # What is shown, and the first image with its caption, are in sight.
            for part in (".status", "article h3", "article .said.absent"):
                box = tab.locator(part).first.bounding_box()
                assert box["y"] >= 0
                assert box["y"] + box["height"] <= viewport["height"]
    again = visit(tab.url)
    assert shown(again) == shown(tab)


def test_images_whose_captions_are_not_in_the_page_are_counted(tmp_path, monkeypatch, visit):
    monkeypatch.setattr("vifidel_eval.show.report.content._MOST_LISTED", 20)  # of two systems
    systems = {
        name: dict(zip(IDS, map(SAID.get, message), strict=True))
        for name, message in CAPTIONS.items()
    }
    run = vifidel_eval.evaluate(systems, REFERENCES, OBJECTS, metrics="VIFIDEL-PRF")
    path = tmp_path / "report.html"
    run.report(path, resamples=50)
    assert "The list has the 10 of 24 images" in path.read_text("utf-8")
    tab = visit(path.as_uri() + "#images?system=florid&captions=absent&thing=zebra")
    status = tab.locator(".status").inner_text()
    [here, elsewhere] = map(int, re.findall(r"(\d+) (?:of 24|more fit)", status))
    assert here + elsewhere == 5  # as the table says
    assert len(shown(tab)) == here > 0
    tab.get_by_role("button", name="Reset").click()
    assert "14 more fit whose captions are not in this page" in tab.locator(".status").inner_text()


def test_only_what_is_judged_is_underlined(made_up, visit):
    tab = visit(made_up.as_uri() + "#images?image=23")
    plain = tab.locator("article [data-row='0']")
    lines = plain.locator(".caption .said").evaluate_all(
        "all => all.map((word) => [word.textContent, word.className, "
        "getComputedStyle(word).textDecorationLine])"
    )
    assert ["dog", "said there", "underline"] in lines
    assert ["squirrel", "said unjudged", "underline"] in lines
    assert ["runs", "said open", "none"] in lines
    assert {line for _, kind, line in lines if kind == "said open"} == {"none"}
    assert plain.locator(".loose").all_inner_texts() == ["Unconfirmed: squirrel"]
    plain.locator(".said.unjudged").hover()
    assert "squirrel: unconfirmed" in tab.locator("#tip").inner_text()
    florid = tab.locator("article [data-row='1'] .loose").all_inner_texts()
    assert florid == ["Made up: zebra"]


def test_a_metric_of_0_and_1_has_no_histogram():
    def spread(*scores):
        return overview.distribution(scores_of({"one": scores}), "M")

    assert spread(0, 1, 1, np.nan).binary
    assert not spread(0, 1, 0.5).binary
    assert not spread(np.nan, np.nan).binary


def test_the_report_says_which_metrics_have_none(made_up, visit):
    tab = visit(made_up.as_uri())
    metrics = data_of(made_up.read_text("utf-8"))["metrics"]
    drawn = tab.locator("#distributions figure").evaluate_all(
        "all => all.map((f) => f.dataset.metric)"
    )
    binary = [metric for metric in ("CHAIRs", "VIFIDEL-Hs") if metric in metrics]
    assert not set(binary) & set(drawn)
    if binary:
        message = tab.locator("#distributions > .remark").inner_text().partition(":")[0]
        assert set(binary) <= set(message.split(", "))
        assert not set(message.split(", ")) & set(drawn)
        # Nor is it what the plot begins with.
        assert tab.locator("[name=across] option:checked").inner_text() not in binary
    # Of the others one is in sight, that of the chosen metric.
    chosen = tab.locator(".bar select").input_value()
    assert tab.locator("figure:visible").count() == (chosen not in binary)


def test_where_nothing_is_made_up_the_page_says_nothing_of_it(tmp_path, visit):
    captions = dict.fromkeys(IDS, TRUE)
    run = vifidel_eval.evaluate({"plain": captions}, REFERENCES, OBJECTS, metrics="VIFIDEL")
    run.report(tmp_path / "report.html", resamples=50)
    tab = visit((tmp_path / "report.html").as_uri())
    assert tab.locator("#made-up").count() == 0
    assert "most made up" not in tab.locator("#images [name=sort] option").all_inner_texts()
    assert len(shown(tab)) == 20
