"""Golden images: a folder of cases in, differences out.

A case is NAME.json with its theme and cues (or their paths), NAME.svg and NAME.png the expected
output. Sizes are compared first, then the SVG, then pixels, then the PNG's
bytes; only `update` writes into the folder.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muralkit import cuefile, files, output, pipeline
from muralkit import theme as themes
from muralkit.errors import GoldenError, MuralkitError, OutputError
from muralkit.model import Cue

if TYPE_CHECKING:
    from PIL import Image

FILE_MODE = 0o644  # golden files are published, unlike a user's murals
MOST_PIXELS = 4480 * 4480
GAP = 8  # px between the three pictures of a failure


@dataclass(frozen=True, slots=True)
class Case:
    """A golden case: what is drawn, and the files that it is held against."""

    name: str
    theme: themes.Theme
    cues: tuple[Cue, ...]
    svg: Path
    png: Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a check or an update found: `problem` is empty where all is as expected.

    `pixels` counts those that differ; `picture` is the file that shows expected,
    difference and actual side by side; `written` are the files that an update wrote.
    """

    name: str
    problem: str = ""
    pixels: int = 0
    picture: Path | None = None
    written: tuple[str, ...] = ()


def cases(folder: Path, only: Sequence[str] = ()) -> list[Path]:
    """The case files of a folder by name, or those that are named.

    A JSON file that is a list is no case: the cues of one may lie beside it.
    Raises GoldenError where the folder has none, or not the named ones.
    """
    paths = {path.stem: path for path in sorted(folder.glob("*.json")) if not _is_list(path)}
    unknown = [name for name in only if name not in paths]
    if unknown:
        near = difflib.get_close_matches(unknown[0], paths, n=1)
        advice = f"Did you mean {near[0]!r}? " if near else ""
        raise GoldenError(
            f"There is no case {unknown[0]!r}.",
            where=str(folder),
            hint=f"{advice}Cases: {', '.join(paths) or 'none'}",
        )
    if not paths:
        raise GoldenError(
            "There are no golden cases here.",
            where=str(folder),
            hint='A case is NAME.json: {"theme": "standard", "cues": [...]}. See --dir.',
        )
    return [path for name, path in paths.items() if not only or name in only]


def _is_list(path: Path) -> bool:
    try:
        return files.read(path).lstrip().startswith(b"[")
    except OSError:
        return False


