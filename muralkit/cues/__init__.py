"""From a memory to its cue, with a model or without.

validate  a cue and its memory → what is wrong with it
rules     a memory → a good cue, without a model
prompt    memories → the prompt that asks for their cues; a reply → cues
compress  a memory and a completer → its cue, however often that takes
"""
