import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { type LibraryPath, shown } from './library-problem.ts'

/** Limit on a file's characters, and again after aliases are expanded: about ten times the largest library we know. */
export const maxYamlCharacters = 1 << 20
// A role's deepest field, roles[i].group.workers[j].tools[k], is at depth 7.
const maxDepth = 10
const maxValues = 100_000
const maxSyntaxFaults = 20
const tooDeep = 'is nested more deeply than any library. Remove the inner levels.'
const tooLarge = `has more than ${maxValues} values or ${maxYamlCharacters} characters once its aliases are expanded. Split or shorten it.`

/**
 * Reads a file from any source: only plain YAML 1.2 values, no tags, no second document, no duplicate keys, bounded
 * in size and depth after alias expansion. Takes linear time.
 */
export function readYaml(text: string) {
  const lines = new LineCounter()
  // We check for duplicate keys ourselves: the parser's check takes quadratic time.
  const { contents, errors } = parseDocument<Node>(text, {
    schema: 'core',
    uniqueKeys: false,
    resolveKnownTags: false,
    prettyErrors: false,
    logLevel: 'error',
    lineCounter: lines,
  })
  const reader = new NodeReader((offset) => Math.max(1, lines.linePos(offset).line))
  for (const { pos, code, message } of errors.slice(0, maxSyntaxFaults))
    reader.fault(reader.lineAt(pos[0]), syntaxFault(code, message))
  const value = errors.length === 0 ? reader.read(contents, [], 1) : undefined
  return {
    value,
    /** What is not valid YAML, or not accepted here. */
    faults: reader.faults,
    /** The line of a field, or of its nearest existing parent. */
    lineOf: (path: LibraryPath) => reader.lineOf(path),
  }
}

function syntaxFault(code: string, message: string): string {
  if (code === 'MULTIPLE_DOCS') return 'has a second document. Keep one library per file.'
  return code === 'RESOURCE_EXHAUSTION' ? tooDeep : `is not valid YAML: ${message}.`
}

class NodeReader {
  readonly faults: { line: number; message: string }[] = []
  readonly lineAt: (offset: number) => number
  readonly #lines = new Map<string, number>()
  /** An anchor may be redefined later: an alias refers to the last one before it. */
  readonly #anchors = new Map<string, Node>()
  #aliases = 0
  #values = 0
  #characters = 0
  #stopped = false

  constructor(lineAt: (offset: number) => number) {
    this.lineAt = lineAt
  }

  fault(line: number, message: string): void {
    this.faults.push({ line, message })
  }

  lineOf(path: LibraryPath): number {
    const ancestors = path.map((_, index) => path.slice(0, path.length - index))
    return ancestors.map((part) => this.#lines.get(keyOf(part))).find((line) => line !== undefined) ?? 1
  }

  /** `around`: the parent's line, for a node without one. */
  read(node: Node | null, path: LibraryPath, around: number): unknown {
    const line = this.#locate(node, path, around)
    if (this.#isExhausted(node, path, line)) return null
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source)
      if (target === undefined) {
        const name = shown(node.source)
        this.fault(line, `refers to ${name}, but no anchor before it has that name. Write the value out.`)
        return null
      }
      this.#aliases += 1
      const value = this.read(target, path, line)
      this.#aliases -= 1
      return value
    }
    // Anchors inside an expanded alias were already registered.
    if (node?.anchor !== undefined && this.#aliases === 0) this.#anchors.set(node.anchor, node)
    if (node?.tag !== undefined)
      this.fault(line, `has the tag ${shown(node.tag)}. Tags are not supported: remove it.`)
    if (isMap(node)) return this.#mapping(node.items, path, line)
    if (isSeq(node)) return node.items.map((item, index) => this.read(item as Node, [...path, index], line))
    if (!isScalar(node)) return null
    if (typeof node.value === 'string' && !node.value.isWellFormed())
      this.fault(line, 'contains half of a surrogate pair. Remove it, or write the whole character.')
    return node.value
  }

  #mapping(pairs: readonly { key: unknown; value: unknown }[], path: LibraryPath, around: number): unknown {
    const fields = new Map<string, unknown>()
    for (const { key, value } of pairs) {
      if (!isScalar(key) || typeof key.value !== 'string') {
        this.fault(around, 'has a key that is not text. Field names are plain words.')
        continue
      }
      const field = key.value
      const line = this.#locate(key, [...path, field], around)
      if (fields.has(field)) this.fault(line, `has the field ${shown(field)} twice. Remove one.`)
      fields.set(field, this.read(value as Node | null, [...path, field], line))
    }
    // Own properties only: a field called __proto__ is just another unknown field.
    return Object.fromEntries(fields)
  }

  /** A field's line is that of its name. */
  #locate(node: Node | null, path: LibraryPath, around: number): number {
    const line = node?.range ? this.lineAt(node.range[0]) : around
    if (!this.#lines.has(keyOf(path))) this.#lines.set(keyOf(path), line)
    return line
  }

  /** Counts a node. Beyond the limits, it records one fault and reading stops: an alias bomb ends here. */
  #isExhausted(node: Node | null, path: LibraryPath, line: number): boolean {
    if (this.#stopped) return true
    this.#values += 1
    if (isScalar(node) && typeof node.value === 'string') this.#characters += node.value.length
    const isTooLarge = this.#values > maxValues || this.#characters > maxYamlCharacters
    this.#stopped = isTooLarge || path.length > maxDepth
    if (this.#stopped) this.fault(line, isTooLarge ? tooLarge : tooDeep)
    return this.#stopped
  }
}

function keyOf(path: LibraryPath): string {
  return JSON.stringify(path)
}
