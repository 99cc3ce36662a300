// Numbers from the kernel's asm/unistd_64.h (x86_64) and asm-generic/unistd.h (aarch64). From 424 on, all
// architectures share the same numbers.

export type Architecture = 'x86_64' | 'aarch64'

/** `AUDIT_ARCH_*`: the architecture of a call as seccomp reports it. */
export const auditArchitecture: Readonly<Record<Architecture, number>> = {
  x86_64: 0xc000003e,
  aarch64: 0xc00000b7,
}

/** The newest call known to the filters. For programs, later additions to the kernel do not exist. */
export const newestKnown = 456

/** [x86_64, aarch64]; undefined if an architecture never had the call. */
type Numbers = readonly [number, number | undefined]

/** Forbidden to everything in a sandbox, including the trusted runner. */
export const forbiddenAlways = {
  // Other processes
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  // Namespaces and mounts
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  // Network
  socket: [41, 198],
  connect: [42, 203],
  bind: [49, 200],
  listen: [50, 201],
  accept: [43, 202],
  accept4: [288, 242],
  // Memory that no limit of a process counts
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  shmget: [29, 194],
  shmat: [30, 196],
  shmdt: [67, 197],
  shmctl: [31, 195],
  msgget: [68, 186],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  msgctl: [71, 187],
  semget: [64, 190],
  semop: [65, 193],
  semctl: [66, 191],
  semtimedop: [220, 192],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  mq_timedsend: [242, 182],
  mq_timedreceive: [243, 183],
  mq_notify: [244, 184],
  mq_getsetattr: [245, 185],
  io_setup: [206, 0],
  // Kernel surface that a program has no use for
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  inotify_init: [253, undefined],
  inotify_init1: [294, 26],
  inotify_add_watch: [254, 27],
  inotify_rm_watch: [255, 28],
  personality: [135, 92],
  modify_ldt: [154, undefined],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  uselib: [134, undefined],
  lookup_dcookie: [212, 18],
  // The machine
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  syslog: [103, 116],
  vhangup: [153, 58],
} satisfies Record<string, Numbers>

/** Forbidden to a program. */
export const forbiddenInCase = {
  // The effects of these outlive the process, are visible to others, or reveal what others did: times, owners,
  // attributes and locks of files; which files are in the host's memory; the numbers the kernel gives to all pipes
  // and sockets of the machine; descriptors in flight; waiters on a page of a file.
  utime: [132, undefined],
  utimes: [235, undefined],
  futimesat: [261, undefined],
  utimensat: [280, 88],
  chown: [92, undefined],
  fchown: [93, 55],
  lchown: [94, undefined],
  fchownat: [260, 54],
  setxattr: [188, 5],
  lsetxattr: [189, 6],
  fsetxattr: [190, 7],
  removexattr: [197, 14],
  lremovexattr: [198, 15],
  fremovexattr: [199, 16],
  flock: [73, 32],
  fadvise64: [221, 223],
  readahead: [187, 213],
  cachestat: [451, 451],
  preadv2: [327, 286],
  pwritev2: [328, 287],
  sync: [162, 81],
  syncfs: [306, 267],
  getrusage: [98, 165],
  sysinfo: [99, 179],
  mincore: [27, 232],
  pipe: [22, undefined],
  pipe2: [293, 59],
  socketpair: [53, 199],
  sendmsg: [46, 211],
  sendmmsg: [307, 269],
  recvmsg: [47, 212],
  recvmmsg: [299, 243],
  getsockopt: [55, 209],
  set_tid_address: [218, 96],
  // New namespaces and other programs.
  unshare: [272, 97],
  setns: [308, 268],
  execve: [59, 221],
  execveat: [322, 281],
  // These reach the runner, which has the same user id as the program.
  tkill: [200, 130],
  rt_sigqueueinfo: [129, 138],
  rt_tgsigqueueinfo: [297, 240],
  pidfd_open: [434, 434],
  pidfd_send_signal: [424, 424],
  setpriority: [141, 140],
  sched_setaffinity: [203, 122],
  sched_setscheduler: [144, 119],
  sched_setparam: [142, 118],
  sched_setattr: [314, 274],
  ioprio_set: [251, 30],
  // glibc uses prlimit64.
  setrlimit: [160, 164],
  // A timer may send any signal, even one a program may not send itself.
  timer_create: [222, 107],
} satisfies Record<string, Numbers>

/** Calls that do not exist: for everything, and (below) for programs. */
export const missingAlways = {
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
} satisfies Record<string, Numbers>

export const missingInCase = {
  // glibc falls back to clone, whose flags a filter can inspect.
  clone3: [435, 435],
  // Newer forms of futex, which glibc does not use.
  futex_waitv: [449, 449],
  futex_wake: [454, 454],
  futex_wait: [455, 455],
  futex_requeue: [456, 456],
} satisfies Record<string, Numbers>

/** Forbidden or allowed by their arguments. */
const ruled = {
  ioctl: [16, 29],
  clone: [56, 220],
  fork: [57, undefined],
  vfork: [58, undefined],
  kill: [62, 129],
  tgkill: [234, 131],
  prlimit64: [302, 261],
  fcntl: [72, 25],
  futex: [202, 98],
} satisfies Record<string, Numbers>

const numbers = { ...forbiddenAlways, ...forbiddenInCase, ...missingAlways, ...missingInCase, ...ruled }

export type Syscall = keyof typeof numbers

export function syscallNumber(architecture: Architecture, name: Syscall): number | undefined {
  return numbers[name][architecture === 'x86_64' ? 0 : 1]
}
