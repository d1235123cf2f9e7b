"""What the plug-ins of the harnesses talk to: JSON-RPC 2.0 over standard input and output.

protocol  requests and answers, as models with a schema
methods   a request in, its answer out, from places that stay open
rpc       lines in, lines out; a bad request never ends it
"""
