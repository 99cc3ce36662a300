import { inflateSync } from 'node:zlib'
import { z } from 'zod'
import type { ProgramTest } from '../../library/task.ts'
import { readPickledText } from './pickled-text.ts'

const testCases = z.array(
  z.object({ input: z.string(), output: z.string(), testtype: z.enum(['stdin', 'functional']) }),
)

const expandedLimit = 2 ** 28

/**
 * Reads test cases of LiveCodeBench: JSON, or base64 of zlib of a pickled JSON text. Throws an error that says what
 * is wrong.
 */
export function decodeTests(field: string): readonly ProgramTest[] {
  const json = field.trimStart().startsWith('[') ? field : decodeText(field)
  const result = testCases.safeParse(JSON.parse(json))
  if (result.success) return result.data
  const issue = result.error.issues[0]!
  throw new SyntaxError(`${z.core.toDotPath(issue.path)}: ${issue.message}`)
}

function decodeText(field: string): string {
  // Checked first, because `Buffer.from` skips characters that are not base64.
  const base64 = field.trim()
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new SyntaxError('is neither a JSON array nor base64')
  return readPickledText(inflateSync(Buffer.from(base64, 'base64'), { maxOutputLength: expandedLimit }))
}
