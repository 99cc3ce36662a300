// A chat endpoint on loopback that always gives the same reply. Reports its port over IPC and exits with its parent.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const said = 'The vessel is rigid, so the pressure falls with the absolute temperature, by half. '.repeat(6)
const completion = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'fake',
    choices: [
      {
        index: 0,
        finish_reason: 'stop',
        message: { role: 'assistant', content: JSON.stringify({ analysis: said, answer: 'A' }) },
      },
    ],
    usage: { prompt_tokens: 900, completion_tokens: 140, total_tokens: 1040 },
  }),
)

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': completion.length })
    response.end(completion)
  })
})
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())
