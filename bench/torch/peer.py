"""The PyTorch side of the policy benchmark: a process that answers one line of JSON with one line of JSON.

    {"setup": "scenario.json"}              -> {"torch": ..., "blas": ..., "kernels": ..., "threads": 1}
    {"run": "construct", "count": 20}       -> {"seconds": ..., "units": ...}   graphs one after the other
    {"run": "construct_batch", "count": 64} -> {"seconds": ..., "units": ...}   all graphs together
    {"run": "update"}                       -> {"seconds": ..., "loss": ...}    the straightforward form
    {"run": "update_best"}                  -> {"seconds": ..., "loss": ...}    the strongest form
    {"run": "reset"}                        -> {"reset": true}    back to the initial weights, no moments

Construction always uses the initial weights; the two updates train a copy each. On failure the answer is
{"error": message}. Paths in the scenario are relative to the scenario's own folder.
"""

import runtime  # first: it prepares the environment that torch reads

import gc
import json
import random
import sys
import time
from pathlib import Path
from typing import Any, Dict, Iterable, Optional, Tuple

import torch

from best import BestUpdater
from checkpoint import read_safetensors
from construct import BatchConstruction, Construction
from graph import Dims, make_library
from learning import parse_update
from network import PolicyNetwork
from update import StraightforwardUpdater

Reply = Dict[str, Any]


class Peer:
    def __init__(self, scenario_path: Path) -> None:
        scenario = json.loads(scenario_path.read_text(encoding='utf-8'))
        files = {name: scenario_path.parent / file for name, file in scenario['files'].items()}
        embeddings = read_safetensors(files['embeddings'])
        self.dims = Dims(**scenario['dims'])
        self.queries = embeddings['query'][: scenario['queries']]
        self.library = make_library(
            scenario['library'], embeddings['role'], embeddings['atomic'], embeddings['group']
        )
        self.policy, self.reference = read_safetensors(files['policy']), read_safetensors(files['reference'])
        self.hyper = scenario['hyper']
        self.recorded = parse_update(scenario['update'], self.dims.hidden, scenario['dropout_rate'])
        network = PolicyNetwork(self.dims)
        network.load_state_dict(self.policy, strict=True)
        way = network, self.library, scenario['restriction'], scenario['temperature']
        self.construction, self.batch_construction = Construction(*way), BatchConstruction(*way)
        self.reset()

    def reset(self) -> Reply:
        start = self.dims, self.library, self.policy, self.reference, self.hyper
        self.straightforward, self.best = StraightforwardUpdater(*start), BestUpdater(*start)
        return {'reset': True}

    def construct(self, count: int) -> Reply:
        began = time.perf_counter()
        units = sum(len(self.construction.build(self.queries[k % len(self.queries)])) for k in range(count))
        return {'seconds': time.perf_counter() - began, 'units': units}

    def construct_batch(self, count: int) -> Reply:
        began = time.perf_counter()
        graphs = self.batch_construction.build(self.queries[torch.arange(count) % len(self.queries)])
        return {'seconds': time.perf_counter() - began, 'units': sum(map(len, graphs))}

    def update(self, updater: Any) -> Reply:
        began = time.perf_counter()
        report = updater.run(self.recorded, self.queries)
        return {'seconds': time.perf_counter() - began, 'loss': report.loss}

    def answer(self, command: Dict[str, Any]) -> Reply:
        run = command.get('run')
        if run == 'construct':
            return self.construct(command['count'])
        if run == 'construct_batch':
            return self.construct_batch(command['count'])
        if run == 'update':
            return self.update(self.straightforward)
        if run == 'update_best':
            return self.update(self.best)
        if run == 'reset':
            return self.reset()
        raise ValueError(f'unknown command {json.dumps(command)}')


def environment() -> Reply:
    blas = runtime.loaded_blas()
    if blas is None:
        raise RuntimeError(
            'PyTorch multiplies through the reference BLAS here, 20 to 40 times slower than it can be: '
            'install OpenBLAS (apt-get install libopenblas0-pthread)'
        )
    return {
        'torch': torch.__version__,
        'blas': blas,
        'kernels': runtime.openblas_kernels(blas),
        'threads': torch.get_num_threads(),
    }


def respond(peer: Optional[Peer], command: Dict[str, Any]) -> Tuple[Optional[Peer], Reply]:
    if peer is not None:
        return peer, peer.answer(command)
    found = environment()
    peer = Peer(Path(command['setup']))
    gc.collect()
    gc.freeze()  # what stays for good need not be walked through in the middle of a measurement
    return peer, found


def serve(lines: Iterable[str]) -> None:
    random.seed(0)
    torch.manual_seed(0)
    peer: Optional[Peer] = None
    for line in lines:
        try:
            peer, reply = respond(peer, json.loads(line))
        except Exception as failure:  # the other side decides what a failure means
            reply = {'error': f'{type(failure).__name__}: {failure}'}
        print(json.dumps(reply), flush=True)


if __name__ == '__main__':
    serve(sys.stdin)
