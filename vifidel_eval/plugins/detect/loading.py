"""Loading of detectors: the backends that run them, and which one a model's files are for."""

from __future__ import annotations

from importlib.util import find_spec

from ...io.arguments import named_if_wrong
from ...project import pip_install
from .detectors import Detector, installed_versions
from .model_files import ModelFiles
from .onnx_detectors import OnnxDetector
from .transformers_detectors import load_transformers

#: What can run models: its name, and its packages.
BACKENDS = {"transformers": ("torch", "transformers"), "ONNX Runtime": ("onnxruntime",)}


@named_if_wrong
def load_detector(files: ModelFiles, device: str | None = None) -> Detector:
    """Return the detector in a model's files.

    Parameters
    ----------
    files : ModelFiles
        As `find_model` returns them.
    device : str, optional
        As PyTorch calls it, by default the processor; for ONNX ``"cpu"`` or ``"cuda"``.

    Raises
    ------
    VifidelError
        If it is no detector, has no class names, is damaged, or cannot run on the device.
    MetricUnavailable
        If its library is not installed.
    """
    if files.is_onnx:
        return OnnxDetector(files, device)
    return load_transformers(files, device)


def backends() -> dict[str, str]:
    """Return what can run models here: the backend's name to its version, or how to install it.

    Nothing is imported.
    """
    state = {}
    for name, packages in BACKENDS.items():
        missing = [package for package in packages if find_spec(package) is None]
        if missing:
            state[name] = f"not available: {pip_install(*missing)}"
        else:
            state[name] = f"available, {installed_versions(packages[-1])[packages[-1]]}"
    return state
