"""The golden files of the policy, and a case that collects differences from them."""

import json
from pathlib import Path
from typing import Any, Callable, Dict, List, NamedTuple

import torch
from torch import Tensor

from checkpoint import read_safetensors
from graph import Dims, Library, make_library
from network import PolicyNetwork


class Tolerance(NamedTuple):
    relative: float
    absolute: float


STATE = Tolerance(1e-4, 1e-5)
SATURATED = Tolerance(1e-4, 1e-3)
GRADIENT = Tolerance(1e-3, 2e-6)
WEIGHT = Tolerance(1e-8, 2e-6)
RETURN = Tolerance(1e-8, 1e-8)
ADVANTAGE = Tolerance(0, 1e-6)


class Case:
    """Collects the differences in one golden case."""

    def __init__(self) -> None:
        self.failures: List[str] = []

    def close(self, what: str, got: Any, expected: Any, tolerance: Tolerance) -> None:
        got = torch.as_tensor(got, dtype=torch.float64).flatten()
        expected = torch.as_tensor(expected, dtype=torch.float64).flatten()
        if got.shape != expected.shape:
            self.failures.append(f'{what}: {got.numel()} values, expected {expected.numel()}')
            return
        allowance = tolerance.absolute + tolerance.relative * expected.abs()
        wrong = ~((got - expected).abs() <= allowance)  # a NaN is wrong too
        if wrong.any():
            at = int(wrong.nonzero()[0])
            self.failures.append(f'{what}[{at}]: {got[at]:.9g}, expected {expected[at]:.9g}')

    def same(self, what: str, got: Any, expected: Any) -> None:
        if got != expected:
            self.failures.append(f'{what}: {got}, expected {expected}')

    def refused(self, what: str, attempt: Callable[..., Any], *arguments: Any) -> None:
        try:
            result = attempt(*arguments)
        except (ValueError, IndexError):
            return
        if not (isinstance(result, Tensor) and result.item() == -float('inf')):
            self.failures.append(f'{what}: accepted')


class Golden(NamedTuple):
    entry: Dict[str, Any]
    dims: Dims
    library: Library
    queries: Tensor
    policy: Dict[str, Tensor]
    reference: Dict[str, Tensor]


def load(folder: Path, name: str) -> Golden:
    entry = json.loads((folder / name).read_text(encoding='utf-8'))
    dims = Dims(**entry['dims'])
    if 'files' in entry:
        tensors = read_safetensors(folder / entry['files']['embeddings'])
        library = make_library(entry['library'], tensors['role'], tensors['atomic'], tensors['group'])
        policy = read_safetensors(folder / entry['files']['policy'])
        reference = read_safetensors(folder / entry['files']['reference'])
        return Golden(entry, dims, library, tensors['query'], policy, reference)
    absent = [0.0] * dims.semantic
    roles = entry['library']['roles']
    role, atomic, group = (
        torch.tensor([r[kind] or absent for r in roles]) for kind in ('embedding', 'atomic', 'group')
    )
    library = make_library(entry['library'], role, atomic, group)
    weights = [
        {name: torch.tensor(t['data']).view(t['shape']) for name, t in entry['weights'][which].items()}
        for which in ('policy', 'reference')
    ]
    return Golden(entry, dims, library, torch.tensor(entry['queries']), *weights)


def network_of(dims: Dims, weights: Dict[str, Tensor]) -> PolicyNetwork:
    network = PolicyNetwork(dims)
    network.load_state_dict(weights, strict=True)
    return network.eval()
