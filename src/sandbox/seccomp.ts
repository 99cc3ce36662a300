// Two filters. The static one holds for everything in a sandbox, the trusted runner included; the one per case is
// added by the runner after its fork and before any line of the program.
import {
  assemble,
  type BpfProgram,
  field,
  give,
  jumpIfAnyBit,
  jumpIfAtLeast,
  jumpIfEqual,
  jumpIfEqualSlot,
  label,
  load,
  mask,
} from './bpf.ts'
import { type Architecture, auditArchitecture, newestKnown, type Syscall, syscallNumber } from './syscalls.ts'

const allow = 0x7fff0000
const kill = 0x80000000
const fail = (errno: number) => 0x00050000 | errno
const EPERM = 1
const EAGAIN = 11
const ENOSYS = 38

const forbiddenAlways: readonly Syscall[] = [
  'ptrace',
  'process_vm_readv',
  'process_vm_writev',
  'pidfd_getfd',
  'kcmp',
  'process_madvise',
  'process_mrelease',
  'migrate_pages',
  'move_pages',
  'mount',
  'umount2',
  'pivot_root',
  'chroot',
  'open_tree',
  'move_mount',
  'fsopen',
  'fsconfig',
  'fsmount',
  'fspick',
  'mount_setattr',
  'name_to_handle_at',
  'open_by_handle_at',
  'socket',
  'connect',
  'bind',
  'listen',
  'accept',
  'accept4',
  'memfd_create',
  'memfd_secret',
  'shmget',
  'shmat',
  'shmdt',
  'shmctl',
  'msgget',
  'msgsnd',
  'msgrcv',
  'msgctl',
  'semget',
  'semop',
  'semctl',
  'semtimedop',
  'mq_open',
  'mq_unlink',
  'mq_timedsend',
  'mq_timedreceive',
  'mq_notify',
  'mq_getsetattr',
  'io_setup',
  'bpf',
  'perf_event_open',
  'userfaultfd',
  'add_key',
  'request_key',
  'keyctl',
  'fanotify_init',
  'fanotify_mark',
  'inotify_init',
  'inotify_init1',
  'inotify_add_watch',
  'inotify_rm_watch',
  'personality',
  'modify_ldt',
  'iopl',
  'ioperm',
  'uselib',
  'lookup_dcookie',
  'settimeofday',
  'clock_settime',
  'clock_adjtime',
  'adjtimex',
  'init_module',
  'finit_module',
  'delete_module',
  'kexec_load',
  'kexec_file_load',
  'reboot',
  'sethostname',
  'setdomainname',
  'swapon',
  'swapoff',
  'acct',
  'quotactl',
  'quotactl_fd',
  'syslog',
  'vhangup',
]

const CLONE_NEWPID = 0x20000000
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c
const FIOSETOWN = 0x8901
const SIOCSPGRP = 0x8902
const AF_UNIX = 1
const SOCK_STREAM = 1
const socketTypeBits = 0xf

export function staticFilter(architecture: Architecture): BpfProgram {
  const on = jumpFor(architecture)
  return assemble([
    ...checkArchitecture(architecture),
    ...['io_uring_setup', 'io_uring_enter', 'io_uring_register'].flatMap((name) =>
      on(name as Syscall, 'missing'),
    ),
    ...on('ioctl', 'ioctl'),
    ...on('socketpair', 'socketpair'),
    ...on('unshare', 'unshare'),
    ...on('setns', 'setns'),
    ...forbiddenAlways.flatMap((name) => on(name, 'forbidden')),
    give(allow),

    label('ioctl'),
    load(field.argument(1)),
    ...[TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP].map((request) => jumpIfEqual(request, 'forbidden')),
    give(allow),

    // Numbers of processes alone, and only the zygote may: see the filter per case.
    label('unshare'),
    load(field.argument(0)),
    jumpIfEqual(CLONE_NEWPID, 'allowed'),
    give(fail(EPERM)),
    label('setns'),
    load(field.argument(1)),
    jumpIfEqual(CLONE_NEWPID, 'allowed'),
    give(fail(EPERM)),

    // asyncio wakes its loop through a local pair; any other kind would reach beyond the process.
    label('socketpair'),
    load(field.argument(0)),
    jumpIfEqual(AF_UNIX, 'local pair'),
    give(fail(EPERM)),
    label('local pair'),
    load(field.argument(1)),
    mask(socketTypeBits),
    jumpIfEqual(SOCK_STREAM, 'allowed'),
    label('forbidden'),
    give(fail(EPERM)),
    label('allowed'),
    give(allow),
    label('missing'),
    give(fail(ENOSYS)),
  ])
}

