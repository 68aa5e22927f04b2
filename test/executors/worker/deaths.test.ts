import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  closeSync,
  existsSync,
  globSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { findProcesses, RecordingSink, waitUntil } from '../support.ts';
import { type WorkerOptions, WorkerProcess, workerUsers } from './worker-process.ts';

/** What remains when worker, host or both are killed while an attempt runs. */
// Each test starts several Node processes, one after the other.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });
const workers: WorkerProcess[] = [];
/** Open files of the namespaces of attempts: see `holdNamespaces`. */
const held: number[] = [];
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.close();
  for (const file of held.splice(0)) closeSync(file);
});

let next = 5_100_000 + (process.pid % 1000) * 1000;

interface Doomed {
  readonly worker: WorkerProcess;
  readonly ended: ReturnType<WorkerProcess['run']>;
  /** A number in the arguments of the attempt's processes, and of no others. */
  readonly seconds: string;
  readonly namespaces: readonly string[];
}

/** Starts a worker with an attempt that tries to survive. */
async function startDoomed(options: WorkerOptions): Promise<Doomed> {
  const worker = await startWorker(options);
  const seconds = String(next++);
  const sink = new RecordingSink();
  const script = `mkdir -p deep/er; setsid sleep ${seconds} & (env -i setsid sleep ${seconds} &); trap '' INT TERM HUP; sleep 0.2; echo begun; sleep ${seconds}`;
  const ended = worker.runScript(script, {}, sink);
  await sink.saw('begun');
  const pids = findProcesses(seconds);
  expect(pids.length).toBeGreaterThanOrEqual(3);
  holdNamespaces(pids);
  return { worker, ended, seconds, namespaces: pids.flatMap(readNamespaces) };
}

async function startWorker(options: WorkerOptions): Promise<WorkerProcess> {
  const worker = await WorkerProcess.start(options);
  workers.push(worker);
  return worker;
}

const namespaceKinds = ['mnt', 'pid', 'net', 'ipc', 'uts', 'user', 'cgroup'];
const fileOf = (pid: number, kind: string) => `/proc/${pid}/ns/${kind}`;
const namespaceOf = (pid: number, kind: string) => readlinkSync(fileOf(pid, kind));
const ownNamespaces = namespaceKinds.map((kind) => namespaceOf(process.pid, kind));

/**
 * Keeps the numbers of the namespaces of processes until the test ends. Linux gives the number of a namespace that has ended to the next
 * one, such as that of the sandbox that the next host makes, whose processes would look like those of the attempt.
 */
function holdNamespaces(pids: readonly number[]): void {
  for (const pid of pids) for (const kind of namespaceKinds) held.push(openSync(fileOf(pid, kind), 'r'));
}

/** Returns the namespaces of a process that differ from those of these tests. */
function readNamespaces(pid: number): string[] {
  return namespaceKinds.flatMap((kind) => {
    try {
      const namespace = namespaceOf(pid, kind);
      return ownNamespaces.includes(namespace) ? [] : [namespace];
    } catch {
      return [];
    }
  });
}

/** The namespaces are read last, because reading those of every process takes longest. */
function hasEnded({ seconds, namespaces, worker }: Doomed): boolean {
  if (existsSync(`/proc/${worker.hostPid}/exe`) || findProcesses(seconds).length > 0) return false;
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return !pids.some((pid) => readNamespaces(pid).some((namespace) => namespaces.includes(namespace)));
}

const listHosts = ({ directory }: WorkerProcess) => readdirSync(directory).filter((name) => name.startsWith('host-'));
const listGroups = ({ pid }: WorkerProcess) => globSync(`/sys/fs/cgroup/**/delivery-coordinator-${pid}-*`);
const countMounts = ({ home }: WorkerProcess) => readFileSync('/proc/self/mountinfo', 'utf8').split(home).length - 1;

