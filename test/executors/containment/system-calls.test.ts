import { isRoot } from '../worker/worker-process.ts';
import { describeProbes, type Probe } from './probes.ts';

/**
 * System calls that exploits begin with, by numbers that are copied by hand, independently of the filter. Outside a sandbox
 * each one works or complains about its arguments. Inside, the filter refuses it before the kernel looks at the arguments.
 */
type Numbers = readonly [x64: number, arm64: number];
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
const calls: [name: string, numbers: Numbers, given: string, errno: number][] = [
  ['trace processes (ptrace)', [101, 117], '0, 0, 0, 0', EPERM],
  ['read the memory of processes (process_vm_readv)', [310, 270], '$$, 0, 0, 0, 0, 0', EPERM],
  ['write the memory of processes (process_vm_writev)', [311, 271], '$$, 0, 0, 0, 0, 0', EPERM],
  ['take descriptors of processes (pidfd_getfd)', [438, 438], '-1, 0, 0', EPERM],
  ['enter namespaces (setns)', [308, 268], '-1, 0', EPERM],
  ['make a user namespace (unshare)', [272, 97], '0x10000000', EPERM],
  ['start a process in a user namespace (clone)', [56, 220], '0x10000000 | 17, 0, 0, 0, 0', EPERM],
  ['start a process by clone3', [435, 435], '0, 0', ENOSYS],
  ['mount (mount)', [165, 40], '0, 0, 0, 0, 0', EPERM],
  ['mount (move_mount)', [429, 429], '-1, 0, -1, 0, 0', EPERM],
  ['open a file system (fsopen)', [430, 430], '0, 0', EPERM],
  ['change its root (pivot_root)', [155, 41], '0, 0', EPERM],
  ['change its root (chroot)', [161, 51], '0', EPERM],
  ['store keys in the kernel (keyctl)', [250, 219], '0, -3, 0, 0, 0', EPERM],
  ['store keys in the kernel (add_key)', [248, 217], '0, 0, 0, 0, 0', EPERM],
  ['load programs into the kernel (bpf)', [321, 280], '999, 0, 0', EPERM],
  ['measure performance events (perf_event_open)', [298, 241], '0, 0, 0, 0, 0', EPERM],
  ['handle page faults (userfaultfd)', [323, 282], '0xffff', EPERM],
  ['use io_uring (io_uring_setup)', [425, 425], '0, 0', EPERM],
  ['open files by handle (open_by_handle_at)', [304, 265], '-1, 0, 0', EPERM],
  ['load modules (finit_module)', [313, 273], '-1, 0, 0', EPERM],
  ['start another kernel (kexec_load)', [246, 104], '0, 999999, 0, 0', EPERM],
  ['add swap space (swapon)', [167, 224], '0, 0', EPERM],
  ['watch all files (fanotify_init)', [300, 262], '0xffffffff, 0', EPERM],
];
const families: [name: string, family: number, type: number][] = [
  ['the hypervisor (AF_VSOCK)', 40, 1],
  ['raw packets (AF_PACKET)', 17, 3],
  ["the kernel's ciphers (AF_ALG)", 38, 5],
  ['Bluetooth (AF_BLUETOOTH)', 31, 3],
];

const say = 'print $r == -1 ? "errno " . ($! + 0) . "\\n" : "answered\\n"';

function callProbes(): Probe[] {
  return calls.map(([name, [x64, arm64], given, errno]) => ({
    name,
    script: `perl -e '$r = syscall(${process.arch === 'arm64' ? arm64 : x64}, ${given}); exit if $r == 0 && ${name.includes('clone)') ? 1 : 0} && print "answered\\n"; ${say}'`,
    works: new RegExp(`answered|errno (?!${errno}\\n?$)\\d+$`),
    inside: new RegExp(`^errno ${errno}$`),
    ...(!isRoot && { notOutside: 'some of these need root anyway' }),
  }));
}

function familyProbes(): Probe[] {
  return families.map(([name, family, type]) => ({
    name: `open sockets to ${name}`,
    script: `perl -e '$r = syscall(${process.arch === 'arm64' ? 198 : 41}, ${family}, ${type}, 0); ${say}'`,
    works: /answered/,
    inside: new RegExp(`^errno ${EAFNOSUPPORT}$`),
    ...((family === 31 || family === 38) && { notOutside: 'not every kernel has it' }),
  }));
}

function commandProbes(): Probe[] {
  return [
    { name: 'make a user namespace with a command', script: 'unshare -U true && echo made-it', works: /made-it/ },
    { name: 'become root in a user namespace', script: 'unshare -Ur id -u', works: /^0$/ },
    {
      name: 'make a sandbox of its own',
      script: 'bwrap --ro-bind / / --unshare-user true && echo made-it',
      works: /made-it/,
    },
    {
      name: 'push characters into a terminal',
      script:
        'perl -e \'open my $t, "+<", "/dev/ptmx" or die "no terminal"; my $c = "x"; $r = ioctl($t, 0x5412, $c); print defined $r ? "answered\\n" : "errno " . ($! + 0)\'',
      works: /answered/,
      inside: /errno 1$|no terminal/,
      notOutside: 'it depends on the kernel',
    },
    {
      name: 'change the address layout (personality)',
      script: `perl -e '$r = syscall(${process.arch === 'arm64' ? 92 : 135}, 0x0040000); ${say}'`,
      works: /answered/,
      inside: /^errno 1$/,
    },
  ];
}

const probes = () => [...callProbes(), ...familyProbes(), ...commandProbes()];
describeProbes(
  'the kernel',
  probes().map(({ name }) => name),
  probes,
);
