// A thread that examines one seed and reports each result.
import { parentPort, workerData } from 'node:worker_threads'
import { examineSeed, type SeedJob } from './examine-seed.ts'

const { job, known } = workerData as { job: SeedJob; known: readonly string[] }
for await (const result of examineSeed(job, new Set(known))) parentPort!.postMessage(result)
