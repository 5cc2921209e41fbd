"""Which documents the gold judge should see, and with what probability."""

from ringtrue.gold.sampling.sample import GoldDraw as GoldDraw, sample as sample, sample_queries as sample_queries
