"""Vision-language models that are asked: for a rating, for the better of two texts, whether a text is true.

Prompts are files of our own (`prompts/`), a judge is a server that speaks OpenAI's protocol or a model of transformers,
and the readout turns an answer into a number. The asker sees to it that nothing is asked twice, within a budget.
"""

from sightline.judges.asking import Asker
from sightline.judges.base import Decoding, Judge, Question, Reply, judges
from sightline.judges.budget import Spent

__all__ = ["Asker", "Decoding", "Judge", "Question", "Reply", "Spent", "judges"]
