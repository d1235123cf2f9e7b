"""An OpenAI-compatible endpoint over real HTTP, and every way in which it fails."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from muralkit.completers import Cause, CompletionError
from muralkit.completers.http import HttpCompleter
from tests.harness.provider import Provider, serve


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serve(lambda prompt: f"1: {prompt}\nEND") as running:
        yield running


def completer(provider: Provider, model: str = "cue", seconds: float = 10.0) -> HttpCompleter:
    return HttpCompleter(provider.url, model, key="secret", seconds=seconds)


def test_a_prompt_is_answered(provider: Provider) -> None:
    made = completer(provider)
    assert made.complete("häl → lo") == "1: häl → lo\nEND"
    [body] = provider.requests
    assert body == {"model": "cue", "messages": [{"role": "user", "content": "häl → lo"}]}
    assert HttpCompleter(f"{provider.url}/", "cue").complete("x") == "1: x\nEND"


@pytest.mark.parametrize(
    ("fault", "cause", "what"),
    [
        ("401", Cause.OUTAGE, "answered 401"),
        ("500", Cause.OUTAGE, "answered 500"),
        ("429", Cause.OUTAGE, "answered 429"),
        ("400", Cause.BROKEN, "answered 400"),
        ("413", Cause.BROKEN, "answered 413"),
        ("truncate", Cause.BROKEN, "broke off"),
        ("length", Cause.BROKEN, "cut off"),
        ("empty", Cause.BROKEN, "the reply is empty"),
        ("rubbish", Cause.BROKEN, "not in the format"),
    ],
)
def test_each_fault_has_its_cause(provider: Provider, fault: str, cause: Cause, what: str) -> None:
    provider.fault = fault
    with pytest.raises(CompletionError, match=what) as caught:
        completer(provider).complete("the memory's text")
    assert caught.value.cause is cause
    assert "memory's text" not in str(caught.value) and "secret" not in str(caught.value)


@pytest.mark.parametrize("fault", ["hang", "trickle"])
def test_a_reply_that_does_not_come_is_a_time_out(provider: Provider, fault: str) -> None:
    provider.fault = fault
    started = time.monotonic()
    with pytest.raises(CompletionError) as caught:
        completer(provider, seconds=0.7).complete("x")
    assert caught.value.cause is Cause.TIMEOUT and time.monotonic() - started < 5


def test_an_unknown_model_is_an_outage(provider: Provider) -> None:
    with pytest.raises(CompletionError, match="answered 404") as caught:
        completer(provider, "nope").complete("x")
    assert caught.value.cause is Cause.OUTAGE


def test_a_server_that_is_not_there_is_an_outage() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    with pytest.raises(CompletionError, match="can't be reached") as caught:
        HttpCompleter(f"http://127.0.0.1:{port}/v1", "cue").complete("x")
    assert caught.value.cause is Cause.OUTAGE


def test_what_was_stopped_answers_no_more(provider: Provider) -> None:
    made = completer(provider)
    made.stop()
    with pytest.raises(CompletionError) as caught:
        made.complete("x")
    assert caught.value.cause is Cause.STOPPED


def test_what_a_model_thinks_aloud_is_no_part_of_its_reply(provider: Provider) -> None:
    provider.reply = lambda prompt: "<think>\nhm\n</think>\n\n1: a\nEND"
    assert completer(provider).complete("x") == "1: a\nEND"
