"""Reading and encoding on Ray, for `kb ingest --ray`; one process, the one that was called, writes.

Only `cluster` imports Ray. The workers run `remote`, which knows neither Ray nor a store.
"""
