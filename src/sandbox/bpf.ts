// A minimal classic-BPF assembler for seccomp filters: forward jumps to labels, nothing else.

/** `struct seccomp_data`: where the kernel puts the call's number, architecture and six 64-bit arguments. */
export const field = {
  number: 0,
  architecture: 4,
  /** The low half of an argument: all the kernel looks at if the parameter is an int. */
  argument: (index: number) => 16 + 8 * index,
  /** The high half of an argument, for pointers. */
  highHalf: (index: number) => 20 + 8 * index,
} as const

interface Operation {
  readonly code: number
  readonly value: number
  readonly target?: string
}

type Step = Operation | { readonly label: string }

export const load = (offset: number): Step => ({ code: 0x20, value: offset })
export const mask = (bits: number): Step => ({ code: 0x54, value: bits })
export const jumpIfEqual = (value: number, target: string): Step => ({ code: 0x15, value, target })
export const jumpIfAtLeast = (value: number, target: string): Step => ({ code: 0x35, value, target })
export const jumpIfAnyBit = (bits: number, target: string): Step => ({ code: 0x45, value: bits, target })
export const give = (action: number): Step => ({ code: 0x06, value: action })
export const label = (name: string): Step => ({ label: name })

const instructionBytes = 8
const longestProgram = 4096
const longestJump = 255

/** An array of `struct sock_filter`, little-endian. */
export function assemble(steps: readonly Step[]): Uint8Array {
  const places = new Map<string, number>()
  const operations: Operation[] = []
  for (const step of steps) {
    if ('label' in step) places.set(step.label, operations.length)
    else operations.push(step)
  }
  if (operations.length > longestProgram) throw new Error(`BPF program of ${operations.length} instructions`)
  const code = new Uint8Array(operations.length * instructionBytes)
  const view = new DataView(code.buffer)
  for (const [index, { code: operation, value, target }] of operations.entries()) {
    const at = index * instructionBytes
    view.setUint16(at, operation, true)
    if (target !== undefined) view.setUint8(at + 2, distance(places, index, target))
    view.setUint32(at + 4, value, true)
  }
  return code
}

function distance(places: ReadonlyMap<string, number>, from: number, target: string): number {
  const to = places.get(target)
  if (to === undefined) throw new Error(`BPF jump to unknown label '${target}'`)
  const jump = to - from - 1
  if (jump < 0 || jump > longestJump) throw new Error(`BPF jump to '${target}' of ${jump} instructions`)
  return jump
}
