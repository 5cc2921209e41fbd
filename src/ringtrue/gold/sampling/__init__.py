"""Which documents the gold judge should see, and with what probability."""

from ringtrue.gold.sampling.sample import GoldDraw, sample, sample_queries

__all__ = ["GoldDraw", "sample", "sample_queries"]
