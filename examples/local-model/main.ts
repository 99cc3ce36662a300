// A model on your own machine: anything that speaks OpenAI's protocol, such as Ollama, vLLM or llama.cpp.
//   ollama pull qwen3 && npm run example examples/local-model/main.ts
// To try it without one, use the simulated model as the server:
//   npm run -s magic -- simulate --port 8099
//   LOCAL_URL=http://127.0.0.1:8099/v1 LOCAL_MODEL=simulated npm run example examples/local-model/main.ts
import { fileURLToPath } from 'node:url'
import { loadPolicy, openModel, ownTaskSet, presets, solve, train } from 'magic-agents'

const model = openModel({
  preset: 'ollama',
  model: process.env['LOCAL_MODEL'] ?? 'qwen3',
  baseURL: process.env['LOCAL_URL'] ?? 'http://127.0.0.1:11434/v1',
})
const set = await ownTaskSet({
  files: fileURLToPath(new URL('../csv-questions/questions.csv', import.meta.url)),
})

// A local model handles few concurrent calls, and they cost only time.
const folder = 'runs/local-model'
const { status, spent } = await train({
  ...{ set, model, folder, concurrency: 4, budget: { minutes: 60 } },
  // A small network is enough for a few questions.
  settings: { ...presets.values, evaluations: 40, hidden: 32 },
  onEvent: (event) => event.type === 'update' && console.log(`update ${event.update + 1}`),
})
console.log(`${status}: ${spent.calls} calls`)

const policy = await loadPolicy(folder)
const { answer } = await solve({ policy, model, task: { question: 'What do 3 pens at 2 coins each cost?' } })
console.log(`answer ${JSON.stringify(answer)}`)
await model.close()
