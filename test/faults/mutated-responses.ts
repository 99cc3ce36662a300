/** Model responses with up to four random mutations, reproducible by seed. */
export function* mutatedResponses(seed: number, count: number): Generator<string> {
  const random = generator(seed)
  const below = (n: number) => Math.floor(random() * n)
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!
  for (let i = 0; i < count; i += 1) {
    let text = pick(healthy)
    for (let wounds = below(5); wounds > 0; wounds -= 1) {
      const at = below(text.length + 1)
      const to = Math.min(text.length, at + 1 + below(12))
      switch (below(7)) {
        case 0: // cut out
          text = text.slice(0, at) + text.slice(to)
          break
        case 1: // cut off
          text = text.slice(0, at)
          break
        case 2: // repeat
          text = text.slice(0, to) + text.slice(at)
          break
        case 3: // insert something hostile
          text = text.slice(0, at) + pick(hostile) + text.slice(at)
          break
        case 4: // replace by something hostile
          text = text.slice(0, at) + pick(hostile) + text.slice(to)
          break
        case 5: // any UTF-16 unit
          text = text.slice(0, at) + String.fromCharCode(below(0x10000)) + text.slice(at + 1)
          break
        default: // append another response
          text = text.slice(0, at) + pick(healthy).slice(below(40))
      }
    }
    yield text
  }
}

const healthy = [
  '{"kind": "content", "content": {"analysis": "Checked", "answer": "A"}}',
  '{"analysis": "All sinks agree", "answer": "C"}',
  '{"kind":"tool_request","tool_request":{"tool":"python_exec","payload":{"source":"print(1)"}}}',
  '{"analysis":"x","answer":{"values":["15.64","2"],"scale":"percent"}}',
  '{"analysis":"x","answer":{"values":["1"],"scale":"","unit":"USD"}}',
  '{"kind":"content","content":{"analysis":"x","answer":{"values":["1"],"scale":""},"n":[1.5e-3,{"a":[]}]}}',
  '{"analysis":"\\ud83d\\ude00 \\u2028 \\"q\\" \\\\","answer":null}',
  '{"kind":"content","content":{"analysis":"code","answer":"def f(x):\\n    return x\\n"},"__proto__":{"kind":1}}',
  '[{"deep":[[[[{"k":{"a":1}}]]]]}, -0.0e+5, true, false, null]',
]

const hostile = [
  '"',
  '\\',
  '\\u',
  '\\ud800',
  '\u0000',
  '\ud800',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  ',}',
  '[,]',
  'NaN',
  '-',
  '01',
  '1e999',
  '1.',
  '.5',
  '/*',
  '```json\n',
  'FINAL: ',
  '\ufeff',
  '\u00a0',
  '\n',
  '"__proto__":{"answer":"A"},',
  '"constructor":null,',
  '"toString":1,',
  '"answer":"B",',
  '"kind":"content",',
  'null',
  'true',
  '{"analysis":"y","answer":"D"}',
  '['.repeat(200),
  '{"a":'.repeat(200),
]

/** mulberry32: small, and random enough to choose mutations. */
function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
