"""One bad request never ends the server; what it answers is JSON-RPC 2.0."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muralkit.server import rpc
from muralkit.server.methods import Methods
from tests.conftest import ROOT
from tests.server.conftest import Ask

HELLO = b'{"jsonrpc": "2.0", "id": 1, "method": "hello"}'

# Codes of https://www.jsonrpc.org/specification, section 5.1; its own examples in section 7.
BAD: list[tuple[bytes, int]] = [
    (b"rubbish", -32700),
    (b'{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]', -32700),
    (b"\xff\xfe", -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "hello", "params": NaN}', -32700),
    (b'{"jsonrpc": "2.0", "id": ' + b"9" * 5000 + b', "method": "hello"}', -32700),
    (b"[" * 100_000, -32700),
    (b"[]", -32600),
    (b"[" + b"1," * 100 + b"1]", -32600),
    (b'{"jsonrpc": "2.0", "id": 1e999, "method": "hello"}', -32600),
    (
        b'{"jsonrpc": "2.0", "id": 1, "method": "recall", "params": {"query": "%s"}}'
        % (b"x" * 1001),
        -32602,
    ),
    (
        b'{"jsonrpc": "2.0", "id": 1, "method": "cues.apply", "params": {"model": "m", "replies":'
        b' [{"memory_id": 99999999999999999999999, "content_hash": "h", "reply": "r"}]}}',
        -32602,
    ),
    (b"1", -32600),
    (b"null", -32600),
    (b"{}", -32600),
    (b'{"jsonrpc": "1.0", "id": 1, "method": "hello"}', -32600),
    (b'{"jsonrpc": "2.0", "method": 1, "params": "bar"}', -32600),
    (b'{"jsonrpc": "2.0", "id": [1], "method": "hello"}', -32600),
    (b'{"jsonrpc": "2.0", "id": true, "method": "hello"}', -32600),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "foobar"}', -32601),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "hello", "params": [1]}', -32602),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "recall", "params": {}}', -32602),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "recall", "params": {"query": 5}}', -32602),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "recall", "params": {"query": "\\ud800"}}', -32602),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "status", "params": {"project": "/none"}}', -32000),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "status", "params": {"project": "\\u0000"}}', -32000),
]


@pytest.mark.parametrize(("line", "code"), BAD)
def test_a_bad_request_gets_its_code(methods: Methods, line: bytes, code: int) -> None:
    answer = rpc.reply(methods, line)
    assert answer["error"]["code"] == code
    assert answer["error"]["message"]
    assert rpc.reply(methods, HELLO)["result"]["compatible"]


def test_a_batch_is_answered_in_order_without_its_notifications(methods: Methods) -> None:
    batch = b'[%s, {"jsonrpc": "2.0", "method": "hello"}, 3, %s]' % (
        HELLO,
        HELLO.replace(b"1,", b"2,"),
    )
    answers = rpc.reply(methods, batch)
    assert [answer["id"] for answer in answers] == [1, None, 2]
    assert rpc.reply(methods, b'[{"jsonrpc": "2.0", "method": "hello"}]') is None


def test_a_notification_is_done_and_not_answered(methods: Methods, ask: Ask) -> None:
    line = b'{"jsonrpc": "2.0", "method": "memory.add", "params": {"content": "done"}}'
    assert rpc.reply(methods, line) is None
    assert [entry["content"] for entry in ask("memory.list")["memories"]] == ["done"]


def test_the_id_comes_back_as_it_was(methods: Methods) -> None:
    for number in ("null", '"a"', "0", "-3", "1.5"):
        line = b'{"jsonrpc": "2.0", "id": %s, "method": "hello"}' % number.encode()
        assert rpc.reply(methods, line)["id"] == json.loads(number)


def test_a_fault_of_ours_is_an_error_and_no_end(
    methods: Methods, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(self: Methods, asked: object) -> Any:
        raise ZeroDivisionError("ours")

    method = rpc.METHODS["status"]
    monkeypatch.setitem(rpc.METHODS, "status", rpc.Method(method.request, method.answer, broken))
    answer = rpc.reply(methods, HELLO.replace(b"hello", b"status"))
    assert answer["error"] == {"code": -32603, "message": "ZeroDivisionError: ours"}
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_server_that_was_replaced_ends_so_that_the_new_one_starts(
    methods: Methods, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(self: Methods, asked: object) -> Any:
        raise ImportError("no such name")

    method = rpc.METHODS["status"]
    monkeypatch.setitem(rpc.METHODS, "status", rpc.Method(method.request, method.answer, gone))
    sink = io.BytesIO()
    rpc.serve(methods, io.BytesIO(HELLO.replace(b"hello", b"status") + b"\n" + HELLO + b"\n"), sink)
    [line] = sink.getvalue().splitlines()
    assert "It was replaced" in json.loads(line)["error"]["message"]


def test_a_message_that_is_too_long_is_passed_over(
    methods: Methods, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rpc, "LONGEST", 100)
    source = io.BytesIO(b"x" * 1000 + b"\n" + HELLO + b"\n\n" + b"y" * 101)
    sink = io.BytesIO()
    rpc.serve(methods, source, sink)
    answers = [json.loads(line) for line in sink.getvalue().splitlines()]
    assert [answer.get("error", {}).get("code") for answer in answers] == [-32600, None, -32600]


def test_an_answer_is_one_line_for_every_reader(methods: Methods, ask: Ask) -> None:
    text = "a\u2028b\u2029c\x85d ∵ é"
    ask("memory.add", content=text)
    sink = io.BytesIO()
    rpc.serve(methods, io.BytesIO(HELLO.replace(b"hello", b"memory.list") + b"\n"), sink)
    data = sink.getvalue()
    assert data.count(b"\n") == 1 and b"\xe2\x80\xa8" not in data and b"\xe2\x80\xa9" not in data
    assert json.loads(data)["result"]["memories"][0]["content"] == text


def test_half_a_surrogate_pair_is_answered(methods: Methods) -> None:
    sink = io.BytesIO()
    line = b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "hello"}\n'
    rpc.serve(methods, io.BytesIO(line), sink)
    assert json.loads(sink.getvalue())["id"] == "\ud800"


ANY_TEXT = st.text(st.characters(exclude_categories=()))  # with halves of surrogate pairs
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(sorted(rpc.METHODS)), JSON | st.dictionaries(st.sampled_from(
    ["query", "content", "project", "harness", "session", "model", "limit", "replies", "inputs"]
), JSON))  # fmt: skip
def test_whatever_the_parameters_there_is_an_answer(
    tmp_path_factory: pytest.TempPathFactory, name: str, params: Any
) -> None:
    folder = tmp_path_factory.mktemp("any")
    methods = Methods(folder, folder / "m.db")
    try:
        message = {"jsonrpc": "2.0", "id": 1, "method": name, "params": params}
        answer = rpc.reply(methods, json.dumps(message, allow_nan=True).encode())
        assert ("result" in answer) != ("error" in answer)
        assert "error" not in answer or answer["error"]["code"] != rpc.INTERNAL
    finally:
        methods.close()


def test_the_schema_has_every_method_and_field(capsys: pytest.CaptureFixture[str]) -> None:
    schema = rpc.schema()
    assert set(schema["methods"]) == {
        "hello", "baseline", "recall", "memory.add", "memory.list", "cues.pending", "cues.apply",
        "status",
    }  # fmt: skip
    for method in schema["methods"].values():
        assert method["about"] and method["params"]["type"] == method["result"]["type"] == "object"


def server(project: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "muralkit", "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def test_the_process_answers_and_ends_with_its_input(project: Path) -> None:
    process = server(project)
    out, err = process.communicate(b"rubbish\n" + HELLO + b"\n", timeout=30)
    first, second = out.splitlines()
    assert json.loads(first)["error"]["code"] == -32700
    assert json.loads(second)["result"]["protocol"] == 1
    assert process.returncode == 0 and err == b""


def test_the_process_ends_when_nobody_reads(project: Path) -> None:
    process = server(project)
    assert process.stdin and process.stdout and process.stderr
    process.stdin.write(HELLO + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write(HELLO + b"\n")
    process.stdin.flush()
    assert process.wait(30) == 0
    process.stderr.close()
    process.stdin.close()


def test_an_interrupt_of_the_terminal_ends_it_quietly(project: Path) -> None:
    process = server(project)
    assert process.stdin and process.stdout
    process.stdin.write(HELLO + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130 and b"Traceback" not in err


def test_a_killed_server_leaves_the_store_whole(project: Path) -> None:
    """Killed while it adds: the next one has what was answered, and goes on."""
    for round_ in range(5):
        process = server(project)
        assert process.stdin and process.stdout and process.stderr
        answered = 0
        for number in range(20):
            content = json.dumps({"content": f"memory {round_} {number}"}).encode()
            line = b'{"jsonrpc": "2.0", "id": 1, "method": "memory.add", "params": %s}\n' % content
            process.stdin.write(line)
        process.stdin.flush()
        until = time.monotonic() + 20
        while answered < round_ * 4 and time.monotonic() < until:
            assert json.loads(process.stdout.readline())["result"]["new"]
            answered += 1
        process.kill()
        process.wait(30)
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()
        again = server(project)
        out, _ = again.communicate(HELLO.replace(b"hello", b"memory.list") + b"\n", timeout=30)
        kept = [entry["content"] for entry in json.loads(out)["result"]["memories"]]
        assert all(f"memory {round_} {n}" in kept for n in range(answered))
