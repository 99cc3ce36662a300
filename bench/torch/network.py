"""The construction policy as a plain PyTorch module, one decision at a time and nothing factored out.

Tensor names and shapes are those of the checkpoint format, so that `load_state_dict(strict=True)` opens one.
"""

import math
from typing import List, NamedTuple, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from graph import Action, Dims, Graph, Library, Masks, check_graph, degrees

MASKED = torch.finfo(torch.float32).min  # finite, so that a fully masked row stays free of NaN


class Logits(NamedTuple):
    role: Tensor  # [R + 1], STOP last
    granularity: Tensor  # [R, 2]
    edge: Tensor  # [R, 2, n]


def perceptron(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, hidden), nn.GELU(), nn.Linear(hidden, outputs))


class PolicyNetwork(nn.Module):
    def __init__(self, dims: Dims) -> None:
        super().__init__()
        s, h, n = dims.semantic, dims.hidden, dims.max_units
        self.dims = dims
        self.semantic_proj = nn.Linear(s, h, bias=False)
        self.granularity_emb = nn.Embedding(2, h)
        self.position_emb = nn.Embedding(n, h)
        self.indegree_emb = nn.Embedding(n, h)
        self.outdegree_emb = nn.Embedding(n, h)
        self.input_proj = nn.Linear(h, h, bias=False)
        self.predecessor_proj = nn.Linear(h, h, bias=False)
        self.query_proj = nn.Linear(s, h, bias=False)
        self.gru = nn.GRUCell(h, h)
        self.node_norm = nn.LayerNorm(h)
        self.pool_key = nn.Linear(h, h, bias=False)
        self.pool_query = nn.Linear(s, h, bias=False)
        self.empty_graph = nn.Parameter(torch.zeros(h))
        self.graph_proj = nn.Linear(h + s, h)
        self.graph_norm = nn.LayerNorm(h)
        self.context_proj = nn.Linear(h + s + 2, h)
        self.context_norm = nn.LayerNorm(h)
        self.role_head = perceptron(h + s, h, 1)
        self.stop_head = perceptron(h, h, 1)
        self.granularity_head = perceptron(h + 3 * s, h, 2)
        self.edge_query = nn.Linear(h + 2 * s, h)
        self.edge_key = nn.Linear(h, h, bias=False)
        self.edge_mlp = perceptron(3 * h, h, 1)

    def encode(
        self, library: Library, units: Graph, projected_query: Tensor, keep: Optional[Tensor] = None
    ) -> Tensor:
        """h_i of every unit, [n, H]. `keep`: the dropout mask with its scale; None in evaluation mode."""
        check_graph(units, self.dims.max_units)
        if not units:
            return projected_query.new_empty(0, self.dims.hidden)
        indegree, outdegree = degrees(units)
        roles, realizations = [unit.role for unit in units], [unit.realization for unit in units]
        x = (
            self.semantic_proj(library.realization[roles, realizations])
            + self.granularity_emb.weight[realizations]
            + self.position_emb.weight[: len(units)]
            + self.indegree_emb.weight[indegree]
            + self.outdegree_emb.weight[outdegree]
        )
        inputs = self.input_proj(x) + projected_query
        state = inputs.new_zeros(1, self.dims.hidden)
        nodes: List[Tensor] = []
        for i, unit in enumerate(units):
            v = inputs[i : i + 1]
            if unit.predecessors:
                mean = torch.cat([nodes[j] for j in unit.predecessors]).mean(0, keepdim=True)
                v = v + self.predecessor_proj(mean)
            if keep is not None:
                v = v * keep[i]
            state = self.gru(v, state)
            nodes.append(self.node_norm(state))
        return torch.cat(nodes)

    def context(self, nodes: Tensor, query: Tensor, pool_query: Tensor) -> Tensor:
        """c_t, [H]."""
        count = nodes.shape[0]
        if count:
            scores = self.pool_key(nodes) @ pool_query / math.sqrt(self.dims.hidden)
            pooled = torch.softmax(scores, 0) @ nodes
        else:
            pooled = self.empty_graph
        graph = self.graph_norm(self.graph_proj(torch.cat([pooled, query])))
        share = count / self.dims.max_units
        progress = query.new_tensor([share, 1 - share])
        return self.context_norm(F.gelu(self.context_proj(torch.cat([graph, query, progress]))))

    def role_logits(self, library: Library, context: Tensor) -> Tensor:
        inputs = torch.cat([context.expand(library.size, -1), library.role], dim=1)
        return torch.cat([self.role_head(inputs)[:, 0], self.stop_head(context)])

    def granularity_logits(self, context: Tensor, role: Tensor, realization: Tensor) -> Tensor:
        """[B, 2] for B roles, given their embeddings [B, S] and those of their two realizations [B, 2, S]."""
        inputs = torch.cat([context.expand(role.shape[0], -1), role, realization.flatten(1)], dim=1)
        return self.granularity_head(inputs)

    def edge_logits(self, context: Tensor, nodes: Tensor, role: Tensor, realization: Tensor) -> Tensor:
        """[B, n] for B realizations, given the embeddings of their roles and their own, [B, S] each."""
        branches, count = role.shape[0], nodes.shape[0]
        v = self.edge_query(torch.cat([context.expand(branches, -1), role, realization], dim=1))
        dot = v @ self.edge_key(nodes).T
        v_pairs = v[:, None, :].expand(branches, count, -1)
        node_pairs = nodes.expand(branches, count, -1)
        interaction = self.edge_mlp(torch.cat([v_pairs, node_pairs, v_pairs * node_pairs], dim=2))
        return dot + interaction[:, :, 0]

    def forward(
        self, library: Library, units: Graph, query: Tensor, masks: Masks, keep: Optional[Tensor] = None
    ) -> Tuple[Logits, Tensor, Tensor]:
        """One decision: the logits, c_t and the h_i. A head without a legal branch is not run."""
        nodes = self.encode(library, units, self.query_proj(query), keep)
        context = self.context(nodes, query, self.pool_query(query))
        role = self.role_logits(library, context)
        granularity = role.new_zeros(library.size, 2)
        edge = role.new_zeros(library.size, 2, len(units))
        if masks.granularity.any():
            granularity = self.granularity_logits(context, library.role, library.realization)
        if masks.edge.any():
            branch_role = library.role.repeat_interleave(2, dim=0)
            branches = self.edge_logits(context, nodes, branch_role, library.realization.flatten(0, 1))
            edge = branches.view(library.size, 2, len(units))
        return Logits(role, granularity, edge), context, nodes


