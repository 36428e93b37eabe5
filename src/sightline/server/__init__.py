"""The web application in which people judge, and its storage."""
