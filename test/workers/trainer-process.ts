// node trainer-process.ts FOLDER ADDRESS URL: a training by workers in its own process.
import { trainByWorkers } from './small-training.ts'

const [folder, address, url] = process.argv.slice(2) as [string, string, string]
process.stdin.on('end', () => process.exit()).resume()
await trainByWorkers(folder, address, url)
process.exit()
