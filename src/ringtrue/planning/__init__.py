"""How many queries and gold labels a question needs, and what they cost."""

from ringtrue.planning.answer import Plan, Plans, Point
from ringtrue.planning.assumptions import Population
from ringtrue.planning.choosing import plan

__all__ = ["Plan", "Plans", "Point", "Population", "plan"]
