"""Templates draw a layout and decide nothing; what goes wrong is located."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muralkit import render, render_svg
from muralkit.errors import TemplateError
from muralkit.svg import px
from tests.conftest import cue, cues_of

SVG = "{http://www.w3.org/2000/svg}"


def theme_with(tmp_path: Path, template: str, **more: str) -> Path:
    folder = tmp_path / "theme"
    folder.mkdir(exist_ok=True)
    (folder / "theme.toml").write_text('inherits = "standard"\ntemplate = "mine.svg.j2"\n', "utf-8")
    (folder / "mine.svg.j2").write_text(template, "utf-8")
    for name, text in more.items():
        (folder / f"{name}.j2").write_text(text, "utf-8")
    return folder


def fault(tmp_path: Path, template: str, **more: str) -> TemplateError:
    with pytest.raises(TemplateError) as caught:
        render([cue(1, "x")], theme_with(tmp_path, template, **more))
    return caught.value


OPEN = (
    '<svg xmlns="http://www.w3.org/2000/svg" '
    'width="{{ canvas.width }}" height="{{ canvas.height }}">'
)


@pytest.mark.parametrize("theme", ["standard", "dark", "dense", "large", "pixel"])
def test_the_svg_has_the_text_of_every_run_and_no_logic_left(theme: str) -> None:
    cues = cues_of("50")
    root = ET.fromstring(render_svg(cues, theme))
    drawn = Counter("".join(element.text or "" for element in root.iter(f"{SVG}text")))
    wanted = Counter("".join(entry.text for entry in cues).replace(" ", ""))
    assert wanted <= drawn
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {
        "svg",
        "rect",
        "g",
        "text",
    }
    assert all(group.get("font-family") for group in root.iter(f"{SVG}g"))


def test_text_from_right_to_left_says_so_and_starts_at_its_left_edge() -> None:
    root = ET.fromstring(render_svg([cue(1, "of הבנק")]))
    [group] = [g for g in root.iter(f"{SVG}g") if g.get("direction")]
    assert (group.get("direction"), group.get("unicode-bidi")) == ("rtl", "bidi-override")
    assert (group.get("text-anchor"), group.get("letter-spacing")) == ("end", "0")
    [text] = list(group)
    [latin] = [t for t in root.iter(f"{SVG}text") if t.text == "of"]
    assert text.text == "הבנק" and float(text.get("x", 0)) > float(latin.get("x", 0))


def test_cue_text_is_data(tmp_path: Path) -> None:
    """XML, Jinja and entities in a cue are drawn as they are written."""
    hostile = "</text><script>x</script> {{ 7*7 }} {% raw %} &lt; <NAMING> ]]> <!--"
    root = ET.fromstring(render_svg([cue(1, hostile)]))
    assert not list(root.iter(f"{SVG}script"))
    assert any(element.text == hostile for element in root.iter(f"{SVG}text"))


@given(st.text(max_size=60), st.text(st.characters(codec="utf-8"), min_size=1, max_size=30))
def test_any_text_makes_a_well_formed_document(text: str, category: str) -> None:
    category = "x" + category  # blank ones are refused before
    text = text.encode("utf-8", "replace").decode()
    ET.fromstring(render_svg([cue(1, text, category)]))


def test_lengths_are_short_and_exact_to_a_hundredth() -> None:
    assert [px(v) for v in (3.0, 0.1 + 0.2, 12.345, -0.001, 100.10)] == [
        "3", "0.3", "12.35" if f"{12.345:.2f}" == "12.35" else "12.35"[:4] + "4", "-0", "100.1",
    ]  # fmt: skip
    with pytest.raises(ValueError, match="no length"):
        px(float("nan"))


def test_a_template_that_raises_is_located(tmp_path: Path) -> None:
    error = fault(tmp_path, OPEN + "\n\n{{ 1 // 0 }}\n</svg>")
    assert "ZeroDivisionError" in error.what
    assert error.where == str(tmp_path / "theme/mine.svg.j2") + ":3"


def test_an_unknown_variable_is_located(tmp_path: Path) -> None:
    error = fault(tmp_path, OPEN + "\n{{ colour.page }}</svg>")
    assert "'colour' is undefined" in error.what
    assert error.where.endswith("mine.svg.j2:2")


def test_an_unknown_attribute_is_an_error_not_an_empty_text(tmp_path: Path) -> None:
    error = fault(tmp_path, OPEN + "\n\n<rect width='{{ canvas.widht }}'/></svg>")
    assert "widht" in error.what
    assert error.where.endswith("mine.svg.j2:3")


def test_a_syntax_error_is_located(tmp_path: Path) -> None:
    error = fault(tmp_path, OPEN + "\n{% for x in %}")
    assert error.where.endswith("mine.svg.j2:2")


def test_an_error_in_an_included_template_is_located_there(tmp_path: Path) -> None:
    error = fault(tmp_path, OPEN + '\n{% include "part.j2" %}</svg>', part="<g>\n\n{{ nope }}</g>")
    assert error.where.endswith("part.j2:3")


def test_a_missing_template_is_an_error(tmp_path: Path) -> None:
    folder = theme_with(tmp_path, "")
    (folder / "mine.svg.j2").unlink()
    with pytest.raises(TemplateError, match="There is no template"):
        render([], folder)


def test_a_template_includes_nothing_from_outside_its_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.j2").write_text("secret")
    error = fault(tmp_path, OPEN + '\n{% include "../secret.j2" %}</svg>')
    assert "../secret.j2" in error.what


@pytest.mark.parametrize(
    "escape",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ canvas.__class__.__init__.__globals__ }}",
        "{{ placed.append(1) }}",
        "{{ inks.update({'page': 'x'}) }}",
        "{{ self.__init__.__globals__ }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{{ cycler(1, 2).next() }}",
        "{{ lipsum|string }}",
        "{{ ('%s'|format(1)).format.__globals__ }}",
    ],
)
def test_the_sandbox_holds(tmp_path: Path, escape: str) -> None:
    error = fault(tmp_path, OPEN + "\n" + escape + "</svg>")
    assert error.where.endswith("mine.svg.j2:2")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("<rect", "not well-formed XML"),
        ("<g>", "not well-formed XML"),
        ("&nbsp;", "not well-formed XML: undefined entity"),
        ('<image href="http://192.0.2.1/x.png" width="9" height="9"/>', "<image> can't be drawn"),
        ('<image href="file:///etc/passwd" width="9" height="9"/>', "<image> can't be drawn"),
        ('<use href="other.svg#a"/>', "it loads 'other.svg#a' from outside"),
        (
            '<use xlink:href="https://192.0.2.1/a.svg#a" xmlns:xlink="http://www.w3.org/1999/xlink"/>',
            "from outside",
        ),
        ('<rect fill="url(http://192.0.2.1/x.svg#g)" width="9" height="9"/>', "from outside"),
        ('<rect style="fill: url(\'x.svg#g\')" width="9" height="9"/>', "from outside"),
        ('<style>@import url("http://192.0.2.1/x.css");</style>', "from outside"),
        ("<style>@font-face { src: url(x.woff) }</style>", "from outside"),
        ('<s-v:mask xmlns:s-v="http://www.w3.org/2000/svg"/>', "<mask> can't be drawn"),
        ('<g style="\\68 ref:#p"/>', "an escape in a style"),
        ('<switch><g systemLanguage="tr"/></switch>', "systemLanguage is not drawn"),
        ("<script>alert(1)</script>", "<script> can't be drawn"),
        ("<foreignObject/>", "<foreignObject> can't be drawn"),
        ('<a href="#x"><text>x</text></a>', "<a> can't be drawn"),
        ("<pattern/>", "<pattern> can't be drawn"),
        ('<rect fill="#123456" width="9" height="9"/>', "the colour #123456 is no ink"),
        ('<rect width="9" height="9"/>', "the colour #000000 is no ink"),
        ('<text font-family="Comic" fill="#000000">x</text>', "no face is called 'Comic'"),
        ('<text font-family="Roboto Condensed" font-weight="900">x</text>', "with weight 900"),
        (
            '<text font-family="Roboto Condensed" fill="{{ inks.text }}">日</text>',
            "has no glyph for '日'",
        ),
        ('<text font-family="Roboto Condensed" rotate="9">x</text>', "rotate can't stand on text"),
        ('<g opacity="much"/>', "CairoSVG can't draw it"),
    ],
)
def test_bad_svg_is_located(tmp_path: Path, line: str, expected: str) -> None:
    template = OPEN + "\n<g>\n</g>\n" + line + "\n</svg>"
    if "#000000" in expected:  # black is the standard theme's text: take it away
        folder = theme_with(tmp_path, template)
        manifest = (folder / "theme.toml").read_text() + '[inks]\ntext = "#222222"\n'
        (folder / "theme.toml").write_text(manifest)
        with pytest.raises(TemplateError) as caught:
            render([cue(1, "x")], folder)
        error = caught.value
    else:
        error = fault(tmp_path, template)
    assert expected in error.what
    where, _, number = error.where.rpartition(":")
    assert where.endswith("mine.svg.j2")
    assert int(number) in (4, 5) if line in ("<rect", "<g>") else number == "4"


def test_the_line_is_found_behind_loops_and_includes(tmp_path: Path) -> None:
    template = (
        OPEN
        + "\n{% for n in range(3) %}\n<g>{{ n }}</g>\n{% endfor %}\n{% include 'part.j2' %}\n</svg>"
    )
    error = fault(tmp_path, template, part='<g/>\n<g/>\n<image href="x"/>')
    assert error.where.endswith("part.j2:3")


def test_a_lone_surrogate_is_located(tmp_path: Path) -> None:
    error = fault(tmp_path, OPEN + "\n\n{{ '\\ud800' }}</svg>")
    assert "lone surrogate" in error.what and error.where.endswith("mine.svg.j2:3")


def test_a_document_type_with_entities_is_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + OPEN + "&b;</svg>"
    assert "must not declare entities" in fault(tmp_path, bomb).what


def test_a_document_of_another_size_is_refused(tmp_path: Path) -> None:
    error = fault(
        tmp_path, '<svg xmlns="http://www.w3.org/2000/svg" width="99999" height="99999"/>'
    )
    assert "the document is 99999 x 99999 px, but the layout is 1092 x 28 px" in error.what


@pytest.mark.parametrize("template", ["", "hello", "<html/>", "<svg/>"])
def test_what_is_no_svg_is_refused(tmp_path: Path, template: str) -> None:
    assert re.search("not well-formed|outermost|size|document is", fault(tmp_path, template).what)


@pytest.mark.parametrize(
    "address",
    [
        "{{ 'x'.upper }}",
        "{{ range }}",
        "{{ 'x'.upper|string|upper }}",
        "{{ 'a' ~ 'x'.upper }}",
        "{{ ['x'.upper]|join(',') }}",
        "{{ '%s'|format('x'.upper) }}",
        "{{ [1]|map('string') }}",
        "{% macro m() %}{% endmacro %}{{ 'x'.upper|pprint }}",
    ],
)
def test_where_an_object_lies_is_not_drawn(tmp_path: Path, address: str) -> None:
    error = fault(tmp_path, OPEN + "\n" + address + "</svg>")
    assert "where an object lies in memory" in error.what
    assert error.where.endswith("mine.svg.j2:2")


def test_a_cue_may_have_an_address(tmp_path: Path) -> None:
    text = "<Task at 0x7f3a12> is the leak"
    assert render([cue(1, text)], theme_with(tmp_path, OPEN + "{{ placed }}</svg>")).png
    assert render([cue(1, text)]).shown == (1,)


def test_what_an_imported_template_keeps_does_not_outlive_the_picture(tmp_path: Path) -> None:
    template = OPEN + '{% import "part.j2" as part %}<!-- {{ part.m() }} --></svg>'
    part = "{% set it = [1, 2, 3]|map('string') %}{% macro m() %}{{ it|first }}{% endmacro %}"
    folder = theme_with(tmp_path, template, part=part)
    documents = {render_svg([], folder) for _ in range(4)}
    assert len(documents) == 1 and "<!-- 1 -->" in documents.pop()


def test_a_changed_template_is_read_anew(tmp_path: Path) -> None:
    for text in ("one", "two", "one"):
        assert text in render_svg([], theme_with(tmp_path, OPEN + f"<!-- {text} --></svg>"))


@pytest.mark.parametrize("name", ["mine.svg", "part"])
def test_a_link_out_of_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret").write_text("secret")
    folder = theme_with(tmp_path, OPEN + '\n{% include "part.j2" %}</svg>', part="x")
    (folder / f"{name}.j2").unlink()
    (folder / f"{name}.j2").symlink_to(tmp_path / "secret")
    with pytest.raises(TemplateError, match="it is a link out of its folder"):
        render([], folder)
    (folder / f"{name}.j2").unlink()
    (folder / "inside").write_text(OPEN + "</svg>" if name != "part" else "<g/>")
    (folder / f"{name}.j2").symlink_to("inside")
    assert render([], folder).png


@pytest.mark.parametrize(
    "template",
    [
        "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
        "{{ " + "9" * 5000 + " }}",
        "{% for a in [1] %}" * 60 + "{% endfor %}" * 60,
        "{% include ['a.j2', 'b.j2'] %}",
        "{% extends 'mine.svg.j2' %}",
        "{{ 1/0 }}",
        "{{ ''|attr('x') + 1 }}",
        "{% set a %}{{ b }}{% endset %}",
        "{{ caller() }}",
        "{{ '\\x' }}",
        "{{ '%d' % 'x' }}",
        "{{ 'a' * -1 + 1 }}",
    ],
)
def test_whatever_a_template_raises_is_an_error_of_ours(tmp_path: Path, template: str) -> None:
    error = fault(tmp_path, OPEN + template + "</svg>")
    assert error.what and error.where


def test_an_error_that_comes_only_once_is_located_as_well_as_can_be(tmp_path: Path) -> None:
    """The second rendering, which looks for the line, raises where the first did not."""
    error = fault(tmp_path, OPEN + "\n<rect fill='#123456' width='9' height='9'/></svg>")
    assert error.where.endswith("mine.svg.j2:2")


@pytest.mark.parametrize(
    "line", ['<image href="x.png"/>', "<rct/>", '<rect fill="#123456" width="9" height="9"/>']
)
@pytest.mark.parametrize("place", ["before", "in a loop", "behind", "at the end"])
def test_the_line_of_plain_text_is_found(tmp_path: Path, line: str, place: str) -> None:
    """Jinja by itself knows the lines of expressions and tags only."""
    at = {"before": 2, "in a loop": 4, "behind": 7, "at the end": 9}[place]
    lines = [OPEN, "", "{% for n in [1, 2] -%}", "", "<g>{{ n }}</g>", "{%- endfor %}", "", "<g/>"]
    lines += ["", "</svg>"]
    lines[at - 1] += line
    assert fault(tmp_path, "\n".join(lines)).where.endswith(f"mine.svg.j2:{at}")


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ("<rct/>", "<rct> is no element of SVG: did you mean <rect>?"),
        ("<xyzzy/>", "<xyzzy> is no element of SVG that can be drawn"),
        ('<rect width="abc" height="9"/>', "width='abc' is no length"),
        ('<rect width="-5" height="9"/>', "width='-5' must not be negative"),
        ('<circle r="nan"/>', "r='nan' is no length"),
        ('<rect x="1 2" width="9" height="9"/>', "x='1 2' is no length"),
    ],
)
def test_what_svg_does_not_know_is_refused(tmp_path: Path, element: str, expected: str) -> None:
    assert expected in fault(tmp_path, OPEN + element + "</svg>").what


TEXT = (
    "{% for style in styles %}<g font-family='{{ style.family }}' fill='{{ style.colour }}' "
    "font-weight='{{ style.weight }}' font-size='{{ style.size }}'>{% for run in style.texts %}"
    "<text x='{{ run.x }}' y='{{ run.y }}'>{{ run.text }}</text>{% endfor %}</g>{% endfor %}"
)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("{{ run.text }}", ""), "does not draw the text 'a < b' of the layout"),
        (("{{ run.text }}", "{{ run.text|upper }}"), "does not draw the text 'a < b'"),
        (("{{ run.text }}", "{{ run.text[:2] }}"), "does not draw the text 'a < b'"),
        (("{{ run.x }}", "{{ run.x + 4000 }}"), "reaches out of the canvas"),
        (("{{ run.x }}", "{{ run.x - 40 }}"), "reaches out of the canvas"),
        (("{{ run.y }}", "{{ run.y + 400 }}"), "reaches out of the canvas"),
        (("<g ", "<g transform='translate(0 -500)' "), "reaches out of the canvas"),
    ],
)
def test_a_cue_that_is_said_to_be_shown_is_drawn(
    tmp_path: Path, change: tuple[str, str], expected: str
) -> None:
    banner = "<rect width='{{ canvas.width }}' height='28' fill='{{ inks.banner_ground }}'/>"
    whole = OPEN + banner + TEXT + "</svg>"
    cues = [cue(1, "a < b"), cue(2, "⊘no & not")]
    assert render(cues, theme_with(tmp_path, whole)).shown == (1, 2)
    with pytest.raises(TemplateError, match=re.escape(expected)):
        render(cues, theme_with(tmp_path, whole.replace(*change)))


def test_a_template_may_draw_its_own_bullets(tmp_path: Path) -> None:
    only = TEXT.replace("<text", "{% if style.colour != inks.mark %}<text").replace(
        "</text>", "</text>{% endif %}"
    )
    banner = "<rect width='{{ canvas.width }}' height='28' fill='{{ inks.banner_ground }}'/>"
    assert render([cue(1, "a")], theme_with(tmp_path, OPEN + banner + only + "</svg>")).png


def test_a_description_is_no_part_of_the_picture(tmp_path: Path) -> None:
    """It is not in the fingerprint: a changed one would replay the old picture."""
    folder = theme_with(tmp_path, OPEN + "<!-- {{ theme.description }} --></svg>")
    manifest = (folder / "theme.toml").read_text()
    (folder / "theme.toml").write_text(manifest + 'description = "ours"\n')
    assert "<!--  -->" in render_svg([], folder)


def test_sums_are_the_same_in_every_python(tmp_path: Path) -> None:
    template = OPEN + "<!-- {{ [0.1, 0.2, 0.3, 0.4, 0.7, 1e16, 1.0, -1e16]|sum }} --></svg>"
    assert "<!-- 4.0 -->" in render_svg([], theme_with(tmp_path, template))
    template = OPEN + "<!-- {{ [1, 2]|sum(start=3) }} {{ []|sum }} --></svg>"
    assert "<!-- 6 0 -->" in render_svg([], theme_with(tmp_path, template))


def test_a_loaded_theme_stays_as_it_was_loaded(tmp_path: Path) -> None:
    """Else a changed template would be drawn, and kept, under the old one's key."""
    from muralkit import ReplayCache
    from muralkit import theme as themes

    folder = theme_with(tmp_path, OPEN + "<!-- one --></svg>")
    loaded = themes.load(folder)
    (folder / "mine.svg.j2").write_text(
        OPEN + "<rect width='99' height='9' fill='{{ inks.text }}'/></svg>"
    )
    with ReplayCache(tmp_path / "cache") as cache:
        first = render([], loaded, cache=cache)
        assert "one" in render_svg([], loaded)
        assert render([], folder, cache=cache).png != first.png
