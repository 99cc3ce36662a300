// A thread that examines one seed and tells every result as it comes.
import { parentPort, workerData } from 'node:worker_threads'
import { examineSeed, type SeedJob } from './examine-seed.ts'

const { job, known } = workerData as { job: SeedJob; known: readonly string[] }
for await (const result of examineSeed(job, new Set(known))) parentPort!.postMessage(result)
