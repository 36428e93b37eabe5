"""Which of two sentences comes first: the model behind RoViST-C, and the embedded one in plain ONNX
Runtime.

The embedded model reads in two stages. `sentence.onnx`, the lower layers of an encoder, reads every
sentence alone and once; `order.onnx`, its upper layers, reads two sentences side by side, in both orders.
Both quantise each row of an activation on its own, so that a pair's probability does not depend on the
pairs beside it.
"""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UsageError
from sightline.resources import MODELS, Resource, shared
from sightline.text.pairs import Floats, SentencePair, batches_by_width, sigmoid
from sightline.text.wordpiece import WordPiece
from sightline.threads import cores

EMBEDDED = MODELS / "coherence"
BATCH_PIECES = 512
"""Pieces read at once, padding included: enough to fill a core, little enough for its cache."""
CHUNK_PAIRS = 1024
"""Pairs whose sentences are kept in memory at once."""


class CoherenceModel(Protocol):
    """Tells how probable it is that the second sentence follows the first."""

    @property
    def signature(self) -> str: ...

    def probabilities(self, pairs: Sequence[SentencePair]) -> Floats:
        """One for each pair; a pair's does not depend on its neighbours."""
        ...

    def cut(self, sentence: str) -> bool:
        """Whether the sentence is longer than the model reads."""
        ...


@shared
def load_coherence(spec: str | None = None) -> CoherenceModel:
    """The embedded model, a folder that `sightline train coherence` made, or a transformers model by name
    or path.
    """
    if spec is None or spec == "embedded":
        return OnnxCoherence(EMBEDDED)
    if (Path(spec) / "order.onnx").is_file():
        return OnnxCoherence(Path(spec))
    from sightline.text.coherence_torch import TorchCoherence

    return TorchCoherence(spec)


class SentenceReader:
    """The lower layers: every sentence alone, as the states of its pieces."""

    def __init__(self, folder: Path) -> None:
        self.resource = _files(folder, "sentence.onnx")
        self._session, about = _session(folder / "sentence.onnx")
        try:
            settings = json.loads(about["settings"])
            self.longest = int(settings["longest"])
            self.name = str(settings["name"])
            self.words = WordPiece(about["vocabulary"].split("\n"))
        except (KeyError, ValueError) as fault:
            raise UsageError(f"{folder}: not a coherence model of Sightline (no {fault})") from None
        self._cls, self._sep = self.words.id_of("[CLS]"), self.words.id_of("[SEP]")

    def cut(self, sentence: str) -> bool:
        return len(self.words.ids(sentence)) > self.longest

    def read(
        self, sentences: Sequence[str], workers: ThreadPoolExecutor
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The states of `[CLS] sentence [SEP]`, one sentence after the other, and where each begins."""
        coded = [[self._cls, *self.words.ids(s)[: self.longest], self._sep] for s in sentences]
        widths = [len(line) for line in coded]
        starts = np.concatenate([[0], np.cumsum(widths)])

        def read(rows: list[int]) -> Any:
            ids = np.zeros((len(rows), max(widths[row] for row in rows)), np.int64)
            for line, row in zip(ids, rows, strict=True):
                line[: widths[row]] = coded[row]
            return rows, self._session.run(None, {"ids": ids, "mask": _mask(rows, widths)})[0]

        states: NDArray[np.float32] | None = None
        for rows, found in workers.map(read, batches_by_width(widths, BATCH_PIECES)):
            if states is None:
                states = np.zeros((starts[-1], found.shape[2]), np.float32)
            for line, row in zip(found, rows, strict=True):
                states[starts[row] : starts[row + 1]] = line[: widths[row]]
        assert states is not None  # there is at least one sentence
        return states, starts


class OnnxCoherence:
    """An order model from a folder. Batches run beside each other, each on one core."""

    def __init__(self, folder: Path, threads: int | None = None) -> None:
        self._reader = SentenceReader(folder)
        self.resource = _files(folder, "sentence.onnx", "order.onnx").ahead()
        self._order, _ = _session(folder / "order.onnx")
        self.longest = self._reader.longest
        self.words = self._reader.words
        self._threads = threads or cores()

    @property
    def signature(self) -> str:
        return f"{self._reader.name}@{self.resource.digest}"

    def cut(self, sentence: str) -> bool:
        return self._reader.cut(sentence)

    def probabilities(self, pairs: Sequence[SentencePair]) -> Floats:
        """P = sigmoid((z(a, b) - z(b, a)) / 2), so that P(a, b) + P(b, a) = 1."""
        with ThreadPoolExecutor(self._threads) as workers:
            found = [
                self._chunk(pairs[start : start + CHUNK_PAIRS], workers)
                for start in range(0, len(pairs), CHUNK_PAIRS)
            ]
        return np.concatenate([*found, np.zeros(0)])

    def _chunk(self, pairs: Sequence[SentencePair], workers: ThreadPoolExecutor) -> Floats:
        sentences = list(dict.fromkeys(sentence for pair in pairs for sentence in pair))
        place = {sentence: number for number, sentence in enumerate(sentences)}
        states, starts = self._reader.read(sentences, workers)
        asked = [(place[a], place[b]) for a, b in pairs]
        both = list(dict.fromkeys([*asked, *((b, a) for a, b in asked)]))
        z = dict(zip(both, self._judge(both, states, starts, workers), strict=True))
        return sigmoid(np.array([(z[a, b] - z[b, a]) / 2 for a, b in asked], np.float64))

    def _judge(
        self,
        pairs: Sequence[tuple[int, int]],
        states: NDArray[np.float32],
        starts: NDArray[np.int64],
        workers: ThreadPoolExecutor,
    ) -> NDArray[np.float32]:
        """z of `[CLS] a [SEP] b [SEP]`, put together from the sentences' states."""
        first, second = (np.array(side) for side in zip(*pairs, strict=True))
        long_a, long_b = np.diff(starts)[first], np.diff(starts)[second] - 1
        widths = (long_a + long_b).tolist()
        logits = np.zeros(len(pairs), np.float32)

        def judge(rows: list[int]) -> None:
            at = np.arange(max(widths[row] for row in rows))[None]
            in_first = at < long_a[rows][:, None]
            place = np.where(
                in_first,
                starts[first[rows]][:, None] + at,
                starts[second[rows]][:, None] + 1 + at - long_a[rows][:, None],
            )
            mask = _mask(rows, widths)
            feed = {"states": states[place * mask], "segments": (~in_first).astype(np.int64), "mask": mask}
            logits[rows] = self._order.run(None, feed)[0]

        list(workers.map(judge, batches_by_width(widths, BATCH_PIECES)))
        return logits


def _files(folder: Path, *names: str) -> Resource:
    for name in names:
        if not (folder / name).is_file():
            raise UsageError(f"{folder / name}: there is no such coherence model")
    given = "embedded" if folder == EMBEDDED else str(folder)
    return Resource.folder(folder, [folder / name for name in names], given)


def _session(path: Path) -> tuple[Any, dict[str, str]]:
    """A model's session and what it says of itself."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as fault:  # ONNX Runtime has no common error of its own
        reason = str(fault).split("\n")[0]
        raise UsageError(f"{path}: not a model that can be read ({reason})") from None
    return session, session.get_modelmeta().custom_metadata_map


def _mask(rows: Sequence[int], widths: Sequence[int]) -> NDArray[np.int32]:
    lengths = np.array([widths[row] for row in rows])
    return (np.arange(lengths.max())[None] < lengths[:, None]).astype(np.int32)
