// The process of one engine: node engine-process.ts <engine> <folder with the peers>. Takes orders over IPC.
import { type EngineName, loadEngine } from './engine.ts'
import { EngineWork } from './engine-work.ts'

const [name, peerFolder] = process.argv.slice(2)
const work = new EngineWork(await loadEngine(name as EngineName, peerFolder!))

process.on('message', async ({ order, values }: { order: keyof EngineWork; values: unknown[] }) => {
  try {
    const measure = work[order] as (...values: unknown[]) => Promise<unknown>
    process.send!({ result: await measure.apply(work, values) })
  } catch (error) {
    process.send!({ error: error instanceof Error ? error.stack : String(error) })
  }
})
process.on('disconnect', () => process.exit())
process.send!({ result: 'ready' })
