"""The policy network's forward pass over a batch, with everything factored out that is constant.

The heads read a context beside constant semantic vectors, so the constant part of a first layer is computed
once for all decisions: W [c; e] = W_c c + W_e e. The edge query is such a sum too, v = a + s, and so is every
product with it.
"""

from math import inf, sqrt
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from batch import Batch
from graph import Library
from network import PolicyNetwork

Columns = Tuple[int, int]


class ColumnProducts(torch.autograd.Function):
    """Products of several inputs with column ranges of one weight.

    Autograd would piece the weight's gradient together from slices; here every product writes into its own
    columns. Ranges follow each other and cover the weight; one that lies within those before it adds to them.
    """

    @staticmethod
    def forward(ctx: Any, weight: Tensor, ranges: Sequence[Columns], *inputs: Tensor) -> Tuple[Tensor, ...]:
        ctx.save_for_backward(weight, *inputs)
        ctx.ranges = ranges
        return tuple(F.linear(x, weight[:, first:last]) for x, (first, last) in zip(inputs, ranges))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tuple[Optional[Tensor], ...]:
        weight, *inputs = ctx.saved_tensors
        of_weight = torch.empty_like(weight)
        of_inputs: List[Optional[Tensor]] = []
        covered = 0
        for k, (x, gradient, (first, last)) in enumerate(zip(inputs, gradients, ctx.ranges)):
            into, left = of_weight[:, first:last], gradient.flatten(0, -2).T
            if first >= covered:
                torch.mm(left, x.flatten(0, -2), out=into)
                covered = last
            else:
                into.addmm_(left, x.flatten(0, -2))
            of_inputs.append(gradient @ weight[:, first:last] if ctx.needs_input_grad[2 + k] else None)
        return of_weight, None, *of_inputs


class BatchLogits(NamedTuple):
    role: Tensor  # [D, R + 1], STOP last
    granularity: Tensor  # [D, R, 2]
    edge: Tensor  # [M, 2R]


