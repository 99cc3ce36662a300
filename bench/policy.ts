// The policy network against PyTorch on the same work, in one run: graph construction until STOP, and one update with two
// full trajectories including KL, entropy, backward and Adam. Both sides use one thread.
import { rmSync } from 'node:fs'
import { cpus } from 'node:os'
import { dirname } from 'node:path'
import { PolicyLearner } from '../src/learning/policy-learner.ts'
import { deriveRandom } from '../src/numerics/random.ts'
import { constructGraphs } from '../src/policy/construction.ts'
import { atLeast, atMost, type Bench, fittedExponent, Samples, timed } from './bench.ts'
import { type PolicyScenario, policyScenario, type ScenarioSize, writeScenario } from './policy-scenario.ts'
import { startTorchPeer } from './torch-peer.ts'

const graphsPerRound = 10
const paperSize: ScenarioSize = { roles: 14, units: 3, depth: 4 }

export const policyBench: Bench = async ({ quick, say }) => {
  const rounds = quick ? 5 : 60
  const scenario = policyScenario(paperSize)
  const path = writeScenario(scenario)
  const peer = await startTorchPeer(path, say)
  const times = Object.fromEntries(
    [
      'construct',
      'construct64',
      'update',
      'updateBesideBest',
      'torchConstruct',
      'torchConstruct64',
      'torchUpdate',
      'torchUpdateBest',
    ].map((name) => [name, new Samples()]),
  ) as Record<string, Samples>
  const ours = workOf(paperSize)
  const units = { ours: 0, torch: 0 }
  try {
    const agreement = await compareLosses(scenario, peer)
    await peer.ask({ run: 'reset' })
    // Warms up both sides: compilers, caches, allocators.
    for (let i = 0; i < (quick ? 5 : 30); i += 1) {
      ours.construct(graphsPerRound)
      ours.construct64()
      ours.update()
    }
    for (const run of ['construct', 'construct_batch']) await peer.ask({ run, count: 64 })
    for (let i = 0; i < 5; i += 1) for (const run of ['update', 'update_best']) await peer.ask({ run })

    for (let round = 0; round < rounds; round += 1) {
      if (round % 20 === 0) say(`round ${round + 1} of ${rounds} …`)
      if (round % 5 === 0) {
        ours.reset()
        await peer.ask({ run: 'reset' })
        for (const run of ['update', 'update_best']) await peer.ask({ run })
      }
      times.construct!.add(timed(() => (units.ours += ours.construct(graphsPerRound))) / graphsPerRound)
      const built = await peer.ask({ run: 'construct', count: graphsPerRound })
      units.torch += built.units!
      times.torchConstruct!.add((built.seconds! * 1000) / graphsPerRound)
      times.construct64!.add(timed(ours.construct64) / 64)
      times.torchConstruct64!.add(
        ((await peer.ask({ run: 'construct_batch', count: 64 })).seconds! * 1000) / 64,
      )
      times.update!.add(timed(ours.update))
      times.torchUpdate!.add((await peer.ask({ run: 'update' })).seconds! * 1000)
      times.updateBesideBest!.add(timed(ours.update))
      times.torchUpdateBest!.add((await peer.ask({ run: 'update_best' })).seconds! * 1000)
    }
    const growth = measureGrowth(quick, say)
    // Interleaved: whatever slows the machine for a while slows both sides of a pair.
    const ratio = (theirs: string, own: string) => times[theirs]!.medianRatioTo(times[own]!)
    return {
      figures: {
        construct_speedup_vs_torch: ratio('torchConstruct', 'construct'),
        construct64_speedup_vs_torch: ratio('torchConstruct', 'construct64'),
        update_speedup_vs_torch: ratio('torchUpdate', 'update'),
        update_speedup_vs_best_torch: ratio('torchUpdateBest', 'updateBesideBest'),
        construct64_speedup_vs_batched_torch: ratio('torchConstruct64', 'construct64'),
        ...growth.figures,
      },
      goals: {
        construct_speedup_vs_torch: atLeast(4),
        construct64_speedup_vs_torch: atLeast(10),
        update_speedup_vs_torch: atLeast(4),
        update_speedup_vs_best_torch: atLeast(1.6),
        construct_growth_roles: atMost(1),
        update_growth_roles: atMost(1),
      },
      milliseconds: Object.fromEntries(
        Object.entries(times).map(([name, samples]) => [name, samples.summary()]),
      ),
      growth: growth.milliseconds,
      agreement,
      unitsPerGraph: {
        ours: units.ours / (rounds * graphsPerRound),
        torch: units.torch / (rounds * graphsPerRound),
      },
      machine: { cpu: cpus()[0]?.model, node: process.version, ...peer.environment },
    }
  } finally {
    peer.close()
    rmSync(dirname(path), { recursive: true, force: true })
  }
}

