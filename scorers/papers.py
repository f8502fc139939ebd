"""The papers of the metrics, as BibTeX; what could not be checked is left out of an entry."""

from __future__ import annotations

from typing import NamedTuple

from ..project import ADDRESS


class Paper(NamedTuple):
    """A paper to cite.

    Attributes
    ----------
    cited : str
        As a sentence cites it.
    bibtex : str
        Its entry.
    """

    cited: str
    bibtex: str

    @property
    def key(self) -> str:
        """The key of its entry."""
        return self.bibtex.partition("{")[2].partition(",")[0].strip()


#: This project, for its own metrics; what CITATION.cff says of it.
VIFIDEL_EVAL = Paper(
    "the vifidel_eval authors, 2026",
    """@misc{vifidel-eval,
  title = {vifidel\\_eval: Image-aware evaluation of captions beside {BLEU}, {METEOR}, {CIDEr} and
    {SPICE}},
  author = {{the vifidel\\_eval authors}},
  year = {2026}"""
    + (f",\n  url = {{{ADDRESS}}}\n}}" if ADDRESS else "\n}"),
)
MADHYASTHA_2019 = Paper(
    "Madhyastha et al., 2019",
    """@inproceedings{madhyastha-etal-2019-vifidel,
  title = {{VIFIDEL}: Evaluating the Visual Fidelity of Image Descriptions},
  author = {Madhyastha, Pranava and Wang, Josiah and Specia, Lucia},
  booktitle = {Proceedings of the 57th Annual Meeting of the Association for Computational
    Linguistics},
  year = {2019},
  pages = {6539--6550},
  doi = {10.18653/v1/P19-1654}
}""",
)
KUSNER_2015 = Paper(
    "Kusner et al., 2015",
    """@inproceedings{kusner-etal-2015-word,
  title = {From Word Embeddings To Document Distances},
  author = {Kusner, Matt J. and Sun, Yu and Kolkin, Nicholas I. and Weinberger, Kilian Q.},
  booktitle = {Proceedings of the 32nd International Conference on Machine Learning},
  year = {2015},
  pages = {957--966}
}""",
)
KILICKAYA_2017 = Paper(
    "Kilickaya et al., 2017",
    """@inproceedings{kilickaya-etal-2017-evaluating,
  title = {Re-evaluating Automatic Metrics for Image Captioning},
  author = {Kilickaya, Mert and Erdem, Aykut and Ikizler-Cinbis, Nazli and Erdem, Erkut},
  booktitle = {Proceedings of the 15th Conference of the {European} Chapter of the Association for
    Computational Linguistics: Volume 1, Long Papers},
  year = {2017},
  pages = {199--209},
  url = {https://aclanthology.org/E17-1019}
}""",
)
PAPINENI_2002 = Paper(
    "Papineni et al., 2002",
    """@inproceedings{papineni-etal-2002-bleu,
  title = {{Bleu}: a Method for Automatic Evaluation of Machine Translation},
  author = {Papineni, Kishore and Roukos, Salim and Ward, Todd and Zhu, Wei-Jing},
  booktitle = {Proceedings of the 40th Annual Meeting of the Association for Computational
    Linguistics},
  year = {2002},
  pages = {311--318},
  doi = {10.3115/1073083.1073135}
}""",
)
LIN_2004 = Paper(
    "Lin, 2004",
    """@inproceedings{lin-2004-rouge,
  title = {{ROUGE}: A Package for Automatic Evaluation of Summaries},
  author = {Lin, Chin-Yew},
  booktitle = {Text Summarization Branches Out},
  year = {2004},
  pages = {74--81},
  url = {https://aclanthology.org/W04-1013}
}""",
)
VEDANTAM_2015 = Paper(
    "Vedantam et al., 2015",
    """@inproceedings{vedantam-etal-2015-cider,
  title = {{CIDEr}: Consensus-Based Image Description Evaluation},
  author = {Vedantam, Ramakrishna and Zitnick, C. Lawrence and Parikh, Devi},
  booktitle = {2015 IEEE Conference on Computer Vision and Pattern Recognition (CVPR)},
  year = {2015},
  pages = {4566--4575},
  doi = {10.1109/CVPR.2015.7299087}
}""",
)
ROHRBACH_2018 = Paper(
    "Rohrbach et al., 2018",
    """@inproceedings{rohrbach-etal-2018-object,
  title = {Object Hallucination in Image Captioning},
  author = {Rohrbach, Anna and Hendricks, Lisa Anne and Burns, Kaylee and Darrell, Trevor and
    Saenko, Kate},
  booktitle = {Proceedings of the 2018 Conference on Empirical Methods in Natural Language
    Processing},
  year = {2018},
  pages = {4035--4045},
  doi = {10.18653/v1/D18-1437}
}""",
)
DENKOWSKI_2014 = Paper(
    "Denkowski and Lavie, 2014",
    """@inproceedings{denkowski-lavie-2014-meteor,
  title = {Meteor Universal: Language Specific Translation Evaluation for Any Target Language},
  author = {Denkowski, Michael and Lavie, Alon},
  booktitle = {Proceedings of the Ninth Workshop on Statistical Machine Translation},
  year = {2014},
  pages = {376--380},
  url = {https://aclanthology.org/W14-3348}
}""",
)
ANDERSON_2016 = Paper(
    "Anderson et al., 2016",
    """@inproceedings{anderson-etal-2016-spice,
  title = {{SPICE}: Semantic Propositional Image Caption Evaluation},
  author = {Anderson, Peter and Fernando, Basura and Johnson, Mark and Gould, Stephen},
  booktitle = {Computer Vision -- {ECCV} 2016},
  year = {2016},
  pages = {382--398},
  doi = {10.1007/978-3-319-46454-1_24}
}""",
)
JIANG_2019 = Paper(
    "Jiang et al., 2019",
    """@inproceedings{jiang-etal-2019-tiger,
  title = {{TIGEr}: Text-to-Image Grounding for Image Caption Evaluation},
  author = {Jiang, Ming and Huang, Qiuyuan and Zhang, Lei and Wang, Xin and Zhang, Pengchuan and
    Gan, Zhe and Diesner, Jana and Gao, Jianfeng},
  booktitle = {Proceedings of the 2019 Conference on Empirical Methods in Natural Language
    Processing and the 9th International Joint Conference on Natural Language Processing
    (EMNLP-IJCNLP)},
  year = {2019},
  pages = {2141--2152},
  doi = {10.18653/v1/D19-1220}
}""",
)
LEE_2020 = Paper(
    "Lee et al., 2020",
    """@inproceedings{lee-etal-2020-vilbertscore,
  title = {{ViLBERTScore}: Evaluating Image Caption Using Vision-and-Language {BERT}},
  author = {Lee, Hwanhee and Yoon, Seunghyun and Dernoncourt, Franck and Kim, Doo Soon and
    Bui, Trung and Jung, Kyomin},
  booktitle = {Proceedings of the First Workshop on Evaluation and Comparison of NLP Systems},
  year = {2020},
  pages = {34--39},
  doi = {10.18653/v1/2020.eval4nlp-1.4}
}""",
)
