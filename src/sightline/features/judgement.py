"""What a judge, a vision-language model that is asked, says of a text and its pictures."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from sightline.errors import Unscorable, UsageError
from sightline.features.base import Feature, Features, Tools
from sightline.features.text import Sentences
from sightline.items import Item
from sightline.judges.asking import Asker
from sightline.judges.base import Decoding, Question, Reply, Shown
from sightline.judges.prompts import Criterion, Prompt, prompt
from sightline.judges.readout import expectation, plain_number, said_yes, yes
from sightline.text.sentences import sentences_of

Readout = Literal["auto", "expectation", "fleur", "number", "samples"]
EXPLAINED: Final = 160
"""Tokens of an answer with its reason."""
ALONE: Final = 16
RIVALS: Final = "rivals"
"""Where an item of a comparison has the other systems' texts, by system."""


@dataclass(frozen=True)
class JudgementValue:
    rating: float
    answer: str
    """The first answer in the model's words."""
    tokens: int
    """Of all questions and answers, whenever they were asked."""
    spread: float | None = None
    """Of samples: their standard deviation."""


@dataclass(frozen=True)
class Judgement(Feature[JudgementValue]):
    """A judge's rating of a text on one criterion."""

    model: str
    criterion: Criterion
    readout: Readout = "auto"
    samples: int = 5
    explain: bool = False
    value = JudgementValue
    shows_pictures = True

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(),)

    def ahead(self, items: Sequence[Item], tools: Tools) -> None:
        judge, asked = tools.judge(self.model), prompt(self.criterion, self.explain)
        for decoding in self._decodings(judge):
            begin(judge, [_question(asked, item, tools) for item in items], decoding)

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[JudgementValue | Unscorable]:
        judge, asked = tools.judge(self.model), prompt(self.criterion, self.explain)
        questions = [_question(asked, got.item, tools) for got in batch]
        rounds = [answers(judge, questions, decoding) for decoding in self._decodings(judge)]
        return [self._value(asked, list(given), judge) for given in zip(*rounds, strict=True)]

    def way(self, judge: Asker) -> Readout:
        """How the number is read: where the user leaves it open, by what the judge tells."""
        if self.readout != "auto":
            return self.readout
        return "expectation" if judge.alternatives() else "number"

    def _decodings(self, judge: Asker) -> list[Decoding]:
        length, way = EXPLAINED if self.explain else ALONE, self.way(judge)
        if way == "samples":
            if self.samples < 2:
                raise UsageError(f"judge:samples={self.samples}: the mean of samples needs two at least")
            return [Decoding(length, temperature=1.0, seed=seed) for seed in range(self.samples)]
        return [Decoding(length, alternatives=_alternatives(judge) if way != "number" else 0)]

    def _value(
        self, asked: Prompt, given: Sequence[Reply | Unscorable], judge: Asker
    ) -> JudgementValue | Unscorable:
        way = self.way(judge)
        try:
            there = [_there(answer) for answer in given]
            if way in ("expectation", "fleur"):
                ratings = [expectation(there[0], asked.scale, raw=way == "fleur")]
            else:
                ratings = [plain_number(answer, asked.scale) for answer in there]
        except Unscorable as reason:
            return reason
        spread = statistics.stdev(ratings) if len(ratings) > 1 else None
        return JudgementValue(statistics.fmean(ratings), there[0].text.strip(), _tokens(there), spread)

    def signature(self, tools: Tools) -> Mapping[str, str]:
        judge, asked = tools.judge(self.model), prompt(self.criterion, self.explain)
        way = self.way(judge)
        told: str = f"samples={self.samples}" if way == "samples" else way
        if way in ("expectation", "fleur") and _alternatives(judge) != 20:
            told = f"{way} over {_alternatives(judge)}"
        return {
            "model": judge.signature,  # by content, where the option has a path or a server's name for it
            "prompt": asked.digest,
            "readout": told,
            "samples": str(self.samples),
        }


@dataclass(frozen=True)
class PreferenceValue:
    rivals: tuple[str, ...]
    """Names of the systems whose texts the item's was held against."""
    preferred: tuple[float, ...]
    """For each of them how surely the item's text is the better one, over both orders."""
    first: tuple[float, ...]
    """How surely the text that stood first was, over both orders: .5 where the order does not count."""
    agreed: tuple[bool, ...]
    """Whether both orders prefer the same text."""
    tokens: int


@dataclass(frozen=True)
class Preference(Feature[PreferenceValue]):
    """Which of two texts on the same pictures a judge prefers, asked in both orders."""

    model: str
    value = PreferenceValue
    shows_pictures = True
    reads_rivals = True

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(),)

    def ahead(self, items: Sequence[Item], tools: Tools) -> None:
        judge = tools.judge(self.model)
        begin(judge, [one for item in items for one in self._questions(item, tools)], self._decoding(judge))

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[PreferenceValue | Unscorable]:
        judge, asked = tools.judge(self.model), prompt("pair")
        way, decoding = Judgement(self.model, "caption").way(judge), self._decoding(judge)
        both = [one for got in batch for one in self._questions(got.item, tools)]
        found = iter(answers(judge, both, decoding))
        return [
            _preference(
                got.item, asked, {name: (next(found), next(found)) for name in rivals_of(got.item)}, way
            )
            for got in batch
        ]

    def _decoding(self, judge: Asker) -> Decoding:
        way = Judgement(self.model, "caption").way(judge)
        return Decoding(ALONE, alternatives=_alternatives(judge) if way == "expectation" else 0)

    def _questions(self, item: Item, tools: Tools) -> list[Question | Unscorable]:
        """For each rival two: the item's own text first, and the rival's first."""
        own = _text(item)
        orders = [order for text in rivals_of(item).values() for order in ((own, text), (text, own))]
        return [
            _question(prompt("pair"), item, tools, {"first": first, "second": second})
            for first, second in orders
        ]

    def signature(self, tools: Tools) -> Mapping[str, str]:
        judge = tools.judge(self.model)
        way = Judgement(self.model, "caption").way(judge)
        return {"model": judge.signature, "prompt": prompt("pair").digest, "readout": way}


