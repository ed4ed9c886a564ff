"""What a language model may decide and word, and what it may not."""
