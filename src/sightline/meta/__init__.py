"""Do the metrics agree with people? Correlations, intervals, significance, named protocols."""
