import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AttemptSink } from '#activities/attempt-sink.ts';
import type { AttemptDeps } from '#activities/deps.ts';
import type { AttemptWork } from '#domain/runs/attempts/claim.ts';
import type { AttemptState } from '#domain/runs/attempts/writes.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { executing, RunSteps } from '#test/support/run-steps.ts';

/** What an executor may say of a state, and what comes of it; whatever the executor is. */
let api: TestApi;
let admin: ApiUser;
let steps: RunSteps;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  steps = new RunSteps(api, admin);
});
afterAll(() => api?.close());

const meta = (write: unknown) => ({ write: write as number, serial: null, lineage: null, resourceCount: 0 });

/** An attempt that plans, or the one that applies its plan; and what its sink gave to the spool. */
async function open(phase: 'planning' | 'applying', operation = 'apply') {
  const workerId = await steps.worker('none');
  const spooled: AttemptState[] = [];
  const begin = async () => {
    if (phase === 'applying') return steps.planned(workerId, 'none');
    const runId = await steps.admit({ operation });
    return { runId, attemptId: executing(await steps.next({ runId })) };
  };
  const { runId, attemptId } = await begin();
  const work = (await steps.claim(attemptId, workerId, 'none')) as AttemptWork;
  const { orm, transactions, keyRing } = api.services;
  const spool = { add: async (state: AttemptState) => void spooled.push(state), settle: async () => 'settled' };
  const deps = { orm, transactions, keyRing, workerId, spool, log: pino({ level: 'silent' }) };
  return { runId, spooled, sink: new AttemptSink(deps as unknown as AttemptDeps, work) };
}

const refusalsOf = async (runId: string) =>
  (await admin.get(`/runs/${runId}/events`)).body.events.filter(
    ({ type }: { type: string }) => type === 'run.state_refused',
  );

describe('a state that an executor claims', () => {
  it.each(['plan', 'apply'])(
    'while it plans a run of the operation %s is not taken, and is named once',
    async (operation) => {
      const { runId, spooled, sink } = await open('planning', operation);
      for (const write of [1, 2])
        await expect(sink.state(Buffer.from('{}'), meta(write))).rejects.toMatchObject({ reason: 'state_refused' });
      expect(sink.stateRefused.aborted).toBe(true);
      expect(spooled).toEqual([]);
      expect(await refusalsOf(runId)).toMatchObject([
        { data: { file: null, problem: expect.stringContaining('planning') } },
      ]);
    },
  );

  it('while it applies is spooled', async () => {
    const { spooled, sink } = await open('applying');
    await sink.state(Buffer.from('{}'), meta(1));
    expect(spooled).toMatchObject([{ write: 1, resourceCount: 0 }]);
    expect(sink.stateRefused.aborted).toBe(false);
  });
});
