"""One file per format. A reader streams items out of a file and says clearly what is wrong with a line."""
