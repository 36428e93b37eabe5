"""Is one system better than another, by how much, and where? Systems compared on the items they share."""
