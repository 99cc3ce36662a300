// Uses the trained policy from code. Roles, contract and settings come from the run folder; the tool's code comes from here.
//   npm run example examples/own-roles-and-tool/main.ts
import { loadPolicy, openModel, openSimulated, solve } from 'magic-agents'
import { tideTable } from './tide-table.ts'

const policy = await loadPolicy(process.argv[2] ?? 'runs/tides')
const { DEEPSEEK_API_KEY } = process.env
const simulated = DEEPSEEK_API_KEY === undefined ? await openSimulated() : undefined
const model = simulated?.model ?? openModel({ preset: 'deepseek' })
const question = 'How many minutes after midnight is the first high water in Hamn on day 20 of the month?'
const { answer, status } = await solve({ policy, model, task: { question }, tools: [tideTable] })
console.log(`${status}: ${JSON.stringify(answer)}${simulated === undefined ? '' : ' (simulated: a guess)'}`)
await simulated?.close()
