/**
 * System calls that infrastructure tools do not need and that exploits of the kernel or of other processes begin with. Each
 * fails with EPERM in a sandbox. The numbers come from the kernel's tables for the two supported architectures.
 */
interface RefusedCall {
  readonly name: string;
  /** Null: the architecture has no such call. */
  readonly x64: number | null;
  readonly arm64: number | null;
}

const call = (name: string, x64: number | null, arm64: number | null): RefusedCall => ({ name, x64, arm64 });

export const refusedCalls: readonly RefusedCall[] = [
  // Reading or controlling other processes.
  call('ptrace', 101, 117),
  call('process_vm_readv', 310, 270),
  call('process_vm_writev', 311, 271),
  call('process_madvise', 440, 440),
  call('kcmp', 312, 272),
  call('pidfd_getfd', 438, 438),
  // New namespaces, and calls that build a file system view in one.
  call('unshare', 272, 97),
  call('setns', 308, 268),
  call('mount', 165, 40),
  call('umount2', 166, 39),
  call('pivot_root', 155, 41),
  call('chroot', 161, 51),
  call('open_tree', 428, 428),
  call('move_mount', 429, 429),
  call('fsopen', 430, 430),
  call('fsconfig', 431, 431),
  call('fsmount', 432, 432),
  call('fspick', 433, 433),
  call('mount_setattr', 442, 442),
  // Kernel keys, which belong to a user and not to a namespace.
  call('add_key', 248, 217),
  call('request_key', 249, 218),
  call('keyctl', 250, 219),
  // Large attack surfaces that ordinary programs do not need.
  call('bpf', 321, 280),
  call('perf_event_open', 298, 241),
  call('userfaultfd', 323, 282),
  call('io_uring_setup', 425, 425),
  call('io_uring_enter', 426, 426),
  call('io_uring_register', 427, 427),
  call('fanotify_init', 300, 262),
  call('name_to_handle_at', 303, 264),
  call('open_by_handle_at', 304, 265),
  call('lookup_dcookie', 212, 18),
  call('vmsplice', 278, 75),
  call('modify_ldt', 154, null),
  call('uselib', 134, null),
  call('ustat', 136, null),
  call('sysfs', 139, null),
  call('_sysctl', 156, null),
  call('nfsservctl', 180, 42),
  call('quotactl', 179, 60),
  call('quotactl_fd', 443, 443),
  call('memfd_secret', 447, 447),
  // Memory that neither a file system of the sandbox nor a process shows, so that a limit could be exceeded unseen.
  call('memfd_create', 319, 279),
  call('shmget', 29, 194),
  call('msgget', 68, 186),
  // Control of the machine itself.
  call('init_module', 175, 105),
  call('finit_module', 313, 273),
  call('delete_module', 176, 106),
  call('create_module', 174, null),
  call('kexec_load', 246, 104),
  call('kexec_file_load', 320, 294),
  call('reboot', 169, 142),
  call('swapon', 167, 224),
  call('swapoff', 168, 225),
  call('acct', 163, 89),
  call('syslog', 103, 116),
  call('vhangup', 153, 58),
  call('iopl', 172, null),
  call('ioperm', 173, null),
  call('settimeofday', 164, 170),
  call('clock_settime', 227, 112),
  call('clock_adjtime', 305, 266),
  call('adjtimex', 159, 171),
  call('sethostname', 170, 161),
  call('setdomainname', 171, 162),
  call('mbind', 237, 235),
  call('migrate_pages', 256, 238),
  call('move_pages', 279, 239),
  call('set_mempolicy', 238, 237),
];

/** Calls whose arguments the filter also checks. */
export const inspectedCalls = {
  clone: { x64: 56, arm64: 220 },
  clone3: { x64: 435, arm64: 435 },
  socket: { x64: 41, arm64: 198 },
  socketpair: { x64: 53, arm64: 199 },
  ioctl: { x64: 16, arm64: 29 },
  personality: { x64: 135, arm64: 92 },
  prctl: { x64: 157, arm64: 167 },
  mmap: { x64: 9, arm64: 222 },
} as const;
