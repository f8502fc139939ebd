"""Metadata of vifidel-eval; build system and tools are configured in pyproject.toml."""

import re
import runpy
from pathlib import Path

from setuptools import find_packages, setup

ROOT = Path(__file__).parent


def address() -> str:
    """Return the project's public address, empty where none is set."""
    module = runpy.run_path(str(ROOT / "vifidel_eval" / "project.py"))
    return str(module["ADDRESS"])


def long_description(home: str) -> str:
    """Return the README with links that hold on a package index too; without a home, with none."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    if not home:
        text = re.sub(r"<img src=[^>]*>\n*", "", text)
        return re.sub(r"\[([^]]*)\]\((?!https?:|#)[^)]*\)", r"\1", text)
    pictures = re.sub(r'(<img src=")', rf"\1{home}/raw/main/", text)
    return re.sub(r"(\[[^]]*\]\()(?!https?:|#)", rf"\1{home}/blob/main/", pictures)


def links(home: str) -> dict[str, object]:
    """Return where the package says its pages are: nothing without a home."""
    if not home:
        return {}
    pages = {
        "Documentation": "blob/main/docs/index.md",
        "Changelog": "blob/main/CHANGELOG.md",
        "Issues": "issues",
    }
    return {
        "url": home,
        "project_urls": {name: f"{home}/{page}" for name, page in pages.items()},
    }


setup(
    name="vifidel-eval",
    version="0.4.0",
    description="VIFIDEL beside BLEU, METEOR, CIDEr and SPICE: are captions true to their images?",
    long_description=long_description(address()),
    long_description_content_type="text/markdown",
    license="MIT",
    license_files=["LICENSE"],
    python_requires=">=3.10,<3.15",
    package_dir={
        "vifidel_eval": "vifidel_eval",
        "vifidel_eval.annotations": "annotations",
        "vifidel_eval.examples": "examples",
        "vifidel_eval.scorers": "scorers",
    },
    packages=[
        *find_packages(include=["vifidel_eval", "vifidel_eval.*"]),
        "vifidel_eval.annotations",
        "vifidel_eval.examples",  # JSON files, for `vifidel-eval demo`
        "vifidel_eval.scorers",
    ],
    package_data={
        "vifidel_eval": ["py.typed"],
        "vifidel_eval.examples": ["*.json"],
        "vifidel_eval.plugins.agreement": ["*.json"],
        "vifidel_eval.plugins.training": ["lmms_eval/*"],
        "vifidel_eval.show.report": ["*.css", "*.j2", "*.js"],
        "vifidel_eval.scorers": ["*.bib"],
        "vifidel_eval.words": ["*.txt"],
    },
    install_requires=[
        "click>=8.1",
        "filelock>=3.12",
        "gensim>=4.3.3; python_version < '3.14'",  # it has no wheel for 3.14
        "jinja2>=3.1",
        "numpy>=2.0",
        "pillow>=10.1",
        "platformdirs>=4",
        "POT>=0.9.5",
        "pycocoevalcap>=1.2",
        "pycocotools>=2.0.7",
        "PyYAML>=6",  # huggingface-hub, which tokenizers needs, needs it too
        "regex>=2023.12.25",
        "safetensors>=0.4",
        "scipy>=1.11",
        "tabulate>=0.9",
        "textblob>=0.19",
        "tokenizers>=0.20",
        "tqdm>=4.66",
        "wcwidth>=0.2.13",
        "wordllama>=0.3; python_version < '3.14'",  # 0.2 has the same vectors
        "wordllama>=0.2.2.post0,<0.3; python_version >= '3.14'",
    ],
    extras_require={
        "detect": ["torch>=2.6", "transformers>=5"],
        "excel": ["openpyxl>=3.1", "pandas>=2.0"],
        "gensim": ["gensim>=4.3.3"],
        "inspect": ["inspect_ai>=0.3.200"],
        "lighteval": ["lighteval>=0.13"],
        "lm": ["torch>=2.6"],
        "onnx": ["onnxruntime>=1.20"],
        "pandas": ["pandas>=2.0"],
        "plots": ["matplotlib>=3.8"],
        "spark": ["pandas>=2.2,<3", "pyarrow>=18", "pyspark>=4.1"],  # not yet with pandas 3
        "tables": ["pyarrow>=17"],
        "tiger": ["nltk>=3.9", "torch>=2.6"],
        "torchmetrics": ["torchmetrics>=1.4", "torch>=2.6"],
        "vilbertscore": ["torch>=2.6"],
        "docs": [
            "docutils>=0.22",
            "furo>=2025.9",
            "myst-parser>=4",
            "numpydoc>=1.9",
            "sphinx>=8.1",
        ],
        "dev": [
            "axe-playwright-python>=0.1.4",
            "evaluate>=0.4",
            "hypothesis>=6.100",
            "import-linter>=2.16; python_version >= '3.11'",
            "matplotlib>=3.8",
            "ipykernel>=6",
            "moto[server]>=5",
            "mypy~=2.4",
            "nbclient>=0.10",
            "nbformat>=5",
            "onnx>=1.17",
            "openpyxl>=3.1",
            "onnxruntime>=1.20",
            "pandas>=2.0",
            "playwright>=1.40",
            "polars>=1",
            "psutil>=5.9",
            "pyarrow>=17",
            "pyright>=1.1.400",
            "pytest>=8",
            "pytest-xdist>=3.6",
            "ruff~=0.17.5",
            "tomli>=2; python_version < '3.11'",
            "types-tabulate",
            "types-tqdm",
        ],
    },
    entry_points={
        "console_scripts": ["vifidel-eval=vifidel_eval.__main__:main"],
        # Other packages join by these entry points, and so do this package's own plug-ins.
        "vifidel_eval.metrics": [
            "BLEU=vifidel_eval.plugins.ngrams",
            "CIDEr=vifidel_eval.plugins.ngrams",
            "CLIPScore=vifidel_eval.plugins.networks.clipscore",
            "LM=vifidel_eval.plugins.networks.lm",
            "METEOR=vifidel_eval.plugins.java.meteor",
            "ROUGE_L=vifidel_eval.plugins.ngrams",
            "SPICE=vifidel_eval.plugins.java.spice",
            "TIGEr=vifidel_eval.plugins.networks.tiger",
            "ViLBERTScore=vifidel_eval.plugins.networks.vilbertscore",
        ],
        "vifidel_eval.commands": [
            "agreement=vifidel_eval.plugins.agreement.command:agreement",
            "convert-features=vifidel_eval.plugins.networks.commands:convert_features",
            "detect=vifidel_eval.plugins.detect.commands:detect",
            "leaderboard=vifidel_eval.plugins.leaderboard:leaderboard",
            "preference-pairs=vifidel_eval.plugins.training.command:preference_pairs",
            "questions=vifidel_eval.plugins.detect.commands:questions",
            "score-table=vifidel_eval.plugins.tables.command:score_table",
            "submission=vifidel_eval.plugins.submission:submission",
            "train-lm=vifidel_eval.plugins.networks.commands:train_lm",
        ],
        "vifidel_eval.formats": [
            "datasets=vifidel_eval.plugins.formats:FORMATS",
            "detections=vifidel_eval.plugins.detect.detectors:FORMATS",
        ],
        "vifidel_eval.layouts": ["tools=vifidel_eval.plugins.layouts:LAYOUTS"],
        "vifidel_eval.services": [
            "attributes=vifidel_eval.plugins.formats.attributes:with_attributes",
            "backends=vifidel_eval.plugins.detect.loading:backends",
            "calibrated=vifidel_eval.plugins.detect.calibration:calibrated",
            "class_names=vifidel_eval.plugins.formats.class_names:read_names",
            "controls=vifidel_eval.plugins.detect.questions:read_controls",
            "detector=vifidel_eval.plugins.detect.detected_objects:with_detected",
            "leaderboard=vifidel_eval.plugins.leaderboard.board",
            "lmms_eval=vifidel_eval.plugins.training:LMMS_EVAL",
            "treebank_tokenizer=vifidel_eval.plugins.java:PtbTokenizer",
            "vectors_of_file=vifidel_eval.plugins.vectors:read_vectors",
            "vectors_of_gensim=vifidel_eval.plugins.vectors:KeyedVectors",
        ],
    },
    **links(address()),
    keywords="image captioning, evaluation, metric, hallucination, optimal transport, COCO",
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Intended Audience :: Science/Research",
        "Operating System :: OS Independent",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Programming Language :: Python :: 3.14",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Scientific/Engineering :: Image Recognition",
        "Topic :: Text Processing :: Linguistic",
        "Typing :: Typed",
    ],
)
