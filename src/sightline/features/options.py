"""Choices that single features ask their tools for by name: `tools.option("theta")`.

On the command line some have a flag of their own; `--option NAME=VALUE` takes any of them, `sightline.score` takes them
as keywords.
A package that reads one of its own adds it here: `options.add("name")(Option("What it is."))`.
"""

from sightline.registry import Registry


class Option:
    """A named choice. Its documentation says what may be given.

    `late` ones are asked for only when scores are made of the features: a run can go on with another. Those that say
    `how` change no number: they are no part of what a run was made with.
    """

    def __init__(self, told: str, late: bool = False, how: bool = False) -> None:
        self.__doc__ = told
        self.late = late
        self.how = how


options: Registry[Option] = Registry("option")

for _name, _told in {
    "theta": "GROOViST's theta: `auto`, `corpus`, `shipped`, a number, or the folder of a run.",
    "fit_on": "The system that theta, idf and document frequencies are fitted on, instead of all.",
    "support": "Similarity below which `unsupported` finds a phrase in no picture, instead of .8 of theta.",
    "chair_objects": "COCO's instances_val2014.json, for `chair`: what is on the pictures.",
    "chair_synonyms": "A list of what COCO's classes are called, for `chair`: a class a line, its names after it.",
    "idf": "Document frequencies of words: `auto`, `corpus`, `shipped`, the folder of a run, or a saved file.",
    "coherence": "A sequence classifier for `rovist-c`: NAME or PATH.",
    "vectors": "Word vectors in GloVe's text form, for `rovist-vg` and `wmd`.",
    "vg": "A model of `sightline train vg`, for `rovist-vg`.",
    "together": "A folder of `sightline train together`, for `match`.",
    "rater": "A model of `sightline train rater`, for `vicr`.",
    "pairs": "Vectors of picture and text together by item (`.npz`), for a rater that learned from such.",
    "wordnet": "A folder of WordNet, METEOR's jar, or `none`, for the synonyms of `meteor` and `scenegraph`.",
    "paraphrases": "METEOR's paraphrase table, for `meteor`.",
    "meteor_jar": "METEOR's jar, for `meteor:engine=java`.",
    "spice_jar": "SPICE's jar, for `spice`.",
}.items():
    options.add(_name)(Option(_told, late=_name in ("theta", "idf", "fit_on", "support")))

for _name, _told in {
    "judge_url": "The address of the server that judges are behind: `http://localhost:8000/v1`.",
    "judge_budget": "What judges may cost in one run: `500` requests, or `200000 tokens`.",
    "judge_at_once": "How many questions a judge is asked at a time; 8 unless told.",
    "judge_timeout": "Seconds to wait for an answer; 120 unless told.",
}.items():
    options.add(_name)(Option(_told, how=True))
