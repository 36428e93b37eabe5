"""Words from pictures: captioners, captions of a file of pictures, narratives."""
