"""What is installed is ours alone: it comes, is brought up to date, and goes without a trace."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from muralkit import __version__, jsonc
from muralkit.errors import InputError, MuralkitError, OutputError
from muralkit.harness import install as installer
from muralkit.harness import plugins
from muralkit.harness.install import HARNESSES, Scope, apply, found, installing, removing
from tests.conftest import switch_on

SCOPES: tuple[Scope, ...] = ("user", "project")
SERVER = {
    "command": sys.executable,
    "args": ["-E", "-P", "-m", "muralkit", "mcp", "--inputs", "text,image"],
}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


PLACES = [
    ("opencode", "user", "home/.config/opencode/plugin/muralkit.js"),
    ("opencode", "project", "project/.opencode/plugin/muralkit.js"),
    ("pi", "user", "home/.pi/agent/extensions/muralkit.js"),
    ("pi", "project", "project/.pi/extensions/muralkit.js"),
    ("omp", "user", "home/.omp/agent/extensions/muralkit.js"),
    ("omp", "project", "project/.omp/extensions/muralkit.js"),
    ("claude-code", "user", "home/.claude.json"),
    ("claude-code", "project", "project/.mcp.json"),
]


@pytest.mark.parametrize(("harness", "scope", "place"), PLACES)
def test_it_comes_stays_and_goes(
    environment: dict[str, str], root: Path, tmp_path: Path, harness: str, scope: Scope, place: str
) -> None:
    change = installing(harness, scope, root, environment)
    assert change.path == tmp_path / place and change.before is None and change.needed
    assert not change.path.exists()  # nothing is written before it is applied
    apply(change)
    assert change.path.read_bytes() == change.after
    again = installing(harness, scope, root, environment)
    assert not again.needed and again.backup is None
    [item] = found(root, environment)
    assert (item.harness, item.scope, item.fault) == (harness, scope, "")
    gone = removing(harness, scope, root, environment)
    assert gone.after is None
    apply(gone)
    assert not change.path.exists() and found(root, environment) == []
    assert not removing(harness, scope, root, environment).needed


@pytest.mark.parametrize("name", plugins.SOURCES)
def test_a_plug_in_is_plain_javascript_that_says_what_it_is(name: str, tmp_path: Path) -> None:
    text = plugins.build(name)
    written = plugins.read(text)
    started = (sys.executable, "-E", "-P", "-m", "muralkit")
    assert written == plugins.Written(name, __version__, 1, started)
    imported = re.findall(r'(?:from|import\() ?"([^"]+)"', text)
    own = [name for name in imported if not name.startswith("node:")]
    assert own == ([] if name == "opencode" else ["@mariozechner/pi-ai"])  # Pi's own, when asked
    node = shutil.which("node")
    if node is None:
        assert not os.environ.get("MURALKIT_REQUIRE_HARNESSES")
        return
    path = tmp_path / "plugin.mjs"
    path.write_text(text)
    done = subprocess.run([node, "--check", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_an_older_plug_in_is_told_and_brought_up_to_date(
    environment: dict[str, str], root: Path
) -> None:
    change = installing("pi", "user", root, environment)
    apply(change)
    old = change.path.read_text().replace(
        f"muralkit {__version__}, protocol 1", "muralkit 0.0.1, protocol 0"
    )
    change.path.write_text(old)
    [item] = found(root, environment)
    assert item.version == "0.0.1" and "of version 0.0.1" in item.fault
    again = installing("pi", "user", root, environment)
    assert again.needed and again.backup is None  # it is ours: no copy is kept
    apply(again)
    assert found(root, environment)[0].fault == ""


def test_a_program_that_has_gone_is_told(environment: dict[str, str], root: Path) -> None:
    change = installing("omp", "user", root, environment)
    apply(change)
    text = change.path.read_text().replace(json.dumps(sys.executable), '"/gone/python"')
    change.path.write_text(text)
    assert found(root, environment)[0].fault == "it starts /gone/python, which is not there"


def test_a_file_of_the_users_is_copied_before_it_is_replaced(
    environment: dict[str, str], root: Path
) -> None:
    path = installer.place("pi", "user", root, environment)
    path.parent.mkdir(parents=True)
    path.write_text("export default () => {} // mine")
    assert found(root, environment)[0].fault == "it is not muralkit's"
    assert not removing("pi", "user", root, environment).needed
    change = installing("pi", "user", root, environment)
    assert change.theirs and change.backup is not None
    apply(change)
    assert change.backup.read_text() == "export default () => {} // mine"
    assert plugins.read(path.read_text())


def test_other_servers_and_their_layout_stay(environment: dict[str, str], root: Path) -> None:
    path = root / ".mcp.json"
    before = (
        '{\n    "mcpServers": {\n        "other": {"command": "x"}\n    },\n    "more": [1, 2]\n}\n'
    )
    path.write_text(before)
    path.chmod(0o640)
    change = installing("claude-code", "project", root, environment)
    apply(change)
    after = path.read_text()
    assert json.loads(after) == {
        "mcpServers": {"other": {"command": "x"}, "muralkit": SERVER},
        "more": [1, 2],
    }
    assert '        "other": {"command": "x"},\n        "muralkit": {\n' in after
    assert path.stat().st_mode & 0o777 == 0o640
    assert change.backup is not None and change.backup.read_text() == before
    apply(removing("claude-code", "project", root, environment))
    assert path.read_text() == before


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": 3}', "\xff".encode("latin-1")])
def test_a_file_that_cant_be_edited_is_left_alone(
    environment: dict[str, str], root: Path, text: str | bytes
) -> None:
    path = root / ".mcp.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    before = path.read_bytes()
    with pytest.raises(InputError) as raised:
        installing("claude-code", "project", root, environment)
    assert raised.value.where == str(path)
    assert path.read_bytes() == before
    assert all(isinstance(item.fault, str) for item in found(root, environment))


def test_a_folder_that_cant_be_made_is_said(environment: dict[str, str], root: Path) -> None:
    (root / ".pi").write_text("a file")
    with pytest.raises(OutputError):
        apply(installing("pi", "project", root, environment))


def test_pi_and_opencode_are_found_where_their_variables_say(root: Path, tmp_path: Path) -> None:
    environment = {
        "XDG_CONFIG_HOME": str(tmp_path / "x"),
        "PI_CODING_AGENT_DIR": str(tmp_path / "p"),
    }
    at = installer.place("opencode", "user", root, environment)
    assert at == tmp_path / "x/opencode/plugin/muralkit.js"
    assert installer.place("pi", "user", root, environment) == tmp_path / "p/extensions/muralkit.js"


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "muralkit", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "MURALKIT_HOME": str(folder / "home"),
            **environment,
        },
    )


@pytest.mark.parametrize("harness", HARNESSES)
def test_the_commands_say_what_they_do(root: Path, harness: str) -> None:
    dry = run(root, "install", harness, "--dry-run")
    assert dry.returncode == 0 and "+++ " in dry.stdout and "@@" in dry.stdout
    assert not list(root.iterdir())
    done = run(root, "install", harness, "--no-fetch")
    assert done.returncode == 0, done.stderr
    first, hint, last = done.stdout.splitlines()
    assert first.endswith(": written.") and "muralkit config set mural.enabled true" in hint
    assert f"muralkit uninstall {harness}" in last
    assert run(root, "config", "set", "mural.enabled", "true").returncode == 0
    again = run(root, "install", harness, "--no-fetch")
    assert f"{harness} has it already" in again.stdout and "switched off" not in again.stdout
    told = run(root, "doctor")
    assert f"(user, {harness})" in told.stdout
    gone = run(root, "uninstall", harness)
    assert gone.stdout.splitlines()[-1].endswith(": removed.")
    assert "nothing of muralkit there" in run(root, "uninstall", harness).stdout


def test_where_npm_fails_opencode_is_left_to_it(root: Path) -> None:
    bin_ = root / "bin"
    bin_.mkdir()
    for name, code in (("opencode", "echo 1.2.3"), ("npm", "echo $* > $HOME/asked; exit 7")):
        (bin_ / name).write_text(f"#!/bin/sh\n{code}\n")
        (bin_ / name).chmod(0o755)
    done = run(root, "install", "opencode", PATH=f"{bin_}:{os.environ['PATH']}")
    assert done.returncode == 0
    assert "That failed (npm ended with 7)" in done.stderr
    assert "@opencode-ai/plugin@1.2.3" in (root / "asked").read_text()
    assert str(root / "config/opencode") in (root / "asked").read_text()


def test_a_key_is_set_and_unset_among_comments(root: Path) -> None:
    path = root / "config/muralkit/muralkit.jsonc"
    path.parent.mkdir(parents=True)
    path.write_text('{\n  // mine\n  "cache_ttl": "7m"\n}\n')
    done = run(root, "config", "set", "mural.theme", "dense")
    assert done.returncode == 0, done.stderr
    assert path.read_text() == (
        '{\n  // mine\n  "cache_ttl": "7m",\n  "mural": {\n    "theme": "dense"\n  }\n}\n'
    )
    assert "dense" in run(root, "config", "show").stdout
    assert run(root, "config", "unset", "mural.theme").returncode == 0
    left = path.read_text()
    assert jsonc.read(left) == {"cache_ttl": "7m", "mural": {}} and "// mine" in left
    assert run(root, "config", "set", "mural.enabled", "true", "--project").returncode == 0
    assert json.loads((root / ".muralkit/muralkit.jsonc").read_text()) == {
        "mural": {"enabled": True}
    }


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["mural.enabld", "true"], "did you mean 'enabled'"),
        (["mural.enabled", "3"], "mural.enabled: must be true or false"),
        (["mural.enabled.x", "3"], "mural.enabled"),
        (["cache.enabled", "false", "--project"], "Only the user's own file may set it"),
        (["dreamer.endpoint.model", "x", "--project"], "Only the user's own file may set it"),
        (["", "1"], "unknown"),
    ],
)
def test_a_key_that_is_wrong_is_refused(root: Path, arguments: list[str], says: str) -> None:
    done = run(root, "config", "set", *arguments)
    assert done.returncode == 2 and says in done.stderr and "Traceback" not in done.stderr
    assert not list(root.rglob("muralkit.json*"))


@pytest.mark.parametrize("harness", HARNESSES)
def test_a_projects_link_leads_nowhere(
    environment: dict[str, str], root: Path, tmp_path: Path, harness: str
) -> None:
    mine = tmp_path / "mine"
    mine.write_text("{}")
    path = installer.place(harness, "project", root, environment)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(mine)
    for change in (installing, removing):
        with pytest.raises(InputError, match="leads out of the project"):
            change(harness, "project", root, environment)
    path.unlink()
    if harness != "claude-code":
        path.parent.rmdir()
        path.parent.symlink_to(tmp_path / "elsewhere")
        with pytest.raises(InputError, match="leads out of the project"):
            installing(harness, "project", root, environment)
    assert mine.read_text() == "{}"


def test_a_copy_is_not_written_through_a_link(
    environment: dict[str, str], root: Path, tmp_path: Path
) -> None:
    (root / ".mcp.json").write_text('{"a": 1}')
    (tmp_path / "mine").write_text("mine")
    (root / ".mcp.json.before-muralkit").symlink_to(tmp_path / "mine")
    apply(installing("claude-code", "project", root, environment))
    assert (tmp_path / "mine").read_text() == "mine"
    assert (root / ".mcp.json.before-muralkit").read_text() == '{"a": 1}'


def test_what_another_program_writes_meanwhile_is_kept(
    environment: dict[str, str], root: Path
) -> None:
    path = root / ".mcp.json"
    path.write_text('{"a": 1}')
    change = installing("claude-code", "project", root, environment)
    path.write_text('{"a": 2}')
    with pytest.raises(OutputError, match="has just changed the file"):
        apply(change)
    assert path.read_text() == '{"a": 2}'


def test_a_file_of_somebody_elses_making_is_not_removed(
    environment: dict[str, str], root: Path
) -> None:
    path = root / ".mcp.json"
    path.write_text('\ufeff{"mcpServers": {}}')
    apply(installing("claude-code", "project", root, environment))
    assert path.read_text().startswith("\ufeff{")
    apply(removing("claude-code", "project", root, environment))
    assert json.loads(path.read_text("utf-8-sig")) == {"mcpServers": {}}


def test_a_large_file_takes_no_time(environment: dict[str, str], root: Path) -> None:
    """Claude Code keeps its history there: a parser in Python took half a minute."""
    entry = {"history": [{"display": "x " * 40}] * 20}
    (root / ".mcp.json").write_text(json.dumps({"projects": {f"/p{n}": entry for n in range(400)}}))
    apply(installing("claude-code", "project", root, environment))
    assert len(json.loads((root / ".mcp.json").read_text())["projects"]) == 400


def test_a_home_that_is_no_whole_path_is_said(root: Path) -> None:
    with pytest.raises(MuralkitError, match="There is no home folder"):
        installer.place("pi", "user", root, {"HOME": "relative"})


TWICE = """
import one from "./one.mjs";
import other from "./other.mjs";
const loaded = (plugin) => {
  const [events, tools] = [{}, []];
  const on = (name, handler) => (events[name] = handler);
  plugin({ on, registerTool: (tool) => tools.push(tool.name) });
  return { events, tools };
};
const ctx = { hasUI: false, cwd: process.cwd() };
const main = loaded(one);
const second = loaded(one); // a sub-agent's session, in the same program
const doubled = loaded(other); // the project's, beside the user's
for (const made of [main, second]) await made.events.session_start({}, ctx);
const told = ({ events, tools }) => [Object.keys(events).length, tools];
console.log(JSON.stringify([main, second, doubled].map(told)));
second.events.session_shutdown();
const late = loaded(one);
await late.events.session_start({}, ctx);
console.log(late.tools.length);
main.events.session_shutdown();
late.events.session_shutdown();
console.log(loaded(other).events.context !== undefined);
process.exit(0);
"""


def test_sub_agents_share_a_server_and_two_installations_are_one(root: Path) -> None:
    node = shutil.which("node")
    if node is None:
        assert not os.environ.get("MURALKIT_REQUIRE_HARNESSES")
        return
    short, long = "const TIMEOUT = 3000;", "const TIMEOUT = 30000;"  # a busy machine may take more
    for name, scope in (("one", "user"), ("other", "project")):
        source = plugins.build("pi", scope)
        assert short in source
        (root / f"{name}.mjs").write_text(source.replace(short, long))
    (root / "twice.mjs").write_text(TWICE)
    switch_on(root)
    environment = {**os.environ, "MURALKIT_HOME": str(root / "home"), "HOME": str(root)}
    done = subprocess.run(
        [node, "twice.mjs"], cwd=root, capture_output=True, text=True, env=environment, timeout=60
    )
    assert done.returncode == 0, done.stderr
    first, late, fresh = done.stdout.splitlines()
    tools = ["mural_recall", "mural_remember"]
    assert json.loads(first) == [[4, tools], [4, tools], [0, []]]
    assert (late, fresh) == ("2", "true")


def test_pi_and_omp_in_one_folder_are_told_apart(root: Path, tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PI_CODING_AGENT_DIR": str(tmp_path / "shared")}
    apply(installing("omp", "user", root, environment))
    [item] = found(root, environment)
    assert (item.harness, item.fault) == ("omp", "")
