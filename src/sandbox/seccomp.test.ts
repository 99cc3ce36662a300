import { describe, expect, test } from 'vitest'
import { assemble, give, jumpIfEqual, label, load } from './bpf.ts'
import { caseFilter, staticFilter } from './seccomp.ts'
import { type Architecture, auditArchitecture, type Syscall, syscallNumber } from './syscalls.ts'

interface Call {
  number: number
  architecture?: number
  arguments?: number[]
}

/** A second implementation of the BPF machine, as simple as possible. */
function decide(code: Uint8Array, call: Call, native: Architecture): string {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(call.number, 0)
  data.writeUInt32LE(call.architecture ?? auditArchitecture[native], 4)
  for (const [index, value] of (call.arguments ?? []).entries())
    data.writeBigUInt64LE(BigInt(value), 16 + 8 * index)
  const view = new DataView(code.buffer)
  let accumulator = 0
  for (let at = 0; at * 8 < code.length; at += 1) {
    const [operation, then, otherwise, value] = [
      view.getUint16(at * 8, true),
      view.getUint8(at * 8 + 2),
      view.getUint8(at * 8 + 3),
      view.getUint32(at * 8 + 4, true),
    ]
    if (operation === 0x20) accumulator = data.readUInt32LE(value)
    else if (operation === 0x54) accumulator = (accumulator & value) >>> 0
    else if (operation === 0x15) at += accumulator === value ? then : otherwise
    else if (operation === 0x35) at += accumulator >= value ? then : otherwise
    else if (operation === 0x45) at += (accumulator & value) !== 0 ? then : otherwise
    else if (operation === 0x06) return actionName(value)
    else throw new Error(`operation ${operation}`)
  }
  throw new Error('ran off the end')
}

function actionName(action: number): string {
  if (action === 0x7fff0000) return 'allow'
  if (action === 0x80000000) return 'kill'
  const errno = { 1: 'EPERM', 11: 'EAGAIN', 38: 'ENOSYS' }[action & 0xffff]
  return errno ?? `action ${action}`
}

const x86Read = 0
const arm64Read = 63

