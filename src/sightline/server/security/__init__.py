"""Keeping strangers out: sessions, passwords, limits, headers."""
