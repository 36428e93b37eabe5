"""Training VICR's caption rater: rated pairs, splits by picture, two forms of model, intervals, error analysis."""
