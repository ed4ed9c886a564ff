"""From a question to a packet of evidence. Calls no language model."""
