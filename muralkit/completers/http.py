"""An OpenAI-compatible endpoint: `POST /chat/completions`, one message in, one out."""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
import urllib.error
import urllib.request
from typing import Any

from muralkit.completers import REFUSES_THIS, Cause, CompletionError

# What a local reasoning model says before it answers.
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
MOST = 2**20
"""Bytes of a reply; a cue has a few hundred."""


class HttpCompleter:
    """A model behind a base URL such as http://127.0.0.1:11434/v1.

    `seconds` is the most that one reply may take, all told: connecting, waiting, reading.
    """

    def __init__(self, base_url: str, model: str, *, key: str = "", seconds: float = 60.0) -> None:
        self.name = model
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._key, self._seconds = key, seconds
        self._stopped = threading.Event()

    def complete(self, prompt: str) -> str:
        """See Completer."""
        if self._stopped.is_set():
            raise CompletionError(Cause.STOPPED, "stopped")
        until = time.monotonic() + self._seconds
        body = {"model": self.name, "messages": [{"role": "user", "content": prompt}]}
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(  # noqa: S310  # the scheme is checked in the config
            self._url, json.dumps(body).encode(), headers
        )
        try:
            with urllib.request.urlopen(request, timeout=self._seconds) as response:  # noqa: S310
                data = self._read(response, until)
        except urllib.error.HTTPError as error:
            with error:
                cause = Cause.BROKEN if error.code in REFUSES_THIS else Cause.OUTAGE
                what = f"{self.name}: {self._url} answered {error.code}"
                raise CompletionError(cause, what) from error
        except TimeoutError as error:
            raise self._late() from error
        except http.client.HTTPException as error:
            what = f"{self.name}: the reply broke off ({type(error).__name__})"
            raise CompletionError(Cause.BROKEN, what) from error
        except (OSError, ValueError) as error:  # URLError is an OSError
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                raise self._late() from error
            what = f"{self.name}: {self._url} can't be reached: {reason}"
            raise CompletionError(Cause.OUTAGE, what) from error
        return self._text(data)

    def _read(self, response: http.client.HTTPResponse, until: float) -> bytes:
        """The whole body; a server that trickles is timed as one that is silent."""
        parts: list[bytes] = []
        size = 0
        while part := response.read1(65536):
            if self._stopped.is_set():
                raise CompletionError(Cause.STOPPED, "stopped")
            if time.monotonic() > until:
                raise self._late()
            parts.append(part)
            size += len(part)
            if size > MOST:
                raise CompletionError(Cause.BROKEN, f"{self.name}: the reply has over 1 MiB")
        length = response.headers.get("Content-Length")
        if length and length.isdigit() and size < int(length):
            raise CompletionError(Cause.BROKEN, f"{self.name}: the reply broke off")
        return b"".join(parts)

    def _text(self, data: bytes) -> str:
        try:
            choice: Any = json.loads(data)["choices"][0]
            text, finish = choice["message"]["content"], choice.get("finish_reason")
        except (ValueError, KeyError, IndexError, TypeError, RecursionError) as error:
            what = f"{self.name}: the reply is not in the format of chat completions"
            raise CompletionError(Cause.BROKEN, what) from error
        if not isinstance(text, str) or not text.strip():
            raise CompletionError(Cause.BROKEN, f"{self.name}: the reply is empty")
        if finish == "length":
            raise CompletionError(Cause.BROKEN, f"{self.name}: the reply was cut off")
        return _THOUGHTS.sub("", text)

    def _late(self) -> CompletionError:
        return CompletionError(Cause.TIMEOUT, f"{self.name}: no reply in {self._seconds:g} s")

    def stop(self) -> None:
        """See Completer. A reply that is being waited for ends with its time-out."""
        self._stopped.set()
