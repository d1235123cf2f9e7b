"""Columns are filled exactly: held against a search over every way to part the boxes."""

from __future__ import annotations

from itertools import combinations_with_replacement, pairwise

from hypothesis import given
from hypothesis import strategies as st

from muralkit.layout.pack import Box, Column, Packer

BANNER, REPEAT, ABOVE = 14, 7, 2


def page(*bands: list[int]) -> list[Box]:
    """Boxes of bands, each a banner and lines of these heights."""
    boxes: list[Box] = []
    for lines in bands:
        boxes.append(Box(BANNER, ABOVE, True, 0))
        boxes += [Box(height, 0, False, REPEAT) for height in lines]
    return boxes


def height_by_hand(boxes: list[Box], start: int, end: int) -> int:
    total = 0
    for index in range(start, end):
        box = boxes[index]
        total += box.height + (box.repeat if index == start else box.above)
    return total


def every_way(boxes: list[Box], columns: int) -> list[list[int]]:
    """The columns' heights for each way to part the boxes in which no banner comes last."""
    ways = []
    for cuts in combinations_with_replacement(range(len(boxes) + 1), columns - 1):
        edges = [0, *cuts, len(boxes)]
        ends = [end for start, end in pairwise(edges) if end > start]
        if not any(boxes[end - 1].banner for end in ends):
            ways.append([height_by_hand(boxes, a, b) for a, b in pairwise(edges)])
    return ways


bands = st.lists(
    st.lists(st.sampled_from([10, 10, 10, 13]), min_size=1, max_size=5), min_size=1, max_size=3
)


def test_a_column_in_a_band_repeats_its_banner() -> None:
    packer = Packer(page([10, 10, 10]))
    assert packer.height(0, 4) == 14 + 30  # no space above the first banner
    assert packer.height(1, 4) == 7 + 30
    assert packer.height(2, 2) == 0


def test_the_space_above_a_banner_counts_only_inside_a_column() -> None:
    packer = Packer(page([10], [10]))
    assert packer.height(0, 4) == 14 + 10 + 2 + 14 + 10
    assert packer.height(2, 4) == 14 + 10


def test_a_banner_moves_to_the_next_column_with_its_line() -> None:
    packer = Packer(page([10, 10], [10]))
    # 14 + 20 + 2 + 14 = 50 holds the second banner, but not its line
    assert packer.furthest(0, 50) == 3
    assert packer.balanced(2) == [Column(0, 3), Column(3, 5)]


def test_ten_lines_in_three_columns_are_four_three_three() -> None:
    boxes = [Box(10, 0, False, 0) for _ in range(10)]
    assert Packer(boxes).balanced(3) == [Column(0, 4), Column(4, 7), Column(7, 10)]


def test_nothing_fills_no_column() -> None:
    assert Packer([]).least_height(3) == 0
    assert Packer([]).balanced(3) == [Column(0, 0)] * 3


@given(bands, st.integers(1, 4))
def test_the_least_height_is_the_least_of_every_way(shape: list[list[int]], columns: int) -> None:
    boxes = page(*shape)
    least = min(max(way) for way in every_way(boxes, columns))
    packer = Packer(boxes)
    assert packer.least_height(columns) == least
    assert packer.fits(columns, least) and not packer.fits(columns, least - 1)


@given(bands, st.integers(1, 4))
def test_the_columns_are_balanced_as_well_as_any_way(shape: list[list[int]], columns: int) -> None:
    boxes = page(*shape)
    packer = Packer(boxes)
    made = packer.balanced(columns)
    assert [c.start for c in made[1:]] == [c.end for c in made[:-1]]
    assert (made[0].start, made[-1].end) == (0, len(boxes))
    assert not any(boxes[c.end - 1].banner for c in made if c.end > c.start)
    heights = [packer.height(*column) for column in made]
    assert heights == [height_by_hand(boxes, *column) for column in made]
    least = packer.least_height(columns)
    best = max(min(way) for way in every_way(boxes, columns) if max(way) <= least)
    assert (max(heights), min(heights)) == (least, best)


@given(st.integers(1, 400), st.integers(1, 6))
def test_lines_of_one_height_are_balanced_within_one_line(lines: int, columns: int) -> None:
    packer = Packer([Box(11, 0, False, 0)] * lines)
    heights = [packer.height(*column) for column in packer.balanced(columns)]
    assert max(heights) - min(heights) <= 11
    assert heights == sorted(heights, reverse=True)
