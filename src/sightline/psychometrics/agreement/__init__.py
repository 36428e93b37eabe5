"""How far raters agree with each other, with an expert, and with gold annotators."""
