import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml'
import { type LibraryPath, shown } from './library-problem.ts'

/** Something in a file that is no YAML, or none that is taken here. */
interface YamlFault {
  readonly line: number
  readonly message: string
}

/** A YAML file as plain values: objects, arrays, text, numbers, booleans and null. */
export interface YamlDocument {
  readonly value: unknown
  readonly faults: readonly YamlFault[]
  /** The line of a field, or of the nearest one around it that exists. */
  readonly lineOf: (path: LibraryPath) => number
}

/** Characters in a file, and again after aliases are expanded: some ten times the largest library we know. */
export const maxYamlCharacters = 1 << 20
// A role's deepest field, roles[i].group.workers[j].tools[k], is at depth 7.
const maxDepth = 10
const maxValues = 100_000
const maxSyntaxFaults = 20

/**
 * Reads a file that may have come from anywhere: nothing but the plain YAML 1.2 values, no tags, no second
 * document, no key twice, bounded in size and depth after expansion of aliases. Time is linear in the file's
 * length.
 */
export function readYaml(text: string): YamlDocument {
  const lines = new LineCounter()
  // Our own check finds a key that comes twice: the parser's compares each key of a mapping with all others.
  const document = parseDocument<Node>(text, {
    schema: 'core',
    uniqueKeys: false,
    resolveKnownTags: false,
    prettyErrors: false,
    logLevel: 'error',
    lineCounter: lines,
  })
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line)
  if (document.errors.length > 0) {
    const faults = document.errors
      .slice(0, maxSyntaxFaults)
      .map(({ pos, code, message }) => ({ line: lineAt(pos[0]), message: syntaxFault(code, message) }))
    return { value: undefined, faults, lineOf: () => 1 }
  }
  const reader = new NodeReader(aliasTargets(document.contents), lineAt)
  const value = reader.read(document.contents, [])
  return { value, faults: reader.faults, lineOf: (path) => reader.lineOf(path) }
}

function syntaxFault(code: string, message: string): string {
  if (code === 'MULTIPLE_DOCS') return 'has a second document. Keep one library per file.'
  if (code === 'RESOURCE_EXHAUSTION')
    return 'is nested more deeply than any library. Remove the inner levels.'
  return `is not valid YAML: ${message}.`
}

/** Which node each alias stands for: an anchor may be given anew further down, so order matters. */
function aliasTargets(root: Node | null): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>()
  const targets = new Map<Alias, Node>()
  visit(root, {
    Node(_, node) {
      if (isAlias(node)) {
        const target = anchors.get(node.source)
        if (target) targets.set(node, target)
      } else if (node.anchor !== undefined) anchors.set(node.anchor, node)
    },
  })
  return targets
}

class NodeReader {
  readonly faults: YamlFault[] = []
  private readonly lineNumbers = new Map<string, number>()
  private readonly targets: ReadonlyMap<Alias, Node>
  private readonly lineAt: (offset: number) => number
  private values = 0
  private characters = 0
  private line = 1
  private stopped = false

  constructor(targets: ReadonlyMap<Alias, Node>, lineAt: (offset: number) => number) {
    this.targets = targets
    this.lineAt = lineAt
  }

  read(node: unknown, path: LibraryPath): unknown {
    const before = this.line
    const value = this.readAt(node as Node | null, path)
    this.line = before
    return value
  }

  lineOf(path: LibraryPath): number {
    for (let length = path.length; length > 0; length -= 1) {
      const line = this.lineNumbers.get(keyOf(path.slice(0, length)))
      if (line !== undefined) return line
    }
    return 1
  }

  private readAt(node: Node | null, path: LibraryPath): unknown {
    if (node?.range) this.line = this.lineAt(node.range[0])
    if (!this.lineNumbers.has(keyOf(path))) this.lineNumbers.set(keyOf(path), this.line)
    if (this.exhausted(node, path)) return null
    if (isAlias(node)) return this.alias(node, path)
    if (node?.tag !== undefined)
      this.fault(`has the tag ${shown(node.tag)}. Tags are not supported: remove it.`)
    if (isMap(node)) return this.mapping(node.items, path)
    if (isSeq(node)) return node.items.map((item, index) => this.read(item, [...path, index]))
    if (!isScalar(node)) return null
    if (typeof node.value === 'string' && !node.value.isWellFormed())
      this.fault('holds half of a surrogate pair. Remove it, or write the whole character.')
    return node.value
  }

  private alias(node: Alias, path: LibraryPath): unknown {
    const target = this.targets.get(node)
    if (target) return this.read(target, path)
    this.fault(`refers to ${shown(node.source)}, but no anchor before it has that name. Write the value out.`)
    return null
  }

  private mapping(pairs: readonly { key: unknown; value: unknown }[], path: LibraryPath): unknown {
    const fields = new Map<string, unknown>()
    for (const { key, value } of pairs) {
      if (isScalar(key) && key.range) this.line = this.lineAt(key.range[0])
      if (!isScalar(key) || typeof key.value !== 'string') {
        this.fault('has a key that is not text. Field names are plain words.')
        continue
      }
      const field = key.value
      if (fields.has(field)) this.fault(`has the field ${shown(field)} twice. Remove one.`)
      this.lineNumbers.set(keyOf([...path, field]), this.line)
      fields.set(field, this.read(value, [...path, field]))
    }
    // Own properties whatever their names: a field called __proto__ is one more unknown field.
    return Object.fromEntries(fields)
  }

  /** Counts a node. Past the bounds there is one fault, and nothing more is read: an alias bomb ends here. */
  private exhausted(node: Node | null, path: LibraryPath): boolean {
    if (this.stopped) return true
    this.values += 1
    if (isScalar(node) && typeof node.value === 'string') this.characters += node.value.length
    if (path.length > maxDepth) {
      this.stop('is nested more deeply than any library. Remove the inner levels.')
    } else if (this.values > maxValues || this.characters > maxYamlCharacters) {
      const bounds = `${maxValues} values or ${maxYamlCharacters} characters`
      this.stop(`has more than ${bounds} once its aliases are expanded. Split or shorten it.`)
    }
    return this.stopped
  }

  private stop(message: string): void {
    this.stopped = true
    this.fault(message)
  }

  private fault(message: string): void {
    this.faults.push({ line: this.line, message })
  }
}

function keyOf(path: LibraryPath): string {
  return JSON.stringify(path)
}
