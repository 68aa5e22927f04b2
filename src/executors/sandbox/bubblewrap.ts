import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { join, sep } from 'node:path';

/** A path of the host, and the path at which a sandbox sees it. */
export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly isWritable?: boolean;
  /** Whether only this job has the mount; other mounts are the same for many jobs. */
  readonly isOwn?: boolean;
}

/** The paths of directories inside every sandbox. */
export const sandboxLayout = {
  work: '/work',
  temporary: '/tmp',
  home: '/tmp/home',
  /** The job's files, which the host writes. */
  job: '/run/coordinator/job',
  bootstrap: '/run/coordinator/bootstrap',
  relay: '/run/coordinator/relay',
  tools: '/run/coordinator/tools',
  providers: '/run/coordinator/providers',
  storedProviders: '/run/coordinator/stored-providers',
} as const;

/** The part of the machine that sandboxes see; built once per host. */
export interface SystemView {
  /** Directories with programs and libraries, mounted read-only. */
  readonly systemPaths: readonly string[];
  /** Bubblewrap's arguments for the whole view. What they name does not change while the host runs. */
  readonly arguments: readonly string[];
  /** The file that holds the system call filter. */
  readonly filterFile: string;
  /** Whether a control group counts shared memory that no process maps at the moment. */
  readonly countsSharedMemory: boolean;
}

interface SandboxOptions {
  readonly mounts: readonly Mount[];
  /** The size of each of the sandbox's own file systems, in bytes. */
  readonly diskBytes: number;
  readonly sharedMemoryBytes: number;
  /** Paths on the host: the directory with the job's files, the first script, and the directory for the relay's socket. */
  readonly jobDirectory: string;
  readonly bootstrap: string;
  readonly relay: string | null;
}

/** The descriptors from which bubblewrap reads the filter and its arguments. */
const filterDescriptor = 5;
const argumentsDescriptor = 6;
/** The descriptor on which bubblewrap reports the process that it created. */
const infoDescriptor = 7;

/** The memory of the sandbox's init: a process that could write it could make the sandbox outlive the host. */
const initMemory = ['/proc/1/mem', '/proc/1/task/1/mem'];

const isolationArguments: readonly string[] = [
  '--unshare-user',
  '--unshare-pid',
  '--unshare-ipc',
  '--unshare-uts',
  '--unshare-net',
  '--unshare-cgroup-try',
  '--disable-userns',
  '--die-with-parent',
  '--new-session',
  '--cap-drop',
  'ALL',
  '--uid',
  '1000',
  '--gid',
  '1000',
  '--hostname',
  'sandbox',
  '--seccomp',
  String(filterDescriptor),
  '--info-fd',
  String(infoDescriptor),
];
const varAndRunArguments: readonly string[] = [
  '--dir',
  '/var',
  '--symlink',
  sandboxLayout.temporary,
  '/var/tmp',
  '--dir',
  '/run',
];
const systemDirectories = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** Entries of /etc that programs need for libraries, certificate authorities, time zones and names. None holds an operator's secrets. */
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
 * Bubblewrap's command line. Its other arguments come through a descriptor, because they name paths of the machine and the
 * command line can be read inside the sandbox.
 */
export const programArguments = ['--args', String(argumentsDescriptor), '--', '/bin/sh', sandboxLayout.bootstrap];

/** Encodes arguments as bubblewrap reads them from a descriptor. */
export function encodeArguments(list: readonly string[]): string {
  return list.map((argument) => `${argument}\0`).join('');
}

export function sandboxArguments(view: SystemView, options: SandboxOptions): string[] {
  const { diskBytes, sharedMemoryBytes, mounts, jobDirectory, bootstrap, relay } = options;
  return [
    ...isolationArguments,
    ...view.arguments,
    ...deviceArguments(sharedMemoryBytes, view),
    ...tmpfs(sandboxLayout.work, diskBytes),
    ...tmpfs(sandboxLayout.temporary, diskBytes),
    ...varAndRunArguments,
    ...readOnlyBind(jobDirectory, sandboxLayout.job),
    ...readOnlyBind(bootstrap, sandboxLayout.bootstrap),
    ...(relay === null ? [] : readOnlyBind(relay, sandboxLayout.relay)),
    ...mounts.flatMap(({ source, target, isWritable }) => [isWritable ? '--bind' : '--ro-bind', source, target]),
    '--remount-ro',
    '/',
    '--chdir',
    '/',
  ];
}

function deviceArguments(
  sharedMemoryBytes: number,
  { countsSharedMemory }: Pick<SystemView, 'countsSharedMemory'>,
): string[] {
  return [
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    ...tmpfs('/dev/shm', sharedMemoryBytes),
    // A shared mapping of /dev/zero is memory that nothing counts. /dev/full gives zeros too, and cannot be mapped.
    ...(countsSharedMemory ? [] : ['--dev-bind', '/dev/full', '/dev/zero']),
    ...initMemory.flatMap((path) => readOnlyBind('/dev/null', path)),
    '--remount-ro',
    '/dev',
  ];
}

function tmpfs(path: string, bytes: number): string[] {
  return ['--size', String(bytes), '--tmpfs', path];
}

function readOnlyBind(source: string, target: string): string[] {
  return ['--ro-bind', source, target];
}

/** On some distributions /bin and similar paths are links into /usr; the sandbox gets the same links. */
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

/** Files of /etc that a sandbox gets instead of the machine's own. */
export const etcFiles: Readonly<Record<string, string>> = {
  passwd: 'root:x:0:0:root:/root:/bin/sh\nsandbox:x:1000:1000:sandbox:/tmp/home:/bin/sh\n',
  group: 'root:x:0:\nsandbox:x:1000:\n',
  hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
  'resolv.conf': '# Names are resolved by the proxy that HTTPS_PROXY names.\n',
};

/**
 * Builds the view of the machine for sandboxes: the system's directories, and those that the operator adds. A directory of
 * the service (its data, its code, its user's home) that lies in one of them is hidden.
 */
export function buildSystemView(options: {
  readonly added: readonly string[];
  readonly hidden: readonly string[];
  readonly filterFile: string;
  readonly etc: string;
  readonly countsSharedMemory: boolean;
}): SystemView {
  const systemPaths = [...systemDirectories, ...options.added].filter((path) => existsSync(path));
  const real = systemPaths.filter((path) => !lstatSync(path).isSymbolicLink());
  const hiddenPaths = options.hidden.filter((path) => existsSync(path) && real.some((root) => isBelow(path, root)));
  const seen = [
    ...systemPaths.flatMap(systemArguments),
    ...hiddenPaths.flatMap((path) => ['--tmpfs', path, '--remount-ro', path]),
    ...etcArguments(options.etc),
  ];
  const { filterFile, countsSharedMemory } = options;
  return { systemPaths, arguments: seen, filterFile, countsSharedMemory };
}

function isBelow(path: string, root: string): boolean {
  return path === root || path.startsWith(root + sep);
}
