"""What follows from several notes that no single one says."""
