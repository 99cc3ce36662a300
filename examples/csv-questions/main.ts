// Your own questions from a CSV file: train on some, test on the others, ask something new.
//   npm run example examples/csv-questions/main.ts      (in a checkout)
//   node main.ts                                         (with magic-agents installed)
// The command line does the same: magic train questions.csv --name csv && magic eval csv
import { fileURLToPath } from 'node:url'
import {
  directOrganisation,
  evaluate,
  knownTasks,
  loadPolicy,
  openSimulated,
  ownTaskSet,
  presets,
  solve,
  train,
} from 'magic-agents'

const set = await ownTaskSet({ files: fileURLToPath(new URL('questions.csv', import.meta.url)) })

// The simulated model knows these answers and makes mistakes by published rules. For a real model, use
// openModel({ preset: 'deepseek' }) with its key in DEEPSEEK_API_KEY, and a cap: budget: { cost: 5 }.
const simulated = await openSimulated({ tasks: knownTasks(set) })
const { model } = simulated

const folder = 'runs/csv-questions'
// A small network is enough for a few questions.
const settings = { ...presets.values, evaluations: 60, hidden: 32 }
const { status, done } = await train({ set, model, folder, settings })
console.log(`${status} after ${done} updates`)

const policy = await loadPolicy(folder)
for (const organisation of [policy.organisation(), directOrganisation()]) {
  const { score, tokens } = await evaluate({ set, model, organisation, folder })
  console.log(
    `${organisation.name}: ${score.mean.toFixed(2)} of held-out questions, ${tokens.total.toFixed(0)} tokens each (simulated)`,
  )
}

const { answer, graph } = await solve({
  policy,
  model,
  task: { question: 'What do 3 pens at 2 coins each cost?' },
})
console.log(
  `answer ${JSON.stringify(answer)} by ${graph.units.map(({ role }) => role).join(', ') || 'a direct call'}`,
)
await simulated.close()
