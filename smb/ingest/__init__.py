"""From the bytes of notes to a transaction."""
