// Calls a policy behind `magic serve` with the official `openai` client, plain and streaming.
//   npm run example examples/openai-client/main.ts      (in a checkout)
//   npm install openai && node main.ts                   (with magic-agents installed)
// Usually you start the server yourself: magic train questions.csv --name first && magic serve first
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import OpenAI from 'openai'

const magic = fileURLToPath(new URL('bin/magic.js', import.meta.resolve('magic-agents/package.json')))
const questions = fileURLToPath(new URL('../csv-questions/questions.csv', import.meta.url))

// On the simulated model; add `--model deepseek` for a real one.
const name = 'openai-client'
const training = ['--name', name, '--preset', 'values', '--set', 'evaluations=20', 'hidden=32']
await promisify(execFile)(process.execPath, [magic, 'train', questions, ...training])

// Port 0 picks a free one. The server logs JSON lines to standard error.
const server = spawn(process.execPath, [magic, 'serve', name, '--port', '0', '--json'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  const started = await createInterface({ input: server.stdout })[Symbol.asyncIterator]().next()
  if (started.done) throw new Error('magic serve did not start; see the reason above.')
  const { baseURL } = JSON.parse(started.value) as { baseURL: string }

  // The client requires a key; a server without a token accepts any.
  const client = new OpenAI({ baseURL, apiKey: 'none' })
  const messages = [{ role: 'user' as const, content: 'What do 3 pens at 2 coins each cost?' }]
  const completion = await client.chat.completions.create({ model: name, messages })
  console.log(
    `answer ${completion.choices[0]?.message.content}, ${completion.usage?.total_tokens} tokens (simulated)`,
  )

  // Chunks without choices report what the policy builds and which agents work; then the answer comes as content.
  const stream = await client.chat.completions.create({ model: name, messages, stream: true })
  for await (const chunk of stream) {
    const { progress } = (chunk as { magic?: { progress?: { type: string } } }).magic ?? {}
    if (progress !== undefined) console.log(`progress ${progress.type}`)
    const content = chunk.choices[0]?.delta.content
    if (content) console.log(`streamed ${content}`)
  }
} finally {
  // The server finishes running requests, then exits.
  if (server.kill()) await once(server, 'exit')
}
