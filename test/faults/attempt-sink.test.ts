import pino from 'pino';
import { describe, expect, it } from 'vitest';
import { AttemptSink } from '#activities/attempts/attempt-sink.ts';
import type { AttemptDeps } from '#activities/deps.ts';
import type { AttemptWork } from '#domain/runs/attempts/claim.ts';
import type { AttemptState } from '#domain/runs/attempts/writes.ts';
import { executing } from '#test/support/runs/run-steps.ts';
import { openRunStepsApi } from './harness/run-steps-api.ts';

/** Which states the worker accepts from an executor. */
const { api, steps, readEvents } = await openRunStepsApi();

const meta = (write: unknown) => ({ write: write as number, serial: null, lineage: null, resourceCount: 0 });

/** Begins an attempt in this phase. @returns its sink, and the states that the sink passed to the spool */
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

describe('a state that an executor sends', () => {
  it.each(['plan', 'apply'])(
    'a state that an executor sends while it plans a run of the operation %s is refused, and reported in one event',
    async (operation) => {
      const { runId, spooled, sink } = await open('planning', operation);
      for (const write of [1, 2])
        await expect(sink.state(Buffer.from('{}'), meta(write))).rejects.toMatchObject({ reason: 'state_refused' });
      expect(sink.stateRefused.aborted).toBe(true);
      expect(spooled).toEqual([]);
      expect(await readEvents(runId, 'run.state_refused')).toMatchObject([
        { data: { file: null, problem: expect.stringContaining('planning') } },
      ]);
    },
  );

  it('a state that an executor sends while it applies is added to the spool', async () => {
    const { spooled, sink } = await open('applying');
    await sink.state(Buffer.from('{}'), meta(1));
    expect(spooled).toMatchObject([{ write: 1 }]);
    expect(sink.stateRefused.aborted).toBe(false);
  });
});
