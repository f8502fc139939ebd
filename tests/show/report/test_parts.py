"""The parts of the report in a real browser: words, pictures, plot, categories, filters, links."""

import json
import math
import re

import pytest
from example_files import EXAMPLE
from PIL import Image
from show.pages import check_accessibility, data_of, shown

LONG = (
    "A brown horse grazes quietly beside four woolly sheep near wooden fence posts while distant "
    "hills, clouds, rivers, trees and farm houses glow."
)


@pytest.fixture(scope="module")
def example(tmp_path_factory, run):
    """The report of the example with pictures, and a third system that is wordy about image 106."""
    folder = tmp_path_factory.mktemp("example")
    instances = json.loads(EXAMPLE[-1].read_text("utf-8"))
    (folder / "pictures").mkdir()
    for image in instances["images"]:
        Image.new("RGB", (640, 480), "teal").save(folder / "pictures" / image["file_name"])
    *results, references, objects = EXAMPLE
    wordy = json.loads(results[0].read_text("utf-8"))
    for result in wordy:
        if result["image_id"] == 106:
            result["caption"] = LONG
    (folder / "captions_example_wordy_results.json").write_text(json.dumps(wordy), "utf-8")
    results.append(folder / "captions_example_wordy_results.json")
    page, scores = folder / "report.html", folder / "scores.json"
    sides = ["--references", references, "--objects", objects, "--images", folder / "pictures"]
    result = run("score", *results, *sides, "--report", page, "--output", scores)
    assert result.exit_code == 0, result.output
    data = data_of(page.read_text("utf-8"))
    return {"address": page.as_uri(), "data": data, "instances": instances}


@pytest.fixture
def image_106(visit, example):
    tab = visit(example["address"] + "#images?image=106")
    assert shown(tab) == ["106"]
    return tab


def word(tab, text, system=0):
    caption = tab.locator("article .caption").nth(system)
    return caption.locator(".said", has_text=re.compile(f"^{text}$")).first


def test_a_word_says_what_supports_it_and_shows_its_boxes(image_106):
    tab = image_106
    tip = tab.locator("#tip")
    assert not tip.is_visible()
    word(tab, "horse").hover()
    assert tip.inner_text() == "horse: in the image\nSupported by horse, support 1.00."
    assert tab.locator("article .box.meant").all_inner_texts() == ["horse"]
    assert tab.locator("article .objects .meant").inner_text() == "horse"
    tip.hover()  # it stays under the pointer
    assert tip.is_visible()
    tab.keyboard.press("Escape")
    assert not tip.is_visible()
    assert tab.locator("article .box").count() == 0
    elephants = word(tab, "elephants", system=1)
    elephants.hover()
    assert tip.inner_text().startswith("elephants: made up\nNearest is ")
    assert "absent" in elephants.get_attribute("class")
    assert "open" in word(tab, "grazes").get_attribute("class")
    assert tab.locator("article .box").count() == 0
    tab.locator("h1").hover()
    assert not tip.is_visible()


def test_the_keyboard_goes_from_word_to_word(image_106):
    tab = image_106
    tip = tab.locator("#tip")
    word(tab, "horse").focus()
    assert tip.inner_text().startswith("horse: in the image")
    assert word(tab, "horse").get_attribute("aria-describedby") == "tip"
    tab.keyboard.press("ArrowRight")
    assert tip.inner_text().startswith("grazes: not checked")
    tab.keyboard.press("Tab")  # past the other words of the caption
    assert tab.evaluate("document.activeElement.tagName") == "SUMMARY"
    assert not tip.is_visible()


def test_a_tap_shows_the_tip_within_the_screen(visit, example):
    tab = visit(
        example["address"] + "#images?image=106",
        has_touch=True,
        is_mobile=True,
        viewport={"width": 390, "height": 800},
    )
    word(tab, "sheep").tap()
    assert tab.locator("#tip").inner_text().startswith("sheep: in the image")
    box = tab.locator("#tip").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    tab.locator("article .gold").tap(position={"x": 2, "y": 2})
    assert not tab.locator("#tip").is_visible()


