"""Runs all forms against the policy goldens: `check.py <folder>` prints `N passed, M failed`."""

import runtime  # noqa: F401  (first: it prepares the environment that torch reads)

import sys
from pathlib import Path
from typing import Any, Dict, List, Sequence

import torch
from torch import Tensor

from batch import Batch, State, make_batch
from batched import BatchedForm, BatchLogits
from best import BestUpdater
from check_construction import check_construction
from construct import BatchConstruction, Construction
from golden import (
    ADVANTAGE,
    GRADIENT,
    RETURN,
    SATURATED,
    STATE,
    WEIGHT,
    Case,
    Golden,
    Tolerance,
    load,
    network_of,
)
from graph import Unit, exit_depths, parse_action, parse_unit
from learning import parse_keep, parse_update, returns_to_go
from network import Distribution, Logits
from update import StraightforwardUpdater

UPDATERS = {'straightforward': StraightforwardUpdater, 'best': BestUpdater}


def compare_logits(
    case: Case, what: str, got: Tensor, mask: Tensor, expected: Any, tolerance: Tolerance
) -> None:
    flat = flatten(expected)
    case.same(f'{what} legality', mask.flatten().tolist(), [value is not None for value in flat])
    case.close(what, got[mask], [value for value in flat if value is not None], tolerance)


def flatten(nested: Any) -> List[Any]:
    return [leaf for item in nested for leaf in flatten(item)] if isinstance(nested, list) else [nested]


def compare_vector(case: Case, what: str, got: Tensor, expected: Any, tolerance: Tolerance) -> None:
    if isinstance(expected, dict):
        case.close(f'{what} norm', got.norm(), expected['norm'], tolerance)
        got, expected = got[: len(expected['first'])], expected['first']
    case.close(what, got, expected, tolerance)


@torch.no_grad()
def check_state(golden: Golden, state: Dict[str, Any], tolerance: Tolerance) -> Case:
    case, expected = Case(), state['expected']
    dims, library = golden.dims, golden.library
    units = [parse_unit(unit) for unit in state['units']]
    query = golden.queries[state['query']]
    keep = state['dropout_keep']
    keep = None if keep is None else parse_keep(keep, dims.hidden, golden.entry['dropout_rate'])
    masks = library.masks(units, state['restriction'], dims)
    logits, context, nodes = network_of(dims, golden.policy)(library, units, query, masks, keep)
    other, _, _ = network_of(dims, golden.reference)(library, units, query, masks)

    case.same('exit_depths', exit_depths(units), expected['exit_depths'])
    compare_vector(case, 'context', context, expected['context'], tolerance)
    for i, node in enumerate(expected['node_states']):
        compare_vector(case, f'node_states[{i}]', nodes[i], node, tolerance)
    for level in Logits._fields:
        mask = getattr(masks, level)
        case.same(f'{level}_mask', mask.flatten().tolist(), flatten(expected[f'{level}_mask']))
        compare_logits(
            case, f'{level}_logits', getattr(logits, level), mask, expected[f'{level}_logits'], tolerance
        )
    policy = Distribution(logits, masks, state['temperature'])
    reference = Distribution(other, masks, state['temperature'])
    for entry in expected['actions']:
        got = policy.log_probability(parse_action(entry['action']))
        case.close(f'log-probability of {entry["action"]}', got, entry['logprob'], tolerance)
    for entry in expected['illegal_actions']:
        case.refused(f'illegal {entry}', policy.log_probability, parse_action(entry))
    case.close('entropy', policy.entropy(), expected['entropy'], tolerance)
    case.close('kl', policy.kl(reference), expected['kl'], tolerance)
    return case


def branchwise_logits(construction: BatchConstruction, batch: Batch, queries: Tensor) -> BatchLogits:
    """The same logits out of the construction's own scoring, which sees one branch per decision at a time."""
    form, decisions = construction.form, len(batch.order)
    nodes = form.encode(batch, queries)
    context = form.context(batch, nodes, queries)
    roles = construction.library.size
    granularity = [
        construction.granularity_logits(context, torch.full((decisions,), r)) for r in range(roles)
    ]
    edge = [
        construction.edge_logits(nodes, context, batch.owner, torch.full((decisions,), branch))
        for branch in range(2 * roles)
    ]
    return BatchLogits(form.role_logits(context), torch.stack(granularity, 1), torch.stack(edge, 1))


@torch.no_grad()
def check_batch(golden: Golden, restriction: str, tolerance: Tolerance) -> Case:
    """All states of a file in one batch, queries, sizes and dropout masks mixed; by every batched way."""
    case, dims, library = Case(), golden.dims, golden.library
    legal = library.legal_realizations(restriction, dims.max_depth)
    chosen = [
        state
        for state in golden.entry['states']
        if state['restriction'] == restriction and len(state['units']) < dims.max_units
    ]
    states = []
    for state in chosen:
        units = [parse_unit(unit) for unit in state['units']]
        keep = torch.ones(len(units), dims.hidden)
        if state['dropout_keep']:
            keep = parse_keep(state['dropout_keep'], dims.hidden, golden.entry['dropout_rate'])
        states.append(State(units, state['query'], keep))
    batch = make_batch(states, library, dims, legal)
    network = network_of(dims, golden.policy)
    construction = BatchConstruction(network, library, restriction, 1)
    role_mask = torch.cat([legal.any(1), torch.tensor([True])])
    for way, logits in {
        'trainable': BatchedForm(network, library).forward(batch, golden.queries),
        'frozen': construction.form.forward(batch, golden.queries),
        'construction': branchwise_logits(construction, batch, golden.queries),
    }.items():
        for d, index in enumerate(batch.order):
            expected, name = chosen[index]['expected'], f'{chosen[index]["name"]}, {way}'
            pairs = batch.owner == d
            edge, edge_mask = (
                rows[pairs].T.reshape(library.size, 2, int(pairs.sum()))
                for rows in (logits.edge, batch.edge_mask)
            )
            for level, got, mask in (
                ('role_logits', logits.role[d], role_mask),
                ('granularity_logits', logits.granularity[d], legal),
                ('edge_logits', edge, edge_mask),
            ):
                compare_logits(case, f'{name} {level}', got, mask, expected[level], tolerance)
    return case


