"""Many decisions laid out for one forward pass.

Decisions are sorted by their number of units, largest first, so that step i of the encoder works on a prefix
of them and nothing is padded. A "pair" is one unit of one decision; pairs are ordered by position, then by
decision. A "branch" is one realization of one role, numbered 2·role + realization.
"""

from dataclasses import dataclass
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch
from torch import Tensor

from graph import DEPTH, Dims, Graph, Library, check_graph, degrees


class State(NamedTuple):
    units: Graph
    query: int = 0  # row of the queries that go with the batch
    keep: Optional[Tensor] = None  # [n, H] dropout mask with its scale


@dataclass
class Batch:
    order: List[int]  # the caller's index of every decision
    query: Tensor  # [D]
    progress: Tensor  # [D, 2]: n/N, 1 - n/N
    sizes: List[int]  # decisions that have a unit at position 0, 1, ...
    owner: Tensor  # [M] the decision of a pair
    member: Tensor  # [D, M] bool: the pair belongs to the decision
    branch: Tensor  # [M] what the unit is
    features: Tensor  # [M, 2 + 3N]: ones at the embedding rows that a unit adds up
    parents: List[Optional[Tensor]]  # per position: [size, earlier pairs], the mean over predecessors
    keep: Optional[Tensor]  # [M, H]
    edge_mask: Tensor  # [M, 2R]


def make_batch(states: Sequence[State], library: Library, dims: Dims, legal: Tensor) -> Batch:
    """`legal` [R, 2]: the run's legal realizations. At the unit limit STOP is forced: no such state."""
    order = sorted(range(len(states)), key=lambda k: -len(states[k].units))
    states = [states[k] for k in order]
    for state in states:
        check_graph(state.units, dims.max_units - 1)
    positions = len(states[0].units) if states else 0
    sizes = [sum(len(state.units) > i for state in states) for i in range(positions)]
    pairs = [(d, i) for i, size in enumerate(sizes) for d in range(size)]
    number: Dict[Tuple[int, int], int] = {pair: m for m, pair in enumerate(pairs)}
    degree = [degrees(state.units) for state in states]
    branches: List[int] = []
    exits: List[int] = []
    rows: List[Tuple[int, int, int, int]] = []
    parents: List[Optional[Tensor]] = []
    for i, size in enumerate(sizes):
        mean = torch.zeros(size, len(exits))
        for d in range(size):
            role, realization, predecessors = states[d].units[i]
            indegree, outdegree = degree[d][0][i], degree[d][1][i]
            before = [number[d, j] for j in predecessors]
            if before:
                mean[d, before] = 1 / len(before)
            exits.append(max((exits[m] for m in before), default=0) + DEPTH[realization])
            branches.append(2 * role + realization)
            tables = 2, 2 + dims.max_units, 2 + 2 * dims.max_units  # where position, in- and outdegree begin
            rows.append((realization, tables[0] + i, tables[1] + indegree, tables[2] + outdegree))
        parents.append(mean if mean.any() else None)
    owner = torch.tensor([d for d, _ in pairs], dtype=torch.long)
    branch = torch.tensor(branches, dtype=torch.long)
    features = torch.zeros(len(pairs), 2 + 3 * dims.max_units)
    features.scatter_(1, torch.tensor(rows, dtype=torch.long).view(-1, 4), 1)
    depth_fits = torch.tensor(exits, dtype=torch.long)[:, None] + torch.tensor(DEPTH) <= dims.max_depth
    edge_mask = library.compatible[branch // 2][:, :, None] & depth_fits[:, None, :] & legal
    share = torch.tensor([len(state.units) / dims.max_units for state in states])
    keep = None
    if pairs and states[0].keep is not None:
        keep = torch.stack([states[d].keep[i] for d, i in pairs])
    return Batch(
        order=order,
        query=torch.tensor([state.query for state in states]),
        progress=torch.stack([share, 1 - share], 1),
        sizes=sizes,
        owner=owner,
        member=owner == torch.arange(len(states))[:, None],
        branch=branch,
        features=features,
        parents=parents,
        keep=keep,
        edge_mask=edge_mask.flatten(1),
    )
