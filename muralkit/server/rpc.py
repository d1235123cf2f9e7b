"""Lines of JSON-RPC 2.0 in, lines out; a bad request gets an error, and never ends the server.

A message is one line of JSON in UTF-8; what comes out is a line for each request or
batch that has an id. The server ends when its input does. See
https://www.jsonrpc.org/specification.
"""

from __future__ import annotations

import json
import math
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

from pydantic_core import to_json

from muralkit.errors import InputError, MuralkitError
from muralkit.server import protocol as p
from muralkit.server.methods import Methods

LONGEST = 16 * 2**20
"""Bytes of a message: what is longer is refused unread."""

BATCH = 100
"""Requests of one message."""

PARSE, INVALID, UNKNOWN, PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
REFUSED = -32000
"""Codes of errors, as JSON-RPC 2.0 has them; the last is our own: see `data`."""


@dataclass(frozen=True, slots=True)
class Method:
    """What is asked for, what is answered, and the function between."""

    request: type[p.Request]
    answer: type[p.Answer]
    call: Callable[[Methods, Any], p.Answer]


METHODS: dict[str, Method] = {
    "hello": Method(p.HelloRequest, p.HelloAnswer, Methods.hello),
    "baseline": Method(p.BaselineRequest, p.BaselineAnswer, Methods.baseline),
    "recall": Method(p.RecallRequest, p.RecallAnswer, Methods.recall),
    "memory.add": Method(p.AddRequest, p.AddAnswer, Methods.add),
    "memory.list": Method(p.ListRequest, p.ListAnswer, Methods.list),
    "cues.pending": Method(p.PendingRequest, p.PendingAnswer, Methods.pending),
    "cues.apply": Method(p.ApplyRequest, p.ApplyAnswer, Methods.apply),
    "status": Method(p.StatusRequest, p.StatusAnswer, Methods.status),
}


def serve(methods: Methods, source: BinaryIO, sink: BinaryIO) -> None:
    """Answer until the input ends, or nobody reads any more, or another version of muralkit
    lies where this one came from.
    """
    stale = False
    for number, line in enumerate(_lines(source)):
        try:
            answer = reply(methods, line)
        except ImportError as error:
            answer, stale = _error(None, INTERNAL, f"It was replaced ({error}): start anew."), True
        try:
            if answer is not None:
                sink.write(_encoded(answer) + b"\n")
                sink.flush()
            if stale:
                return
            if number == 0:  # while the harness starts, or the first answer is read
                methods.warm()
        except (BrokenPipeError, ImportError):
            return


def schema() -> dict[str, Any]:
    """Every method with its request and its answer, as JSON Schemas."""
    return {
        "protocol": p.PROTOCOL,
        "methods": {
            name: {
                "about": (method.call.__doc__ or "").strip(),
                "params": method.request.model_json_schema(),
                "result": method.answer.model_json_schema(),
            }
            for name, method in METHODS.items()
        },
    }


def reply(methods: Methods, line: bytes | None) -> Any:
    """The answer to a line (None: one that is too long); None where none is due."""
    if line is None:
        return _error(None, INVALID, f"A message has at most {LONGEST:,} bytes.")
    try:
        message = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        return _error(None, PARSE, f"Not JSON: {error}")
    if not isinstance(message, list):
        return _one(methods, message)
    if not 1 <= len(message) <= BATCH:
        return _error(None, INVALID, f"A batch has 1 to {BATCH} requests.")
    answers = [_one(methods, entry) for entry in message]
    return [answer for answer in answers if answer is not None] or None


def _lines(source: BinaryIO) -> Iterator[bytes | None]:
    """The lines that are not blank; None for one that is too long."""
    while line := source.readline(LONGEST + 1):
        if len(line) > LONGEST:
            while line and not line.endswith(b"\n"):
                line = source.readline(LONGEST)
            yield None
        elif line.strip():
            yield line


def _one(methods: Methods, message: Any) -> dict[str, Any] | None:
    """The answer to one request; None to a notification."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return _error(None, INVALID, 'A request is an object with "jsonrpc": "2.0".')
    number = message.get("id")
    if isinstance(number, bool) or not isinstance(number, str | int | float | None):
        return _error(None, INVALID, "An id is a text or a number.")
    if isinstance(number, float) and not math.isfinite(number):
        return _error(None, INVALID, "An id is a text or a number.")
    name = message.get("method")
    if not isinstance(name, str):
        return _error(number, INVALID, "A request has a method.")
    answer = _answer(methods, name, message.get("params", {}), number)
    return answer if "id" in message else None


def _answer(methods: Methods, name: str, params: Any, number: Any) -> dict[str, Any]:
    method = METHODS.get(name)
    if method is None:
        known = ", ".join(METHODS)
        return _error(number, UNKNOWN, f"There is no method {name!r}; there are {known}.")
    try:
        asked = p.checked(method.request, params)
    except InputError as error:
        return _error(number, PARAMS, str(error), _data(error))
    try:
        result = method.call(methods, asked).model_dump()
    except ImportError:
        raise
    except MuralkitError as error:
        return _error(number, REFUSED, str(error), _data(error))
    except Exception as error:  # a fault of ours must not end the server
        traceback.print_exc(file=sys.stderr)
        return _error(number, INTERNAL, f"{type(error).__name__}: {error}")
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _encoded(answer: Any) -> bytes:
    """An answer in UTF-8, on what every reader takes for one line."""
    try:
        text = to_json(answer)  # a tenth of the time of `json`: a picture is long
    except ValueError:  # a half of a surrogate pair, as in the name of a file
        return json.dumps(answer).encode()
    return text.replace(b"\xe2\x80\xa8", b"\\u2028").replace(b"\xe2\x80\xa9", b"\\u2029")


def _error(number: Any, code: int, message: str, data: Any = None) -> dict[str, Any]:
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return {"jsonrpc": "2.0", "id": number, "error": error}


def _data(error: MuralkitError) -> dict[str, str]:
    kind = type(error).__name__
    return {"kind": kind, "what": error.what, "where": error.where, "hint": error.hint}


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")
