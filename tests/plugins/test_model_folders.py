"""A folder of a model is whole, or refused in one sentence."""

import json
import shutil

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")
pytest.importorskip("transformers", reason="needs transformers")
pytestmark = [pytest.mark.pytorch, pytest.mark.slow]

import tiny_clip  # noqa: E402
import tiny_detectors  # noqa: E402
from drawn_pictures import drawn  # noqa: E402

from vifidel_eval import VifidelError  # noqa: E402
from vifidel_eval.plugins.detect.loading import find_model, load_detector  # noqa: E402
from vifidel_eval.plugins.networks.clipscore import CLIPScore  # noqa: E402


def detected(folder):
    detector = load_detector(find_model(str(folder)))
    picture = drawn(1)
    asked = ["dog"] if detector.classes is None else []
    return detector.detect([detector.prepare(picture, picture.size)], [asked], 0)


def scored(folder):
    return CLIPScore(folder, {1: folder / "picture.png"}).score(["a dog"], image_ids=[1]).tolist()


MODELS = {
    "clip": (tiny_clip.clip, scored),
    "owlv2": (tiny_detectors.owlv2, detected),
    "grounding_dino": (tiny_detectors.grounding_dino, detected),
    "rt_detr": (tiny_detectors.rt_detr, detected),
    "sam3": (tiny_detectors.sam3, detected),
}
WRONG = [
    ("config.json", "_eps", 1e9),
    ("config.json", "_eps", float("nan")),
    ("config.json", "_heads", -1),
    ("processor_config.json", "rescale_factor", 0),
    ("processor_config.json", "rescale_factor", -1),
    ("processor_config.json", "resample", "x"),
    ("processor_config.json", "do_resize", False),
    ("processor_config.json", "do_rescale", False),
    ("processor_config.json", "do_normalize", False),
    ("preprocessor_config.json", "do_resize", False),
    ("preprocessor_config.json", "do_rescale", False),
    ("processor_config.json", "image_std", [0, 0, 0]),
    ("processor_config.json", "image_mean", "x"),
    ("tokenizer_config.json", "model_max_length", "x"),
]


@pytest.fixture(params=MODELS)
def whole(request, tmp_path, monkeypatch):
    """A folder, and what computes with it."""
    monkeypatch.setenv("VIFIDEL_EVAL_CACHE", str(tmp_path / "cache"))
    save, compute = MODELS[request.param]
    folder = save(tmp_path / request.param)
    drawn(1).save(folder / "picture.png")
    return folder, compute


def test_each_file_is_needed_or_makes_no_difference(whole, tmp_path):
    folder, compute = whole
    expected = compute(folder)
    for path in sorted(folder.glob("*.[jst][sa]*")):
        copy = shutil.copytree(folder, tmp_path / f"without {path.name}")
        (copy / path.name).unlink()
        try:
            result = compute(copy)
        except VifidelError as problem:
            result = str(problem)
        assert result == expected or (str(copy) in result and "\n" not in result), path.name


def changed(settings, ending, value):
    """Change every setting whose name ends so, and return whether there are any."""
    hits = [name for name in settings if name.endswith(ending)]
    settings.update(dict.fromkeys(hits, value))
    inner = [one for one in settings.values() if isinstance(one, dict)]
    return any([bool(hits), *(changed(one, ending, value) for one in inner)])


def test_settings_that_cannot_be(whole, tmp_path):
    folder, compute = whole
    for number, (name, ending, value) in enumerate(WRONG):
        copy = shutil.copytree(folder, tmp_path / str(number))
        path = copy / name
        content = json.loads(path.read_text()) if path.exists() else {}
        if changed(content, ending, value):
            path.write_text(json.dumps(content))
            with pytest.raises(VifidelError) as caught:
                compute(copy)
            assert "\n" not in str(caught.value)
            assert len(str(caught.value)) < 600, (name, ending)
