import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTestDirectory } from '#test/support/directories.ts';
import { readText, type Service } from './compose.ts';

interface SeccompRule {
  readonly names: string[];
  readonly action: string;
  readonly args?: unknown[];
  readonly errnoRet?: number;
  readonly includes?: { readonly arches?: string[] };
}

export interface SeccompProfile {
  readonly defaultAction: string;
  readonly defaultErrnoRet: number;
  readonly archMap: { readonly architecture: string }[];
  readonly syscalls: SeccompRule[];
}

/** The paths that Docker masks or makes read-only, unless a container has `systempaths=unconfined`. */
const usualPaths = {
  maskedPaths: ['/proc/acpi', '/proc/kcore', '/proc/keys', '/proc/timer_list', '/sys/firmware'],
  readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
};

const archNames: Record<string, string> = { x64: 'amd64', arm64: 'arm64' };
const seccompNames: Record<string, string> = { x64: 'SCMP_ARCH_X86_64', arm64: 'SCMP_ARCH_AARCH64' };
const noCapabilities = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] };

/** The OCI configuration of a service in docker-compose.yml, as Docker would write it. */
function ociConfig(service: Service, profile: SeccompProfile, command: string[]): object {
  const [uid = 0, gid = 0] = service.user.split(':').map(Number);
  const isUnconfined = service.security_opt.includes('systempaths=unconfined');
  const temporary = (destination: string, ...more: string[]) => ({
    destination,
    type: 'tmpfs',
    source: 'tmpfs',
    options: ['nosuid', 'nodev', 'mode=1777', ...more],
  });
  return {
    ociVersion: '1.0.0',
    process: {
      user: { uid, gid },
      args: command,
      env: ['PATH=/usr/local/bin:/usr/bin:/bin'],
      cwd: '/',
      noNewPrivileges: service.security_opt.includes('no-new-privileges:true'),
      capabilities: noCapabilities,
    },
    root: { path: 'rootfs', readonly: service.read_only },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { ...temporary('/dev'), options: ['nosuid', 'strictatime', 'mode=755'] },
      temporary('/dev/shm', 'noexec'),
      temporary('/tmp'),
    ],
    linux: {
      namespaces: ['pid', 'mount', 'ipc', 'uts', 'network'].map((type) => ({ type })),
      seccomp: ociSeccomp(profile),
      ...(isUnconfined ? {} : usualPaths),
    },
  };
}

function ociSeccomp({ defaultAction, defaultErrnoRet, syscalls }: SeccompProfile): object {
  const architecture = archNames[process.arch] ?? process.arch;
  const fitting = syscalls.filter(({ includes }) => includes?.arches?.includes(architecture) ?? true);
  return {
    defaultAction,
    defaultErrnoRet,
    architectures: [seccompNames[process.arch]],
    syscalls: fitting.map(({ names, action, args, errnoRet }) => ({ names, action, args, errnoRet })),
  };
}

export function readProfile(): SeccompProfile {
  return JSON.parse(readText('deploy/worker-seccomp.json'));
}

/** Runs a command in a container with the privileges of a service. Its root is this machine's file system, read-only. */
export function runContained(service: Service, profile: SeccompProfile, command: string[]) {
  const directory = makeTestDirectory();
  mkdirSync(join(directory, 'rootfs'));
  writeFileSync(join(directory, 'config.json'), JSON.stringify(ociConfig(service, profile, command)));
  const name = `coordinator-${process.pid}-${Math.trunc(performance.now())}`;
  const script = `mount --make-rprivate / && mount --rbind / rootfs && exec runc run ${name}`;
  const result = spawnSync('unshare', ['--mount', 'sh', '-c', script], {
    cwd: directory,
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { status: result.status, output: result.stdout, errors: result.stderr };
}
