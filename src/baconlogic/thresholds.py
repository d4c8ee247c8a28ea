"""Where a decision should turn: the public names of `learn.thresholds`."""

from baconlogic.learn.thresholds import SCENARIOS, Scenario, ScenarioRow, ScenarioTable, at_least, costs, scenarios

__all__ = ["SCENARIOS", "Scenario", "ScenarioRow", "ScenarioTable", "at_least", "costs", "scenarios"]