describe.each(workerUsers)('an attempt of a worker that runs as $as', ({ user = null }) => {
  it.each([{ isolation: 'sandbox' as const }, { isolation: 'none' as const }])(
    'ends with its worker and leaves no directory, with isolation "$isolation"',
    async (choice) => {
      const doomed = await startDoomed({ user, ...choice });
      await doomed.worker.kill();
      await waitUntil(() => hasEnded(doomed), 'the processes of the attempt and the host ended');
      await waitUntil(() => listHosts(doomed.worker).length === 0, 'the directory of the host was removed');
      expect(countMounts(doomed.worker)).toBe(0);
      const successor = await startWorker({ user, ...choice, home: doomed.worker.home });
      expect(listGroups(doomed.worker)).toEqual([]);
      expect(listHosts(successor)).toHaveLength(1);
    },
  );

  it.each([{ isolation: 'sandbox' as const }, { isolation: 'none' as const }])(
    'fails with executor_lost if its host is killed, and the next host removes its remains, with isolation "$isolation"',
    async (choice) => {
      const doomed = await startDoomed({ user, ...choice });
      const { worker } = doomed;
      process.kill(worker.hostPid, 'SIGKILL');
      const { result } = await doomed.ended;
      expect(result).toMatchObject({ outcome: 'failed', reason: 'executor_lost' });
      const { result: following } = await worker.runScript('true');
      expect(following).toMatchObject({ outcome: 'succeeded' });
      await waitUntil(() => hasEnded(doomed), 'the processes of the attempt ended');
      expect(listHosts(worker)).toHaveLength(1);
      expect(listGroups(worker).filter((path) => path.includes('attempt-'))).toEqual([]);
    },
  );

  it('that was killed while its host made a sandbox is cleaned up by the next worker, with its processes', async () => {
    const first = await startWorker({ user });
    const directory = join(first.directory, 'host-0123456789abcdef');
    mkdirSync(directory);
    writeFileSync(join(directory, 'owner'), '999999999 1 /nowhere');
    writeFileSync(join(directory, 'seccomp.bpf'), '');
    const owner = statSync(first.directory);
    for (const path of [directory, join(directory, 'owner'), join(directory, 'seccomp.bpf')])
      chownSync(path, owner.uid, owner.gid);
    const holder = spawn('sh', ['-c', `exec 5<"$1"; cd /; sleep 600`, 'sh', join(directory, 'seccomp.bpf')], {
      stdio: 'ignore',
      uid: owner.uid,
      gid: owner.gid,
      cwd: '/',
    });
    const ended = once(holder, 'exit');
    await startWorker({ user, home: first.home });
    expect(await ended).toEqual([null, 'SIGKILL']);
    expect(existsSync(directory)).toBe(false);
  });

  it.each([{ isolation: 'sandbox' as const }, { isolation: 'none' as const }])(
    'leaves nothing if worker and host are killed together and another worker starts, with isolation "$isolation"',
    async (choice) => {
      const doomed = await startDoomed({ user, ...choice });
      const { worker } = doomed;
      process.kill(worker.hostPid, 'SIGSTOP');
      const killed = worker.kill();
      process.kill(worker.hostPid, 'SIGKILL');
      await killed;
      expect(listHosts(worker)).toHaveLength(1);
      const successor = await startWorker({ user, ...choice, home: worker.home });
      await waitUntil(() => hasEnded(doomed), 'the processes of the attempt ended');
      expect(listHosts(successor)).toHaveLength(1);
      expect(countMounts(worker)).toBe(0);
      await waitUntil(() => listGroups(worker).length === 0, 'the control groups were removed', 3_000);
      await successor.close();
    },
  );

  it('leaves no host process and no control groups when its worker stops regularly', async () => {
    const worker = await startWorker({ user });
    expect((await worker.runScript('true')).result).toMatchObject({ outcome: 'succeeded' });
    process.kill(worker.hostPid, 0);
    await worker.close();
    expect(existsSync(`/proc/${worker.hostPid}/exe`)).toBe(false);
    expect(listGroups(worker)).toEqual([]);
  });
});
