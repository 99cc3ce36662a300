"""Agent graphs and the role library as plain data: what is legal, how deep it gets, what it costs."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch
from torch import Tensor

REALIZATIONS = ('atomic', 'group')
DEPTH = (1, 2)  # nodes that a realization adds to a path
RESTRICTIONS = {'mixed': (True, True), 'all-atomic': (True, False), 'all-group': (False, True)}


class Dims(NamedTuple):
    semantic: int
    hidden: int
    max_units: int
    max_depth: int


class Unit(NamedTuple):
    role: int
    realization: int  # 0 atomic, 1 group
    predecessors: Tuple[int, ...]


Graph = Sequence[Unit]
Action = Optional[Unit]  # None is STOP


def parse_unit(entry: Dict[str, Any]) -> Unit:
    return Unit(entry['role'], REALIZATIONS.index(entry['realization']), tuple(entry['predecessors']))


def parse_action(entry: Dict[str, Any]) -> Action:
    return None if entry['type'] == 'stop' else parse_unit(entry)


def check_graph(units: Graph, max_units: int) -> None:
    if len(units) > max_units:
        raise ValueError(f'{len(units)} units, at most {max_units} are allowed')
    for i, unit in enumerate(units):
        if len(set(unit.predecessors)) != len(unit.predecessors):
            raise ValueError(f'unit {i} names a predecessor twice')
        for j in unit.predecessors:
            if not 0 <= j < i:
                raise ValueError(f'unit {i} cannot follow unit {j}')


def exit_depths(units: Graph) -> List[int]:
    depths: List[int] = []
    for unit in units:
        longest = max((depths[j] for j in unit.predecessors), default=0)
        depths.append(longest + DEPTH[unit.realization])
    return depths


def degrees(units: Graph) -> Tuple[List[int], List[int]]:
    outgoing = [0] * len(units)
    for unit in units:
        for j in unit.predecessors:
            outgoing[j] += 1
    return [len(unit.predecessors) for unit in units], outgoing


def expanded_counts(units: Graph) -> Tuple[int, int]:
    """Nodes and edges after every group became three workers and an aggregator."""
    nodes = edges = 0
    for unit in units:
        entries = 3 if unit.realization else 1
        nodes += 4 if unit.realization else 1
        edges += (3 if unit.realization else 0) + entries * len(unit.predecessors)
    return nodes, edges


def repeated_roles(units: Graph) -> int:
    return sum(count - 1 for count in Counter(unit.role for unit in units).values())


class Masks(NamedTuple):
    role: Tensor  # [R + 1], STOP last
    granularity: Tensor  # [R, 2]
    edge: Tensor  # [R, 2, n]


@dataclass
class Library:
    role: Tensor  # [R, S] embeddings
    realization: Tensor  # [R, 2, S]; zero where the role has no such realization
    available: Tensor  # [R, 2] bool
    compatible: Tensor  # [R, R] bool: the output of the first fits the input of the second

    @property
    def size(self) -> int:
        return self.role.shape[0]

    def legal_realizations(self, restriction: str, max_depth: int) -> Tensor:
        allowed = [allowed and depth <= max_depth for allowed, depth in zip(RESTRICTIONS[restriction], DEPTH)]
        return self.available & torch.tensor(allowed)

    def legal_predecessors(self, units: Graph, max_depth: int) -> Tensor:
        """[R, 2, n], before the nesting in legal realizations."""
        deep_enough = [[exit + depth <= max_depth for exit in exit_depths(units)] for depth in DEPTH]
        fits = self.compatible[[unit.role for unit in units]].T
        return fits[:, None, :] & torch.tensor(deep_enough)

    def masks(self, units: Graph, restriction: str, dims: Dims) -> Masks:
        granularity = self.legal_realizations(restriction, dims.max_depth)
        if len(units) >= dims.max_units:
            granularity = torch.zeros_like(granularity)
        role = torch.cat([granularity.any(1), torch.tensor([True])])
        if not units:
            return Masks(role, granularity, granularity.new_zeros(self.size, 2, 0))
        edge = self.legal_predecessors(units, dims.max_depth) & granularity[:, :, None]
        return Masks(role, granularity, edge)


def make_library(entry: Dict[str, Any], role: Tensor, atomic: Tensor, group: Tensor) -> Library:
    """`entry` as in the scenario and the goldens; only whether a realization is there is read from it."""
    available = torch.tensor([[bool(r[z]) for z in REALIZATIONS] for r in entry['roles']])
    realization = torch.stack([atomic, group], dim=1) * available[:, :, None]
    return Library(role, realization, available, torch.tensor(entry['compatible'], dtype=torch.bool))
