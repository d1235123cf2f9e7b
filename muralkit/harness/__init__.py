"""What the harnesses load, and how it gets there.

client.js, opencode.js, pi.js   the plug-ins' sources, without dependencies
plugins   a harness in, the one file that it loads out
install   a harness and a scope in, the changes of files out
"""
