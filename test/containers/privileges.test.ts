import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { readComposition } from './compose.ts';
import { readProfile, runContained, type SeccompProfile } from './oci.ts';

/**
 * Starts real containers by an OCI runtime. Shows that a worker can create sandboxes with the privileges of
 * docker-compose.yml, and cannot without any one of them.
 */
const programs = [
  ['runc', '--version'],
  ['bwrap', '--version'],
  ['unshare', '--mount', 'true'],
] as const;
const isPossible = programs.every(([program, ...given]) => spawnSync(program, given).status === 0);

const worker = readComposition().services['worker-1'] ?? expect.fail('docker-compose.yml has no worker');
const profile = readProfile();
const sandbox = [
  'bwrap',
  '--unshare-all',
  '--die-with-parent',
  '--new-session',
  '--cap-drop',
  'ALL',
  '--ro-bind',
  '/',
  '/',
  '--dev',
  '/dev',
  '--proc',
  '/proc',
  '--tmpfs',
  '/tmp',
  'sh',
  '-c',
  'id -u; ls -d /proc/[0-9]* | wc -l; grep NoNewPrivs /proc/self/status',
];

function without(name: string): SeccompProfile {
  const less = profile.syscalls.map((rule) => ({ ...rule, names: rule.names.filter((each) => each !== name) }));
  return { ...profile, syscalls: less.filter(({ names }) => names.length > 0) };
}

describe.skipIf(!isPossible)('a worker container', () => {
  it('creates a sandbox with its own user, processes and /proc', () => {
    const { status, output, errors } = runContained(worker, profile, sandbox);
    expect([status, errors]).toEqual([0, '']);
    expect(output).toMatch(/^10001\n[1-5]\nNoNewPrivs:\s1\n$/);
  });

  it.each(['clone', 'unshare', 'mount', 'umount2', 'pivot_root'])(
    'cannot create a sandbox without the system call %s',
    (name) => {
      const usual = ['true'];
      if (name !== 'clone') expect(runContained(worker, without(name), usual).status).toBe(0);
      expect(runContained(worker, without(name), sandbox).status).not.toBe(0);
    },
  );

  it('cannot create a sandbox if parts of /proc are masked', () => {
    const security_opt = worker.security_opt.filter((option) => option !== 'systempaths=unconfined');
    const { status, errors } = runContained({ ...worker, security_opt }, profile, sandbox);
    expect(status).not.toBe(0);
    expect(errors).toContain("Can't mount proc");
  });

  it('has no capabilities and cannot write to its image', () => {
    const script = 'grep Cap /proc/self/status; touch /usr/bin/x';
    const { output, errors } = runContained(worker, profile, ['sh', '-c', script]);
    expect(output.match(/\b0{16}\b/g)).toHaveLength(5);
    expect(errors).toContain('Read-only file system');
  });

  it('cannot mount outside its own user namespace', () => {
    const { status, errors } = runContained(worker, profile, ['mount', '-t', 'tmpfs', 'tmpfs', '/tmp']);
    expect(status).not.toBe(0);
    expect(errors).toMatch(/permission denied|must be superuser/);
  });
});
