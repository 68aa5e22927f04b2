import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RecordingSink } from '../support.ts';
import { isRoot, WorkerProcess, workerUsers } from '../worker/worker-process.ts';
import { describeProbes, type Probe } from './probes.ts';

/** A template must not see or reach other processes. Another process has the secret in its environment and arguments. */
const secret = `neighbour-secret-${process.pid}`;
const neighbours: ChildProcess[] = [];
afterAll(() => {
  for (const neighbour of neighbours) neighbour.kill('SIGKILL');
});

function startNeighbour(worker: WorkerProcess, user: { uid: number; gid: number } | null): ChildProcess {
  const started = spawn('perl', ['-e', 'sleep 600', secret], {
    env: { PATH: process.env['PATH'], DATABASE_URL: secret },
    stdio: 'ignore' as const,
    cwd: worker.home,
    ...user,
  });
  neighbours.push(started);
  return started;
}

function processProbes(worker: WorkerProcess): Probe[] {
  const { pid, hostPid } = worker;
  const neighbour = startNeighbour(worker, null).pid;
  return [
    // These tests must not log what other processes of this machine contain, so only the planted secret is printed.
    {
      name: 'read the environment of any other process',
      script: `cat /proc/[0-9]*/environ 2>/dev/null | grep -aoh 'DATABASE_URL=${secret}' | sort -u`,
      works: new RegExp(secret),
    },
    {
      name: 'read the arguments of any other process',
      script: `for p in /proc/[0-9]*; do [ $p = /proc/$$ ] || grep -aoh '60[0].${secret}' $p/cmdline; done 2>/dev/null | sort -u | tr -d '\\0'`,
      works: new RegExp(`600.?${secret}`),
    },
    {
      name: "read the environment of the machine's first process",
      script: "tr '\\0' '\\n' < /proc/1/environ | grep -vE '^(PATH|LANG|PWD|OLDPWD|_)=' | grep -c =",
      works: /^[1-9]/,
      notOutside: 'on some machines even root cannot',
    },
    {
      name: 'see the worker or its host in the process list',
      script: "ps axww -o args | grep -o 'executors/host/main[.]ts'",
      works: /executors\/host\/main\.ts/,
    },
    {
      name: "find the host's directory in process arguments",
      script: "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -o 'host-[0-9a-f]*/sandbox' ; echo read",
      works: /sandbox/,
      inside: /^read$/,
      notOutside: 'no process of the machine has it in its arguments',
    },
    { name: "see the host's descriptors", script: `ls -l /proc/${hostPid}/fd`, works: /->/ },
    { name: "read the worker's memory", script: `head -c 10 /proc/${pid}/maps`, works: /[0-9a-f]{6,}/ },
    { name: 'signal the worker', script: `kill -0 ${pid} && echo signalled`, works: /signalled/ },
    { name: 'signal the host', script: `kill -0 ${hostPid} && echo signalled`, works: /signalled/ },
    { name: 'signal a neighbour', script: `kill -0 ${neighbour} && echo signalled`, works: /signalled/ },
  ].map((probe) => (isRoot ? probe : { ...probe, notOutside: 'processes of other users are out of reach' }));
}

const names = [
  'read the environment of any other process',
  'read the arguments of any other process',
  "read the environment of the machine's first process",
  'see the worker or its host in the process list',
  "find the host's directory in process arguments",
  "see the host's descriptors",
  "read the worker's memory",
  'signal the worker',
  'signal the host',
  'signal a neighbour',
];
describeProbes('other processes', names, processProbes, { worker: { environment: { DATABASE_URL: secret } } });

/** Whether a process of the machine listens on a port, according to the kernel. */
function listensOn(port: number): boolean {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  const files = ['/proc/net/tcp', '/proc/net/tcp6'].filter((path) => existsSync(path));
  const lines = files.flatMap((path) => readFileSync(path, 'utf8').split('\n'));
  return lines.some((line) => line.split(' 0A ')[0]?.includes(wanted) && line.includes(' 0A '));
}
const inspectorPort = 9229;

describe.each(workerUsers)('with a worker that runs as $as', ({ user = null }) => {
  let worker: WorkerProcess;
  beforeAll(async () => {
    worker = await WorkerProcess.start({ user });
  }, 180_000);
  afterAll(() => worker?.close());

  it('a template that kills everything it can kills only itself', async () => {
    const neighbour = startNeighbour(worker, user);
    const other = new RecordingSink();
    const running = worker.runScript('echo begun; sleep 3; echo survived', {}, other);
    await other.saw('begun');
    const { result } = await worker.runScript('kill -9 -1; kill -9 1 2 3 4 5 6 7 8 9; kill -9 0; echo lived');
    expect(result).toMatchObject({ outcome: 'failed', reason: 'step_failed' });
    expect((await running).sink.text()).toContain('survived');
    expect(neighbour.exitCode ?? neighbour.signalCode).toBeNull();
    expect(existsSync(`/proc/${worker.hostPid}/exe`)).toBe(true);
  });

  it.each([{ isolation: 'sandbox' as const }, { isolation: 'none' as const }])(
    'a template that asks every process above it to open an inspector gets none, with isolation "$isolation"',
    async ({ isolation }) => {
      const own = isolation === 'sandbox' ? worker : await WorkerProcess.start({ user, isolation });
      const ask =
        'p=$PPID; while [ "$p" -gt 1 ]; do kill -USR1 $p; p=$(awk \'/^PPid/ {print $2}\' /proc/$p/status); done; kill -USR1 1; sleep 1; echo asked';
      const wasOpen = listensOn(inspectorPort);
      const { sink } = await own.runScript(`trap : USR1; ${isolation === 'sandbox' ? ask : askHost(own.hostPid)}`);
      expect(wasOpen).toBe(false);
      expect(listensOn(inspectorPort)).toBe(false);
      if (isolation === 'none') expect(sink.text()).toContain('asked');
      expect(existsSync(`/proc/${own.hostPid}/exe`)).toBe(true);
      expect((await own.runScript('true')).result).toMatchObject({ outcome: 'succeeded' });
      if (own !== worker) await own.close();
    },
  );

  it('a program gains no privilege from its file', async () => {
    const script = `grep -E 'NoNewPrivs|Seccomp:|Cap(Eff|Prm|Bnd|Amb)' /proc/self/status; id -u; id -G
      for p in su mount passwd ping newgrp; do f=$(command -v $p) && [ -u $f ] && echo "setuid $p"; done
      su -c 'id -u' root </dev/null 2>&1; cp $(command -v sh) mine; chmod 4755 mine; ./mine -p -c 'id -u'; exit 0`;
    const { sink } = await worker.runScript(script);
    const text = sink.text('stdout');
    expect(text).toMatch(/NoNewPrivs:\s+1/);
    expect(text).toMatch(/Seccomp:\s+2/);
    for (const [, value] of text.matchAll(/^Cap\w+:\s+(\w+)$/gm)) expect(value).toBe('0'.repeat(16));
    expect(text.match(/^Cap/gm)).toHaveLength(4);
    expect(text).toMatch(/^1000$/m);
    expect(text).not.toMatch(/^0$/m);
  });
});

/** Without a sandbox only the host is asked, so that the processes that started these tests are left alone. */
function askHost(hostPid: number): string {
  return `kill -USR1 ${hostPid}; sleep 1; echo asked`;
}
