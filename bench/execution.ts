// The execution engine against LangGraph.js, Mastra workflows and promises written by hand, on the same expanded graphs with
// the same requests to the same fake model, and our HTTP client against bare undici. Each engine has its own process.
import { cpus } from 'node:os'
import { expandedCounts } from '../src/graph/expansion.ts'
import { atMost, type Bench, Samples } from './bench.ts'
import { type EngineName, engineNames } from './execution/engine.ts'
import { EngineClient } from './execution/engine-client.ts'
import { callMs, type Memory } from './execution/engine-work.ts'
import { measureHttpClient } from './execution/http-client.ts'
import { ensurePeers } from './execution/peer-packages.ts'
import { criticalPath, type ShapeName, shapeNames, shapes } from './execution/shapes.ts'

type Say = (line: string) => void
type PerEngine<Value> = Record<EngineName, Value>
type PerShape<Value> = Record<ShapeName, Value>

const graphsAtOnce = 1000
/** The shape for measuring many graphs. */
const crowd: ShapeName = 'mixed'

export const executionBench: Bench = async ({ quick, say }) => {
  const { folder, versions } = ensurePeers(say)
  const engines: EngineClient[] = []
  try {
    for (const name of engineNames) engines.push(await EngineClient.start(name, folder))
    await compareRequests(engines)
    const overhead = await measureOverhead(engines, quick ? 3 : 25, say)
    const wall = await measureWall(engines, quick ? 3 : 15, say)
    const throughput = await measureThroughput(engines, quick ? 1 : 2, say)
    for (const engine of engines) engine.close()
    const memory = await measureMemory(folder, quick ? 1 : 3, say)
    say('HTTP client …')
    const http = await measureHttpClient(quick ? 5 : 40, 400)
    return {
      figures: {
        ...overhead.figures,
        ...wall.figures,
        ...throughput.figures,
        ...memory.figures,
        ...http.figures,
      },
      goals: {
        overhead_vs_langgraph: atMost(0.1),
        overhead_vs_mastra: atMost(0.5),
        wall_vs_critical_path: atMost(1.05),
      },
      cpuMicrosPerNode: overhead.details,
      slowCalls: wall.details,
      graphsPerSecond: throughput.details,
      memoryKibPerGraph: memory.details,
      http: http.details,
      shapes: perShape((shape) => ({
        nodes: nodesOf(shape),
        criticalPath: criticalPath(shapes[shape]),
      })),
      graphsAtOnce,
      machine: { cpu: cpus()[0]?.model, cores: cpus().length, node: process.version, peers: versions },
    }
  } finally {
    for (const engine of engines) engine.close()
  }
}

/** Including the finalizer. */
function nodesOf(shape: ShapeName): number {
  return expandedCounts(shapes[shape]).nodes + 1
}

/** Checks, by their requests, that all engines do the same work. */
async function compareRequests(engines: readonly EngineClient[]): Promise<void> {
  for (const shape of shapeNames) {
    const made = await Promise.all(engines.map((engine) => engine.ask('requests', shape)))
    for (const [index, requests] of made.entries()) {
      if (requests.length !== nodesOf(shape) || requests.join() !== made[0]!.join())
        throw new Error(
          `${engines[index]!.name} makes different requests than ${engines[0]!.name} for '${shape}'.`,
        )
    }
  }
}

/** CPU time per node if the model takes none. */
async function measureOverhead(engines: readonly EngineClient[], rounds: number, say: Say) {
  const batches = new Map<EngineClient, PerShape<number>>()
  for (const engine of engines) {
    say(`warming up ${engine.name} …`)
    batches.set(engine, await batchSizes(engine, rounds < 10 ? 300 : 1500))
  }
  const perNode = perEngine(() => perShape(() => new Samples()))
  const ratios = perEngine(() => new Samples())
  for (let round = 0; round < rounds; round += 1) {
    if (round % 5 === 0) say(`overhead: round ${round + 1} of ${rounds} …`)
    const micros = perEngine(() => 0)
    for (const [index, shape] of shapeNames.entries()) {
      for (const engine of turned(engines, round + index)) {
        const graphs = batches.get(engine)![shape]
        const { cpuMs } = await engine.ask('oneByOne', shape, graphs)
        micros[engine.name] += (1000 * cpuMs) / graphs
        perNode[engine.name][shape].add((1000 * cpuMs) / graphs / nodesOf(shape))
      }
    }
    for (const name of engineNames) ratios[name].add(micros.magic / micros[name])
  }
  return {
    figures: {
      overhead_vs_langgraph: ratios.langgraph.median,
      overhead_vs_mastra: ratios.mastra.median,
      overhead_vs_promises: ratios.promises.median,
    },
    details: perEngine((name) => perShape((shape) => perNode[name][shape].summary())),
  }
}

