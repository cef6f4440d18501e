"""The knowledge graph: text → names and relations between them; a query → paths.

Pure: kb/ingest and kb/context/traverse.py carry the rows to and from kb/store/graph.py.
"""

# Version of the extraction rules. The next ingest reads documents again whose rows another version made.
GRAPH_VERSION = 1
