import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { join, sep } from 'node:path';

/** A host path that a sandbox sees at a path of its own. */
export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly isWritable?: boolean;
  /** It is this job's alone; other mounts are the same for many jobs. */
  readonly isOwn?: boolean;
}

/** Where things lie inside every sandbox. */
export const inside = {
  work: '/work',
  temporary: '/tmp',
  home: '/tmp/home',
  /** What the host gives to the job. */
  place: '/run/coordinator/place',
  preparation: '/run/coordinator/preparation',
  relay: '/run/coordinator/relay',
  tools: '/run/coordinator/tools',
  providers: '/run/coordinator/providers',
} as const;

/** What of the machine a sandbox sees; made once for a host. */
export interface SystemView {
  /** Directories with programs and libraries, read-only. */
  readonly systemPaths: readonly string[];
  /** Bubblewrap's arguments for all of it. The machine is asked once: what it has there does not change under a host. */
  readonly arguments: readonly string[];
  /** The file with the system call filter. */
  readonly filterFile: string;
}

export interface SandboxOptions {
  readonly mounts: readonly Mount[];
  /** Bytes that each of the sandbox's own file systems holds at most. */
  readonly diskBytes: number;
  readonly sharedMemoryBytes: number;
  /** Host paths: the directory for the job's files, the script, and the directory for the relay's socket. */
  readonly place: string;
  readonly preparation: string;
  readonly relay: string | null;
}

/** The descriptors at which bubblewrap reads the filter and its arguments. */
const filterDescriptor = 5;
const argumentsDescriptor = 6;
/** The one on which it says which process it made. */
const infoDescriptor = 7;

const initMemory = ['/proc/1/mem', '/proc/1/task/1/mem'];
const systemDirectories = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** Of /etc: what programs need to find libraries, authorities, time zones and names. Nothing that an operator writes secrets into. */
const etcPaths = [
  'alternatives',
  'ca-certificates',
  'crypto-policies',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'mime.types',
  'pki',
  'protocols',
  'services',
  'ssl',
];

/**
 * How bubblewrap is called. The other arguments come by a descriptor: they name paths of the machine, and its command line can
 * be read inside the sandbox.
 */
export const programArguments = ['--args', String(argumentsDescriptor), '--', '/bin/sh', inside.preparation];

/** Bubblewrap's other arguments, as it reads them from a descriptor. */
export function encodeArguments(list: readonly string[]): string {
  return list.map((argument) => `${argument}\0`).join('');
}

export function sandboxArguments(view: SystemView, options: SandboxOptions): string[] {
  const { diskBytes, sharedMemoryBytes, mounts, place, preparation, relay } = options;
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-net', '--unshare-cgroup-try'],
    ...['--disable-userns', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...['--uid', '1000', '--gid', '1000', '--hostname', 'sandbox'],
    ...['--seccomp', String(filterDescriptor), '--info-fd', String(infoDescriptor)],
    ...view.arguments,
    ...['--proc', '/proc', '--dev', '/dev', '--size', String(sharedMemoryBytes), '--tmpfs', '/dev/shm'],
    // The memory of the sandbox's init: who could write it could make it outlive the host.
    ...initMemory.flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...['--remount-ro', '/dev'],
    ...['--size', String(diskBytes), '--tmpfs', inside.work, '--size', String(diskBytes), '--tmpfs', inside.temporary],
    ...['--dir', '/var', '--symlink', inside.temporary, '/var/tmp', '--dir', '/run'],
    ...['--ro-bind', place, inside.place, '--ro-bind', preparation, inside.preparation],
    ...(relay === null ? [] : ['--ro-bind', relay, inside.relay]),
    ...mounts.flatMap(({ source, target, isWritable }) => [isWritable ? '--bind' : '--ro-bind', source, target]),
    ...['--remount-ro', '/', '--chdir', '/'],
  ];
}

/** A distribution may have /bin and its like as links into /usr: the sandbox has the same links. */
function systemArguments(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return [];
  if (stats.isSymbolicLink()) return ['--symlink', readlinkSync(path), path];
  return ['--ro-bind', path, path];
}

function etcArguments(made: string): string[] {
  const shared = etcPaths.map((name) => join('/etc', name)).filter((path) => existsSync(path));
  return [
    ...shared.flatMap((path) => ['--ro-bind', path, path]),
    ...Object.keys(etcFiles).flatMap((name) => ['--ro-bind', join(made, name), join('/etc', name)]),
  ];
}

/** Files of /etc that a sandbox has instead of the machine's own. */
export const etcFiles: Readonly<Record<string, string>> = {
  passwd: 'root:x:0:0:root:/root:/bin/sh\nsandbox:x:1000:1000:sandbox:/tmp/home:/bin/sh\n',
  group: 'root:x:0:\nsandbox:x:1000:\n',
  hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
  'resolv.conf': '# Names are resolved by the proxy that HTTPS_PROXY names.\n',
};

/**
 * What of the machine sandboxes see: the system's directories and those that the operator adds. Where one of them contains a
 * directory of the service (its data, its code, its user's home), that one is hidden.
 */
export function viewSystem(options: {
  readonly added: readonly string[];
  readonly secret: readonly string[];
  readonly filterFile: string;
  readonly etc: string;
}): SystemView {
  const systemPaths = [...systemDirectories, ...options.added].filter((path) => existsSync(path));
  const real = systemPaths.filter((path) => !lstatSync(path).isSymbolicLink());
  const hiddenPaths = options.secret.filter((path) => existsSync(path) && real.some((root) => isBelow(path, root)));
  const seen = [
    ...systemPaths.flatMap(systemArguments),
    ...hiddenPaths.flatMap((path) => ['--tmpfs', path, '--remount-ro', path]),
    ...etcArguments(options.etc),
  ];
  return { systemPaths, arguments: seen, filterFile: options.filterFile };
}

function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root + sep);
}
