"""Headless Chromium, spoken to by its DevTools protocol over two pipes: no driver, no port."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage",
    "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-extensions", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE = 30.0  # seconds for an answer: a first start on a busy machine takes 5
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "End": 35, "Home": 36, "ArrowUp": 38, "ArrowDown": 40}


class Browser:
    """One page of a Chromium of its own."""

    def __init__(self, width: int = 1600, height: int = 1000) -> None:
        assert PROGRAM is not None
        self._folder = tempfile.mkdtemp(prefix="chromium-")
        ours, theirs = os.pipe(), os.pipe()  # what we write, what it writes
        reads = fcntl.fcntl(ours[0], fcntl.F_DUPFD, 20)
        writes = fcntl.fcntl(theirs[1], fcntl.F_DUPFD, 20)
        script = f'exec "$@" 3<&{reads} 4>&{writes}'
        command = ["bash", "-c", script, "bash", PROGRAM, *FLAGS]
        self._process = subprocess.Popen(
            [*command, f"--user-data-dir={self._folder}", "about:blank"],
            pass_fds=(reads, writes),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for handle in (ours[0], theirs[1], reads, writes):
            os.close(handle)
        self._out, self._in = ours[1], theirs[0]
        self._buffer, self._number, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.resize(width, height)

    def close(self) -> None:
        """End it, and remove what it kept."""
        os.close(self._out)
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        shutil.rmtree(self._folder, ignore_errors=True)

    def call(self, method: str, **parameters: Any) -> Any:
        """A command of the protocol, and its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            answer = self._next(end)
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def _next(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0, end - time.monotonic()))
            assert ready, "Chromium does not answer"
            part = os.read(self._in, 1 << 20)
            assert part, "Chromium has ended"
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def resize(self, width: int, height: int, dark: bool = False, ratio: float = 1) -> None:
        """The window's size in CSS pixels, its colour scheme, and the screen's pixels in one."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=ratio, mobile=False,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, url: str) -> None:
        """Go to an address."""
        self.call("Page.navigate", url=url)

    def run(self, script: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        done = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True,
            userGesture=True,
        )  # fmt: skip
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def wait(self, script: str, patience: float = PATIENCE) -> Any:
        """The value of an expression, once it is true."""
        end = time.monotonic() + patience
        while True:
            value = self.run(script)
            if value:
                return value
            assert time.monotonic() < end, f"never true: {script}"
            time.sleep(0.02)

    def text(self, selector: str) -> str:
        """What an element says."""
        return str(self.run(f"document.querySelector({json.dumps(selector)}).textContent"))

    def move(self, x: float, y: float) -> None:
        """The pointer goes there."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x: float, y: float) -> None:
        """A click there."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key: str, text: str = "") -> None:
        """A key, by its name in KeyboardEvent.key."""
        typed = text or (key if len(key) == 1 else "")
        code = KEYS.get(key, ord(key[0].upper()))
        self.call(
            "Input.dispatchKeyEvent", type="keyDown", key=key, text=typed,
            windowsVirtualKeyCode=code,
        )  # fmt: skip
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        """Text, as it is typed."""
        self.call("Input.insertText", text=text)

    def picture(self, path: Path) -> None:
        """A screenshot."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def said(self, method: str) -> list[dict[str, Any]]:
        """What was told so far by events of that name."""
        self.run("0")
        return [event["params"] for event in self.events if event.get("method") == method]
