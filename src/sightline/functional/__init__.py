"""Every formula of the metrics and of the agreement statistics, as a function on plain values.

>>> from sightline.functional import bleu, groovist, krippendorff_alpha
>>> round(bleu(["a dog runs on the beach"], [["a dog is running on the beach"]], order=2).corpus, 4)
0.5986

Nothing here reads a picture or loads a model: what a model would say (a cosine, a probability) is an argument. The
metrics of `sightline.score` are these formulas over what the models say.
"""

from sightline.functional.agreement import (
    fleiss_kappa,
    icc,
    kendall_b,
    kendall_c,
    kendall_w,
    krippendorff_alpha,
    pairwise_agreement,
    pearson,
    spearman,
)
from sightline.functional.captions import (
    CocoScores,
    TextScores,
    bertscore,
    bleu,
    cider,
    coco_scores,
    meteor,
    rouge_l,
    sacrebleu,
    scenegraph,
    wmd,
)
from sightline.functional.corpora import confidence, consensus, diversity, pmi, points, self_bleu
from sightline.functional.pictures import (
    chair,
    clipscore,
    pac_s,
    refclipscore,
    refpac_s,
    tiger,
    unsupported,
)
from sightline.functional.stories import (
    d_hm,
    groovist,
    rovist,
    rovist_c,
    rovist_nr,
    rovist_vg,
    temporal_misalignment,
)

__all__ = [
    "CocoScores",
    "TextScores",
    "bertscore",
    "bleu",
    "chair",
    "cider",
    "clipscore",
    "coco_scores",
    "confidence",
    "consensus",
    "d_hm",
    "diversity",
    "fleiss_kappa",
    "groovist",
    "icc",
    "kendall_b",
    "kendall_c",
    "kendall_w",
    "krippendorff_alpha",
    "meteor",
    "pac_s",
    "pairwise_agreement",
    "pearson",
    "pmi",
    "points",
    "refclipscore",
    "refpac_s",
    "rouge_l",
    "rovist",
    "rovist_c",
    "rovist_nr",
    "rovist_vg",
    "sacrebleu",
    "scenegraph",
    "self_bleu",
    "spearman",
    "temporal_misalignment",
    "tiger",
    "unsupported",
    "wmd",
]
