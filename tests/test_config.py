"""Four files, one configuration: who wins, what is ignored, and what is an error."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muralkit import config, sections
from muralkit.config import Loaded
from muralkit.errors import ConfigError
from tests.conftest import ROOT
from tests.test_cli import run


class Places:
    """A user's and a project's configuration folders."""

    def __init__(self, tmp_path: Path) -> None:
        self.user, self.project = tmp_path / "config", tmp_path / "project"
        self.files = {
            "user-mc": self.user / "cortexkit/magic-context.jsonc",
            "project-mc": self.project / ".cortexkit/magic-context.jsonc",
            "user": self.user / "muralkit/muralkit.jsonc",
            "project": self.project / ".muralkit/muralkit.jsonc",
        }
        self.project.mkdir()

    def write(self, name: str, text: str | dict[str, Any]) -> Path:
        path = self.files[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")
        return path

    def load(self) -> Loaded:
        return config.load(self.project, {"XDG_CONFIG_HOME": str(self.user)})


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def test_without_files_all_is_default(places: Places) -> None:
    loaded = places.load()
    assert (loaded.files, loaded.remarks, dict(loaded.origins)) == ((), (), {})
    made = loaded.config
    assert (made.mural.enabled, made.mural.theme, made.cache_ttl) == (False, "standard", "5m")
    assert made.memory.injection_budget_tokens == 4000
    assert made.dreamer.tasks.compress_cues.schedule == "0 4 * * *"


def test_a_users_existing_file_is_read_as_it_is(places: Places) -> None:
    places.write(
        "user-mc",
        """{
  // the whole of another program stands in here
  "historian": {"model": "x"},
  "mural": { "enabled": true, },
  "memory": {"injection_budget_tokens": 6000, "auto_promote": true},
  "cache_ttl": {"default": "5m", "anthropic/claude-opus": "1h"},
  "dreamer": {
    "opencode": {
      "model": "anthropic/claude-sonnet-4-5", /* all tasks */
      "fallback_models": ["google/a", {"model": "b/c", "variant": "low"}],
      "tasks": {"compress-cues": {"model": "anthropic/claude-haiku-4-5", "timeout_minutes": 10}},
    },
    "pi": {"model": {"model": "google-antigravity/x", "thinking_level": "low"}},
  },
}""",
    )
    loaded = places.load()
    made = loaded.config
    assert loaded.remarks == ()
    assert made.mural.enabled and made.memory.injection_budget_tokens == 6000
    assert made.cache_ttl == {"default": "5m", "anthropic/claude-opus": "1h"}
    task = made.dreamer.opencode.tasks.compress_cues
    assert (task.model, task.timeout_minutes) == ("anthropic/claude-haiku-4-5", 10)
    assert made.dreamer.opencode.fallback_models == (
        "google/a",
        sections.ModelChoice(model="b/c", variant="low"),
    )
    assert made.dreamer.pi.model == sections.ModelChoice(
        model="google-antigravity/x", thinking_level="low"
    )
    assert made.dreamer.omp.model is None


def test_later_files_win_key_by_key_and_say_where_from(places: Places) -> None:
    paths = {
        name: places.write(
            name,
            {
                "memory": {"injection_budget_tokens": 1000 + number},
                "mural": {"enabled": number == 0},
                "dreamer": {"pi": {"fallback_models": [f"m{number}"]}},
            }
            if number < 3
            else {"mural": {"theme": "dense"}},
        )
        for number, name in enumerate(places.files)
    }
    loaded = places.load()
    assert loaded.config.memory.injection_budget_tokens == 1002
    assert not loaded.config.mural.enabled and loaded.config.mural.theme == "dense"
    assert loaded.config.dreamer.pi.fallback_models == ("m2",)
    assert loaded.origins == {
        "memory.injection_budget_tokens": paths["user"],
        "mural.enabled": paths["user"],
        "dreamer.pi.fallback_models": paths["user"],
        "mural.theme": paths["project"],
    }
    assert loaded.files == tuple(paths.values())


def test_a_value_replaces_an_object_and_the_other_way(places: Places) -> None:
    places.write("user", {"cache_ttl": {"a": "1m", "b": "2m"}})
    path = places.write("project", {"cache_ttl": "7m"})
    assert places.load().config.cache_ttl == "7m"
    assert places.load().origins == {"cache_ttl": path}


def test_jsonc_comes_before_json(places: Places) -> None:
    plain = places.files["user"].with_suffix(".json")
    places.write("user", {"mural": {"enabled": True}})
    plain.write_text('{"mural": {"enabled": false}}')
    assert places.load().config.mural.enabled
    places.files["user"].unlink()
    assert places.load().files == (plain,)


def remarks(loaded: Loaded) -> list[tuple[str, str]]:
    return [(remark.key, remark.what) for remark in loaded.remarks]


def test_an_unknown_key_is_a_remark_with_the_nearest_one(places: Places) -> None:
    places.write("user", {"mural": {"enabeld": True}, "memroy": {}, "zzz": 1, "$schema": "x"})
    assert remarks(places.load()) == [
        ("mural.enabeld", "unknown: did you mean 'enabled'?"),
        ("memroy", "unknown: did you mean 'memory'?"),
        ("zzz", "unknown: it is not a key of muralkit"),
    ]


def test_another_programs_keys_are_not_remarked_but_murals_are(places: Places) -> None:
    places.write("user-mc", {"historian": {}, "memory": {"other": 1}, "mural": {"enable": True}})
    assert remarks(places.load()) == [("mural.enable", "unknown: did you mean 'enabled'?")]


def test_mural_model_is_accepted_ignored_and_remarked(places: Places) -> None:
    places.write("user-mc", {"mural": {"enabled": True, "model": "google/x"}})
    loaded = places.load()
    assert loaded.config.mural.enabled
    [(key, what)] = remarks(loaded)
    assert key == "mural.model" and "deprecated" in what and "compress-cues.model" in what


@pytest.mark.parametrize("name", ["project", "project-mc"])
def test_a_project_may_not_say_where_memories_are_kept(places: Places, name: str) -> None:
    places.write("user", {"store": {"path": "/mine.db"}})
    places.write(name, {"store": {"path": "/tmp/stolen.db"}, "mural": {"enabled": True}})
    loaded = places.load()
    assert loaded.config.store.path == "/mine.db" and loaded.config.mural.enabled
    assert remarks(loaded) == [("store", "ignored: only the user's own files may set it")]


@pytest.mark.parametrize("theme", ["../outside.toml", "/etc/passwd", "~/x.toml"])
def test_a_project_may_not_name_a_theme_outside_of_it(places: Places, theme: str) -> None:
    places.write("project", {"mural": {"theme": theme, "enabled": True}})
    loaded = places.load()
    assert loaded.config.mural.theme == "standard" and loaded.config.mural.enabled
    assert remarks(loaded)[0][0] == "mural.theme"


def test_a_projects_readers_are_confined_as_its_theme_is(places: Places) -> None:
    readers = {"a/*": "dense", "b/*": "art/t.toml", "c/*": "../../t.toml", "d/*": "/etc/passwd"}
    places.write("project", {"mural": {"readers": readers}})
    loaded = places.load()
    inside = str(places.project.resolve() / "art/t.toml")
    assert loaded.config.mural.readers == {"a/*": "dense", "b/*": inside}
    assert [key for key, _ in remarks(loaded)] == ["mural.readers.c/*", "mural.readers.d/*"]
    path = places.write("user", {"mural": {"readers": {"e/*": "~/t.toml", "f/*": "t.toml"}}})
    found = places.load().config.mural.readers
    assert found["e/*"] == str(Path("~/t.toml").expanduser())
    assert found["f/*"] == str(path.parent.resolve() / "t.toml")


def test_a_relative_store_lies_beside_the_file_that_names_it(places: Places) -> None:
    store = {"path": "m.db", "magic_context": "~/context.db"}
    path = places.write("user", {"store": store})
    made = places.load().config.store
    assert made.path == str(path.parent.resolve() / "m.db")
    assert made.magic_context == str(Path("~/context.db").expanduser())


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "large"])
def test_what_is_no_configuration_file_is_an_error(places: Places, kind: str) -> None:
    path = places.write("user", "")
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_text("// comment\n" * 100_000)
    with pytest.raises(ConfigError, match="can't be read: it"):
        places.load()


def test_the_users_fonts_lie_beside_the_file(places: Places) -> None:
    path = places.write("user", {"fonts": {"extra": ["mine.ttf", "/fonts/other.otf"]}})
    found = places.load().config.fonts.extra
    assert found == (str(path.parent / "mine.ttf"), "/fonts/other.otf")
    places.write("user", {"fonts": {"extra": "mine.ttf"}})
    with pytest.raises(ConfigError, match=r"fonts\.extra"):
        places.load()


@pytest.mark.parametrize("key", ["cache", "store", "fonts", "dreamer.endpoint"])
def test_what_only_the_user_may_set(places: Places, key: str) -> None:
    values: dict[str, dict[str, Any]] = {
        "cache": {"size_mib": 1},
        "store": {"path": "x"},
        "fonts": {"extra": ["x.ttf"]},
        "dreamer.endpoint": {"base_url": "http://x/v1", "model": "m"},
    }
    value = values[key]
    section, _, rest = key.partition(".")
    places.write("project", {section: {rest: value, "batch_size": 3} if rest else value})
    loaded = places.load()
    assert loaded.config == (
        sections.Config.model_validate({"dreamer": {"batch_size": 3}})
        if rest
        else sections.Config()
    )
    assert remarks(loaded) == [(key, "ignored: only the user's own files may set it")]
    places.write("project", "{}")
    places.write("user", {section: {rest: value} if rest else value})
    assert places.load().remarks == () and places.load().config != sections.Config()


@pytest.mark.parametrize(
    ("manifest", "used"),
    [
        ('inherits = "dense"\n', True),
        ('inherits = "base.toml"\n', True),
        ('inherits = "../outside.toml"\n', False),
        ('[[face]]\nname = "x"\nfile = "../x.ttf"\n', False),
        ('[[face]]\nname = "x"\nfile = "/etc/passwd"\n', False),
    ],
)
def test_a_projects_theme_draws_with_nothing_from_outside(
    places: Places, manifest: str, used: bool
) -> None:
    (places.project / "art").mkdir()
    (places.project.parent / "outside.toml").write_text("")
    (places.project.parent / "project/outside.toml").unlink(missing_ok=True)
    (places.project / "art/base.toml").write_text("")
    (places.project / "art/theme.toml").write_text(manifest.replace("../", "../../"))
    places.write("project", {"mural": {"theme": "art"}})
    loaded = places.load()
    assert (loaded.config.mural.theme != "standard") is used
    assert [key for key, _ in remarks(loaded)] == ([] if used else ["mural.theme"])


@pytest.mark.parametrize("name", ["user-mc", "project-mc"])
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("{", "all of it"),
        ("[]", "all of it"),
        ('{"memory": {"injection_budget_tokens": 30000}}', "memory.injection_budget_tokens"),
        ('{"cache_ttl": {"a": "1h30m"}}', "cache_ttl"),
        ('{"memory": 3}', "memory"),
        ('{"dreamer": {"pi": {"model": 3, "variant": 4}}}', "dreamer.pi.model"),
    ],
)
def test_another_programs_file_never_stops_ours(
    places: Places, name: str, text: str, key: str
) -> None:
    """What is wrong by our rules may be right by its own: it is ignored, with a remark."""
    path = places.write(name, text)
    places.write("user", {"mural": {"enabled": True}})
    loaded = places.load()
    assert loaded.config == sections.Config.model_validate({"mural": {"enabled": True}})
    assert loaded.remarks[0].where == path and loaded.remarks[0].key == key
    assert loaded.remarks[0].what.startswith("ignored: ")


def test_mural_model_may_be_anything(places: Places) -> None:
    places.write("user-mc", {"mural": {"model": {"a": 1}, "enabled": True}})
    assert places.load().config.mural.enabled


def test_only_keys_of_ours_have_an_origin(places: Places) -> None:
    places.write("user-mc", {"historian": {"model": "x"}, "mural": {"enabeld": 1, "theme": "dark"}})
    assert list(places.load().origins) == ["mural.theme"]


def test_a_themes_path_is_beside_its_file_or_in_the_project(places: Places) -> None:
    path = places.write("user", {"mural": {"theme": "ours.toml"}})
    assert places.load().config.mural.theme == str(path.parent.resolve() / "ours.toml")
    places.write("project", {"mural": {"theme": "art/theme.toml"}})
    assert places.load().config.mural.theme == str(places.project.resolve() / "art/theme.toml")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "Not JSON with comments: line 1"),
        ('{\n "a": 1\n "b": 2}', "line 3"),
        ("[]", "one object"),
        ("3", "one object"),
        ('{"mural": {"enabled": "yes please"}}', "mural.enabled: must be true or false"),
        ('{"mural": 3}', "mural: "),
        ('{"memory": {"injection_budget_tokens": 499}}', "must be 500 or more"),
        ('{"memory": {"injection_budget_tokens": 20001}}', "must be 20000 or less"),
        ('{"cache_ttl": "soon"}', 'a duration is a number and s, m, h or d, such as "5m"'),
        ('{"cache_ttl": {"x": "soon"}}', "cache_ttl"),
        ('{"dreamer": {"pi": {"thinking_level": "huge"}}}', "dreamer.pi.thinking_level"),
        ('{"dreamer": {"pi": {"model": 3}}}', "dreamer.pi.model"),
        ("[" * 5000, "Not JSON with comments"),
        ('{"mural": {"theme": "a\\u0000b"}}', "mural.theme: a path can't have a null character"),
        ('{"mural": {"theme": ""}}', "mural.theme: must not be empty"),
        ('{"mural": {"theme": 3}}', "mural.theme: must be text"),
        ('{"mural": {"readers": {"x": ""}}}', "mural.readers.x: "),
        ('{"mural": {"readers": {"x": "a\\u0000"}}}', "mural.readers.x: a path can't"),
        ('{"mural": {"enabled": "yes"}}', "mural.enabled: must be true or false"),
        ('{"mural": {"enabled": 1}}', "mural.enabled: must be true or false"),
        ('{"memory": {"injection_budget_tokens": "4000"}}', "must be a whole number"),
        ('{"cache_ttl": "400d"}', "at most 365d"),
        ('{"cache_ttl": "0s"}', "at least 1s"),
        ('{"cache_ttl": "99999999999999999999d"}', "a duration is a number"),
        (
            '{"dreamer": {"tasks": {"compress-cues": {"schedule": "61 4 * * *"}}}}',
            "dreamer.tasks.compress-cues.schedule: a schedule is minute, hour",
        ),
        ('{"dreamer": {"tasks": {"compress-cues": {"schedule": "@daily"}}}}', "a schedule is"),
        ('{"mural": {"theme": "\\ud800"}}', "mural"),
        (
            '{"dreamer": {"endpoint": {"base_url": "ftp://x", "model": "m"}}}',
            "dreamer.endpoint.base_url",
        ),
        ('{"dreamer": {"batch_size": 0}}', "dreamer.batch_size"),
    ],
)
def test_a_wrong_file_is_an_error_with_file_and_key(places: Places, text: str, what: str) -> None:
    path = places.write("user", text)
    with pytest.raises(ConfigError) as caught:
        places.load()
    assert what in caught.value.what and caught.value.where == str(path)


@pytest.mark.parametrize("data", [b"", b"  \n", b"\xef\xbb\xbf{}"])
def test_an_empty_file_is_an_empty_object(places: Places, data: bytes) -> None:
    places.write("user", "").write_bytes(data)
    assert places.load().config == sections.Config()


def test_a_file_that_is_no_text_is_an_error(places: Places) -> None:
    places.write("user", "").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="can't be read"):
        places.load()


@pytest.mark.parametrize(
    ("text", "value"), [("90s", 90), ("5m", 300), ("1h", 3600), ("2 d", 172800)]
)
def test_durations(text: str, value: int) -> None:
    assert sections.seconds(text) == value


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["mural", "enabled", "model", "theme", "store", "x"]), inner
        )
    ),
    max_leaves=8,
)


@given(json_values)
def test_any_object_is_a_configuration_or_an_error(value: object) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        places = Places(Path(folder))
        places.write("project", json.dumps(value))
        try:
            assert places.load().config.store.path is None
        except ConfigError as error:
            assert error.what and error.where


def test_the_schema_file_is_current() -> None:
    kept = json.loads((ROOT / "muralkit/config.schema.json").read_text())
    assert kept == config.schema(), "run: muralkit config schema > muralkit/config.schema.json"


def test_the_readme_has_every_key() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for key in (
        "mural.enabled", "mural.theme", "mural.model", "memory.injection_budget_tokens",
        "cache_ttl", "store.path", "store.source", "dreamer.<harness>.model",
        "dreamer.<harness>.tasks.compress-cues.model", "dreamer.tasks.compress-cues.schedule",
    ):  # fmt: skip
        assert f"`{key}`" in readme, key


def test_config_show(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(places.user))
    path = places.write("project", {"mural": {"enabled": True}, "store": {"path": "x"}})
    done = run("config", "show", "--project", places.project)
    assert f"mural.enabled = true  ({path})" in done.stdout.decode()
    assert "memory.injection_budget_tokens = 4000  (default)" in done.stdout.decode()
    assert b"store ignored: only the user's own files may set it" in done.stderr
    report = json.loads(run("config", "show", "--json", "--project", places.project).stdout)
    assert report["values"]["mural.enabled"] == {"value": True, "file": str(path)}
    assert report["values"]["cache_ttl"] == {"value": "5m", "file": None}
    assert [remark["key"] for remark in report["remarks"]] == ["store"]
    places.write("project", "{")
    assert run("config", "show", "--project", places.project).returncode == 2
