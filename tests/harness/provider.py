"""A fake OpenAI-compatible provider on loopback: real HTTP, and faults on demand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class ToolCall(NamedTuple):
    """A reply that calls a tool."""

    name: str
    arguments: dict[str, Any]


Reply = Callable[[str], str]


class Provider:
    """Answers `POST /v1/chat/completions` with what `reply` makes of the last message.

    `fault` makes it fail: 401 or 500, "hang", "truncate" (the connection breaks off),
    "length" (the reply is cut at its limit), "empty", "rubbish", "trickle". `calls` are
    replies for the next requests that offer tools; `requests` has every body,
    `arrivals` when each was read.
    """

    def __init__(self, reply: Reply) -> None:
        self.reply, self.fault = reply, ""
        self.models = {"cue"}
        self.requests: list[dict[str, Any]] = []
        self.calls: list[ToolCall] = []
        self.arrivals: list[float] = []
        self.released = threading.Event()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                body = json.loads(self.rfile.read(length))
                provider.arrivals.append(time.perf_counter())
                provider.requests.append(body)
                provider.answer(self, body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def answer(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """One request: a reply, streamed or whole, or the fault."""
        if self.fault == "hang":
            self.released.wait(60)
            return
        status = int(self.fault) if self.fault.isdigit() else 200
        if status == 200 and body["model"] not in self.models:
            status = 404
        if status != 200:
            self._send(handler, status, {"error": {"message": f"fault {status}", "code": status}})
            return
        text: str | ToolCall = ""
        if body.get("tools") and self.calls:
            text = self.calls.pop(0)
        elif self.fault != "empty":
            text = self.reply(_last(body["messages"]))
        finish = "length" if self.fault == "length" else "stop"
        if self.fault == "rubbish":
            self._raw(handler, b"<html>not JSON</html>", "text/html")
        elif isinstance(text, ToolCall):
            self._call(handler, body["model"], text)
        elif body.get("stream"):
            self._stream(handler, body["model"], text, finish)
        else:
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": finish}
            whole = {"id": "x", "object": "chat.completion", "model": body["model"],
                     "choices": [choice]}  # fmt: skip
            self._send(handler, 200, whole)

    def _send(self, handler: BaseHTTPRequestHandler, status: int, value: object) -> None:
        self._raw(handler, json.dumps(value).encode(), "application/json", status)

    def _raw(
        self, handler: BaseHTTPRequestHandler, data: bytes, kind: str, status: int = 200
    ) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        if self.fault == "truncate":
            handler.wfile.write(data[: len(data) // 2])
            handler.close_connection = True
            handler.connection.shutdown(2)
        elif self.fault == "trickle":
            for byte in data:
                handler.wfile.write(bytes([byte]))
                handler.wfile.flush()
                if self.released.wait(0.2):
                    return
        else:
            handler.wfile.write(data)

    def _call(self, handler: BaseHTTPRequestHandler, model: str, call: ToolCall) -> None:
        chunk = _chunks(handler, model)
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        entry = {"index": 0, "id": f"call_{len(self.requests)}", "type": "function"}
        chunk(
            {"role": "assistant", "content": None, "tool_calls": [{**entry, "function": function}]}
        )
        chunk({}, "tool_calls")
        _end(handler, self.requests[-1])

    def _stream(self, handler: BaseHTTPRequestHandler, model: str, text: str, finish: str) -> None:
        chunk = _chunks(handler, model)
        chunk({"role": "assistant", "content": text[: len(text) // 2]})
        if self.fault == "truncate":
            handler.connection.shutdown(2)
            return
        chunk({"content": text[len(text) // 2 :]})
        chunk({}, finish)
        _end(handler, self.requests[-1])


def _chunks(handler: BaseHTTPRequestHandler, model: str) -> Callable[..., None]:
    """Start a stream; what sends a piece of it."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.close_connection = True

    def chunk(delta: dict[str, Any], reason: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        data = {"id": "x", "object": "chat.completion.chunk", "created": int(time.time()),
                "model": model, "choices": [choice]}  # fmt: skip
        handler.wfile.write(f"data: {json.dumps(data)}\n\n".encode())
        handler.wfile.flush()

    return chunk


def _end(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
    """What a stream ends with; a harness decides by the tokens whether to compact."""
    asked = len(json.dumps(body["messages"])) // 4
    tokens = {"prompt_tokens": asked, "completion_tokens": 10, "total_tokens": asked + 10}
    usage = {"id": "x", "object": "chat.completion.chunk", "choices": [], "usage": tokens}
    handler.wfile.write(f"data: {json.dumps(usage)}\n\ndata: [DONE]\n\n".encode())


def _last(messages: list[dict[str, Any]]) -> str:
    """The text of the last message."""
    content = messages[-1]["content"]
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


@contextmanager
def serve(reply: Reply) -> Iterator[Provider]:
    """A provider that runs as long as the block."""
    provider = Provider(reply)
    thread = threading.Thread(target=provider.server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        provider.released.set()
        provider.server.shutdown()
        provider.server.server_close()
