"""How many queries and gold labels a question needs, and what they cost."""

from ringtrue.gold.planning.assumptions import Population
from ringtrue.gold.planning.plan import plan
from ringtrue.gold.planning.results import BudgetPoint, Plan, Plans

__all__ = ["BudgetPoint", "Plan", "Plans", "Population", "plan"]