def test_objects_switch_their_boxes_on(image_106, example):
    tab = image_106
    switch = tab.locator("article .objects").get_by_role("button", name="sheep")
    switch.click()
    assert switch.get_attribute("aria-pressed") == "true"
    sheep = next(c["id"] for c in example["instances"]["categories"] if c["name"] == "sheep")
    boxes = [
        a["bbox"]
        for a in example["instances"]["annotations"]
        if (a["image_id"], a["category_id"]) == (106, sheep)
    ]
    frame = tab.locator("article .frame").bounding_box()
    drawn = [box.bounding_box() for box in tab.locator("article .box").all()]
    assert len(drawn) == len(boxes) == 4
    for result, (x, y, _, height) in zip(drawn, boxes, strict=True):
        assert (result["x"] - frame["x"]) / frame["width"] == pytest.approx(x / 640, abs=0.01)
        assert (result["y"] - frame["y"]) / frame["height"] == pytest.approx(y / 480, abs=0.01)
        assert result["height"] / frame["height"] == pytest.approx(height / 480, abs=0.02)
    switch.click()
    assert tab.locator("article .box").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_picture_is_enlarged_in_a_dialog(visit, example, scheme):
    tab = visit(example["address"] + "#images?image=106", color_scheme=scheme)
    small = tab.locator("article img").bounding_box()
    tab.get_by_role("button", name="Enlarge image 106").click()
    dialog = tab.locator("dialog")
    assert dialog.get_attribute("open") is not None
    assert dialog.locator("img").bounding_box()["width"] > small["width"]
    assert sorted(dialog.locator(".box").all_inner_texts()) == ["horse", *["sheep"] * 4]
    dialog.get_by_role("button", name="Hide all boxes").click()
    assert dialog.locator(".box").count() == 0
    dialog.locator(".said", has_text="horse").first.hover()
    assert tab.locator("dialog #tip").is_visible()
    assert dialog.locator(".box.meant").all_inner_texts() == ["horse"]
    check_accessibility(tab)
    tab.keyboard.press("Escape")  # the tip
    assert dialog.get_attribute("open") is not None
    tab.keyboard.press("Escape")
    assert dialog.get_attribute("open") is None
    label = tab.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label == "Enlarge image 106"


def test_a_long_plan_shows_its_costliest_rows_and_all_on_demand(image_106):
    tab = image_106
    plan = tab.locator("details.plan").nth(2)  # the wordy system's
    plan.locator("summary").click()
    rows = plan.locator("tbody tr")
    rows.first.wait_for()  # it is drawn when the page hears that it is open
    assert rows.count() == 10
    assert plan.locator("svg path").count() == 10
    costs = [float(cell) for cell in plan.locator("tbody td:last-child").all_inner_texts()]
    assert costs == pytest.approx(sorted(costs, reverse=True), abs=2e-4)
    shown_sum = sum(map(float, plan.locator("tfoot tr:first-child td").all_inner_texts()))
    distance = float(plan.locator("tfoot tr:last-child td").inner_text())
    assert sum(costs) + shown_sum == pytest.approx(distance, abs=1e-9)
    button = plan.get_by_role("button", name=re.compile("Show all"))
    every = int(re.search(r"\d+", button.inner_text())[0])
    button.click()
    assert rows.count() == every > 10
    total = sum(float(cell) for cell in plan.locator("tbody td:last-child").all_inner_texts())
    assert total == pytest.approx(distance, abs=1e-9)
    short = tab.locator("details.plan").nth(0)
    short.locator("summary").click()
    short.locator("tbody tr").first.wait_for()
    assert short.get_by_role("button", name=re.compile("Show all")).count() == 0


def test_phrases_are_searched_and_hits_marked(visit, example):
    tab = visit(example["address"])
    tab.get_by_label("Search").fill('"flock of SHEEP" horse')
    tab.wait_for_function("() => document.querySelectorAll('article').length === 1")
    assert shown(tab) == ["106"]
    caption = tab.locator("article .caption").first
    assert "".join(caption.locator("mark").all_inner_texts()).lower() == "horseflock of sheep"
    assert caption.inner_text() == "A horse grazes with a flock of sheep."
    assert "horse" in tab.locator("article .objects mark").all_inner_texts()
    tab.get_by_label("Search").fill('"sheep flock"')
    tab.wait_for_function("() => document.querySelectorAll('article').length === 0")


