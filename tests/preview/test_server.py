"""Only our own page, on this machine, with the token, gets an answer with a memory in it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping

import pytest

from muralkit.errors import InputError
from muralkit.preview.server import HEADERS, PreviewServer
from muralkit.preview.sources import demo
from muralkit.preview.studio import Studio


@pytest.fixture(scope="module")
def server() -> Iterator[PreviewServer]:
    studio = Studio(demo(), ["dense"])
    with PreviewServer(studio) as made:
        studio.start()
        threading.Thread(target=made.serve_forever, args=(0.02,), daemon=True).start()
        yield made
        made.shutdown()
        studio.close()


class Answer:
    """What came back."""

    def __init__(self, found: http.client.HTTPResponse) -> None:
        self.status, self.body = found.status, found.read()
        self.headers = {name.lower(): value for name, value in found.getheaders()}


def ask(
    server: PreviewServer,
    path: str,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
) -> Answer:
    """A request with the right host, or the one that is given; "": none."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    named = {"Host": f"127.0.0.1:{server.server_port}", **(headers or {})}
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in named.items():
        if value:
            connection.putheader(name, value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    try:
        return Answer(connection.getresponse())
    finally:
        connection.close()


def page(server: PreviewServer, rest: str = "") -> str:
    return f"/{server.token}/{rest}"


def raw(server: PreviewServer, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=30) as made:
        made.sendall(data)
        made.shutdown(socket.SHUT_WR)
        parts = []
        while part := made.recv(65536):
            parts.append(part)
        return b"".join(parts)


def test_a_ticket_leads_to_the_page_once(server: PreviewServer) -> None:
    """Other users of the machine can read a browser's command line."""
    first = server.ticket()
    ticket = server.ticket()
    assert server.token not in ticket
    path = ticket.removeprefix(f"http://127.0.0.1:{server.server_port}")
    assert ask(server, first.removeprefix(f"http://127.0.0.1:{server.server_port}")).status == 403
    for headers in ({"Host": "evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert ask(server, path, headers=headers).status == 403
    assert ask(server, path, "HEAD").status == 403
    found = ask(server, path)
    assert (found.status, found.headers["location"]) == (303, page(server))
    assert ask(server, path).status == 403
    assert ask(server, "/").status == 403


def test_the_page_its_parts_the_state_and_the_picture(server: PreviewServer) -> None:
    for rest, kind in (("", "text/html"), ("page.css", "text/css"), ("page.js", "text/javascript")):
        found = ask(server, page(server, rest))
        assert found.status == 200 and found.headers["content-type"].startswith(kind)
    found = ask(server, page(server, "state"))
    state = json.loads(found.body)
    picture = state["panes"][0]["picture"]
    assert (picture["tokens"], picture["counts"]) == (546, [120, 0])
    png = ask(server, page(server, f"picture/{picture['name']}"))
    assert png.body.startswith(b"\x89PNG") and png.headers["content-type"] == "image/png"
    assert len(png.body) == picture["bytes"]
    head = ask(server, page(server, f"picture/{picture['name']}"), "HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(png.body))


def test_every_answer_has_the_same_head(server: PreviewServer) -> None:
    for path, method in ((page(server), "GET"), ("/", "GET"), (page(server, "x"), "POST")):
        found = ask(server, path, method)
        assert {name: found.headers[name.lower()] for name in HEADERS} == HEADERS
        assert "python" not in found.headers["server"].lower()
    assert "default-src 'none'" in found.headers["content-security-policy"]
    assert "unsafe" not in found.headers["content-security-policy"]


def test_the_page_loads_nothing_from_elsewhere(server: PreviewServer) -> None:
    for rest in ("", "page.css", "page.js"):
        body = ask(server, page(server, rest)).body
        assert b"http:" not in body and b"https:" not in body and b"//cdn" not in body
    script = ask(server, page(server, "page.js")).body
    for word in (b"innerHTML", b"outerHTML", b"insertAdjacent", b"eval(", b"document.write"):
        assert word not in script


@pytest.mark.parametrize("path", ["/", "/state", "/x/", "//", "/page.js", "/favicon.ico"])
def test_without_the_token_nothing_is_told(server: PreviewServer, path: str) -> None:
    found = ask(server, path)
    assert found.status == 403 and b"token" in found.body
    for token in (server.token[:-1], server.token + "x", server.token.swapcase(), "%00", "%C3%A9"):
        assert ask(server, f"/{token}/").status == 403


def test_tokens_are_long_and_never_the_same() -> None:
    tokens = set()
    for _ in range(20):
        with PreviewServer(Studio(demo(), ["dense"])) as made:
            tokens.add(made.token)
    assert len(tokens) == 20 and min(map(len, tokens)) >= 32


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1.evil:{port}",
    ],
)
def test_a_name_that_was_made_to_lead_here_is_refused(server: PreviewServer, host: str) -> None:
    """DNS rebinding: another site's name for 127.0.0.1."""
    found = ask(
        server, page(server, "state"), headers={"Host": host.format(port=server.server_port)}
    )
    assert found.status == 403 and b"memor" not in found.body


def test_two_hosts_are_refused_and_localhost_is_fine(server: PreviewServer) -> None:
    port = server.server_port
    own = f"Host: 127.0.0.1:{port}\r\n"
    request = f"GET {page(server)} HTTP/1.1\r\n{own}{own}\r\n".encode()
    assert b" 403 " in raw(server, request).split(b"\r\n")[0]
    assert ask(server, page(server), headers={"Host": f"LOCALHOST:{port}"}).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"},
        {
            "Sec-Fetch-Site": "cross-site",
            "Sec-Fetch-Mode": "navigate",
            "Sec-Fetch-Dest": "iframe",
        },
    ],
)
def test_another_site_s_page_is_refused(server: PreviewServer, headers: dict[str, str]) -> None:
    port = server.server_port
    sent = {name: value.format(port=port) for name, value in headers.items()}
    found = ask(server, page(server, "state"), headers=sent)
    assert found.status == 403
    assert "access-control-allow-origin" not in found.headers


