"""What the server keeps: SQLite embedded, PostgreSQL by URL. Every function takes an open connection."""
