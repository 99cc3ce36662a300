"""Do the two constructions draw what the policy says? Their draws against the policy's probabilities."""

import math
import random
from typing import Any, Dict, List, Tuple

import torch
from torch import Tensor

from construct import BatchConstruction
from golden import Case, Golden, network_of
from graph import Unit
from network import Distribution


@torch.no_grad()
def check_construction(golden: Golden, form: Any) -> Case:
    """Builds graphs and sums draws minus probabilities by kind of choice: within five standard deviations."""
    case, dims, library, temperature = Case(), golden.dims, golden.library, 1.3
    random.seed(7)
    torch.manual_seed(7)
    network = network_of(dims, golden.policy)
    construction = form(network, library, 'mixed', temperature)
    query = golden.queries[:1]
    graphs = build_many(construction, query, count=4000)
    known: Dict[Tuple[Unit, ...], Distribution] = {}
    choices: Dict[str, List[Tuple[float, float]]] = {}  # (drawn, probability) by kind of choice
    for graph in graphs:
        for size in range(min(len(graph) + 1, dims.max_units)):
            units, action = tuple(graph[:size]), graph[size] if size < len(graph) else None
            if units not in known:
                masks = library.masks(units, 'mixed', dims)
                known[units] = Distribution(network(library, units, query[0], masks)[0], masks, temperature)
            policy = known[units]
            try:
                policy.log_probability(action)
            except ValueError:
                case.failures.append(f'drew the illegal {action} after {units}')
                continue
            for role, probability in enumerate(policy.role.tolist()):
                drawn = role == library.size if action is None else role == action.role
                choices.setdefault(f'role {role}', []).append((drawn, probability))
            if action is not None:
                group = policy.granularity[action.role, 1].item()
                choices.setdefault(f'group of {action.role}', []).append((action.realization, group))
                edges = torch.sigmoid(policy.edge[action.role, action.realization])
                edges = edges * policy.masks.edge[action.role, action.realization]
                for j, probability in enumerate(edges.tolist()):
                    choices.setdefault(f'edge from {j}', []).append((j in action.predecessors, probability))
    for kind, draws in choices.items():
        excess = sum(drawn - probability for drawn, probability in draws)
        deviation = math.sqrt(sum(probability * (1 - probability) for _, probability in draws))
        if abs(excess) > 5 * deviation + 1e-3:
            case.failures.append(f'{kind}: {excess:+.1f} draws off, standard deviation {deviation:.1f}')
    return case


def build_many(construction: Any, query: Tensor, count: int) -> List[List[Unit]]:
    if isinstance(construction, BatchConstruction):
        return construction.build(query.expand(count, -1))
    return [construction.build(query[0]) for _ in range(count)]