def test_our_own_page_and_a_link_that_is_followed_are_fine(server: PreviewServer) -> None:
    own = f"http://127.0.0.1:{server.server_port}"
    mine = {"Origin": own, "Sec-Fetch-Site": "same-origin"}
    assert ask(server, page(server), headers=mine).status == 200
    link = {
        "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Dest": "document",
    }
    assert ask(server, page(server), headers=link).status == 200


@pytest.mark.parametrize(
    "rest",
    [
        "../../../../etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e/",
        "/etc/passwd",
        "page.js/../page.html",
        "page.py",
        "picture/",
        "picture/../page.js",
        "picture/" + "0" * 64 + ".png",
        "picture",
        "state/",
        "\\..\\",
        ".",
        "state?left=99",
    ],
)
def test_there_are_no_other_files_and_no_listing(server: PreviewServer, rest: str) -> None:
    found = ask(server, page(server, rest))
    assert found.status == 404 and b"root:" not in found.body


@pytest.mark.parametrize(
    "query", ["left=x&right=-1", "left=0&left=1", "after=1e9", "after=%00", "left=&right=", "=&&;"]
)
def test_an_odd_query_is_taken_as_nothing(server: PreviewServer, query: str) -> None:
    found = ask(server, page(server, f"state?{query}"))
    assert found.status == 200 and json.loads(found.body)["panes"]


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"]
)
def test_nothing_can_be_changed(server: PreviewServer, method: str) -> None:
    found = ask(server, page(server, "state"), method, body=b"{}")
    assert (found.status, found.headers["allow"]) == (405, "GET, HEAD")
    assert found.headers["connection"] == "close"


def test_what_is_no_request_of_ours_ends_and_the_next_one_is_answered(
    server: PreviewServer,
) -> None:
    port = server.server_port
    start = f"GET {page(server)} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode()
    for data, status in (
        (b"\r\n\r\n", None),
        (b"\x16\x03\x01\x02\x00\x01\x00", 400),  # TLS
        (b"BREW / HTTP/1.1\r\n\r\n", 501),
        (b"GET / HTTP/9.9\r\n\r\n", 505),
        (b"GET " + b"/" * 70_000 + b" HTTP/1.1\r\n\r\n", 414),
        (start + b"X: " + b"x" * 70_000 + b"\r\n\r\n", 431),
        (start + b"X: x\r\n" * 200 + b"\r\n", 431),
    ):
        answer = raw(server, data)
        found = answer.split(b"\r\n")[0].split(b" ")
        assert status is None or str(status).encode() in found, (data[:30], answer[:200])
    assert ask(server, page(server)).status == 200


def test_a_body_on_a_get_is_no_second_request(server: PreviewServer) -> None:
    port = server.server_port
    inner = f"GET {page(server)} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
    request = (
        f"GET {page(server, 'page.css')} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Content-Length: {len(inner)}\r\n\r\n{inner}"
    )
    assert raw(server, request.encode()).count(b"HTTP/1.1 ") == 1


def test_it_listens_on_the_loopback_interface_only(server: PreviewServer) -> None:
    assert server.server_address[0] == "127.0.0.1"


def test_a_port_that_is_taken_is_an_error(server: PreviewServer) -> None:
    with pytest.raises(InputError, match="can't be used") as caught:
        PreviewServer(Studio(demo(), ["dense"]), server.server_port)
    assert "--port" in caught.value.hint


def test_a_token_of_odd_bytes_is_no_token(server: PreviewServer) -> None:
    host = f"Host: 127.0.0.1:{server.server_port}\r\n\r\n".encode()
    assert b" 403 " in raw(server, b"GET /\xe9\xff/ HTTP/1.1\r\n" + host).split(b"\r\n")[0]
