// A policy as an AI SDK language model inside your app: no server needed.
//   npm run example examples/ai-sdk-app/main.ts         (in a checkout)
//   npm install ai && node main.ts                       (with magic-agents installed)
import { fileURLToPath } from 'node:url'
import { generateText, streamText } from 'ai'
import {
  knownTasks,
  loadPolicy,
  openSimulated,
  organisedModel,
  ownTaskSet,
  presets,
  train,
} from 'magic-agents'

const set = await ownTaskSet({
  files: fileURLToPath(new URL('../csv-questions/questions.csv', import.meta.url)),
})
// For a real model, use openModel({ preset: 'deepseek' }) with its key in DEEPSEEK_API_KEY.
const simulated = await openSimulated({ tasks: knownTasks(set) })
const folder = 'runs/ai-sdk-app'
// A small network is enough for a few questions.
const settings = { ...presets.values, evaluations: 20, hidden: 32 }
const { status } = await train({ set, model: simulated.model, folder, settings })
console.log(`training ${status}`)

const model = organisedModel({ policy: await loadPolicy(folder), model: simulated.model })
const prompt = 'What do 3 pens at 2 coins each cost?'

// Usage is the sum over all calls behind the answer. `providerMetadata.magic` has graph, cost and trace.
const { text, usage } = await generateText({ model, prompt })
console.log(`answer ${text}, ${usage.totalTokens} tokens (simulated)`)

// A stream first reports, as raw chunks, what the policy builds and which agents work; then comes the answer as text.
const stream = streamText({
  ...{ model, prompt, includeRawChunks: true },
  // The form of the answer; by default that of the run's questions.
  providerOptions: { magic: { contract: 'number' } },
})
for await (const part of stream.fullStream) {
  if (part.type === 'raw') console.log(`progress ${(part.rawValue as { type: string }).type}`)
  if (part.type === 'text-delta') console.log(`streamed ${part.text}`)
  if (part.type === 'error') throw part.error
}
await simulated.close()
