"""Tiny models, made once, and drawn pictures."""

import pytest
from drawn_pictures import drawn


@pytest.fixture(autouse=True, scope="package")
def one_thread():
    """Let PyTorch, where there is one, use one thread: more only wait for each other here."""
    try:
        import torch
    except ImportError:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """Return a function from the name of a family to the folder of a tiny model of it."""
    pytest.importorskip("torch", reason="needs PyTorch")
    pytest.importorskip("transformers", reason="needs transformers")
    import tiny_detectors

    built = {}

    def folder(family):
        if family not in built:
            path = tmp_path_factory.mktemp("models") / family
            built[family] = getattr(tiny_detectors, family)(path)
        return built[family]

    return folder


@pytest.fixture
def photos(tmp_path):
    """A folder with six pictures of two sizes, half of them in a subfolder."""
    folder = tmp_path / "photos"
    (folder / "sub").mkdir(parents=True)
    for number in range(6):
        name = f"{'sub/' * (number % 2)}p{number}.png"
        drawn(number, (120, 90) if number % 3 else (150, 90)).save(folder / name)
    return folder
