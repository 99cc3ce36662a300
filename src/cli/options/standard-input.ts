import { UsageError } from '../problem.ts'

/** Up to its end; a final line break is the shell's, not the question's. */
export async function readStandardInput(): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write('Type the question and end it with Ctrl-D.\n')
  const chunks: Buffer[] = []
  try {
    for await (const chunk of process.stdin) chunks.push(chunk)
  } catch (error) {
    throw new UsageError(`The question cannot be read from standard input: ${(error as Error).message}.`)
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}
