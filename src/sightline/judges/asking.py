"""Asks a judge: nothing twice, so many questions at once, again where the server is busy, and within a budget."""

import hashlib
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Final, Protocol

import msgspec

from sightline.chat import LONGEST_SIDE
from sightline.errors import Unscorable, UsageError
from sightline.judges.base import Decoding, Judge, Passing, Question, Reply
from sightline.judges.budget import Budget, Spent

TRIES: Final = 6
NOBODY_THERE: Final = 2
"""Tries of a server that has never answered: its address may be wrong."""
FIRST_WAIT: Final = 0.5
"""Seconds before the second try; twice as long before each further one."""
LONGEST_WAIT: Final = 60.0
SHOWN: Final = f"JPEG {LONGEST_SIDE}"
"""How pictures travel: an answer holds for that."""
PROBE = Question("You answer with one digit.", "Answer with the digit 5 alone and nothing else.")
PROBED = Decoding(length=4)


class Store(Protocol):
    """Where answers are kept between runs: key to bytes."""

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]: ...
    def put_many(self, pairs: Sequence[tuple[str, bytes]]) -> None: ...


class Asker:
    """A judge with a memory. Every answer is kept the moment it comes, so that a run that is killed loses none."""

    def __init__(
        self,
        judge: Judge,
        store: Store,
        budget: Budget | None = None,
        at_once: int = 8,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        if at_once < 1:
            raise UsageError("at least one question must be asked at a time")
        self.judge = judge
        self.budget = budget or Budget()
        self._store = store
        self._threads = ThreadPoolExecutor(judge.at_once or at_once, thread_name_prefix="judge")
        self._coming: dict[str, Future[Reply | Unscorable]] = {}
        self._stop = threading.Event()
        self._answered = False
        self._sleep = sleep or self._stop.wait  # a run that stops does not wait for its turn

    @property
    def signature(self) -> str:
        """Which model it is, and how pictures are shown to it."""
        return self.judge.signature

    @property
    def spent(self) -> Spent:
        return self.budget.spent

    def alternatives(self) -> int:
        """How many likeliest tokens the judge tells at each place; 0 where it tells none. It is asked once, ever."""
        key = self._key("alternatives", *map(str, self.judge.alternatives))
        known = self._store.get_many([key]).get(key)
        if known is None:
            most = next((count for count in self.judge.alternatives if self._tells(count)), 0)
            self._store.put_many([(key, str(most).encode())])
            return most
        return int(known)

    def _tells(self, count: int) -> bool:
        """Whether the judge answers with the probabilities of so many tokens."""
        try:
            answer = self._asked(PROBE, Decoding(PROBED.length, alternatives=count))
        except Unscorable:
            return False  # a server that knows no such field refuses the request
        return any(len(token.likeliest) > 1 for token in answer.tokens)

    def begin(self, questions: Sequence[Question], decoding: Decoding) -> None:
        """Have these answered in the background: they will be asked for next."""
        by_key = {self._key(*question.key, *decoding.key): question for question in questions}
        new = {key: question for key, question in by_key.items() if key not in self._coming}
        known = self._store.get_many(list(new)) if new else {}
        self._submit({key: question for key, question in new.items() if key not in known}, decoding)

    def ask(self, questions: Sequence[Question], decoding: Decoding) -> list[Reply | Unscorable]:
        """An answer to each question, or the reason why there is none. Equal questions are asked once.

        Raises UsageError where no question can be answered, or the budget is spent.
        """
        keys = [self._key(*question.key, *decoding.key) for question in questions]
        by_key = dict(zip(keys, questions, strict=True))
        rest = [key for key in by_key if key not in self._coming]
        found: dict[str, Reply | Unscorable] = {
            key: msgspec.msgpack.decode(kept, type=Reply) for key, kept in self._store.get_many(rest).items()
        }
        self.budget.found(len(found))
        self._submit({key: by_key[key] for key in rest if key not in found}, decoding)
        awaited = {key: self._coming[key] for key in by_key if key not in found}
        done, _ = wait(awaited.values(), return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
        found |= {key: future.result() for key, future in awaited.items()}
        for key in awaited:
            del self._coming[key]
        return [found[key] for key in keys]

    def close(self) -> None:
        """Ask nothing more; what is under way is waited for and kept, since it is paid for."""
        self._stop.set()
        self._threads.shutdown(cancel_futures=True)

    def _submit(self, new: Mapping[str, Question], decoding: Decoding) -> None:
        for key, question in new.items():
            self._coming[key] = self._threads.submit(self._kept, key, question, decoding)

    def _kept(self, key: str, question: Question, decoding: Decoding) -> Reply | Unscorable:
        if self._stop.is_set():
            return Unscorable("not asked")
        try:
            answer = self._asked(question, decoding)
        except Unscorable as reason:
            return reason
        except UsageError:
            self._stop.set()
            raise
        self._store.put_many([(key, msgspec.msgpack.encode(answer))])
        return answer

    def _asked(self, question: Question, decoding: Decoding) -> Reply:
        """One question, asked again where the server is busy."""
        for trial in range(TRIES):
            self.budget.take(again=trial > 0)
            try:
                answer = self.judge.ask(question, decoding)
            except Passing as reason:
                tries = NOBODY_THERE if reason.unreachable and not self._answered else TRIES
                if trial >= tries - 1 or self._stop.is_set():
                    raise self._given_up(reason, trial + 1) from None
                self._sleep(_pause(trial, reason))
            else:
                self._answered = True
                self.budget.pay(answer.prompt_tokens, answer.answer_tokens)
                return answer
        raise Unscorable("not asked")

    def _given_up(self, reason: Passing, tries: int) -> Exception:
        told = f"the judge {self.judge.signature}, asked {tries} times: {reason}"
        if reason.unreachable:
            return UsageError(
                f"{told}; what was answered is in the cache, the same command goes on from there"
            )
        return Unscorable(told)

    def _key(self, *parts: str) -> str:
        text = "\x1f".join((self.judge.signature, SHOWN, *parts))
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20)
        return f"judge\x1f{digest.hexdigest()}"


def _pause(trial: int, reason: Passing) -> float:
    """Seconds before the next try: as the server asks, else twice as long each time, a little by chance."""
    if reason.wait is not None:
        return min(reason.wait, LONGEST_WAIT)
    return float(min(FIRST_WAIT * 2**trial, LONGEST_WAIT) * random.uniform(0.8, 1.2))