def read(path: Path) -> Case:
    """A case with its theme and cues loaded. Raises GoldenError, InputError or ThemeError."""
    try:
        case = json.loads(files.read(path).decode())
        if not isinstance(case, dict):
            raise ValueError("it is no object")
        for field, kinds in (("theme", str), ("cues", str | list)):
            if not isinstance(case.get(field), kinds):
                raise ValueError(f"the field {field!r} is missing or of another type")
        name, listed = case["theme"], case["cues"]
        beside = path.parent / listed if isinstance(listed, str) else path
        data = files.read(beside)
    except (OSError, ValueError, RecursionError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise GoldenError(
            f"The case can't be read: {reason}.",
            where=str(path),
            hint='A case is {"theme": "standard", "cues": [...]}; either may be a path beside it.',
        ) from error
    own_cues = beside == path
    cues = cuefile.checked(listed, str(path)) if own_cues else cuefile.read(data, str(beside))
    own = path.parent / str(name)
    theme = themes.load(own if own.exists() else str(name))
    return Case(path.stem, theme, tuple(cues), path.with_suffix(".svg"), path.with_suffix(".png"))


def check(paths: Sequence[Path], failures: Path) -> Iterator[Outcome]:
    """An Outcome for each case in turn; pictures of failures go to that folder.

    Raises OutputError where they can't be written there.
    """
    for path in paths:
        if path.parent.resolve() == failures.resolve():
            raise GoldenError(
                "Pictures of failures can't go where the golden images are.",
                where=str(failures),
                hint="Give another folder with --failures.",
            )
        made = _made(path)
        if isinstance(made, Outcome):
            yield made
            continue
        case, svg, png = made
        yield _compare(case, svg, png, failures)


def update(paths: Sequence[Path]) -> Iterator[Outcome]:
    """Write each case's expected files anew."""
    for path in paths:
        made = _made(path)
        if isinstance(made, Outcome):
            yield made
            continue
        case, svg, png = made
        changed = []
        for file, data in ((case.svg, svg.encode()), (case.png, png)):
            if _content(file) != data:
                changed.append(file.name)
                output.write(file, data, FILE_MODE)
        yield Outcome(case.name, written=tuple(changed))


def _made(path: Path) -> tuple[Case, str, bytes] | Outcome:
    """A case with its document and picture, or why there are none."""
    try:
        case = read(path)
        return case, *_render(case)
    except MuralkitError as error:
        return Outcome(path.stem, f"it can't be rendered: {error}")


def _content(path: Path) -> bytes | None:
    try:
        return files.read(path)
    except OSError:
        return None


def _render(case: Case) -> tuple[str, bytes]:
    return (
        pipeline.render_svg(case.cues, case.theme),
        pipeline.render(case.cues, case.theme).png,
    )


def _compare(case: Case, svg: str, png: bytes, failures: Path) -> Outcome:
    gone = [file.name for file in (case.svg, case.png) if not file.exists()]
    if gone:
        picture = _leave(failures, f"{case.name}.png", png)
        what = "it has no expected files yet" if len(gone) == 2 else f"{gone[0]} is not there"
        problem = f"{what}; look at the picture, then `golden update`"
        return Outcome(case.name, problem, 0, picture)
    try:
        found = compare(files.read(case.png), png)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        return Outcome(case.name, f"{case.png.name} can't be read: {reason}")
    if found.problem:
        picture = _leave(failures, f"{case.name}.png", found.sheet)
        return Outcome(case.name, found.problem, found.pixels, picture)
    if svg.encode() != _content(case.svg):
        _leave(failures, f"{case.name}.svg", svg.encode())
        return Outcome(
            case.name, f"the same pixels from another SVG; {_first_difference(case, svg)}"
        )
    if png != _content(case.png):
        return Outcome(case.name, same_pixels(files.read(case.png), png))
    for left in (f"{case.name}.png", f"{case.name}.svg"):  # of a failure that is mended
        with contextlib.suppress(OSError):
            (failures / left).unlink()
    return Outcome(case.name)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two pictures held against each other: `problem` is empty where no pixel differs.

    `sheet` is a PNG that shows expected, difference and actual side by side.
    """

    problem: str = ""
    pixels: int = 0
    sheet: bytes = b""


def compare(expected: bytes, actual: bytes) -> Comparison:
    """Two PNGs, size first, then pixels.

    Raises ValueError where one is no PNG that a mural could be.
    """
    before, after = _open(expected), _open(actual)
    if before.size != after.size:
        problem = f"the size is {_size(after)}, expected {_size(before)}"
        return Comparison(problem, 0, _side_by_side(before, after))
    pixels = _differing(before, after)
    if pixels:
        return Comparison(f"{pixels} pixels differ", pixels, _side_by_side(before, after))
    return Comparison()


def same_pixels(expected: bytes, actual: bytes) -> str:
    """Why two PNGs of the same pixels are other files."""
    from PIL import Image

    palettes = []
    for data in (expected, actual):
        with Image.open(BytesIO(data), formats=["PNG"]) as image:
            palettes.append(image.getpalette() or [])
    if any(one != other for one, other in zip(*palettes, strict=False)):  # others are padded
        return "the same pixels, but the palette changed, by an ink that is not in this picture"
    return "the same pixels in another file: the encoder changed"


def _open(data: bytes) -> Image.Image:
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # we look ourselves
            with Image.open(BytesIO(data), formats=["PNG"]) as image:
                if image.width * image.height > MOST_PIXELS:
                    raise ValueError("it is larger than any mural")
                return image.convert("RGB")
    except Image.DecompressionBombError as error:
        raise ValueError("it is larger than any mural") from error
    except (OSError, SyntaxError) as error:
        raise ValueError("it is no PNG of ours") from error


def _size(image: Any) -> str:
    return f"{image.width} x {image.height} px"


def _difference(expected: Any, actual: Any) -> Any:
    """White where two pictures of one size differ, else black."""
    from PIL import ImageChops

    red, green, blue = ImageChops.difference(expected, actual).split()
    most = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    return most.point([0] + [255] * 255)


def _differing(expected: Any, actual: Any) -> int:
    return int(_difference(expected, actual).histogram()[255])


def _side_by_side(expected: Any, actual: Any) -> bytes:
    """Expected, difference (in red on a faint actual) and actual in one picture."""
    from PIL import Image, ImageOps

    width, height = max(expected.width, actual.width), max(expected.height, actual.height)
    padded = []
    for image in (expected, actual):
        page = Image.new("RGB", (width, height), "#808080")
        page.paste(image, (0, 0))
        padded.append(page)
    faint = Image.blend(
        ImageOps.grayscale(padded[1]).convert("RGB"),
        Image.new("RGB", (width, height), "white"),
        0.75,
    )
    faint.paste("#ff0000", (0, 0), _difference(*padded))
    sheet = Image.new("RGB", (3 * width + 2 * GAP, height), "#808080")
    for index, page in enumerate((padded[0], faint, padded[1])):
        sheet.paste(page, (index * (width + GAP), 0))
    stream = BytesIO()
    sheet.save(stream, "PNG")
    return stream.getvalue()


def _leave(failures: Path, name: str, data: bytes) -> Path:
    """Write a file that shows a failure. Raises OutputError."""
    try:
        failures.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"The folder for failures can't be made: {error.strerror}.",
            where=str(failures),
            hint="Give another one with --failures.",
        ) from error
    output.write(failures / name, data, FILE_MODE)
    return failures / name


def _first_difference(case: Case, svg: str) -> str:
    expected = (_content(case.svg) or b"").decode(errors="replace").split("\n")
    for number, (old, new) in enumerate(zip(expected, svg.split("\n"), strict=False), 1):
        if old != new:
            return f"line {number} is {new[:80]!r}, expected {old[:80]!r}"
    return "one is longer"
