"""Rules for people who judge: scales, consensus, points, training, disputes, assignment. No database."""
