"""One complete policy update in its straightforward form: decision after decision, one backward, Adam."""

from typing import Any, Dict, List, NamedTuple

import torch
from torch import Tensor

from graph import Dims, Library
from learning import Update, advantages_of
from network import Distribution, PolicyNetwork


class Report(NamedTuple):
    """What an update saw; the lists run over all decisions, trajectory after trajectory."""

    loss: float
    advantages: List[List[float]]
    log_probabilities: Tensor
    kls: Tensor
    entropies: Tensor


class StraightforwardUpdater:
    def __init__(
        self,
        dims: Dims,
        library: Library,
        weights: Dict[str, Tensor],
        reference: Dict[str, Tensor],
        hyper: Dict[str, Any],
    ) -> None:
        self.library, self.hyper = library, hyper
        self.network, self.reference = PolicyNetwork(dims), PolicyNetwork(dims)
        self.network.load_state_dict(weights, strict=True)
        self.reference.load_state_dict(reference, strict=True)
        self.reference.requires_grad_(False).eval()
        # Measured: foreach=True is the slower one on a CPU, and the fused one exists for CUDA only.
        self.optimizer = torch.optim.Adam(
            self.network.parameters(),
            lr=hyper['lr'],
            betas=(hyper['adam_beta1'], hyper['adam_beta2']),
            eps=hyper['adam_eps'],
        )

    def run(self, update: Update, queries: Tensor) -> Report:
        query = queries[update.query]
        advantages = advantages_of(update, self.hyper['reward'])
        log_probabilities, kls, entropies = [], [], []
        for decision in update.decisions:
            masks = self.library.masks(decision.units, update.restriction, self.network.dims)
            logits, _, _ = self.network(self.library, decision.units, query, masks, decision.keep)
            policy = Distribution(logits, masks, update.temperature)
            with torch.no_grad():
                logits, _, _ = self.reference(self.library, decision.units, query, masks)
                reference = Distribution(logits, masks, update.temperature)
            log_probabilities.append(policy.log_probability(decision.action))
            kls.append(policy.kl(reference))
            entropies.append(policy.entropy())
        log_probability, kl, entropy = map(torch.stack, (log_probabilities, kls, entropies))
        advantage = torch.tensor([a for row in advantages for a in row])
        beta_kl, beta_h = self.hyper['beta_kl'], self.hyper['beta_h']
        loss = (-advantage * log_probability + beta_kl * kl - beta_h * entropy).mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        for parameter in self.network.parameters():
            if parameter.grad is None:  # not reached by this loss: its moments decay all the same
                parameter.grad = torch.zeros_like(parameter)
        self.optimizer.step()
        return Report(loss.item(), advantages, log_probability.detach(), kl.detach(), entropy.detach())
