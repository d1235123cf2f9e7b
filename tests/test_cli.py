"""The command line: what it prints where, its exit codes, and bad input of every kind."""

from __future__ import annotations

import json
import os
import pty
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from muralkit import cli
from tests.conftest import DATA, ROOT

CUES = DATA / "cues_7.json"
GOOD = {"id": 1, "category": "NAMING", "importance": 60, "cue": "a → b"}


def run(
    *arguments: object, stdin: bytes = b"", cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """`muralkit` as a process of its own."""
    command = [sys.executable, "-m", "muralkit", *map(str, arguments)]
    done = subprocess.run(command, input=stdin, capture_output=True, cwd=cwd)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    return done


def test_render_writes_the_picture_and_tells_a_person(tmp_path: Path) -> None:
    done = run("render", CUES, "-o", tmp_path / "m.png")
    assert (done.returncode, done.stdout) == (0, b"")
    assert "1092 x 84 px, 117 image tokens" in done.stderr.decode()
    assert "shown    7 of 7 cues" in done.stderr.decode()
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")
    assert stat.S_IMODE((tmp_path / "m.png").stat().st_mode) == 0o600


def test_render_in_json(tmp_path: Path) -> None:
    entries = [GOOD, {**GOOD, "id": "é", "cue": "𓀀\u202e"}, {**GOOD, "id": 3, "cue": " "}]
    done = run(
        "render", "-", "-o", tmp_path / "m.png", "--json", stdin=json.dumps(entries).encode()
    )
    report = json.loads(done.stdout)
    assert done.stderr == b""
    assert report["shown"] == [1, "é"]
    assert report["dropped"] == [{"id": 3, "importance": 60, "reason": "nothing to draw"}]
    assert report["escaped"] == [{"character": "U+13000", "count": 1}]
    assert (report["stripped"], report["tokens"], report["width"]) == (1, 39, 1092)
    assert report["bytes"] == (tmp_path / "m.png").stat().st_size
    assert (len(report["key"]), report["cached"], report["theme"]) == (64, False, "standard")


def test_the_second_time_is_a_replay(tmp_path: Path) -> None:
    def cached(*more: str) -> bool:
        done = run("render", CUES, "-o", tmp_path / "m.png", "--json", *more)
        return bool(json.loads(done.stdout)["cached"])

    assert [cached(), cached(), cached("--no-cache"), cached()] == [False, True, False, True]


def test_the_picture_to_standard_output() -> None:
    done = run("render", CUES, "-o", "-")
    assert done.stdout.startswith(b"\x89PNG") and done.stdout.endswith(b"IEND\xaeB`\x82")


def test_the_svg_to_a_file_and_to_standard_output(tmp_path: Path) -> None:
    run("render", CUES, "-o", tmp_path / "m.png", "--svg", tmp_path / "m.svg")
    done = run("render", CUES, "-o", tmp_path / "m.png", "--svg", "-")
    assert done.stdout == (tmp_path / "m.svg").read_bytes()
    assert done.stdout.startswith(b"<svg ")


@pytest.mark.parametrize("more", [("--json",), ("--svg", "-")])
def test_only_one_thing_goes_to_standard_output(more: tuple[str, ...]) -> None:
    done = run("render", CUES, "-o", "-", *more)
    assert done.returncode == 2 and b"Only one of" in done.stderr


def test_a_theme_by_name_and_by_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('inherits = "dense"\n[canvas]\nwidth = "fit"\n')
    done = run(
        "render", CUES, "--theme", tmp_path / "mine.toml", "-o", tmp_path / "m.png", "--json"
    )
    assert json.loads(done.stdout)["tokens"] < 60
    done = run("render", CUES, "--theme", "denze", "-o", tmp_path / "m.png")
    assert done.returncode == 2
    assert b"Did you mean 'dense'?" in done.stderr


def test_the_configuration_turns_the_cache_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "muralkit").mkdir()
    (tmp_path / "muralkit/muralkit.jsonc").write_text('{"cache": {"enabled": false}}')
    for _ in range(2):
        done = run("render", CUES, "-o", tmp_path / "m.png", "--json", cwd=tmp_path)
        assert json.loads(done.stdout)["cached"] is False


def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    done = run("render", DATA / "cues_1000.json", "--theme", "dense", "-o", tmp_path / "m.png")
    assert b"the canvas is full (importance 69 and less)" in done.stderr


