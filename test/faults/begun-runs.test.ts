import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { begin } from '#activities/attempts/take-attempt.ts';
import type { Continuation } from '#domain/runs/attempts/continue.ts';
import type { Isolation } from '#domain/workers/model.ts';
import { StatementFaults } from '#test/support/database/statement-faults.ts';
import { executing } from '#test/support/runs/run-steps.ts';
import { openRunStepsApi } from './harness/run-steps-api.ts';

const { api, admin, steps, readRun, readEvents } = await openRunStepsApi();

let workerId: string;
let faults: StatementFaults;
beforeAll(async () => {
  workerId = await steps.worker('none');
  faults = await StatementFaults.open(api.services.orm);
});
afterAll(() => faults?.remove());

/** Lets a worker begin a run, as the workflow of the run asks it to. */
function beginAs(worker: string, runId: string, isolation: Isolation = 'none'): Promise<Continuation> {
  const { orm, transactions, keyRing, log } = api.services;
  const findTools = async () => [];
  return begin({ orm, transactions, keyRing, log, workerId: worker, isolation, issuer: null, findTools }, runId);
}

const nothing: Continuation = { step: null, work: null };
const rowsOf = (runId: string) => api.rows('select outcome, worker_id from run_attempts where run_id = ?', [runId]);

describe('a worker that begins a queued run', () => {
  it('gets its first attempt, and the run looks as if its workflow had begun it', async () => {
    const runId = await steps.admit();
    const { step, work } = await beginAs(workerId, runId);
    expect(step).toMatchObject({ kind: 'execute', attemptId: work?.attempt.id, taskQueue: 'uncontained-pool.default' });
    expect(work).toMatchObject({ run: { id: runId }, attempt: { phase: 'planning' }, tool: null, state: null });
    expect(await readRun(runId)).toMatchObject({ status: 'running', phase: 'planning', waiting_on: null });
    expect((await readEvents(runId)).map(({ type }) => type)).toEqual(['run.admitted', 'run.planning']);
    expect(await steps.claim(work?.attempt.id ?? '', await steps.worker('none'), 'none')).toBeNull();
  });

  it('is the only one, however many workers are asked at the same time', async () => {
    const runId = await steps.admit();
    const workers = await Promise.all([1, 2, 3, 4].map(() => steps.worker('none')));
    const begun = await Promise.all(workers.map((worker) => beginAs(worker, runId)));
    expect(begun.filter(({ work }) => work !== null)).toHaveLength(1);
    expect(await rowsOf(runId)).toHaveLength(1);
  });

  it('does nothing if the workflow has begun the run, or the run has ended', async () => {
    const begun = await steps.admit();
    executing(await steps.next({ runId: begun }));
    expect(await beginAs(workerId, begun)).toEqual(nothing);
    const canceled = await steps.admit();
    await admin.post(`/runs/${canceled}/cancel`);
    await steps.next({ runId: canceled });
    expect(await beginAs(workerId, canceled)).toEqual(nothing);
  });

  it('learns that the run waits for the run before it', async () => {
    const templateId = await steps.publish();
    const request = { template_id: templateId, instance: 'shared' };
    const [first, second] = [await admin.post('/runs', request), await admin.post('/runs', request)];
    expect(await beginAs(workerId, second.body.id)).toMatchObject({ step: { kind: 'wait' }, work: null });
    expect(await readRun(second.body.id)).toMatchObject({ status: 'queued', waiting_on: { code: 'instance_busy' } });
    expect((await beginAs(workerId, first.body.id)).work).not.toBeNull();
  });

  it('leaves a run that demands a sandbox to others if it has none', async () => {
    const pool = 'strict';
    expect((await admin.post('/worker-pools', { name: pool, isolation: 'sandbox' })).status).toBe(201);
    const weak = await steps.worker('none', pool);
    const runId = await steps.admit({}, { pool });
    expect(await beginAs(weak, runId)).toEqual(nothing);
    // It is not enough to say so.
    expect(await beginAs(weak, runId, 'sandbox')).toEqual(nothing);
    expect(await readRun(runId)).toMatchObject({ status: 'queued' });
    expect(await rowsOf(runId)).toEqual([]);
    expect((await readEvents(runId)).map(({ type }) => type)).toEqual(['run.admitted']);
  });

  it('leaves a run to others if it has no tool for it', async () => {
    const executor = { kind: 'opentofu', files: { 'main.tf': '' } };
    const runId = await steps.admit({}, { executor });
    expect(await beginAs(workerId, runId)).toEqual(nothing);
    expect(await rowsOf(runId)).toEqual([]);
    expect(await readRun(runId)).toMatchObject({ status: 'queued' });
  });

  it('hands the attempt back if it did not learn that the commit had arrived', async () => {
    const unharmed = await steps.admit();
    const { statements } = await faults.during(null, () => beginAs(workerId, unharmed));
    const runId = await steps.admit();
    const at = statements.lastIndexOf('commit');
    const struck = await faults.during({ kind: 'cut after', at }, () =>
      beginAs(workerId, runId).then(
        () => 'begun',
        (error: Error) => error.message,
      ),
    );
    expect(struck).toMatchObject({ hasStruck: true, result: expect.stringContaining('outcome is unknown') });
    expect(await rowsOf(runId)).toEqual([{ outcome: 'handed_back', worker_id: workerId }]);
    const attemptId = executing(await steps.next({ runId }));
    expect(await steps.claim(attemptId, workerId, 'none')).not.toBeNull();
  });

  it('has an open attempt exactly if it knows it, whatever befalls any of its statements', async () => {
    const template_id = await steps.publish();
    let count = 0;
    const admit = async () => (await admin.post('/runs', { template_id, instance: `one-${++count}` })).body.id;
    const unharmed = await admit();
    const { statements } = await faults.during(null, () => beginAs(workerId, unharmed));
    for (const kind of ['refused', 'deadlock', 'cut before', 'cut after'] as const)
      for (const at of statements.keys()) {
        const runId = await admit();
        const { result } = await faults.during({ kind, at }, () => beginAs(workerId, runId).catch(() => nothing));
        const rows = await api.rows<{ id: string; outcome: string | null }>(
          'select id, outcome from run_attempts where run_id = ? and worker_id is not null',
          [runId],
        );
        const open = rows.filter(({ outcome }) => outcome === null).map(({ id }) => id);
        expect(open, `${kind} at ${statements[at]}`).toEqual(result.work ? [result.work.attempt.id] : []);
      }
  });
});