// What these do outlives the process, is seen by others meanwhile, or tells what others did before: times, owners,
// attributes and locks of files; which files are in the host's memory; the numbers that the kernel gives to all pipes and
// sockets of the machine; descriptors in flight; waiters on a page of a file.
const leavesTraces: readonly Syscall[] = [
  'utime',
  'utimes',
  'futimesat',
  'utimensat',
  'chown',
  'fchown',
  'lchown',
  'fchownat',
  'setxattr',
  'lsetxattr',
  'fsetxattr',
  'removexattr',
  'lremovexattr',
  'fremovexattr',
  'flock',
  'fadvise64',
  'readahead',
  'cachestat',
  'preadv2',
  'pwritev2',
  'sync',
  'syncfs',
  'getrusage',
  'sysinfo',
  'mincore',
  'pipe',
  'pipe2',
  'socketpair',
  'sendmsg',
  'sendmmsg',
  'recvmsg',
  'recvmmsg',
  'getsockopt',
  'set_tid_address',
]

// A process that cannot fork has no grandchildren, so the limits of a process are totals. The rest of this list
// reaches the runner, which has the same user id as the program.
const forbiddenPerCase: readonly Syscall[] = [
  'unshare',
  'setns',
  ...leavesTraces,
  'execve',
  'execveat',
  'tkill',
  'rt_sigqueueinfo',
  'rt_tgsigqueueinfo',
  'pidfd_open',
  'pidfd_send_signal',
  'setpriority',
  'sched_setaffinity',
  'sched_setscheduler',
  'sched_setparam',
  'sched_setattr',
  'ioprio_set',
  // glibc uses prlimit64.
  'setrlimit',
  // A timer may send any signal, also one that a program may not send itself.
  'timer_create',
]

const CLONE_THREAD = 0x10000
const SIGKILL = 9
const RLIMIT_CPU = 0
const FUTEX_WAIT = 0
const FUTEX_WAIT_BITSET = 9
const FUTEX_PRIVATE_FLAG = 0x80
const futexCommandBits = 0x7f
// Others lock files, watch folders, make the kernel send a signal of one's choice to another process, or make a pipe hold
// a mebibyte that no memory limit counts.
const allowedFileCommands = {
  F_DUPFD: 0,
  F_GETFD: 1,
  F_SETFD: 2,
  F_GETFL: 3,
  F_SETFL: 4,
  F_DUPFD_CLOEXEC: 1030,
  F_GETPIPE_SZ: 1032,
}

/** The slot `pid` stands for the process that installs the filter: it may send signals to itself alone. */
export function caseFilter(architecture: Architecture): BpfProgram {
  const on = jumpFor(architecture)
  return assemble([
    ...checkArchitecture(architecture),
    ...on('clone', 'clone'),
    ...on('fork', 'no process'),
    ...on('vfork', 'no process'),
    // glibc falls back to clone, whose flags a filter can read.
    ...on('clone3', 'missing'),
    ...on('kill', 'kill'),
    ...on('tgkill', 'tgkill'),
    ...on('prlimit64', 'own limits'),
    ...on('fcntl', 'fcntl'),
    ...on('futex', 'futex'),
    // Newer forms of futex, which glibc does not use.
    ...(['futex_waitv', 'futex_wake', 'futex_wait', 'futex_requeue'] as const).flatMap((name) =>
      on(name, 'missing'),
    ),
    ...forbiddenPerCase.flatMap((name) => on(name, 'forbidden')),
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

    // A futex that is not private may lie on a page of a file, where waking tells whether another sandbox waits on it.
    // Waiting on one is how a thread is joined.
    label('futex'),
    load(field.argument(1)),
    jumpIfAnyBit(FUTEX_PRIVATE_FLAG, 'allowed'),
    mask(futexCommandBits),
    jumpIfEqual(FUTEX_WAIT, 'allowed'),
    jumpIfEqual(FUTEX_WAIT_BITSET, 'allowed'),
    give(fail(EPERM)),

    // So that a process which was killed was killed by the machine.
    label('kill'),
    load(field.argument(1)),
    jumpIfEqual(SIGKILL, 'forbidden'),
    jumpIfAtLeast(0, 'own process'),
    label('tgkill'),
    load(field.argument(2)),
    jumpIfEqual(SIGKILL, 'forbidden'),
    jumpIfAtLeast(0, 'own process'),

    // The kernel kills a process that has reached its limit of processor time, which must not look like the machine's work:
    // a program may read that limit and not lower it.
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
    jumpIfEqualSlot('pid', 'allowed'),
    label('forbidden'),
    give(fail(EPERM)),
    label('allowed'),
    give(allow),
    label('missing'),
    give(fail(ENOSYS)),
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

function jumpFor(architecture: Architecture) {
  return (name: Syscall, target: string) => {
    const number = syscallNumber(architecture, name)
    return number === undefined ? [] : [jumpIfEqual(number, target)]
  }
}
