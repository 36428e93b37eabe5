"""A judge is asked once, again where its server is busy, so many questions at a time, and within a budget."""

import threading
import time
from pathlib import Path

import pytest

from sightline.errors import Unscorable, UsageError
from sightline.judges.asking import LONGEST_WAIT, TRIES, Asker
from sightline.judges.base import Access, Decoding, Passing, Question, Reply, load_judge
from sightline.judges.budget import Budget, BudgetSpent
from sightline.pipeline.cache import Cache

PLAIN = Decoding()


class Fake:
    """Answers with the words of the question; fails as often as it is told."""

    signature, alternatives, at_once = "fake", (20, 5), None

    def __init__(self, fails: dict[str, list[Exception]] | None = None, slow: float = 0.0) -> None:
        self.fails, self.slow = fails or {}, slow
        self.asked: list[str] = []
        self.now = self.most = 0
        self._lock = threading.Lock()

    def ask(self, question: Question, decoding: Decoding) -> Reply:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.asked.append(question.words)
            fails = self.fails.get(question.words, [])
            fault = fails.pop(0) if fails else None
        time.sleep(self.slow)
        with self._lock:
            self.now -= 1
        if fault:
            raise fault
        return Reply(question.words, prompt_tokens=7, answer_tokens=3)


def questions(*words: object) -> list[Question]:
    return [Question("", str(one)) for one in words]


def asker(judge: Fake, cache: Cache | None = None, budget: str | None = None, at_once: int = 8) -> Asker:
    asker.slept = []
    return Asker(judge, cache or Cache(None), Budget.of(budget), at_once, asker.slept.append)


def test_equal_questions_are_asked_once_and_never_again(tmp_path: Path) -> None:
    judge = Fake()
    first = asker(judge, Cache(tmp_path))
    assert [found.text for found in first.ask(questions("a", "b", "a"), PLAIN)] == ["a", "b", "a"]
    again = asker(judge, Cache(tmp_path))
    assert [found.text for found in again.ask(questions("b", "a"), PLAIN)] == ["b", "a"]
    assert sorted(judge.asked) == ["a", "b"]
    assert (first.spent.requests, first.spent.cached, first.spent.tokens) == (2, 0, 20)
    assert (again.spent.requests, again.spent.cached, again.spent.tokens) == (0, 2, 0)
    other = Decoding(temperature=1.0, seed=3)
    again.ask(questions("a"), other)
    assert len(judge.asked) == 3, "another decoding is another question"


def test_so_many_at_a_time() -> None:
    judge = Fake(slow=0.02)
    asker(judge, at_once=3).ask(questions(*range(12)), PLAIN)
    assert judge.most == 3
    local = Fake(slow=0.01)
    local.at_once = 1
    asker(local, at_once=8).ask(questions(*range(4)), PLAIN)
    assert local.most == 1


def test_a_busy_server_is_asked_again_later_each_time() -> None:
    judge = Fake(
        {"a": [Passing("busy"), Passing("busy"), Passing("later", wait=7.0), Passing("never", wait=1e6)]}
    )
    found = asker(judge)
    assert found.ask(questions("a"), PLAIN)[0].text == "a"
    first, second, told, longest = asker.slept
    assert 0.4 <= first <= 0.6 and 0.8 <= second <= 1.2 and told == 7.0 and longest == LONGEST_WAIT
    assert (found.spent.requests, found.spent.repeated) == (5, 4)


def test_a_question_that_never_works_fails_alone() -> None:
    judge = Fake({"a": [Passing("status 500: 'oops'")] * 99, "b": [Unscorable("refuses the request")]})
    a, b, c = asker(judge).ask(questions("a", "b", "c"), PLAIN)
    assert isinstance(a, Unscorable) and str(a).endswith(f"asked {TRIES} times: status 500: 'oops'")
    assert isinstance(b, Unscorable) and c.text == "c"


def test_nobody_there_ends_the_run_and_keeps_what_was_answered(tmp_path: Path) -> None:
    gone = [Passing("cannot be reached", unreachable=True)] * 99
    with pytest.raises(UsageError, match="asked 2 times: cannot be reached"):
        asker(Fake({"a": list(gone)}), at_once=1).ask(questions("a", "b"), PLAIN)
    judge = Fake({"c": list(gone)})
    with pytest.raises(UsageError, match=f"asked {TRIES} times: cannot be reached.*goes on from there"):
        asker(judge, Cache(tmp_path), at_once=1).ask(questions("a", "b", "c", "d"), PLAIN)
    assert "d" not in judge.asked
    again = asker(judge := Fake(), Cache(tmp_path))
    again.ask(questions("a", "b", "c", "d"), PLAIN)
    assert sorted(judge.asked) == ["c", "d"]


@pytest.mark.parametrize(("budget", "first"), [("5", 5), ("5 requests", 5), ("45 tokens", 5), ("1_0", 10)])
def test_a_budget_stops_and_the_next_run_goes_on(tmp_path: Path, budget: str, first: int) -> None:
    judge = Fake()
    with pytest.raises(BudgetSpent, match="is spent; what was answered is in the cache"):
        asker(judge, Cache(tmp_path), budget, at_once=1).ask(questions(*range(12)), PLAIN)
    assert len(judge.asked) == first
    found = asker(judge, Cache(tmp_path)).ask(questions(*range(12)), PLAIN)
    assert [one.text for one in found] == [str(n) for n in range(12)]
    assert len(judge.asked) == 12, "nothing was asked twice"


def test_a_budget_counts_what_is_repeated() -> None:
    judge = Fake({"a": [Passing("busy")] * 99})
    with pytest.raises(BudgetSpent):
        asker(judge, budget="3").ask(questions("a"), PLAIN)
    assert len(judge.asked) == 3


@pytest.mark.parametrize("budget", ["", "none", "0", "-1", "1.5", "10 dollars"])
def test_a_budget_that_is_none(budget: str) -> None:
    with pytest.raises(UsageError, match="budget"):
        Budget.of(budget)


def test_what_the_judge_tells_is_asked_once_ever(tmp_path: Path) -> None:
    judge = Fake()
    assert asker(judge, Cache(tmp_path)).alternatives() == 0
    assert len(judge.asked) == 2, "for twenty, then for five"
    assert asker(judge, Cache(tmp_path)).alternatives() == 0
    assert len(judge.asked) == 2


@pytest.mark.parametrize(
    ("spec", "url", "told"),
    [
        ("", None, "a judge needs a model: judge:model=NAME with --judge-url"),
        ("served:x", None, "give its address with --judge-url"),
        ("served:", "http://localhost/v1", "names no model"),
        ("local:", None, "names no model"),
        ("local:/no/such/model", None, "there is no such folder"),
        ("/no/such/model", None, "no such folder.* behind a server is reached with --judge-url URL"),
        ("x", "localhost:8000", "is no address: write http"),
        ("x", "ftp://localhost/v1", "is no address"),
        ("x", "http://me:secret@localhost/v1", "must not hold a key"),
        ("x", "http://localhost/v1?key=secret", "must not hold a key"),
        ("x", "https://api.openai.com/v1", "set OPENAI_API_KEY"),
    ],
)
def test_a_judge_that_cannot_be_asked_is_one_clear_line(
    spec: str, url: str | None, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("SIGHTLINE_JUDGE_KEY", raising=False)
    with pytest.raises(UsageError, match=told) as caught:
        load_judge(spec, Access(url))
    assert "secret" not in str(caught.value) and "\n" not in str(caught.value)
