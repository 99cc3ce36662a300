// node train-run.ts FOLDER URL [SETTINGS]: trains or resumes a small policy in a folder, and prints facts.
import { type TrainRunSettings, trainSmall } from './small-training.ts'

const [folder, url, settings = '{}'] = process.argv.slice(2)
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
try {
  const given = JSON.parse(settings) as TrainRunSettings
  const { status } = await trainSmall(folder!, url!, { ...given, signal: stop.signal })
  process.exitCode = { finished: 0, interrupted: 130, 'budget-reached': 3 }[status]
} catch (error) {
  const { name, message } = error as Error
  console.error(`${name}: ${message}`)
  process.exitCode = 1
}