def check_refusal(golden: Golden, units: Sequence[Unit]) -> Case:
    case, network = Case(), network_of(golden.dims, golden.policy)
    case.refused('graph', network.encode, golden.library, units, torch.zeros(golden.dims.hidden))
    return case


def run_update(
    case: Case, golden: Golden, updater: Any, entry: Dict[str, Any], expected: Dict[str, Any]
) -> None:
    """Everything that `update.json` and `update_full.json` have in common."""
    update = parse_update(entry, golden.dims.hidden, golden.entry['dropout_rate'])
    report = updater.run(update, golden.queries)
    hyper = golden.entry['hyper']
    returns = [returns_to_go(trajectory, hyper['reward']) for trajectory in update.trajectories]
    case.close('returns', flatten(returns), flatten(expected['returns']), RETURN)
    case.close('advantages', flatten(report.advantages), flatten(expected['advantages']), ADVANTAGE)
    case.close('logprobs', report.log_probabilities, flatten(expected['logprobs']), STATE)
    case.close('kls', report.kls, flatten(expected['kls']), STATE)
    case.close('entropies', report.entropies, flatten(expected['entropies']), STATE)
    case.close('loss', report.loss, expected['loss'], STATE)
    advantage = torch.tensor(flatten(report.advantages))
    case.close('policy_loss', -(advantage * report.log_probabilities).mean(), expected['policy_loss'], STATE)
    case.close('mean_kl', report.kls.mean(), expected['mean_kl'], STATE)
    case.close('mean_entropy', report.entropies.mean(), expected['mean_entropy'], STATE)


def check_sequence(golden: Golden, sequence: Dict[str, Any], form: Any) -> Case:
    case = Case()
    updater = form(golden.dims, golden.library, golden.policy, golden.reference, golden.entry['hyper'])
    for index, entry in enumerate(sequence['updates']):
        expected = entry['expected']
        run_update(case, golden, updater, entry, expected)
        parameters = dict(updater.network.named_parameters())
        case.same('tensors', sorted(parameters), sorted(expected['gradients']))
        for name, parameter in parameters.items():
            case.close(
                f'update {index} gradient {name}', parameter.grad, expected['gradients'][name], GRADIENT
            )
            case.close(f'update {index} {name}', parameter.detach(), expected['weights_after'][name], WEIGHT)
    return case


def check_full_update(golden: Golden, form: Any) -> Case:
    case, expected = Case(), golden.entry['update']['expected']
    updater = form(golden.dims, golden.library, golden.policy, golden.reference, golden.entry['hyper'])
    run_update(case, golden, updater, golden.entry['update'], expected)
    parameters = dict(updater.network.named_parameters())
    case.same('tensors', sorted(parameters), sorted(expected['tensors']))
    for name, tensor in expected['tensors'].items():
        parameter, index = parameters[name], tensor['index']
        case.close(f'norm of gradient {name}', parameter.grad.norm(), tensor['norm'], GRADIENT)
        case.close(f'gradient {name}', parameter.grad.flatten()[index], tensor['gradient'], GRADIENT)
        case.close(name, parameter.detach().flatten()[index], tensor['after'], WEIGHT)
    return case


def main(folder: Path) -> int:
    cases: Dict[str, Case] = {}
    for name in ('tiny', 'wide', 'shallow', 'saturated', 'full'):
        golden = load(folder, f'{name}.json')
        tolerance = SATURATED if name == 'saturated' else STATE
        for state in golden.entry['states']:
            cases[f'{name} {state["name"]}'] = check_state(golden, state, tolerance)
        for restriction in sorted({state['restriction'] for state in golden.entry['states']}):
            cases[f'{name} batched, {restriction}'] = check_batch(golden, restriction, tolerance)
        for invalid in golden.entry.get('invalid_graphs', []):
            units = [parse_unit(unit) for unit in invalid['units']]
            cases[f'{name} refuses: {invalid["why"]}'] = check_refusal(golden, units)
    for form in (Construction, BatchConstruction):
        case = check_construction(load(folder, 'tiny.json'), form)
        cases[f'tiny {form.__name__} draws as the policy says'] = case
    sequences, full = load(folder, 'update.json'), load(folder, 'update_full.json')
    for form, updater in UPDATERS.items():
        for sequence in sequences.entry['sequences']:
            cases[f'update {sequence["name"]}, {form}'] = check_sequence(sequences, sequence, updater)
        cases[f'update_full, {form}'] = check_full_update(full, updater)
    failed = {name: case for name, case in cases.items() if case.failures}
    for name, case in failed.items():
        more = len(case.failures) - 1
        print(f'{name}: {case.failures[0]}' + (f' (and {more} more)' if more else ''))
    print(f'{len(cases) - len(failed)} passed, {len(failed)} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit('usage: check.py <folder of the policy goldens>')
    sys.exit(main(Path(sys.argv[1])))
