import { afterAll, describe, expect, it } from 'vitest';
import { findProcesses, makeWorkRoot, RecordingSink, runScript } from './support.ts';

const work = makeWorkRoot();
afterAll(work.remove);

/** Numbers that appear in the arguments of no other process on the machine. */
let next = 4_100_000 + (process.pid % 1000) * 1000;
const uniqueSeconds = () => String(next++);

/** Ways to outlive the process that starts one. */
const escapes: [string, (seconds: string) => string][] = [
  ['runs in the background', (s) => `sleep ${s} &`],
  ['ignores signals', (s) => `(trap "" INT TERM HUP; sleep ${s}) &`],
  ['starts a session of its own', (s) => `setsid sleep ${s} &`],
  ['forks twice and clears its environment', (s) => `(setsid sh -c 'env -i sleep ${s} &' &)`],
  ['keeps its output open', (s) => `(setsid sleep ${s} 9>&1 8>&2 &)`],
  ['leaves its directory as well', (s) => `(cd / && setsid env -i sh -c 'sleep 0.3; sleep ${s}' >/dev/null 2>&1 &)`],
];

describe.each([{ isolation: 'sandbox' as const }, { isolation: 'none' as const }])(
  'processes of an attempt with isolation "$isolation"',
  (choice) => {
    it.each(escapes)('end with the attempt, even a process that %s', async (_, escapeWith) => {
      const seconds = uniqueSeconds();
      const script = `${escapeWith(seconds)}\nsleep 0.8; pgrep -fx "sleep ${seconds}" >/dev/null && echo it-was-there; exit 0`;
      const { result, sink } = await runScript(work.path, script, { choice });
      expect(result.outcome).toBe('succeeded');
      expect(sink.text('stdout')).toContain('it-was-there');
      expect(findProcesses(seconds)).toEqual([]);
    });

    it('get a signal to stop on cancel, and may finish within the grace period', async () => {
      const sink = new RecordingSink();
      const abort = new AbortController();
      const script = "trap 'echo stopping-in-order; exit 130' INT; echo started; while :; do sleep 0.1; done";
      const running = runScript(work.path, script, { choice, graceMs: 10_000 }, sink, abort.signal);
      await sink.saw('started');
      abort.abort();
      const { result } = await running;
      expect(result).toMatchObject({ outcome: 'canceled', reason: 'canceled', exitCode: 130 });
      expect(sink.text('stdout')).toContain('stopping-in-order');
    });

    it('are killed after the grace period if they do not stop, with everything that they started', async () => {
      const seconds = uniqueSeconds();
      const sink = new RecordingSink();
      const abort = new AbortController();
      const script = `trap '' INT TERM; (trap '' INT; setsid sleep ${seconds} &); echo started; while :; do sleep 0.1; done`;
      const running = runScript(work.path, script, { choice, graceMs: 500 }, sink, abort.signal);
      await sink.saw('started');
      const canceledAt = Date.now();
      abort.abort();
      const { result } = await running;
      expect(result).toMatchObject({ outcome: 'canceled', exitCode: 137 });
      expect(Date.now() - canceledAt).toBeLessThan(5_000);
      expect(findProcesses(seconds)).toEqual([]);
    });

    it('do not start if the attempt was canceled before', async () => {
      const canceled = AbortSignal.abort();
      const { result, sink } = await runScript(work.path, 'echo never', { choice }, new RecordingSink(), canceled);
      expect(result).toMatchObject({ outcome: 'canceled' });
      expect(sink.chunks).toEqual([]);
    });

    it('end when the attempt times out, which gives a reason and keeps the log', async () => {
      const { result, sink } = await runScript(work.path, 'echo before; sleep 60', { choice, timeoutMs: 1_500 });
      expect(result).toMatchObject({ outcome: 'timed_out', reason: 'time_limit' });
      expect(sink.text('stdout')).toBe('before\n');
    });

    it('the processes of a plan have ended, and their files are deleted, when the apply starts', async () => {
      const seconds = uniqueSeconds();
      const planned = await runScript(work.path, `touch left; setsid sleep ${seconds} & sleep 0.2`, { choice });
      const applied = await runScript(work.path, `ls; pgrep -fx "sleep ${seconds}" && echo still-there`, { choice });
      expect(planned.result.outcome).toBe('succeeded');
      expect(applied.sink.text('stdout')).not.toMatch(/left|still-there/);
    });
  },
);