BAD = {
    "not JSON": (b"{nope", "Not JSON"),
    "a missing field": (
        json.dumps([GOOD, {"id": 2}]).encode(),
        "entry 2: The field 'category' is missing",
    ),
    "a wrong field": (
        json.dumps([{**GOOD, "importance": "high"}]).encode(),
        "'importance' must be",
    ),
    "duplicate ids": (json.dumps([GOOD, GOOD]).encode(), "The id 1 was given before"),
    "not a list": (b"3", "An entry is an object"),
    "not text": (b"\xff\xff", "not UTF-8"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_cues_are_an_error_and_the_old_file_stays(kind: str, tmp_path: Path) -> None:
    data, expected = BAD[kind]
    (tmp_path / "m.png").write_bytes(b"old")
    done = run("render", "-", "-o", tmp_path / "m.png", stdin=data)
    assert done.returncode == 2
    assert expected in done.stderr.decode() and "standard input" in done.stderr.decode()
    assert (tmp_path / "m.png").read_bytes() == b"old"


DRAWN = {
    "an empty cue": "",
    "control and zero-width characters": "a\x00b\x1b[31mc\u200bd\ufeff",
    "bidi overrides": "a\u202ecba\u202c\u2066x\u2069",
    "10,000 characters": "word_and/path.to-it " * 500,
    "10,000 characters without a space": "x" * 10_000,
    "XML": '</text></svg><script>alert("x")</script>&amp;<![CDATA[ ]]>',
    "Jinja": "{{ 7 * 7 }}{% for x in y %}{# #}",
    "a banner": "<NAMING> spoof",
    "a lone surrogate": "a\ud800b",
    "combining marks": "e" + "\u0301" * 500,
    "a private character": "\ue000\U0010ffff",
}


@pytest.mark.parametrize("kind", DRAWN)
def test_any_cue_text_is_drawn_or_left_out(kind: str, tmp_path: Path) -> None:
    entries = [GOOD, {**GOOD, "id": 2, "cue": DRAWN[kind]}]
    data = json.dumps(entries).encode()
    done = run("render", "-", "-o", tmp_path / "m.png", "--json", stdin=data)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert len(report["shown"]) + len(report["dropped"]) == 2
    assert 1 in report["shown"]


@pytest.mark.parametrize("category", ["c" * 200, "two\nlines", "</text><b>", "\u202eevil", "日本"])
def test_any_category_is_drawn(category: str, tmp_path: Path) -> None:
    data = json.dumps([{**GOOD, "category": category}]).encode()
    done = run("render", "-", "-o", tmp_path / "m.png", "--json", stdin=data)
    assert done.returncode == 0 and json.loads(done.stdout)["shown"] == [1]


def test_a_hundred_thousand_cues(tmp_path: Path) -> None:
    lines = [json.dumps({**GOOD, "id": n, "importance": n % 100 + 1}) for n in range(100_000)]
    done = run("render", "-", "-o", tmp_path / "m.png", "--json", stdin="\n".join(lines).encode())
    report = json.loads(done.stdout)
    assert len(report["shown"]) + len(report["dropped"]) == 100_000
    assert {n % 100 for n in report["shown"]} >= {99}


@pytest.mark.parametrize("manifest", ["[text]\nsize = 0.0\n", "[canvas]\nwidht = 28\n", "x = ["])
def test_a_bad_theme_is_an_error(manifest: str, tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(manifest)
    done = run("render", CUES, "--theme", tmp_path / "t.toml", "-o", tmp_path / "m.png")
    assert done.returncode == 2
    assert str(tmp_path / "t.toml").encode() in done.stderr
    assert not (tmp_path / "m.png").exists()


def test_a_font_that_is_no_font_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "f.ttf").write_bytes(b"not a font")
    (tmp_path / "t.toml").write_text('[text]\nface = "F"\n[[face]]\nname = "F"\nfile = "f.ttf"\n')
    done = run("render", CUES, "--theme", tmp_path / "t.toml", "-o", tmp_path / "m.png")
    assert done.returncode == 2
    assert b"is not a font that can be used" in done.stderr
    assert str(tmp_path / "f.ttf").encode() in done.stderr


@pytest.mark.parametrize("output", ["missing/m.png", ".", "m\udcff.png/x"])
def test_an_output_that_cannot_be_written_is_an_error(output: str, tmp_path: Path) -> None:
    done = run("render", CUES, "-o", tmp_path / output)
    assert done.returncode == 4
    assert b"The file can't be written" in done.stderr


@pytest.mark.parametrize("source", ["missing.json", "."])
def test_a_source_that_cannot_be_read_is_an_error(source: str, tmp_path: Path) -> None:
    done = run("render", tmp_path / source)
    assert done.returncode == 2 and b"The file can't be read" in done.stderr


def test_demo_draws_and_tells_what_it_saves(tmp_path: Path) -> None:
    done = run("demo", cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "mural.png").stat().st_size > 20_000
    text = done.stderr.decode()
    assert "shown    120 of 120 cues" in text and "the same cues as text" in text
    prices = json.loads(run("demo", "--json", cwd=tmp_path).stdout)["price_in_tokens"]
    assert prices["picture"] * 2 < prices["cues_as_text"] < prices["memories_as_text"]


def test_theme_list() -> None:
    names = [line.split()[0] for line in run("theme", "list").stdout.decode().splitlines()]
    assert names == ["standard", "dark", "dense", "large", "pixel"]
    rows = json.loads(run("theme", "list", "--json").stdout)
    assert [row["name"] for row in rows] == names and rows[0]["text"]["pitch"] == 12


def test_golden_check_and_update(tmp_path: Path) -> None:
    (tmp_path / "golden").mkdir()
    case = {"theme": "dense", "cues": [GOOD]}
    (tmp_path / "golden/a.json").write_text(json.dumps(case))
    done = run("golden", "check", cwd=tmp_path)
    assert done.returncode == 1 and b"no expected files yet" in done.stdout
    assert b"a: wrote a.svg and a.png" in run("golden", "update", cwd=tmp_path).stdout
    assert run("golden", "check", cwd=tmp_path).stdout == b"1 of 1 cases are as expected.\n"
    (tmp_path / "golden/a.json").write_text(json.dumps({**case, "theme": "dark"}))
    done = run("golden", "check", "a", "--json", cwd=tmp_path)
    [outcome] = json.loads(done.stdout)
    assert done.returncode == 1
    assert outcome["problem"].endswith(" pixels differ")
    assert outcome["picture"] == "golden-failures/a.png"
    assert (tmp_path / "golden-failures/a.png").is_file()
    assert run("golden", "check", "nope", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    assert b"_MURALKIT_COMPLETE" in run("completion", shell).stdout


def test_theme_names_are_completed() -> None:
    environment = {
        **os.environ,
        "_MURALKIT_COMPLETE": "bash_complete",
        "COMP_WORDS": "muralkit render --theme d",
        "COMP_CWORD": "3",
    }
    done = subprocess.run(
        [sys.executable, "-m", "muralkit"], env=environment, capture_output=True, text=True
    )
    assert done.stdout.split() == ["plain,dark", "plain,dense"]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "render",
        "demo",
        "theme",
        "theme list",
        "golden check",
        "golden update",
        "completion",
        "status",
        "doctor",
        "config show",
        "config schema",
    ],
)
def test_every_command_has_help_with_examples(name: str) -> None:
    done = run(*name.split(), "--help")
    assert done.returncode == 0
    assert b"muralkit" in done.stdout
    assert b"\\b" not in done.stdout
    if name not in ("theme",):
        assert b"Example" in done.stdout or b"Try it:" in done.stdout


@pytest.mark.parametrize(
    "arguments", [["nope"], ["render"], ["render", "x", "--nope"], ["demo", "x"]]
)
def test_wrong_usage_is_code_2(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2 and done.stderr


def test_version() -> None:
    from muralkit import __version__

    assert run("--version").stdout.decode().strip().endswith(__version__)


def test_colour_only_on_a_terminal(tmp_path: Path) -> None:
    def on_terminal(**env: str) -> bytes:
        master, slave = pty.openpty()
        command = [sys.executable, "-m", "muralkit", "render", str(tmp_path / "missing.json")]
        subprocess.run(command, stderr=slave, stdout=slave, env={**os.environ, **env})
        os.close(slave)
        return os.read(master, 4096)

    assert b"\x1b[" in on_terminal(TERM="xterm")
    assert b"\x1b[" not in on_terminal(TERM="xterm", NO_COLOR="1")
    assert b"\x1b[" not in run("render", tmp_path / "missing.json").stderr


def test_a_reader_that_leaves_is_no_error() -> None:
    command = f"{sys.executable} -m muralkit theme list | true"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True)
    assert b"Traceback" not in done.stderr and b"BrokenPipe" not in done.stderr


def test_an_interrupt_is_code_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("muralkit.cuefile.read", interrupted)
    assert cli.main(["render", str(CUES)]) == 130


def test_the_readme_documents_every_command() -> None:
    import click

    def commands(group: click.Group, path: str) -> list[str]:
        found = []
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            whole = f"{path} {name}"
            found += commands(command, whole) if isinstance(command, click.Group) else [whole]
        return found

    readme = (ROOT / "README.md").read_text("utf-8")
    rows = "".join(line for line in readme.splitlines() if line.startswith("| `muralkit"))
    missing = [
        command
        for command in commands(cli.cli, "muralkit")
        if command not in rows
        and not (command.startswith("muralkit memory ") and f"`{command.split()[-1]}`" in rows)
    ]
    assert not missing


@pytest.mark.parametrize(
    "arguments",
    [
        ("c.json", "-o", "c.json"),
        ("c.json", "--svg", "c.json"),
        ("c.json", "-o", "x.png", "--svg", "x.png"),
        ("c.json", "--theme", "t.toml", "-o", "t.toml"),
        ("c.json", "-o", "./sub/../c.json"),
    ],
)
def test_no_result_overwrites_an_input_or_another_result(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "c.json").write_text("[]")
    (tmp_path / "t.toml").write_text("")
    done = run("render", *arguments, cwd=tmp_path)
    assert done.returncode == 2 and b"give another path" in done.stderr
    assert (tmp_path / "c.json").read_text() == "[]"
    assert (tmp_path / "t.toml").read_text() == ""


def shell(command: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """A command line of bash, in which `muralkit` is the command."""
    line = f'set -o pipefail; muralkit() {{ {sys.executable} -m muralkit "$@"; }}; {command}'
    done = subprocess.run(["bash", "-c", line], capture_output=True, cwd=cwd)
    assert b"Traceback" not in done.stderr, done.stderr
    return done


@pytest.mark.parametrize(
    "command", ["theme list", "theme list --json", "render c.json --svg -", "completion bash"]
)
def test_a_closed_pipe_is_no_failure_and_loses_no_file(command: str, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps([GOOD]))
    done = shell(f"muralkit {command} | true", tmp_path)
    assert (done.returncode, done.stdout) == (0, b"")
    assert (tmp_path / "mural.png").exists() == ("render" in command)


@pytest.mark.parametrize(
    "command",
    ["render c.json -o -", "render c.json --svg -", "render c.json --json", "theme list"],
)
def test_a_full_standard_output_is_code_4(command: str, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps([GOOD]))
    done = shell(f"muralkit {command} > /dev/full", tmp_path)
    assert done.returncode == 4 and b"No space left on device" in done.stderr


def test_closed_standard_streams_are_errors(tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text(json.dumps([GOOD]))
    assert shell("muralkit render - <&-", tmp_path).returncode == 2
    assert shell("muralkit render c.json -o - >&-", tmp_path).returncode == 4


def test_a_failures_folder_that_cannot_be_made_is_code_4(tmp_path: Path) -> None:
    (tmp_path / "golden").mkdir()
    (tmp_path / "golden/a.json").write_text(json.dumps({"theme": "dense", "cues": [GOOD]}))
    done = run("golden", "check", "--failures", "/proc/x", cwd=tmp_path)
    assert done.returncode == 4 and b"/proc/x" in done.stderr


def test_an_empty_picture_is_said(tmp_path: Path) -> None:
    done = run("render", "-", "-o", tmp_path / "m.png", stdin=b"")
    assert done.returncode == 0 and b"There are no cues" in done.stderr


def test_a_wrapped_list_is_explained() -> None:
    done = run("render", "-", stdin=json.dumps({"cues": [GOOD]}).encode())
    assert b"Give the list itself" in done.stderr


def test_an_interrupt_leaves_the_old_file(tmp_path: Path) -> None:
    """SIGINT at any moment: code 130 or done, never a traceback, never half a file."""
    import random
    import signal
    import time

    rng = random.Random(3)
    whole = run("render", CUES, "-o", tmp_path / "whole.png").returncode
    assert whole == 0
    for _ in range(12):
        (tmp_path / "m.png").write_bytes(b"old")
        code = (
            "import sys; from muralkit.__main__ import run; print('ready', flush=True); "
            f"sys.argv[1:] = ['render', {str(CUES)!r}, '--no-cache', "
            f"'-o', {str(tmp_path / 'm.png')!r}]; sys.exit(run())"
        )
        child = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert child.stdout is not None and child.stdout.readline() == b"ready\n"
        time.sleep(0.01 + rng.random() * 1.2)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate()
        assert child.returncode in (0, 130, -signal.SIGINT), err  # the last: it was done already
        # Python reports, and forgets, an interrupt that falls into one of its own callbacks.
        assert b"Traceback" not in err or b"Exception ignored in" in err, err
        left = (tmp_path / "m.png").read_bytes()
        assert left in (b"old", (tmp_path / "whole.png").read_bytes())


def test_an_error_moves_no_cursor(tmp_path: Path) -> None:
    """What a stranger's theme or file says reaches a terminal spelled out."""
    (tmp_path / "theme.toml").write_text('template = "mine.j2"\n')
    (tmp_path / "mine.j2").write_text('{% include "\x1b[31mred\x1b[2J.j2" %}')
    done = run("render", CUES, "--theme", tmp_path, "--no-cache", "-o", tmp_path / "x.png")
    assert done.returncode == 2
    assert b"\x1b" not in done.stderr and b"\\x1b[31mred" in done.stderr


@pytest.mark.parametrize("bad", ["-o", "--svg"])
def test_of_two_results_both_are_written_or_neither(bad: str, tmp_path: Path) -> None:
    paths = {"-o": tmp_path / "m.png", "--svg": tmp_path / "m.svg"}
    for path in paths.values():
        path.write_text("old")
    paths[bad] = tmp_path / "missing" / "x"
    arguments = [part for option, path in paths.items() for part in (option, path)]
    done = run("render", CUES, "--no-cache", *arguments)
    assert done.returncode == 4 and b"what stood there is as it was" in done.stderr
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["m.png", "m.svg"]
    assert {path.read_text() for path in tmp_path.iterdir()} == {"old"}


def test_the_document_of_a_picture_that_fails_is_written(tmp_path: Path) -> None:
    (tmp_path / "theme.toml").write_text('template = "mine.j2"\n')
    (tmp_path / "mine.j2").write_text("<svg>\n<rct/>\n</svg>")
    svg = tmp_path / "m.svg"
    done = run("render", CUES, "--theme", tmp_path, "--svg", svg, "-o", tmp_path / "m.png")
    assert done.returncode == 2 and b"mine.j2:2: " in done.stderr
    assert svg.read_text() == "<svg>\n<rct/>\n</svg>" and not (tmp_path / "m.png").exists()


@pytest.mark.parametrize("command", [("render", CUES), ("demo",)])
def test_the_configured_theme_is_taken(command: tuple[object, ...], tmp_path: Path) -> None:
    config = tmp_path / ".muralkit" / "muralkit.jsonc"
    config.parent.mkdir()
    config.write_text('{"mural": {"theme": "dense"}}')
    out = tmp_path / "m.png"
    for more, theme in (((), "dense"), (("--theme", "dark"), "dark")):
        done = run(*command, "-o", out, "--json", *more, cwd=tmp_path)
        assert json.loads(done.stdout)["theme"] == theme
    config.write_text('{"mural": {"theme": "dens"}}')
    done = run(*command, "-o", out, "--json", cwd=tmp_path)
    assert done.returncode == 2 and b"There is no theme" in done.stderr


def test_an_unknown_command_has_a_nearest_one() -> None:
    assert b"There is no command 'rendr'. Did you mean 'render'?" in run("rendr").stderr


def test_a_mural_prints_without_its_bytes() -> None:
    from muralkit import render

    assert "PNG" not in repr(render([]))


def own_theme(folder: Path) -> Path:
    folder.mkdir()
    (folder / "base.toml").write_text('inherits = "standard"\n')
    (folder / "theme.toml").write_text('inherits = "base.toml"\n')
    (folder / "part.j2").write_text("")
    return folder


@pytest.mark.parametrize("name", ["theme.toml", "base.toml", "part.j2"])
@pytest.mark.parametrize("option", ["-o", "--svg"])
def test_no_result_overwrites_a_file_of_the_theme(name: str, option: str, tmp_path: Path) -> None:
    theme = own_theme(tmp_path / "ours")
    before = (theme / name).read_bytes()
    done = run("render", CUES, "--theme", theme, "-o", tmp_path / "m.png", option, theme / name)
    assert done.returncode == 2 and b"is an input" in done.stderr
    assert (theme / name).read_bytes() == before


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1"])
def test_standard_output_by_any_name_takes_one_result(name: str) -> None:
    done = run("render", CUES, "-o", name, "--json")
    assert done.returncode == 2 and b"Only one of the PNG, the SVG and --json" in done.stderr


@pytest.mark.parametrize(
    "command", ["render {cues} --json", "theme list --json", "status --json", "config schema"]
)
def test_a_report_that_cannot_be_printed_is_code_4(command: str, tmp_path: Path) -> None:
    words = command.format(cues=CUES)
    for stdout in (">&-", "> /dev/full"):
        script = f"cd {tmp_path}; {sys.executable} -m muralkit {words} {stdout}"
        done = subprocess.run(["bash", "-c", script], capture_output=True)
        assert done.returncode == 4 and b"Standard output can't be written" in done.stderr


@pytest.mark.parametrize("source", ["/dev/zero", "-"])
def test_cues_without_end_are_an_error(source: str, tmp_path: Path) -> None:
    script = f"ulimit -v 4000000; {sys.executable} -m muralkit render {source} < /dev/zero"
    done = subprocess.run(["bash", "-c", script], capture_output=True, cwd=tmp_path)
    assert done.returncode == 2 and b"more than 256 MiB of cues" in done.stderr


def test_too_little_memory_is_an_error_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("muralkit.cuefile.read", greedy)
    assert cli.main(["render", str(CUES)]) == 3


def test_an_empty_theme_is_no_theme(tmp_path: Path) -> None:
    done = run("render", CUES, "--theme", "", "-o", tmp_path / "m.png")
    assert done.returncode == 2


def test_a_failures_folder_must_not_be_the_golden_one(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"theme": "dense", "cues": []}')
    run("golden", "update", "--dir", tmp_path)
    (tmp_path / "a.svg").write_text("changed")
    before = (tmp_path / "a.png").read_bytes()
    done = run("golden", "check", "--dir", tmp_path, "--failures", tmp_path / ".")
    assert done.returncode == 2 and b"--failures" in done.stderr
    assert (tmp_path / "a.png").read_bytes() == before


@pytest.mark.parametrize("kind", ["device", "pipe", "cues"])
def test_a_golden_case_that_is_no_file_is_an_error(kind: str, tmp_path: Path) -> None:
    case = tmp_path / "a.json"
    if kind == "device":
        case.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(case)
    else:
        case.write_text('{"theme": "dense", "cues": "/dev/zero"}')
    done = run("golden", "check", "--dir", tmp_path, "--failures", tmp_path / "f")
    assert done.returncode == 1 and b"it is not a regular file" in done.stdout


def test_a_golden_image_without_end_is_no_golden_image(tmp_path: Path) -> None:
    import struct
    import zlib

    from muralkit import png
    from muralkit.model import SIGNATURE

    (tmp_path / "a.json").write_text('{"theme": "dense", "cues": []}')
    run("golden", "update", "--dir", tmp_path)
    head = struct.pack(">IIBBBBB", 13_000, 13_000, 1, 3, 0, 0, 0)
    rows = zlib.compress(bytes((13_000 // 8 + 1) * 13_000))
    body = png._chunk(b"IHDR", head) + png._chunk(b"PLTE", bytes(6)) + png._chunk(b"IDAT", rows)
    (tmp_path / "a.png").write_bytes(SIGNATURE + body + png._chunk(b"IEND", b""))
    done = run("golden", "check", "--dir", tmp_path, "--failures", tmp_path / "f")
    assert (
        done.returncode == 1 and b"a.png can't be read: it is larger than any mural" in done.stdout
    )
    assert done.stderr == b""


def test_a_face_of_the_users_draws_what_no_other_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.conftest import build_square_font

    settings = tmp_path / "config/muralkit/muralkit.jsonc"
    settings.parent.mkdir(parents=True)
    build_square_font(settings.parent / "mine.ttf", "𓀀")
    entry = json.dumps([{**GOOD, "cue": "𓀀"}]).encode()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    command = ("render", "-", "-o", tmp_path / "m.png", "--json", "--project", tmp_path)
    before = json.loads(run(*command, stdin=entry).stdout)
    settings.write_text('{"fonts": {"extra": ["mine.ttf"]}}')
    after = json.loads(run(*command, stdin=entry).stdout)
    assert [item["character"] for item in before["escaped"]] == ["U+13000"]
    assert after["escaped"] == [] and not after["cached"]
    assert before["key"] != after["key"]