class Distribution:
    """The tempered policy of one decision. A masked branch has probability 0 and adds nothing."""

    def __init__(self, logits: Logits, masks: Masks, temperature: float) -> None:
        self.masks = masks
        role = (logits.role / temperature).masked_fill(~masks.role, MASKED)
        granularity = (logits.granularity / temperature).masked_fill(~masks.granularity, MASKED)
        self.edge = logits.edge / temperature
        self.role_log = F.log_softmax(role, 0).masked_fill(~masks.role, 0)
        self.granularity_log = F.log_softmax(granularity, 1).masked_fill(~masks.granularity, 0)
        self.edge_log = F.logsigmoid(self.edge)
        self.role = self.role_log.exp() * masks.role
        self.granularity = self.granularity_log.exp() * masks.granularity

    def log_probability(self, action: Action) -> Tensor:
        if action is None:
            return self.role_log[-1]
        role, realization, predecessors = action
        legal = self.masks.edge[role, realization]
        if not self.masks.granularity[role, realization] or not all(legal[j] for j in predecessors):
            raise ValueError(f'illegal action {action}')
        chosen = torch.zeros_like(legal)
        chosen[list(predecessors)] = True
        edge = self.edge[role, realization]
        edges = F.logsigmoid(torch.where(chosen, edge, -edge))
        return self.role_log[role] + self.granularity_log[role, realization] + (edges * legal).sum()

    def entropy(self) -> Tensor:
        # -p log p - (1 - p) log(1 - p), with log(1 - p) = log p - logit
        edges = torch.sigmoid(-self.edge) * self.edge - self.edge_log
        return self._expectation(-self.role_log, -self.granularity_log, edges)

    def kl(self, reference: 'Distribution') -> Tensor:
        edges = self.edge_log - reference.edge_log - torch.sigmoid(-self.edge) * (self.edge - reference.edge)
        return self._expectation(
            self.role_log - reference.role_log, self.granularity_log - reference.granularity_log, edges
        )

    def _expectation(self, role: Tensor, granularity: Tensor, edge: Tensor) -> Tensor:
        """Σ_r π(r) role + Σ_r π(r) Σ_z π(z|r) [granularity + Σ_j edge]."""
        conditional = self.granularity * (granularity + (edge * self.masks.edge).sum(2))
        return (self.role * role).sum() + (self.role[:-1] * conditional.sum(1)).sum()
