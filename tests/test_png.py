"""The PNG file: read back by another decoder, and nothing in it but the picture."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from muralkit.png import encode


def chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    found, at = [], 8
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length)[0] == zlib.crc32(kind + body)
        found.append((kind, body))
        at += 12 + length
    return found


@given(st.integers(1, 20), st.integers(1, 9), st.sampled_from([2, 13, 16, 17, 200]), st.randoms())
def test_another_decoder_reads_the_pixels_back(
    width: int, height: int, colours: int, rng: object
) -> None:
    import random

    assert isinstance(rng, random.Random)
    palette = [(i, 255 - i, (i * 7) % 256) for i in range(colours)]
    indices = bytes(rng.randrange(colours) for _ in range(width * height))
    data = encode(indices, width, palette)
    with Image.open(BytesIO(data)) as image:
        image.load()
        assert image.size == (width, height) and image.mode == "P"
        assert image.convert("RGB").tobytes() == bytes(v for i in indices for v in palette[i])
    assert [kind for kind, _ in chunks(data)] == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]


def test_sixteen_colours_take_four_bits() -> None:
    header = dict(chunks(encode(bytes(range(16)), 4, [(i, i, i) for i in range(16)])))[b"IHDR"]
    assert struct.unpack(">IIBBBBB", header) == (4, 4, 4, 3, 0, 0, 0)


@pytest.mark.parametrize(("width", "row"), [(4, b"\0\x01\x23"), (2, b"\0\x01\0\x23")])
def test_the_left_pixel_is_the_high_half(width: int, row: bytes) -> None:
    parts = dict(chunks(encode(bytes((0, 1, 2, 3)), width, [(0, 0, 0)] * 4)))
    assert zlib.decompress(parts[b"IDAT"]) == row


def test_the_bytes_of_the_encoder_are_pinned() -> None:
    """Another build of libdeflate that writes other bytes fails here first."""
    import hashlib

    data = encode(
        bytes(i * i // 7 % 13 for i in range(28 * 28)), 28, [(i, i, i) for i in range(13)]
    )
    expected = "567fa6b72e68c58e39c40ed8236c551919cd067c2734dad50ce81ed3362fc654"
    assert hashlib.sha256(data).hexdigest() == expected