/** Construction always uses the initial weights, as the peer does; updates train a separate policy. */
function workOf(size: ScenarioSize) {
  const { policy, queries } = policyScenario(size)
  const training = policyScenario(size)
  const learner = new PolicyLearner(training.policy)
  const initial = { weights: training.policy.parameters.read(), adam: learner.adam.read() }
  let seed = 0
  const job = (query: number) => ({
    query: queries[query % queries.length]!,
    random: deriveRandom(1, 'bench', seed++),
    restriction: 'mixed' as const,
    temperature: 1,
    dropout: false,
  })
  return {
    /** Builds graphs one after another; returns the number of units. */
    construct: (count: number) => {
      let units = 0
      for (let i = 0; i < count; i += 1) units += constructGraphs(policy, [job(i)])[0]!.graph.size
      return units
    },
    construct64: () =>
      void constructGraphs(
        policy,
        queries.map((_, query) => job(query)),
      ),
    update: () => void learner.update(training.group),
    /** Resets the policy: repeating the same group would drive it into states that training never sees. */
    reset: () => {
      training.policy.parameters.write(initial.weights)
      learner.adam.write(initial.adam)
      learner.update(training.group)
    },
  }
}

/** Checks, by the losses of three updates from the same weights, that both sides do the same work. */
async function compareLosses(
  scenario: PolicyScenario,
  peer: Awaited<ReturnType<typeof startTorchPeer>>,
): Promise<{ ours: number[]; torch: number[]; torchBest: number[] }> {
  const fresh = policyScenario(paperSize)
  const learner = new PolicyLearner(fresh.policy)
  const losses = { ours: [] as number[], torch: [] as number[], torchBest: [] as number[] }
  for (let update = 0; update < 3; update += 1) {
    losses.ours.push(learner.update(scenario.group).loss)
    losses.torch.push((await peer.ask({ run: 'update' })).loss!)
    losses.torchBest.push((await peer.ask({ run: 'update_best' })).loss!)
    for (const theirs of [losses.torch, losses.torchBest]) {
      const difference = Math.abs(theirs[update]! - losses.ours[update]!)
      if (difference > 1e-4)
        throw new Error(`The two sides do not do the same work: their losses differ by ${difference}.`)
    }
  }
  return losses
}

/** How time grows with the library and with the unit limit; exponents are fitted on medians. */
function measureGrowth(quick: boolean, say: (line: string) => void) {
  const rounds = quick ? 3 : 25
  const sizes = [
    ...[14, 56, 224].map((roles) => ({ roles, units: 3, depth: 4 })),
    ...[6, 12].map((units) => ({ roles: 14, units, depth: 2 * units })),
  ]
  const measured = sizes.map((size) => {
    say(`growth: ${size.roles} roles, ${size.units} units …`)
    const work = workOf(size)
    const construct = new Samples()
    const update = new Samples()
    for (let round = 0; round < rounds + 3; round += 1) {
      const built = timed(() => void work.construct(graphsPerRound)) / graphsPerRound
      if (round % 5 === 0) work.reset()
      const updated = timed(work.update)
      if (round < 3) continue
      construct.add(built)
      update.add(updated)
    }
    return { ...size, construct: construct.median, update: update.median }
  })
  const byRoles = measured.filter(({ units }) => units === 3)
  const byUnits = measured.filter(({ roles }) => roles === 14)
  const exponent = (entries: typeof measured, size: 'roles' | 'units', work: 'construct' | 'update') =>
    fittedExponent(
      entries.map((entry) => entry[size]),
      entries.map((entry) => entry[work]),
    )
  return {
    figures: {
      construct_growth_roles: exponent(byRoles, 'roles', 'construct'),
      update_growth_roles: exponent(byRoles, 'roles', 'update'),
      construct_growth_units: exponent(byUnits, 'units', 'construct'),
      update_growth_units: exponent(byUnits, 'units', 'update'),
    },
    milliseconds: measured,
  }
}
