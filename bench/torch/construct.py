"""Graphs built until STOP with a policy in evaluation mode: one after the other, or many together."""

import random
from typing import List, Sequence, Tuple

import torch
from torch import Tensor
from torch.nn import functional as F

from batch import State, make_batch
from batched import BatchedForm
from graph import DEPTH, Library, Unit, exit_depths
from network import PolicyNetwork


class Construction:
    """The straightforward form. Only the drawn role's granularity and the drawn branch's edges are scored."""

    def __init__(
        self, network: PolicyNetwork, library: Library, restriction: str, temperature: float
    ) -> None:
        self.network, self.library, self.temperature = network.eval(), library, temperature
        legal = library.legal_realizations(restriction, network.dims.max_depth)
        self.legal_roles = torch.cat([legal.any(1), torch.tensor([True])])
        self.legal_realizations: List[List[bool]] = legal.tolist()
        self.compatible: List[List[bool]] = library.compatible.tolist()

    @torch.inference_mode()
    def build(self, query: Tensor) -> List[Unit]:
        network, library = self.network, self.library
        projected, pool_query = network.query_proj(query), network.pool_query(query)
        units: List[Unit] = []
        while len(units) < network.dims.max_units:  # at the limit STOP is certain: no pass is needed
            nodes = network.encode(library, units, projected)
            context = network.context(nodes, query, pool_query)
            logits = network.role_logits(library, context).masked_fill(~self.legal_roles, -torch.inf)
            role = self._draw(logits)
            if role == library.size:
                break
            realization = self._draw_realization(context, role)
            predecessors = self._draw_predecessors(context, nodes, units, role, realization)
            units.append(Unit(role, realization, predecessors))
        return units

    def _draw(self, logits: Tensor) -> int:
        weights = torch.softmax(logits / self.temperature, 0).tolist()
        return random.choices(range(len(weights)), weights)[0]

    def _draw_realization(self, context: Tensor, role: int) -> int:
        legal = self.legal_realizations[role]
        if not all(legal):
            return legal.index(True)
        library, only = self.library, slice(role, role + 1)
        logits = self.network.granularity_logits(context, library.role[only], library.realization[only])
        return self._draw(logits[0])

    def _draw_predecessors(
        self, context: Tensor, nodes: Tensor, units: Sequence[Unit], role: int, realization: int
    ) -> Tuple[int, ...]:
        deepest = self.network.dims.max_depth - DEPTH[realization]
        legal = [
            j
            for j, exit in enumerate(exit_depths(units))
            if exit <= deepest and self.compatible[units[j].role][role]
        ]
        if not legal:
            return ()
        library, only = self.library, slice(role, role + 1)
        embedding = library.realization[only, realization]
        logits = self.network.edge_logits(context, nodes, library.role[only], embedding)
        drawn = torch.sigmoid(logits[0] / self.temperature).tolist()
        return tuple(j for j in legal if random.random() < drawn[j])


class BatchConstruction:
    """All queries advance together, one unit per round; the parts of the heads that never change are kept."""

    def __init__(
        self, network: PolicyNetwork, library: Library, restriction: str, temperature: float
    ) -> None:
        self.network, self.library, self.temperature = network.eval(), library, temperature
        self.legal = library.legal_realizations(restriction, network.dims.max_depth)
        self.closed_roles = F.pad(~self.legal.any(1), (0, 1))
        self.form = BatchedForm(network, library).freeze()

    @torch.inference_mode()
    def build(self, queries: Tensor) -> List[List[Unit]]:
        graphs: List[List[Unit]] = [[] for _ in queries]
        growing = list(range(len(graphs)))
        for _ in range(self.network.dims.max_units):
            growing = self._grow(graphs, growing, queries)
            if not growing:
                break
        return graphs

    def _grow(self, graphs: List[List[Unit]], growing: Sequence[int], queries: Tensor) -> List[int]:
        """Adds a unit to the graphs that do not stop, and returns those."""
        form, stop = self.form, self.library.size
        states = [State(graphs[k], k) for k in growing]
        batch = make_batch(states, self.library, self.network.dims, self.legal)
        nodes = form.encode(batch, queries)
        context = form.context(batch, nodes, queries)
        role = self._draw(form.role_logits(context).masked_fill(self.closed_roles, -torch.inf))
        scored = role.clamp(max=stop - 1)  # a graph that stops is scored as well and not read
        granularity = self.granularity_logits(context, scored).masked_fill(~self.legal[scored], -torch.inf)
        realization = self._draw(granularity)
        branch = 2 * scored + realization
        predecessors: List[List[int]] = [[] for _ in growing]
        if batch.sizes:
            probability = torch.sigmoid(
                self.edge_logits(nodes, context, batch.owner, branch) / self.temperature
            )
            legal = batch.edge_mask.gather(1, branch[batch.owner, None])[:, 0]
            drawn = (legal & (torch.rand_like(probability) < probability)).tolist()
            positions = (i for i, size in enumerate(batch.sizes) for _ in range(size))
            for owner, position, edge in zip(batch.owner.tolist(), positions, drawn):
                if edge:
                    predecessors[owner].append(position)
        going = []
        for d, (r, z) in enumerate(zip(role.tolist(), realization.tolist())):
            if r != stop:
                graph = growing[batch.order[d]]
                graphs[graph].append(Unit(r, z, tuple(predecessors[d])))
                going.append(graph)
        return going

    def _draw(self, logits: Tensor) -> Tensor:
        return torch.multinomial(torch.softmax(logits / self.temperature, 1), 1)[:, 0]

    def granularity_logits(self, context: Tensor, role: Tensor) -> Tensor:
        """[D, 2] of one role per decision."""
        head = self.network.granularity_head
        of_context, of_role = self.form.factored(head[0], context, self.form.granularity_input)
        return head[2](F.gelu(of_context + of_role[role]))

    def edge_logits(self, nodes: Tensor, context: Tensor, owner: Tensor, branch: Tensor) -> Tensor:
        """[M] of one branch per decision."""
        of_context, of_branch = self.form.factored(self.network.edge_query, context, self.form.edge_input)
        v = (of_context + of_branch[branch])[owner]
        dot = (v * self.network.edge_key(nodes)).sum(1)
        return dot + self.network.edge_mlp(torch.cat([v, nodes, v * nodes], 1))[:, 0]
