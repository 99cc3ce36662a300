import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const python = '/usr/bin/python3'

/** A PyTorch process that takes commands; see torch/peer.py. */
export interface TorchPeer {
  readonly environment: Record<string, unknown>
  ask(command: Record<string, unknown>): Promise<Record<string, number>>
  close(): void
}

export async function startTorchPeer(scenario: string, say: (line: string) => void): Promise<TorchPeer> {
  ensureTorch(say)
  const script = fileURLToPath(new URL('./torch/peer.py', import.meta.url))
  const peer = spawn(python, ['-B', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: peer.stdout })[Symbol.asyncIterator]()
  const ask = async (command: Record<string, unknown>) => {
    peer.stdin.write(`${JSON.stringify(command)}\n`)
    const { value, done } = await lines.next()
    if (done) throw new Error('The PyTorch peer ended.')
    const answer = JSON.parse(value)
    if (answer.error) throw new Error(`The PyTorch peer failed: ${answer.error}`)
    return answer
  }
  const environment = await ask({ setup: scenario })
  return { environment, ask, close: () => peer.stdin.end() }
}

/** Debian's PyTorch with OpenBLAS; installs it if it is missing and we are root. */
function ensureTorch(say: (line: string) => void): void {
  if (hasTorch()) return
  if (process.getuid?.() !== 0)
    throw new Error('The bench needs PyTorch: sudo apt-get install python3-torch libopenblas0-pthread')
  say('installing python3-torch (a few minutes) …')
  const quiet = { stdio: ['ignore', 'ignore', 'inherit'] as ['ignore', 'ignore', 'inherit'] }
  execFileSync('apt-get', ['update', '-qq'], quiet)
  const packages = ['python3-torch', 'libopenblas0-pthread']
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], quiet)
  if (!hasTorch()) throw new Error(`${python} still cannot import torch with an optimised BLAS.`)
}

/** Whether PyTorch uses an optimised BLAS; the reference BLAS would be an unfair comparison. */
function hasTorch(): boolean {
  const check = 'import runtime, numpy, sys; sys.exit(runtime.loaded_blas() is None)'
  const folder = fileURLToPath(new URL('./torch', import.meta.url))
  return spawnSync(python, ['-c', check], { cwd: folder, stdio: 'ignore' }).status === 0
}
