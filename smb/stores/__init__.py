"""Truth (layer 0, ledger) and its projections (object files, catalog, vectors, graph)."""
