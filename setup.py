"""Metadata of vifidel-eval; build system and tools are configured in pyproject.toml."""

from pathlib import Path

from setuptools import setup

setup(
    name="vifidel-eval",
    version="0.1.0",
    description="VIFIDEL beside BLEU, METEOR, CIDEr and SPICE: are captions true to their images?",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="MIT",
    license_files=["LICENSE"],
    python_requires=">=3.10,<3.14",  # gensim has no wheel for 3.14
    package_dir={
        "vifidel_eval": "vifidel_eval",
        "vifidel_eval.annotations": "annotations",
        "vifidel_eval.scorers": "scorers",
    },
    packages=[
        "vifidel_eval",
        "vifidel_eval.agreement",
        "vifidel_eval.annotations",
        "vifidel_eval.captions",
        "vifidel_eval.commands",
        "vifidel_eval.explain",
        "vifidel_eval.kernels",
        "vifidel_eval.networks",
        "vifidel_eval.report",
        "vifidel_eval.report.html",
        "vifidel_eval.runs",
        "vifidel_eval.scorers",
        "vifidel_eval.submission",
        "vifidel_eval.tables",
        "vifidel_eval.text",
        "vifidel_eval.things",
        "vifidel_eval.vectors",
    ],
    package_data={
        "vifidel_eval": ["py.typed"],
        "vifidel_eval.report.html": ["*.css", "*.j2", "*.js"],
        "vifidel_eval.things": ["*.txt"],
    },
    install_requires=[
        "click>=8.1",
        "filelock>=3.12",
        "gensim>=4.3.3",
        "jinja2>=3.1",
        "matplotlib>=3.8",
        "numpy>=2.0",
        "pillow>=10.1",
        "platformdirs>=4",
        "POT>=0.9.5",
        "pycocoevalcap>=1.2",
        "pycocotools>=2.0.7",
        "PyYAML>=6",  # tokenizers needs it too
        "regex>=2023.12.25",
        "safetensors>=0.4",
        "scipy>=1.11",
        "tabulate[widechars]>=0.9",
        "textblob>=0.19",
        "tokenizers>=0.20",
        "tqdm>=4.66",
        "wordllama>=0.3",
    ],
    extras_require={
        "lm": ["torch>=2.6"],
        "spark": ["pandas>=2.2,<3", "pyarrow>=18", "pyspark>=4.1"],  # PySpark is not for pandas 3
        "tables": ["pyarrow>=17"],
        "tiger": ["nltk>=3.9", "torch>=2.6"],
        "vilbertscore": ["torch>=2.6"],
        "dev": [
            "axe-playwright-python>=0.1.4",
            "hypothesis>=6.100",
            "import-linter>=2.3",
            "mypy~=2.4",
            "playwright>=1.40",
            "psutil>=5.9",
            "pyarrow>=17",
            "pyright>=1.1.400",
            "pytest>=8",
            "ruff~=0.17.5",
            "types-tabulate",
            "types-tqdm",
        ],
    },
    entry_points={"console_scripts": ["vifidel-eval=vifidel_eval.commands.main:main"]},
    classifiers=[
        "Operating System :: OS Independent",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
    ],
)
