export type Machine = 'x86_64' | 'aarch64'

interface SystemCall {
  readonly x86_64: number | null
  readonly aarch64: number | null
  readonly answer: 'EPERM' | 'ENOSYS'
}

const refused = (x86_64: number | null, aarch64: number | null): SystemCall => ({ x86_64, aarch64, answer: 'EPERM' })
/** ENOSYS, so that libraries use an older call. */
const absent = (number: number): SystemCall => ({ x86_64: number, aarch64: number, answer: 'ENOSYS' })

/** The numbers of the kernel's tables, independent of the filter's own list, so that a mistake there fails a test. */
export const SYSTEM_CALLS: Readonly<Record<string, SystemCall>> = {
  clone3: absent(435),
  io_uring_setup: absent(425),
  io_uring_enter: absent(426),
  io_uring_register: absent(427),
  io_setup: { x86_64: 206, aarch64: 0, answer: 'ENOSYS' },
  seccomp: { x86_64: 317, aarch64: 277, answer: 'ENOSYS' },
  ptrace: refused(101, 117),
  process_vm_readv: refused(310, 270),
  process_vm_writev: refused(311, 271),
  kcmp: refused(312, 272),
  pidfd_getfd: refused(438, 438),
  process_madvise: refused(440, 440),
  bpf: refused(321, 280),
  perf_event_open: refused(298, 241),
  userfaultfd: refused(323, 282),
  add_key: refused(248, 217),
  request_key: refused(249, 218),
  keyctl: refused(250, 219),
  unshare: refused(272, 97),
  setns: refused(308, 268),
  mount: refused(165, 40),
  umount2: refused(166, 39),
  pivot_root: refused(155, 41),
  chroot: refused(161, 51),
  open_tree: refused(428, 428),
  move_mount: refused(429, 429),
  fsopen: refused(430, 430),
  fsconfig: refused(431, 431),
  fsmount: refused(432, 432),
  fspick: refused(433, 433),
  mount_setattr: refused(442, 442),
  name_to_handle_at: refused(303, 264),
  open_by_handle_at: refused(304, 265),
  kexec_load: refused(246, 104),
  kexec_file_load: refused(320, 294),
  init_module: refused(175, 105),
  finit_module: refused(313, 273),
  delete_module: refused(176, 106),
  reboot: refused(169, 142),
  swapon: refused(167, 224),
  swapoff: refused(168, 225),
  sethostname: refused(170, 161),
  setdomainname: refused(171, 162),
  iopl: refused(172, null),
  ioperm: refused(173, null),
  modify_ldt: refused(154, null),
  acct: refused(163, 89),
  quotactl: refused(179, 60),
  lookup_dcookie: refused(212, 18),
  syslog: refused(103, 116),
  settimeofday: refused(164, 170),
  clock_settime: refused(227, 112),
  clock_adjtime: refused(305, 266),
  adjtimex: refused(159, 171),
  vhangup: refused(153, 58),
  fanotify_init: refused(300, 262),
  move_pages: refused(279, 239),
  migrate_pages: refused(256, 238),
  mbind: refused(237, 235),
}
