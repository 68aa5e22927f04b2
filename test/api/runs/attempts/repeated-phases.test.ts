import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendLog } from '#domain/runs/attempts/logs.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { aPlan, executing, RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let admin: ApiUser;
let steps: RunSteps;
let worker: string;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  steps = new RunSteps(api, admin);
  worker = await steps.worker('sandbox');
});
afterAll(() => api?.close());

/** Writes a line to the log of an attempt, as its worker does. */
function print(attemptId: string, line: string, phase: 'plan' | 'apply' = 'plan'): Promise<void> {
  const content = Buffer.from(`${line}\n`);
  const chunk = { sequence: 1, firstLine: 0, lines: 1, time: new Date().toISOString(), content };
  return appendLog(api.services.orm.em.fork(), attemptId, { ...chunk, phase, stream: 'stdout', checksum: 'sha256:0' });
}

async function claimNext(runId: string, executed: string | null): Promise<string> {
  const attemptId = executing(await steps.next({ runId, executed }));
  await steps.claim(attemptId, worker, 'sandbox');
  return attemptId;
}

async function readLog(runId: string): Promise<[string, string, number][]> {
  const { body } = await admin.get(`/runs/${runId}/logs`);
  return body.entries.map(({ stream, text, sequence }: { stream: string; text: string; sequence: number }) => [
    stream,
    text,
    sequence,
  ]);
}

describe('the log of a phase that is repeated', () => {
  it('begins each further attempt with a line that says why it is repeated', async () => {
    const { runId, attemptId: first } = await steps.planning(worker, 'sandbox');
    await print(first, 'p1');
    await steps.abandon(first, worker, 'lost');
    const second = await claimNext(runId, first);
    await print(second, 'p1');
    await steps.abandon(second, worker, 'handed_back');
    const third = await claimNext(runId, second);
    await print(third, 'p1');
    expect(await readLog(runId)).toEqual([
      ['stdout', 'p1\n', 1],
      ['system', 'attempt 2: the worker of attempt 1 was lost\n', 2],
      ['stdout', 'p1\n', 3],
      ['system', 'attempt 3: the worker of attempt 2 stopped before it had finished\n', 4],
      ['stdout', 'p1\n', 5],
    ]);
  });

  it('has no such line at the first attempt to apply, or after an attempt that no worker had begun', async () => {
    const { runId, attemptId: planning } = await steps.planning(worker, 'sandbox');
    await print(planning, 'p1');
    await steps.complete(planning, { outcome: 'planned', plan: aPlan() });
    const unclaimed = executing(await steps.next({ runId, executed: planning }));
    const applying = await claimNext(runId, unclaimed);
    expect(applying).not.toBe(unclaimed);
    await print(applying, 'a1', 'apply');
    expect(await readLog(runId)).toEqual([
      ['stdout', 'p1\n', 1],
      ['stdout', 'a1\n', 2],
    ]);
  });
});
