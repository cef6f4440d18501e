"""A knowledge graph of what documents say of each other and of things: text → names and relations; a query → paths.

Pure: rows come from and go to kb/store/graph.py, by way of kb/ingest and kb/context/traverse.py.
"""

# Names the rules below: documents whose rows were made by another version are read again by the next ingest.
GRAPH_VERSION = 1
