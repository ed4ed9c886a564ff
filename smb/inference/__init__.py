"""Everything that computes with a model."""