describe.each(['x86_64', 'aarch64'] as const)('filters for %s', (native) => {
  const always = staticFilter(native)
  const perCase = caseFilter(native)
  const number = (name: Syscall) => syscallNumber(native, name)!
  const inSandbox = (name: Syscall, ...given: number[]) =>
    decide(always, { number: number(name), arguments: given }, native)
  const inCase = (name: Syscall, ...given: number[]) =>
    decide(perCase, { number: number(name), arguments: given }, native)

  test('let ordinary calls through', () => {
    const read = native === 'x86_64' ? x86Read : arm64Read
    expect(decide(always, { number: read }, native)).toBe('allow')
    expect(decide(perCase, { number: read }, native)).toBe('allow')
  })

  test('kill a process that calls through another architecture', () => {
    const i386 = 0x40000003
    expect(decide(always, { number: 20, architecture: i386 }, native)).toBe('kill')
    expect(decide(perCase, { number: 20, architecture: i386 }, native)).toBe('kill')
  })

  test('reject x32 calls, newer calls and negative numbers as unknown', () => {
    for (const number of [0x40000000, 0x40000000 + 101, 457, 1000, 0xffffffff]) {
      expect(decide(always, { number }, native)).toBe('ENOSYS')
      expect(decide(perCase, { number }, native)).toBe('ENOSYS')
    }
  })

  test.each<Syscall>([
    'ptrace',
    'process_vm_writev',
    'unshare',
    'mount',
    'chroot',
    'bpf',
    'userfaultfd',
    'keyctl',
    'socket',
    'connect',
    'shmget',
    'memfd_create',
    'memfd_secret',
    'inotify_init1',
    'clock_settime',
    'reboot',
    'vhangup',
  ])('forbid %s everywhere', (name) => expect(inSandbox(name)).toBe('EPERM'))

  test('pretend that io_uring does not exist', () => expect(inSandbox('io_uring_setup')).toBe('ENOSYS'))

  test('let the runner fork, start programs and watch its children', () => {
    for (const name of ['clone', 'execve', 'kill', 'pidfd_open', 'prlimit64'] as const) {
      expect(inSandbox(name)).toBe('allow')
    }
  })

  test('allow a local pair of stream sockets and no other', () => {
    const [AF_UNIX, AF_INET, STREAM, DGRAM, CLOEXEC, NONBLOCK] = [1, 2, 1, 2, 0x80000, 0x800]
    expect(inSandbox('socketpair', AF_UNIX, STREAM)).toBe('allow')
    expect(inSandbox('socketpair', AF_UNIX, STREAM | CLOEXEC | NONBLOCK)).toBe('allow')
    expect(inSandbox('socketpair', AF_UNIX, DGRAM)).toBe('EPERM')
    expect(inSandbox('socketpair', AF_INET, STREAM)).toBe('EPERM')
  })

  test('forbid typing into a terminal', () => {
    expect(inSandbox('ioctl', 0, 0x5412)).toBe('EPERM')
    expect(inSandbox('ioctl', 0, 0x541c)).toBe('EPERM')
    expect(inSandbox('ioctl', 0, 0x5401)).toBe('allow')
  })

  test('allow threads but no processes', () => {
    const CLONE_THREAD = 0x10000
    expect(inCase('clone', 0x3d0f00)).toBe('allow')
    expect(0x3d0f00 & CLONE_THREAD).not.toBe(0)
    expect(inCase('clone', 0x1200011)).toBe('EAGAIN')
    expect(inCase('clone3')).toBe('ENOSYS')
    expect(inCase('execve')).toBe('EPERM')
    if (native === 'x86_64') {
      expect(inCase('fork')).toBe('EAGAIN')
      expect(inCase('vfork')).toBe('EAGAIN')
    }
  })

  test('allow signals and limits for the process itself only', () => {
    for (const name of ['kill', 'tgkill', 'prlimit64'] as const) {
      expect(inCase(name, 1)).toBe('allow')
      expect(inCase(name, 2)).toBe('EPERM')
      expect(inCase(name, 0xffffffff)).toBe('EPERM')
    }
    expect(inCase('kill', 0)).toBe('EPERM')
    expect(inCase('prlimit64', 0)).toBe('allow')
  })

  test('let a process read its CPU limit but not set it, since the kernel kills at that limit', () => {
    const [CPU, OPEN_FILES] = [0, 7]
    expect(inCase('prlimit64', 0, CPU, 0, 0x7fff1000)).toBe('allow')
    expect(inCase('prlimit64', 0, CPU, 0x7fff1000)).toBe('EPERM')
    expect(inCase('prlimit64', 0, CPU, 2 ** 32)).toBe('EPERM')
    expect(inCase('prlimit64', 0, OPEN_FILES, 0x7fff1000)).toBe('allow')
    expect(inCase('setrlimit', CPU, 0x7fff1000)).toBe('EPERM')
  })

  test('forbid new pipes and socket pairs, whose inode numbers others could read', () => {
    for (const name of ['pipe2', 'socketpair', 'sendmsg', 'getsockopt', 'mincore'] as const)
      expect(inCase(name, 1, 1)).toBe('EPERM')
  })

  test('let a thread wait for another, but wake nothing outside its process', () => {
    const [WAIT, WAKE, REQUEUE, WAIT_BITSET, PRIVATE, REALTIME] = [0, 1, 3, 9, 128, 256]
    for (const command of [WAIT, WAIT_BITSET | REALTIME, WAKE | PRIVATE, REQUEUE | PRIVATE])
      expect(inCase('futex', 0, command)).toBe('allow')
    for (const command of [WAKE, REQUEUE, 4, 5, 10]) expect(inCase('futex', 0, command)).toBe('EPERM')
    expect(inCase('futex_wake')).toBe('ENOSYS')
  })

  test('forbid signals through a file', () => {
    for (const command of [8, 10, 15, 1031]) expect(inCase('fcntl', 3, command)).toBe('EPERM')
    expect(inCase('fcntl', 3, 4)).toBe('allow')
  })
})

describe('the assembler', () => {
  test('refuses jumps that are undefined, backward or too far', () => {
    expect(() => assemble([jumpIfEqual(1, 'gone'), give(0)])).toThrow("jump to unknown label 'gone'")
    expect(() => assemble([label('start'), jumpIfEqual(1, 'start'), give(0)])).toThrow('of -1 instructions')
    const far = [jumpIfEqual(1, 'end'), ...Array.from({ length: 256 }, () => load(0)), label('end'), give(0)]
    expect(() => assemble(far)).toThrow('of 256 instructions')
  })
})
