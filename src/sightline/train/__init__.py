"""One file per trainable part."""