def test_filters_by_verdict_and_object(visit, example, follow):
    tab = visit(example["address"])
    data = example["data"]

    def images():
        return int(tab.locator(".status").inner_text().split(" ")[0])

    tab.locator("#images [name=captions]").select_option("absent")
    tab.locator("#images [name=system]").select_option("dreaming")
    assert 0 < images() < len(data["ids"])
    for caption in tab.locator("article .caption").all():
        assert caption.locator(".absent").count() > 0
    tab.locator("#images [name=captions]").select_option("leaves")
    tab.locator("#images [name=object]").select_option("person")
    assert images() > 0
    for card in tab.locator("article").all():
        assert "person" in card.locator(".objects").inner_text()
        assert "person" in card.locator(".loose", has_text="Missed").inner_text()
    tab.get_by_role("button", name="Reset").click()
    follow(tab.locator(".presets").get_by_role("link", name="dreaming"))
    scores = [
        (s, i)
        for i, s in zip(
            data["ids"], data["scores"][1][data["metrics"].index("VIFIDEL-F")], strict=True
        )
        if s is not None
    ]
    assert shown(tab)[:5] == [i for _, i in sorted(scores)[:5]]


def test_the_address_brings_the_same_images_back(visit, example):
    tab = visit(example["address"])
    tab.locator("#images [name=system]").select_option("dreaming")
    tab.locator(".bar [name=metric]").select_option(example["data"]["metrics"][2])
    tab.locator("#images [name=sort]").select_option("worst")
    tab.get_by_label("Search").fill('a "on a"')
    tab.get_by_label("Score below").fill("0.9")
    tab.wait_for_function("() => location.hash.includes('below')")
    before, address = shown(tab), tab.url
    assert before
    assert "system=dreaming" in address
    again = visit(address)
    assert shown(again) == before
    assert again.get_by_label("Search").input_value() == 'a "on a"'
    assert again.locator("#images [name=sort]").input_value() == "worst"
    again.get_by_role("button", name="Reset").click()
    assert again.url.partition("?")[2].startswith("metric=")  # which is the page's
    unknown = visit(example["address"] + "#images?system=gone&sort=odd&metric=none&page=x")
    assert len(shown(unknown)) == 20


def plotted(tab):
    tab.locator("#agreement").scroll_into_view_if_needed()
    tab.locator(".fits tbody tr").first.wait_for()


def inside(data, metrics, ranges):
    """The images that have a caption whose scores lie in the ranges."""
    places = [data["metrics"].index(name) for name in metrics]
    return {
        i
        for of_system in data["scores"]
        for at, i in enumerate(data["ids"])
        if all(
            of_system[m][at] is not None and low <= of_system[m][at] <= high
            for m, (low, high) in zip(places, ranges, strict=True)
        )
    }


def test_a_range_of_the_plot_selects_images_by_keyboard_and_by_pointer(visit, example):
    tab = visit(example["address"], viewport={"width": 1440, "height": 1000})
    tab.locator("[name=across]").select_option("ROUGE_L")
    tab.locator("[name=up]").select_option("VIFIDEL")
    plotted(tab)
    tab.locator("[name=across-to]").fill("0.3")
    tab.locator("[name=up-from]").fill("0.8")
    expected = inside(example["data"], ("ROUGE_L", "VIFIDEL"), ((-math.inf, 0.3), (0.8, 9)))
    tab.get_by_role("button", name="Show their images").press("Enter")
    assert 0 < len(expected) < 20
    assert set(shown(tab)) == expected
    again = visit(tab.url)
    assert set(shown(again)) == expected
    tab.get_by_role("button", name="Clear").click()
    assert len(shown(tab)) == 20
    tab.locator("#agreement").scroll_into_view_if_needed()
    plot = tab.locator(".plot").bounding_box()
    tab.mouse.move(plot["x"] + plot["width"] * 0.3, plot["y"] + plot["height"] * 0.05)
    tab.mouse.down()
    tab.mouse.move(plot["x"] + plot["width"] * 0.55, plot["y"] + plot["height"] * 0.6, steps=4)
    tab.mouse.up()
    names = ("across-from", "across-to", "up-from", "up-to")
    low, high, bottom, top = (float(tab.locator(f"[name={n}]").input_value()) for n in names)
    expected = inside(example["data"], ("ROUGE_L", "VIFIDEL"), ((low, high), (bottom, top)))
    assert expected
    assert tab.locator(".status").inner_text().startswith(f"{len(expected)} of 28 images")
    assert f"of {len(expected)} image" in tab.locator(".chosen-points").inner_text()


def test_the_first_screen_has_sentence_ranking_and_worst_picture(visit, example):
    for width, height, parts in (
        (1440, 900, (".verdict", ".ranking", ".gap img")),
        (390, 844, (".verdict", ".ranking tbody")),
    ):
        tab = visit(example["address"], viewport={"width": width, "height": height})
        for part in parts:
            box = tab.locator(part).bounding_box()
            assert box["y"] + box["height"] <= height
    assert tab.locator(".bar select").input_value() == "VIFIDEL-F"
