"""The preview's page over HTTP: on 127.0.0.1 only, and for one who knows the token only.

Other sites that run in the user's browser can send requests here, and a name of theirs
may resolve to 127.0.0.1. So every request needs the random token in its path, one Host
header that names this server, and no sign that another origin's page asks.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from muralkit import assets
from muralkit.errors import InputError
from muralkit.preview.studio import Studio

ADDRESS = "127.0.0.1"

PATIENCE = 5.0
"""Seconds that a request for the state waits for a change."""

FILES = {
    "": ("page.html", "text/html; charset=utf-8"),
    "page.css": ("page.css", "text/css; charset=utf-8"),
    "page.js": ("page.js", "text/javascript; charset=utf-8"),
}

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Of every answer: it holds memories."""

_PICTURE = re.compile("picture/([0-9a-f]{64})[.]png")


class PreviewServer(ThreadingHTTPServer):
    """Serves a studio; `url` is where. Raises InputError for a port that can't be had."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, studio: Studio, port: int = 0) -> None:
        self.studio, self.token = studio, secrets.token_urlsafe(24)
        self._ticket = ""
        self._taking = threading.Lock()
        try:
            super().__init__((ADDRESS, port), _Handler)
        except OSError as error:
            raise InputError(
                f"The port {port} can't be used: {error.strerror}.",
                hint="Leave --port out, and a free one is taken.",
            ) from error

    @property
    def url(self) -> str:
        """The page's address, with the token."""
        return f"http://{ADDRESS}:{self.server_port}/{self.token}/"

    def ticket(self) -> str:
        """An address that leads to the page, once: every user of this machine can read a
        browser's command line.
        """
        with self._taking:
            self._ticket = secrets.token_urlsafe(24)
            return f"http://{ADDRESS}:{self.server_port}/{self._ticket}"

    def take(self, name: str) -> bool:
        """Whether that is the ticket, which is of no use any more then."""
        with self._taking:
            fits = bool(self._ticket) and secrets.compare_digest(
                name.encode(), self._ticket.encode()
            )
            if fits:
                self._ticket = ""
            return fits

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that has gone away is nothing to tell."""


class _Handler(BaseHTTPRequestHandler):
    """One request; nothing but GET and HEAD, nothing that changes anything."""

    server: PreviewServer
    protocol_version = "HTTP/1.1"
    server_version = "muralkit"
    sys_version = ""
    timeout = 60

    def do_GET(self) -> None:
        """The page, its parts, the state, a picture; or why not."""
        if self.headers.get("Content-Length") or self.headers.get("Transfer-Encoding"):
            self.close_connection = True  # a body is not read
        reason = self._elsewhere()
        if not reason and self.command == "GET" and self.server.take(self.path[1:]):
            self._send("text/plain", b"", 303, Location=f"/{self.server.token}/")
            return
        reason = reason or self._stranger()
        if reason:
            self._refuse(403, reason)
            return
        address = urlsplit(self.path)
        rest = address.path.removeprefix(f"/{self.server.token}/")
        picture = _PICTURE.fullmatch(rest)
        if rest in FILES:
            name, kind = FILES[rest]
            self._send(kind, page(name))
        elif rest == "state":
            self._send_state(parse_qs(address.query))
        elif picture and (png := self.server.studio.picture(picture[1])):
            self._send("image/png", png)
        else:
            self._refuse(404, "There is nothing of that name.")

    do_HEAD = do_GET  # noqa: N815

    def _refuse_method(self) -> None:
        self.close_connection = True
        self._refuse(405, "Only GET and HEAD are answered.", Allow="GET, HEAD")

    do_POST = do_PUT = do_PATCH = do_DELETE = _refuse_method  # noqa: N815
    do_OPTIONS = do_TRACE = do_CONNECT = _refuse_method  # noqa: N815

    def _elsewhere(self) -> str:
        """Why this request comes from another site; empty: it does not."""
        own = {f"{host}:{self.server.server_port}" for host in (ADDRESS, "localhost")}
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or hosts[0].lower() not in own:
            return "This is not the host that was asked for."
        origin = self.headers.get("Origin")
        if origin is not None and origin.lower() not in {f"http://{host}" for host in own}:
            return "Another site's page may not ask."
        site = self.headers.get("Sec-Fetch-Site", "none")
        # A link that somebody followed is fine: it leads to the page, and nowhere back.
        followed = (
            self.headers.get("Sec-Fetch-Mode") == "navigate"
            and self.headers.get("Sec-Fetch-Dest") == "document"
        )
        if site not in ("none", "same-origin") and not followed:
            return "Another site's page may not ask."
        return ""

    def _stranger(self) -> str:
        """Why this request is none of our page's; empty: it has the token."""
        token = self.path.split("/")[1] if self.path.startswith("/") else ""
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            return "The address lacks its token: take the whole one that muralkit preview printed."
        return ""

    def _send_state(self, query: dict[str, list[str]]) -> None:
        studio = self.server.studio
        chosen = [_number(query, side) for side in ("left", "right")]
        panes = [number for number in chosen if number is not None]
        if not panes:
            panes = [0, 1] if studio.given > 1 else [0]
        if any(number >= len(studio.panes) for number in panes):
            self._refuse(404, "There is no such theme.")
            return
        patience = PATIENCE if self.command == "GET" else 0.0
        state = studio.state(panes, _number(query, "after") or 0, patience)
        self._send("application/json", json.dumps(state).encode())

    def _send(self, kind: str, body: bytes, status: int = 200, **more: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        for name, value in more.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _refuse(self, status: int, why: str, **more: str) -> None:
        self._send("text/plain; charset=utf-8", f"{why}\n".encode(), status, **more)

    def end_headers(self) -> None:
        """The same head on every answer, also on those to what is no HTTP."""
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # its name there
        """Nothing: the terminal is the user's."""


def page(name: str) -> bytes:
    """A file of the page."""
    return (assets.PACKAGE / "preview" / name).read_bytes()


def _number(query: dict[str, list[str]], name: str) -> int | None:
    value = query.get(name, [""])[0]
    return int(value) if re.fullmatch("[0-9]{1,9}", value) else None
