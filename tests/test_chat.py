"""A chat model behind a server: what is sent, what is read, and each way it can fail in one clear line."""

import base64
import io
from typing import Any

import pytest
from PIL import Image

from chat_server import Reply, chat_server, refused, said
from sightline.chat import Chat, together
from sightline.errors import Unscorable, UsageError


def test_texts_and_pictures_are_sent_and_answers_with_their_tokens_read() -> None:
    asked: list[dict[str, Any]] = []
    token = {
        "token": "4",
        "logprob": -0.1,
        "bytes": None,
        "top_logprobs": [{"token": "5", "logprob": -2.5, "bytes": None}],
    }

    def answer(body: dict[str, Any]) -> Reply:
        asked.append(body)
        return said(" 4 ", logprobs={"content": [token], "refusal": None})

    with chat_server(answer) as url:
        (found,) = Chat("a-model", url).ask(
            ["How many?", Image.new("RGBA", (3000, 1500), "red")],
            instructions="Answer with a number.",
            likeliest=1,
            temperature=0,
        )
    assert (found.text, found.log_probability, found.tokens[0].likeliest) == ("4", -0.1, {"5": -2.5})
    (body,) = asked
    assert (body["model"], body["temperature"], body["logprobs"], body["top_logprobs"]) == (
        "a-model",
        0,
        True,
        1,
    )
    system, user = body["messages"]
    assert system == {"role": "system", "content": "Answer with a number."}
    assert user["content"][0] == {"type": "text", "text": "How many?"}
    data = user["content"][1]["image_url"]["url"].removeprefix("data:image/jpeg;base64,")
    assert Image.open(io.BytesIO(base64.b64decode(data))).size == (1024, 512)


@pytest.mark.parametrize(
    ("reply", "kind", "message"),
    [
        (refused(401, "no"), UsageError, "does not accept the key: set OPENAI_API_KEY"),
        (refused(404, "unknown"), UsageError, "has no model 'a-model'"),
        (refused(400, "the picture is too odd"), Unscorable, "the server refuses it .*too odd"),
        (said("", finish_reason="content_filter"), Unscorable, "filtered its answer out"),
        ((200, {"hello": 1}), UsageError, "does not speak OpenAI's chat protocol"),
    ],
)
def test_what_goes_wrong_is_one_clear_line(reply: Reply, kind: type[Exception], message: str) -> None:
    with chat_server(lambda _: reply) as url, pytest.raises(kind, match=message):
        Chat("a-model", url).ask(["Hello"])


def test_settings_that_a_server_does_not_know_are_named_otherwise_or_left_out() -> None:
    asked: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> Reply:
        asked.append(body)
        for name in ("max_tokens", "logprobs"):
            if name in body:
                return refused(400, f"Unsupported parameter: '{name}' is not supported with this model.")
        return said("here")

    with chat_server(answer) as url:
        chat = Chat("a-model", url)
        assert [chat.ask(["Hello"], likeliest=0, max_tokens=5)[0].text for _ in range(2)] == ["here"] * 2
    assert len(asked) == 4, "what was learned once is known"
    assert asked[-1]["max_completion_tokens"] == 5 and "logprobs" not in asked[-1]


def test_where_nobody_answers_the_rest_is_not_asked() -> None:
    asked: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> Reply:
        asked.append(body)
        return refused(401, "no")

    with chat_server(answer) as url, pytest.raises(UsageError, match="does not accept the key"):
        chat = Chat("a-model", url)
        together(lambda word: chat.ask([word]), ["Hello"] * 200)
    assert len(asked) < 100


def test_a_busy_server_is_asked_again() -> None:
    replies = iter([(503, {}), (429, {}), said("here")])
    with chat_server(lambda _: next(replies)) as url:
        assert Chat("a-model", url).ask(["Hello"])[0].text == "here"


def test_no_server_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline.chat.RETRIES", 0)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(UsageError, match="no server answers at"):
        Chat("a-model").ask(["Hello"])
    with pytest.raises(UsageError, match="needs the name of a model"):
        Chat("")
