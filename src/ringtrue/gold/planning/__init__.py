"""How many queries and gold labels a question needs, and what they cost."""

from ringtrue.gold.designs import Population as Population
from ringtrue.gold.planning.plan import plan as plan
from ringtrue.gold.planning.results import BudgetPoint as BudgetPoint, Plan as Plan, Plans as Plans
