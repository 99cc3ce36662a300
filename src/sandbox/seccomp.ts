// Two filters. The static one applies to everything in a sandbox, including the trusted runner. The filter per case
// is added by the program's process before any line of the program runs.
import { assemble, field, give, jumpIfAnyBit, jumpIfAtLeast, jumpIfEqual, label, load, mask } from './bpf.ts'
import {
  type Architecture,
  auditArchitecture,
  forbiddenAlways,
  forbiddenInCase,
  missingAlways,
  missingInCase,
  newestKnown,
  type Syscall,
  syscallNumber,
} from './syscalls.ts'

const allow = 0x7fff0000
const kill = 0x80000000
const fail = (errno: number) => 0x00050000 | errno
const EPERM = 1
const EAGAIN = 11
const ENOSYS = 38

const CLONE_NEWPID = 0x20000000
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c
const FIOSETOWN = 0x8901
const SIOCSPGRP = 0x8902
const AF_UNIX = 1
const SOCK_STREAM = 1
const socketTypeBits = 0xf

export function staticFilter(architecture: Architecture): Uint8Array {
  const on = jumpFor(architecture)
  return assemble([
    ...checkArchitecture(architecture),
    ...on(Object.keys(missingAlways), 'missing'),
    ...on(['ioctl'], 'ioctl'),
    ...on(['socketpair'], 'socketpair'),
    ...on(['unshare'], 'unshare'),
    ...on(['setns'], 'setns'),
    ...on(Object.keys(forbiddenAlways), 'forbidden'),
    give(allow),

    label('ioctl'),
    load(field.argument(1)),
    ...[TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP].map((request) => jumpIfEqual(request, 'forbidden')),
    give(allow),

    // Only process-number namespaces, and only for the zygote: see the filter per case.
    label('unshare'),
    load(field.argument(0)),
    jumpIfEqual(CLONE_NEWPID, 'allowed'),
    give(fail(EPERM)),
    label('setns'),
    load(field.argument(1)),
    jumpIfEqual(CLONE_NEWPID, 'allowed'),
    give(fail(EPERM)),

    // asyncio wakes its loop through a local pair; any other kind would reach outside the process.
    label('socketpair'),
    load(field.argument(0)),
    jumpIfEqual(AF_UNIX, 'local pair'),
    give(fail(EPERM)),
    label('local pair'),
    load(field.argument(1)),
    mask(socketTypeBits),
    jumpIfEqual(SOCK_STREAM, 'allowed'),
    ...endings(),
  ])
}

const CLONE_THREAD = 0x10000
const SIGKILL = 9
const RLIMIT_CPU = 0
const FUTEX_WAIT = 0
const FUTEX_WAIT_BITSET = 9
const FUTEX_PRIVATE_FLAG = 0x80
const futexCommandBits = 0x7f
/** A program is process 1 of its namespace. */
const ownNumber = 1
// Other commands lock files, watch folders, make the kernel send signals to other processes, or make a pipe hold a
// mebibyte that no memory limit counts.
const allowedFileCommands = {
  F_DUPFD: 0,
  F_GETFD: 1,
  F_SETFD: 2,
  F_GETFL: 3,
  F_SETFL: 4,
  F_DUPFD_CLOEXEC: 1030,
  F_GETPIPE_SZ: 1032,
}

/** A program cannot fork, so per-process limits are totals. */
export function caseFilter(architecture: Architecture): Uint8Array {
  const on = jumpFor(architecture)
  return assemble([
    ...checkArchitecture(architecture),
    ...on(['clone'], 'clone'),
    ...on(['fork', 'vfork'], 'no process'),
    ...on(['kill'], 'kill'),
    ...on(['tgkill'], 'tgkill'),
    ...on(['prlimit64'], 'own limits'),
    ...on(['fcntl'], 'fcntl'),
    ...on(['futex'], 'futex'),
    ...on(Object.keys(missingInCase), 'missing'),
    ...on(Object.keys(forbiddenInCase), 'forbidden'),
    give(allow),

    label('clone'),
    load(field.argument(0)),
    jumpIfAnyBit(CLONE_THREAD, 'allowed'),
    label('no process'),
    give(fail(EAGAIN)),

    label('fcntl'),
    load(field.argument(1)),
    ...Object.values(allowedFileCommands).map((command) => jumpIfEqual(command, 'allowed')),
    give(fail(EPERM)),

    // A non-private futex may be on a page of a file, where waking reveals whether another sandbox waits on it.
    // Waiting on one is how a thread is joined.
    label('futex'),
    load(field.argument(1)),
    jumpIfAnyBit(FUTEX_PRIVATE_FLAG, 'allowed'),
    mask(futexCommandBits),
    jumpIfEqual(FUTEX_WAIT, 'allowed'),
    jumpIfEqual(FUTEX_WAIT_BITSET, 'allowed'),
    give(fail(EPERM)),

    // So that a killed process was certainly killed by the machine.
    label('kill'),
    load(field.argument(1)),
    jumpIfEqual(SIGKILL, 'forbidden'),
    jumpIfAtLeast(0, 'own process'),
    label('tgkill'),
    load(field.argument(2)),
    jumpIfEqual(SIGKILL, 'forbidden'),
    jumpIfAtLeast(0, 'own process'),

    // The kernel kills a process at its CPU limit, which must not look like the machine's doing: a program may read
    // that limit but not lower it.
    label('own limits'),
    load(field.argument(1)),
    jumpIfEqual(RLIMIT_CPU, 'processor time'),
    jumpIfAtLeast(0, 'limits of itself'),
    label('processor time'),
    load(field.argument(2)),
    jumpIfAnyBit(0xffffffff, 'forbidden'),
    load(field.highHalf(2)),
    jumpIfAnyBit(0xffffffff, 'forbidden'),
    label('limits of itself'),
    load(field.argument(0)),
    jumpIfEqual(0, 'allowed'),
    label('own process'),
    load(field.argument(0)),
    jumpIfEqual(ownNumber, 'allowed'),
    ...endings(),
  ])
}

function checkArchitecture(architecture: Architecture) {
  return [
    load(field.architecture),
    jumpIfEqual(auditArchitecture[architecture], 'native'),
    give(kill),
    label('native'),
    load(field.number),
    // Covers the x32 calls too, which start at 2^30.
    jumpIfAtLeast(newestKnown + 1, 'missing'),
  ]
}

/** Whatever was not allowed so far is forbidden. */
function endings() {
  return [
    label('forbidden'),
    give(fail(EPERM)),
    label('allowed'),
    give(allow),
    label('missing'),
    give(fail(ENOSYS)),
  ]
}

function jumpFor(architecture: Architecture) {
  return (names: readonly string[], target: string) =>
    names
      .map((name) => syscallNumber(architecture, name as Syscall))
      .filter((number) => number !== undefined)
      .map((number) => jumpIfEqual(number, target))
}