/** The number of graphs that take about 40 ms, found while warming up. */
async function batchSizes(engine: EngineClient, warmUpMs: number): Promise<PerShape<number>> {
  const sizes = perShape(() => 10)
  const start = performance.now()
  do {
    for (const shape of shapeNames) {
      const { cpuMs } = await engine.ask('oneByOne', shape, sizes[shape])
      sizes[shape] = Math.max(5, Math.round((40 * sizes[shape]) / Math.max(1, cpuMs)))
    }
  } while (performance.now() - start < warmUpMs)
  return sizes
}

/** Time from start to answer, divided by that of as many bare calls as the longest path has. */
async function measureWall(engines: readonly EngineClient[], rounds: number, say: Say) {
  const ratios = perEngine(() => perShape(() => new Samples()))
  const calls = new Samples()
  for (let round = 0; round < rounds; round += 1) {
    if (round % 5 === 0) say(`calls of ${callMs} ms: round ${round + 1} of ${rounds} …`)
    for (const engine of turned(engines, round)) {
      // Peers are only for comparison, so a few rounds are enough.
      if (engine.name !== 'magic' && round % 5 !== 0) continue
      for (const [index, shape] of shapeNames.entries()) {
        const path = criticalPath(shapes[shape])
        const graphFirst = (round + index) % 2 === 0
        const before = graphFirst ? await engine.ask('slowGraph', shape) : await engine.ask('slowCalls', path)
        const after = graphFirst ? await engine.ask('slowCalls', path) : await engine.ask('slowGraph', shape)
        ratios[engine.name][shape].add(graphFirst ? before / after : after / before)
        calls.add((graphFirst ? after : before) / path)
      }
    }
  }
  const medians = shapeNames.map((shape) => ratios.magic[shape].median)
  return {
    figures: { wall_vs_critical_path: Math.max(...medians) },
    details: {
      callMs: calls.summary(),
      overCriticalPath: perEngine((name) => perShape((shape) => ratios[name][shape].summary())),
    },
  }
}

/** Many graphs at once, with a model that takes no time. */
async function measureThroughput(engines: readonly EngineClient[], rounds: number, say: Say) {
  const times = perEngine(() => new Samples())
  for (let round = 0; round <= rounds; round += 1) {
    say(`${graphsAtOnce} graphs at once: round ${round} of ${rounds} …`)
    for (const engine of turned(engines, round)) {
      // LangGraph takes seconds; for the others, which take a fraction of one, more samples are cheap.
      for (let time = 0; time < (engine.name === 'langgraph' ? 1 : 4); time += 1) {
        const { wallMs } = await engine.ask('atOnce', crowd, graphsAtOnce)
        if (round > 0) times[engine.name].add(wallMs)
      }
    }
  }
  const { magic, langgraph, mastra, promises } = perEngine(
    (name) => (1000 * graphsAtOnce) / times[name].median,
  )
  return {
    figures: {
      graphs_per_second_vs_langgraph: magic / langgraph,
      graphs_per_second_vs_mastra: magic / mastra,
      graphs_per_second_vs_promises: magic / promises,
    },
    details: {
      median: { magic, promises, langgraph, mastra },
      millisecondsForAll: perEngine((name) => times[name].summary()),
    },
  }
}

/** Many graphs at once with slow calls. Every sample has a fresh process, because a heap that grew stays large. */
async function measureMemory(folder: string, samples: number, say: Say) {
  const measured = perEngine(() => ({
    peakRss: new Samples(),
    peakHeap: new Samples(),
    liveHeap: new Samples(),
    left: new Samples(),
  }))
  for (let sample = 0; sample < samples; sample += 1) {
    for (const name of engineNames) {
      // The slow ones are only for comparison.
      if (sample > 0 && (name === 'langgraph' || name === 'mastra')) continue
      say(`memory of ${name}: ${sample + 1} of ${samples} …`)
      const engine = await EngineClient.start(name, folder)
      try {
        const memory = await engine.ask('memory', crowd, graphsAtOnce)
        for (const [kind, kib] of Object.entries(memory)) measured[name][kind as keyof Memory].add(kib)
      } finally {
        engine.close()
      }
    }
  }
  const { magic, promises, langgraph } = measured
  return {
    figures: {
      memory_1000_vs_promises: magic.peakRss.median / promises.peakRss.median,
      memory_1000_vs_langgraph: magic.peakRss.median / langgraph.peakRss.median,
    },
    details: perEngine((name) =>
      Object.fromEntries(Object.entries(measured[name]).map(([kind, kib]) => [kind, kib.summary()])),
    ),
  }
}

function perEngine<Value>(make: (name: EngineName) => Value): PerEngine<Value> {
  return Object.fromEntries(engineNames.map((name) => [name, make(name)])) as PerEngine<Value>
}

function perShape<Value>(make: (shape: ShapeName) => Value): PerShape<Value> {
  return Object.fromEntries(shapeNames.map((shape) => [shape, make(shape)])) as PerShape<Value>
}

/** Rotates the order, so that each engine starts equally often. */
function turned<Value>(values: readonly Value[], by: number): Value[] {
  return values.map((_, index) => values[(index + by) % values.length]!)
}
