"""From what the bank holds to what follows from it: one phase a file, each proposing revisions, none committing any."""
