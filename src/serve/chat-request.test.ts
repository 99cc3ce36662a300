import { expect, test } from 'vitest'
import { contractKinds } from '../library/answer-contract.ts'
import { readChatRequest } from './chat-request.ts'

const read = (body: object) => readChatRequest(JSON.stringify({ model: 'm', ...body }))

test('the last user message is the question; the rest is context', () => {
  const { question, model, stream, includeUsage } = read({
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'And ' },
          { type: 'text', text: 'exact.' },
        ],
      },
      { role: 'user', content: 'I have 3 apples.' },
      { role: 'assistant', content: null, tool_calls: [] },
      { role: 'assistant', content: 'Good.' },
      { role: 'tool', content: '3', tool_call_id: 'x' },
      { role: 'user', content: 'How many are left after one?' },
    ],
  })
  expect({ model, stream, includeUsage }).toEqual({ model: 'm', stream: false, includeUsage: false })
  expect(question.task).toEqual({
    id: 'How many are left after one?',
    question: 'How many are left after one?',
    metadata: {},
    context: ['Be brief.', 'And exact.', 'User: I have 3 apples.', 'Assistant: Good.', 'Tool: 3'],
  })
  expect(question.contract).toBeUndefined()
})

test('custom fields become parts of the task', () => {
  const messages = [{ role: 'user', content: 'Which?' }]
  const tables = [{ name: 'sales', rows: [['2025', '7']] }]
  const given = { contract: 'option', options: ['red', 'blue'], tables, seed: 3 }
  const { question } = read({ messages, magic: given, seed: 9 })
  expect(question.seed).toBe(3)
  expect(question.contract).toBe(contractKinds.option)
  expect(question.task).toMatchObject({
    options: [
      { label: 'A', text: 'red' },
      { label: 'B', text: 'blue' },
    ],
    tables,
  })
  const labelled = [
    { label: '1', text: 'red' },
    { label: '2', text: 'blue' },
  ]
  expect(read({ messages, magic: { options: labelled } }).question.task.options).toEqual(labelled)
  expect(read({ messages, seed: 9 }).question.seed).toBe(9)
})

test('a refusal names the field', () => {
  const messages = [{ role: 'user', content: 'Which?' }]
  const refused: [object, string][] = [
    [{ messages: 'x' }, 'messages'],
    [{ messages, n: 4 }, 'n'],
    [{ messages, magic: { contract: 'poem' } }, 'magic.contract'],
    [{ messages, magic: { tables: [{ rows: [[7]] }] } }, 'magic.tables.0.rows.0.0'],
    [{ messages, response_format: { type: 'json_schema' } }, 'response_format.type'],
  ]
  for (const [body, param] of refused)
    expect(() => read(body)).toThrow(expect.objectContaining({ status: 400, param }))
})

test('a non-text part is refused with its position and the supported types', () => {
  const picture = { type: 'image_url', image_url: { url: 'https://example.org/a.png' } }
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'What is this?' }, picture] },
  ]
  expect(() => read({ messages })).toThrow(
    expect.objectContaining({
      param: 'messages.1.content.1.type',
      message: `'messages.1.content.1.type': only text parts are supported here, not "image_url"`,
    }),
  )
  expect(() => read({ messages: [{ role: 'user', content: 7 }] })).toThrow(
    /'messages.0.content': must be text, or a list of parts/,
  )
  const options = [{ label: 'A', text: 'red' }, { label: 'B' }]
  expect(() => read({ messages: [{ role: 'user', content: 'Which?' }], magic: { options } })).toThrow(
    expect.objectContaining({ param: 'magic.options.1.text' }),
  )
})
