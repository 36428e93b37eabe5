"""The captioners that come with Sightline, a file each."""
