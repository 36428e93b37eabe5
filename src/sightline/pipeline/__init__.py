"""Plan, compute features once, fit corpus statistics, score; cache, checkpoint, resume."""
