"""Changes to the tables, in order."""
