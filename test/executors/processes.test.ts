import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sweepLeftovers } from '#executors/client.ts';
import { findProcesses, makeWorkRoot, RecordingSink, runScript, waitUntil } from './support.ts';

const work = makeWorkRoot();
afterAll(work.remove);
/** What is about changing user is skipped, visibly, where that is not allowed. */
const isRoot = process.getuid?.() === 0;
const users = isRoot ? [undefined, { uid: 23_456, gid: 23_456 }, { uid: 0, gid: 0 }] : [undefined];

/** Numbers that no other process on the machine has among its arguments. */
let next = 4_100_000 + (process.pid % 1000) * 1000;
const uniqueSeconds = () => String(next++);

/** Ways to outlive whoever started one. */
const escapes: [string, (seconds: string) => string][] = [
  ['runs in the background', (s) => `sleep ${s} &`],
  ['ignores signals', (s) => `(trap "" INT TERM HUP; sleep ${s}) &`],
  ['starts a session of its own', (s) => `setsid sleep ${s} &`],
  ['forks twice and forgets its environment', (s) => `(setsid sh -c 'env -i sleep ${s} &' &)`],
];

describe.each(users)('processes of an attempt, run as %o', (user) => {
  it.each(escapes)('end with it: one that %s', async (_, escapeWith) => {
    const seconds = uniqueSeconds();
    const { result, sink } = await runScript(
      work.path,
      `${escapeWith(seconds)}\nsleep 0.8; pgrep -f "sleep ${seconds}" >/dev/null && echo it-was-there; exit 0`,
      { user },
    );
    expect(result.outcome).toBe('succeeded');
    expect(sink.text('stdout')).toContain('it-was-there');
    expect(findProcesses(seconds)).toEqual([]);
  });

  it('are asked to stop when it is canceled, and may finish in their grace', async () => {
    const sink = new RecordingSink();
    const abort = new AbortController();
    const script = "trap 'echo stopping-in-order; exit 130' INT; echo started; while :; do sleep 0.1; done";
    const running = runScript(work.path, script, { user, graceMs: 10_000 }, sink, abort.signal);
    await sink.saw('started');
    abort.abort();
    const { result } = await running;
    expect(result).toMatchObject({ outcome: 'canceled', reason: 'canceled', exitCode: 130 });
    expect(sink.text('stdout')).toContain('stopping-in-order');
  });

  it('are killed after the grace where they do not stop, with all that they started', async () => {
    const seconds = uniqueSeconds();
    const sink = new RecordingSink();
    const abort = new AbortController();
    const script = `trap '' INT TERM; (trap '' INT; setsid sleep ${seconds} &); echo started; while :; do sleep 0.1; done`;
    const running = runScript(work.path, script, { user, graceMs: 500 }, sink, abort.signal);
    await sink.saw('started');
    const canceledAt = Date.now();
    abort.abort();
    const { result } = await running;
    expect(result).toMatchObject({ outcome: 'canceled', exitCode: 137 });
    expect(Date.now() - canceledAt).toBeLessThan(5_000);
    expect(findProcesses(seconds)).toEqual([]);
  });
});

describe('an attempt', () => {
  it.runIf(isRoot)('is known by an identity of its own, so that nothing it starts can hide', async () => {
    const seconds = uniqueSeconds();
    const script = `(cd / && setsid env -i sh -c 'sleep 0.4; sleep ${seconds}' >/dev/null 2>&1 &)\nsleep 0.8; exit 0`;
    const { result } = await runScript(work.path, script);
    expect(result.outcome).toBe('succeeded');
    expect(findProcesses(seconds)).toEqual([]);
  });

  it('is not started at all where it is canceled before', async () => {
    const { result, sink } = await runScript(work.path, 'echo never', {}, new RecordingSink(), AbortSignal.abort());
    expect(result).toMatchObject({ outcome: 'canceled' });
    expect(sink.chunks).toEqual([]);
  });

  it('times out with a reason, keeping its log', async () => {
    const { result, sink } = await runScript(work.path, 'echo before; sleep 60', { timeoutMs: 1_000 });
    expect(result).toMatchObject({ outcome: 'timed_out', reason: 'time_limit' });
    expect(sink.text('stdout')).toBe('before\n');
  });

  it('goes with its worker, however that dies: no process and no directory is left', async () => {
    const seconds = uniqueSeconds();
    const worker = spawn(process.execPath, [join(import.meta.dirname, 'doomed-worker.ts'), work.path, seconds], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const said = await new Promise<string>((resolve) => worker.stdout.once('data', (data) => resolve(String(data))));
    const directory = said.trim();
    expect(existsSync(directory)).toBe(true);
    expect(findProcesses(seconds).length).toBeGreaterThan(0);
    worker.kill('SIGKILL');
    await waitUntil(() => findProcesses(seconds).length === 0, 'the processes of the attempt ended');
    await waitUntil(() => readdirSync(work.path).length === 0, 'the directory of the attempt was removed');
  });

  it('is lost, and its processes with it, where its executor is killed', async () => {
    const seconds = uniqueSeconds();
    const sink = new RecordingSink();
    const running = runScript(work.path, `setsid sleep ${seconds} & echo "parent $PPID"; sleep ${seconds}`, {}, sink);
    await sink.saw('parent');
    const executor = Number(/parent (\d+)/.exec(sink.text())?.[1]);
    process.kill(executor, 'SIGKILL');
    const { result } = await running;
    expect(result).toMatchObject({ outcome: 'failed', reason: 'executor_lost' });
    expect(findProcesses(seconds)).toEqual([]);
    expect(readdirSync(work.path)).toEqual([]);
  });

  it('lets its worker end when that has nothing else to do, and what stood ready for the next one ends too', async () => {
    const support = JSON.stringify(join(import.meta.dirname, 'support.ts'));
    const script = `const { runScript } = await import(${support}); await runScript(${JSON.stringify(work.path)}, 'true')`;
    const worker = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
    expect(await new Promise((resolve) => worker.once('exit', resolve))).toBe(0);
    const orphans = () =>
      findProcesses('executors/main.ts').filter((pid) => parentOf(pid) === worker.pid || parentOf(pid) === 1);
    await waitUntil(() => orphans().length === 0, 'the executor that stood ready ended');
  });

  it('is swept by the next worker where worker and executor were killed together', async () => {
    const seconds = uniqueSeconds();
    const worker = spawn(process.execPath, [join(import.meta.dirname, 'doomed-worker.ts'), work.path, seconds], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => worker.stdout.once('data', resolve));
    const executors = findProcesses('executors/main.ts').filter((pid) => parentOf(pid) === worker.pid);
    expect(await sweepLeftovers(work.path)).toBe(0);
    for (const pid of executors) process.kill(pid, 'SIGSTOP');
    worker.kill('SIGKILL');
    for (const pid of executors) process.kill(pid, 'SIGKILL');
    await waitUntil(() => executors.every((pid) => !existsSync(`/proc/${pid}/exe`)), 'the executors ended');
    expect(findProcesses(seconds).length).toBeGreaterThan(0);
    expect(await sweepLeftovers(work.path)).toBe(1);
    expect(findProcesses(seconds)).toEqual([]);
    expect(readdirSync(work.path)).toEqual([]);
  });
});

function parentOf(pid: number): number | null {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return null;
  return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(path, 'latin1'))?.[1]);
}