class BatchedForm:
    """Reads the weights of a PolicyNetwork; owns none."""

    def __init__(self, network: PolicyNetwork, library: Library) -> None:
        self.network, self.library = network, library
        self.realization = library.realization.flatten(0, 1)
        self.granularity_input = torch.cat([library.role, library.realization.flatten(1)], 1)
        self.edge_input = torch.cat([library.role.repeat_interleave(2, 0), self.realization], 1)
        self.kept: Dict[nn.Linear, Tensor] = {}  # constant parts by layer, of a frozen network

    @torch.no_grad()
    def freeze(self) -> 'BatchedForm':
        """The weights will not change any more: constant parts are kept from now on, across passes."""
        net, hidden = self.network, self.network.dims.hidden
        for layer, semantic in (
            (net.role_head[0], self.library.role),
            (net.granularity_head[0], self.granularity_input),
            (net.edge_query, self.edge_input),
        ):
            self.kept[layer] = F.linear(semantic, layer.weight[:, hidden:], layer.bias)
        self.kept[net.edge_mlp[0]] = F.linear(self.kept[net.edge_query], net.edge_mlp[0].weight[:, :hidden])
        return self

    def forward(self, batch: Batch, queries: Tensor) -> BatchLogits:
        nodes = self.encode(batch, queries)
        context = self.context(batch, nodes, queries)
        return BatchLogits(
            self.role_logits(context),
            self.granularity_logits(context),
            self.edge_logits(batch, nodes, context),
        )

    def encode(self, batch: Batch, queries: Tensor) -> Tensor:
        """h of all pairs, [M, H]."""
        net = self.network
        if not batch.sizes:
            return queries.new_empty(0, net.dims.hidden)
        tables = torch.cat(
            [
                net.granularity_emb.weight,
                net.position_emb.weight,
                net.indegree_emb.weight,
                net.outdegree_emb.weight,
            ]
        )
        x = torch.addmm(batch.features @ tables, self.realization[batch.branch], net.semantic_proj.weight.T)
        inputs = net.input_proj(x) + net.query_proj(queries)[batch.query[batch.owner]]
        keep = None if batch.keep is None else batch.keep.split(batch.sizes)
        nodes: List[Tensor] = []
        state: Optional[Tensor] = None
        for i, v in enumerate(inputs.split(batch.sizes)):
            mean = batch.parents[i]
            if mean is not None:
                v = v + net.predecessor_proj(mean @ torch.cat(nodes))
            if keep is not None:
                v = v * keep[i]
            state = self.recur(v, None if state is None else state[: len(v)])
            nodes.append(net.node_norm(state))
        return torch.cat(nodes)

    def recur(self, v: Tensor, state: Optional[Tensor]) -> Tensor:
        """The GRU cell; at the first unit the state is zero, which saves a product."""
        gru = self.network.gru
        input_r, input_z, input_n = F.linear(v, gru.weight_ih, gru.bias_ih).chunk(3, 1)
        if state is None:
            state_r, state_z, state_n = gru.bias_hh.chunk(3)
        else:
            state_r, state_z, state_n = F.linear(state, gru.weight_hh, gru.bias_hh).chunk(3, 1)
        candidate = torch.tanh(input_n + torch.sigmoid(input_r + state_r) * state_n)
        update = torch.sigmoid(input_z + state_z)
        return candidate - update * candidate if state is None else torch.lerp(candidate, state, update)

    def context(self, batch: Batch, nodes: Tensor, queries: Tensor) -> Tensor:
        """c of all decisions, [D, H]."""
        net = self.network
        filled = batch.sizes[0] if batch.sizes else 0  # the decisions with units come first
        pooled = net.empty_graph.expand(len(batch.order) - filled, -1)
        if filled:
            # (W_k h)·(W_a q) = h·(W_k^T W_a q)
            direction = (net.pool_query(queries) @ net.pool_key.weight)[batch.query[batch.owner]]
            scores = (nodes * direction).sum(1) / sqrt(net.dims.hidden)
            attention = torch.where(batch.member[:filled], scores, scores.new_tensor(-inf)).softmax(1)
            pooled = torch.cat([attention @ nodes, pooled])
        query = queries[batch.query]
        graph = net.graph_norm(net.graph_proj(torch.cat([pooled, query], 1)))
        return net.context_norm(F.gelu(net.context_proj(torch.cat([graph, query, batch.progress], 1))))

    def factored(self, layer: nn.Linear, context: Tensor, semantic: Tensor) -> Tuple[Tensor, Tensor]:
        """W_c c [D, H] and W_e e + b [R or 2R, H] of a layer over [c; e]."""
        hidden = context.shape[1]
        if layer in self.kept:
            return F.linear(context, layer.weight[:, :hidden]), self.kept[layer]
        ranges = (0, hidden), (hidden, layer.in_features)
        of_context, of_semantic = ColumnProducts.apply(layer.weight, ranges, context, semantic)
        return of_context, of_semantic + layer.bias

    def role_logits(self, context: Tensor) -> Tensor:
        net = self.network
        of_context, of_role = self.factored(net.role_head[0], context, self.library.role)
        roles = net.role_head[2](F.gelu(of_context[:, None] + of_role))
        return torch.cat([roles[:, :, 0], net.stop_head(context)], 1)

    def granularity_logits(self, context: Tensor) -> Tensor:
        head = self.network.granularity_head
        of_context, of_role = self.factored(head[0], context, self.granularity_input)
        return head[2](F.gelu(of_context[:, None] + of_role))

    def edge_logits(self, batch: Batch, nodes: Tensor, context: Tensor) -> Tensor:
        """With v = a + s for a pair and a branch: v·k + MLP [v; h; v*h], [M, 2R]."""
        net, hidden = self.network, self.network.dims.hidden
        if not batch.sizes:
            return nodes.new_empty(0, 2 * self.library.size)
        of_context, s = self.factored(net.edge_query, context, self.edge_input)
        a = of_context[batch.owner]
        keys = net.edge_key(nodes)
        dot = torch.addmm((keys * a).sum(1, keepdim=True), keys, s.T)
        first = net.edge_mlp[0]
        of_pair, of_s, of_product = torch.cat([a, nodes, a * nodes], 1), s, nodes[:, None] * s
        if first in self.kept:
            pair, branch = F.linear(of_pair, first.weight), self.kept[first]
            product = F.linear(of_product, first.weight[:, 2 * hidden :])
        else:
            ranges = (0, 3 * hidden), (0, hidden), (2 * hidden, 3 * hidden)
            pair, branch, product = ColumnProducts.apply(first.weight, ranges, of_pair, of_s, of_product)
        layer = product + ((pair + first.bias)[:, None] + branch)
        return dot + net.edge_mlp[2](F.gelu(layer))[:, :, 0]