@dataclass(frozen=True)
class YesValue:
    probability: float
    tokens: int


@dataclass(frozen=True)
class YesProbability(Feature[YesValue]):
    """The probability that a judge answers Yes when asked whether the pictures show what the text says."""

    model: str
    value = YesValue
    shows_pictures = True

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(),)

    def ahead(self, items: Sequence[Item], tools: Tools) -> None:
        judge, asked = tools.judge(self.model), prompt("vqa")
        questions = [_question(asked, item, tools) for item in items]
        begin(judge, questions, Decoding(ALONE, alternatives=judge.alternatives()))

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[YesValue | Unscorable]:
        judge, asked = tools.judge(self.model), prompt("vqa")
        told = judge.alternatives()
        questions = [_question(asked, got.item, tools) for got in batch]
        read = yes if told else said_yes
        values: list[YesValue | Unscorable] = []
        for answer in answers(judge, questions, Decoding(ALONE, alternatives=told)):
            try:
                there = _there(answer)
                values.append(YesValue(read(there), _tokens([there])))
            except Unscorable as reason:
                values.append(reason)
        return values

    def signature(self, tools: Tools) -> Mapping[str, str]:
        judge = tools.judge(self.model)
        way = "probability" if judge.alternatives() else "word"
        return {"model": judge.signature, "prompt": prompt("vqa").digest, "readout": way}


def rivals_of(item: Item) -> dict[str, str | list[str]]:
    """The other systems' texts on the same pictures, where the item brings them."""
    given = item.extra.get(RIVALS)
    return dict(given) if isinstance(given, Mapping) else {}


def answers(
    judge: Asker, questions: Sequence[Question | Unscorable], decoding: Decoding
) -> list[Reply | Unscorable]:
    """Answers to the questions that can be asked; the others' reasons in their places."""
    ready = [question for question in questions if isinstance(question, Question)]
    given = iter(judge.ask(ready, decoding))
    return [next(given) if isinstance(question, Question) else question for question in questions]


def begin(judge: Asker, questions: Sequence[Question | Unscorable], decoding: Decoding) -> None:
    """Have the questions that can be asked answered in the background."""
    judge.begin([question for question in questions if isinstance(question, Question)], decoding)


def _question(
    asked: Prompt, item: Item, tools: Tools, texts: Mapping[str, str | Sequence[str]] | None = None
) -> Question | Unscorable:
    """The question about an item; what is not shown needs no pictures."""
    pictures = tools.pictures
    if not item.whole_text.strip():
        return Unscorable("the text is empty")
    if asked.shows and not item.images:
        return Unscorable("there is no picture")
    try:
        shown = [Shown(pictures.digest(path), path, pictures.load) for path in item.images if asked.shows]
    except Unscorable as reason:
        return reason
    return Question(asked.system, asked.filled(texts or {"text": _text(item)}), tuple(shown))


def _text(item: Item) -> str | list[str]:
    """A caption as one string, a story as its sentences."""
    sentences = sentences_of(item)
    return sentences[0] if len(sentences) == 1 else list(sentences)


def _there(answer: Reply | Unscorable) -> Reply:
    if isinstance(answer, Unscorable):
        raise answer
    return answer


def _alternatives(judge: Asker) -> int:
    """How many likeliest tokens to ask for: the most, where the judge tells none and is asked all the same."""
    return judge.alternatives() or judge.judge.alternatives[0]


def _tokens(given: Sequence[Reply]) -> int:
    return sum(answer.prompt_tokens + answer.answer_tokens for answer in given)


def _preference(
    item: Item,
    asked: Prompt,
    given: Mapping[str, tuple[Reply | Unscorable, Reply | Unscorable]],
    way: Readout,
) -> PreferenceValue | Unscorable:
    """From the answers in both orders: 1 is the text that stood first."""
    if not given:
        return Unscorable(
            "there is no other text on the same pictures: judge-pair holds systems against each other "
            "(sightline compare)"
        )
    read = expectation if way == "expectation" else plain_number
    preferred, first, agreed, tokens = [], [], [], 0
    for own_first, own_second in given.values():
        try:
            there = _there(own_first), _there(own_second)
            one, two = (
                2 - read(answer, asked.scale) for answer in there
            )  # how surely the first is the better
        except Unscorable as reason:
            return reason
        preferred.append((one + 1 - two) / 2)
        first.append((one + two) / 2)
        agreed.append((one > 0.5) == (two < 0.5) and one != 0.5)
        tokens += _tokens(there)
    return PreferenceValue(tuple(given), tuple(preferred), tuple(first), tuple(agreed), tokens)
