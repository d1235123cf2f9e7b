"""From text to glyphs: what layout measures with and the rasterizer paints with.

clean    text as it came → text that may be drawn
scripts  what needs shaping, where a word may break
bidi     what runs from right to left
faces    pinned font files → ascents, advances
outline  a glyph → its outline
shape    text and a chain of faces → words, runs, advances
"""
