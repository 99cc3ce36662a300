// A network of a few operations in MiniLM's shape, written as ONNX by hand, and its plain twin. Every
// token's vector depends on its id, on the other tokens, and on all three inputs.

const rows = 97
const dims = 384
const words = floats(rows * dims, 1)
const types = floats(2 * dims, 2)
const weights = floats(dims * dims, 3)

/**
 * h = (words[ids mod 97] + types[token types]) · mask; hidden = (h ∘ mean of h over all positions) W. A
 * masked token is zero, but still counts as a position.
 */
export function tinyOnnxModel({ output = 'last_hidden_state', input = 'input_ids' } = {}): Uint8Array {
  const nodes = [
    node('Mod', [input, 'rows'], 'row'),
    node('Gather', ['words', 'row'], 'word'),
    node('Gather', ['types', 'token_type_ids'], 'type'),
    node('Add', ['word', 'type'], 'sum'),
    node('Cast', ['attention_mask'], 'flat_mask', [['to', 1]]),
    node('Unsqueeze', ['flat_mask', 'last'], 'mask'),
    node('Mul', ['sum', 'mask'], 'h'),
    node('ReduceMean', ['h', 'first'], 'company', [['keepdims', 1]]),
    node('Mul', ['h', 'company'], 'product'),
    node('MatMul', ['product', 'weights'], output),
  ]
  const graph = [
    ...nodes.map((bytes) => field(1, bytes)),
    field(2, 'tiny'),
    field(5, floatTensor('words', [rows, dims], words)),
    field(5, floatTensor('types', [2, dims], types)),
    field(5, floatTensor('weights', [dims, dims], weights)),
    field(5, wholeTensor('rows', [], rows)),
    field(5, wholeTensor('last', [1], -1)),
    field(5, wholeTensor('first', [1], 1)),
    ...[input, 'attention_mask', 'token_type_ids'].map((name) =>
      field(11, value(name, 7, ['batch', 'length'])),
    ),
    field(12, value(output, 1, ['batch', 'length', dims])),
  ]
  const opset = message(field(1, ''), field(2, 18))
  return message(field(1, 8), field(7, message(...graph)), field(8, opset))
}

/** The mean of the hidden vectors of one unpadded sequence, in doubles. */
export function plainTinyMean(ids: readonly number[]): number[] {
  const mean = entries(dims, (entry) => {
    const column = ids.map((id) => words[(id % rows) * dims + entry]! + types[entry]!)
    return column.reduce((sum, one) => sum + one, 0) / ids.length
  })
  return entries(dims, (column) =>
    mean.reduce((sum, entry, row) => sum + entry * entry * weights[row * dims + column]!, 0),
  )
}

function entries(length: number, at: (index: number) => number): number[] {
  return Array.from({ length }, (_, index) => at(index))
}

/** Between -1 and 1, the same on every machine. */
function floats(length: number, seed: number): Float32Array {
  let state = seed
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 31 - 1
  })
}

// Protocol buffers: a field is its number and kind, then a number or a length and that many bytes.

function node(operation: string, inputs: string[], output: string, attributes: [string, number][] = []) {
  return message(
    ...inputs.map((name) => field(1, name)),
    field(2, output),
    field(4, operation),
    ...attributes.map(([name, whole]) => field(5, message(field(1, name), field(3, whole), field(20, 2)))),
  )
}

function floatTensor(name: string, shape: number[], values: Float32Array): Uint8Array {
  return tensor(name, 1, shape, new Uint8Array(values.buffer))
}

function wholeTensor(name: string, shape: number[], only: number): Uint8Array {
  return tensor(name, 7, shape, new Uint8Array(BigInt64Array.of(BigInt(only)).buffer))
}

function tensor(name: string, type: number, shape: number[], raw: Uint8Array): Uint8Array {
  return message(...shape.map((length) => field(1, length)), field(2, type), field(8, name), field(9, raw))
}

function value(name: string, type: number, shape: (number | string)[]): Uint8Array {
  const axes = shape.map((axis) => field(1, message(field(typeof axis === 'number' ? 1 : 2, axis))))
  const tensorType = message(field(1, type), field(2, message(...axes)))
  return message(field(1, name), field(2, message(field(1, tensorType))))
}

function field(number: number, content: number | string | Uint8Array): Uint8Array {
  if (typeof content === 'number') return message(varint(number << 3), varint(content))
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  return message(varint((number << 3) | 2), varint(bytes.length), bytes)
}

function message(...parts: Uint8Array[]): Uint8Array {
  return Buffer.concat(parts)
}

function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Uint8Array.from([...bytes, rest])
}
