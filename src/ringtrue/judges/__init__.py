"""Several judges: their votes, agreement, aggregation, quality, disagreement, and the ceiling it sets."""
