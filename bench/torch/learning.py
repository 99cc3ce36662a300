"""Rewards, returns and position-aligned advantages, in double precision; and a recorded trajectory."""

import math
from dataclasses import dataclass
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

import numpy
import torch
from torch import Tensor

from graph import Action, Graph, Unit, expanded_counts, parse_action, parse_unit, repeated_roles


class Decision(NamedTuple):
    units: List[Unit]  # the state before the action
    action: Action
    keep: Tensor  # [n, H], 1/(1 - rate) where dropout keeps an entry of v_i and 0 where it drops it
    gain: float  # sum over probes of child minus parent score
    probes: int


@dataclass
class Trajectory:
    decisions: List[Decision]
    terminal_score: float


@dataclass
class Update:
    query: int
    restriction: str
    temperature: float
    trajectories: List[Trajectory]

    @property
    def decisions(self) -> List[Decision]:
        return [decision for trajectory in self.trajectories for decision in trajectory.decisions]


def parse_keep(rows: Optional[Sequence[str]], hidden: int, rate: float) -> Tensor:
    if not rows:
        return torch.ones(0, hidden)
    bits = numpy.frombuffer(''.join(rows).encode('ascii'), dtype=numpy.uint8) - ord('0')
    return torch.from_numpy(bits.astype(numpy.float32).reshape(len(rows), hidden)) / (1 - rate)


def parse_update(entry: Dict[str, Any], hidden: int, rate: float) -> Update:
    trajectories = []
    for trajectory in entry['trajectories']:
        decisions = []
        for step in trajectory['steps']:
            parent, child = step.get('parent_scores') or [], step.get('child_scores') or []
            decisions.append(
                Decision(
                    [parse_unit(unit) for unit in step['units']],
                    parse_action(step['action']),
                    parse_keep(step['dropout_keep'], hidden, rate),
                    math.fsum(child) - math.fsum(parent),
                    len(parent),
                )
            )
        trajectories.append(Trajectory(decisions, trajectory['terminal_score']))
    return Update(entry['query'], entry['restriction'], entry['temperature'], trajectories)


def structural_cost(units: Graph, reward: Dict[str, float]) -> float:
    """β·C + γ_R·D of a graph."""
    nodes, edges = expanded_counts(units)
    c = reward['w_n'] * max(0, nodes - reward['b_n']) + reward['w_e'] * max(0, edges - reward['b_e'])
    return reward['beta'] * c + reward['gamma_r'] * repeated_roles(units)


def returns_to_go(trajectory: Trajectory, reward: Dict[str, float]) -> List[float]:
    potential = 0.0
    rewards: List[float] = []
    for decision in trajectory.decisions[:-1]:
        grown = [*decision.units, decision.action]
        utility = decision.gain / (reward['kappa'] + decision.probes) if decision.probes else 0.0
        increment = reward['alpha'] * utility - (
            structural_cost(grown, reward) - structural_cost(decision.units, reward)
        )
        rewards.append(reward['eta'] * (potential + increment) - potential)
        potential += increment
    returns = [trajectory.terminal_score - potential]  # full settlement at STOP
    for dense in reversed(rewards):
        returns.append(dense + reward['eta'] * returns[-1])
    return returns[::-1]


def position_aligned(returns: List[List[float]], epsilon: float) -> List[List[float]]:
    advantages = [[0.0] * len(row) for row in returns]
    for t in range(max(map(len, returns))):
        present = [k for k, row in enumerate(returns) if t < len(row)]
        largest = max(abs(returns[k][t]) for k in present)
        if len(present) < 2 or largest == 0:
            continue
        scaled = [returns[k][t] / largest for k in present]
        mean = math.fsum(scaled) / len(scaled)
        deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in scaled) / len(scaled))
        if deviation < 1e-12:
            continue
        for k, value in zip(present, scaled):
            advantages[k][t] = (value - mean) / (deviation + epsilon / largest)
    return advantages


def advantages_of(update: Update, reward: Dict[str, float]) -> List[List[float]]:
    returns = [returns_to_go(trajectory, reward) for trajectory in update.trajectories]
    return position_aligned(returns, reward['epsilon'])
