"""One file per audience: visitors, players, their scripts (api), staff."""
