"""From text to glyphs: what layout measures with and the rasterizer paints with.

clean    text as it came → text that may be drawn
scripts  what needs shaping, where a word may break
bidi     what runs from right to left
faces    pinned font files → ascents, advances
outline  a glyph → its outline
chain    a character → the first face of the theme that has it, and its size
pieces   a word → stretches of one face, script and direction
shape    those → advances, heights, runs
"""
