import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readState } from '#domain/instances/state.ts';
import { claimAttempt } from '#domain/runs/attempts/claim.ts';
import { abandonAttempt, completeAttempt, concludeAttempt } from '#domain/runs/attempts/complete.ts';
import { appendLog } from '#domain/runs/attempts/logs.ts';
import { storeAttemptState } from '#domain/runs/attempts/state.ts';
import type { AttemptState } from '#domain/runs/attempts/writes.ts';
import { AttemptSuperseded } from '#domain/runs/errors.ts';
import type { NextStep } from '#domain/runs/model.ts';
import { type StepRequest, takeNextStep } from '#domain/runs/steps/advance.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { deregisterWorker, recordHeartbeat, registerWorker } from '#domain/workers/store.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

/** Runs that the test advances step by step in place of the engine and a worker, so that either can be lost at any point. */
let api: TestApi;
let admin: ApiUser;
let templates = 0;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
});
afterAll(() => api?.close());

const worker = async (): Promise<string> => {
  const id = randomUUID();
  const facts = { host: 'here', processId: 1, version: '0', pools: ['default'], tools: [], concurrency: 4 };
  const containment = { isolation: 'none', limits: 'process', isolationReason: 'a test' } as const;
  await registerWorker(api.services.orm.em.fork(), { id, ...facts, ...containment });
  return id;
};
const next = (request: Partial<StepRequest> & { runId: string }) =>
  api.services.transactions.run((tx) => takeNextStep(tx, { executed: null, canceled: false, ...request }));
const claim = (attemptId: string, workerId: string, keyRing = api.services.keyRing) =>
  claimAttempt(api.services.orm.em.fork(), keyRing, attemptId, { workerId, isolation: 'none' });
const keep = (state: Partial<AttemptState> & { attemptId: string }) =>
  api.services.transactions.run((tx) =>
    storeAttemptState(tx, api.services.keyRing, {
      write: 1,
      content: Buffer.from('{"it":"is"}'),
      resourceCount: 1,
      ...state,
    }),
  );
const readRun = async (id: string) => (await admin.get(`/runs/${id}`)).body;
const eventsOf = async (id: string) =>
  (await admin.get(`/runs/${id}/events`)).body.events.map(({ type }: { type: string }) => type);

function executing(step: NextStep): string {
  if (step.kind !== 'execute') throw new Error(`expected an execution: ${JSON.stringify(step)}`);
  return step.attemptId;
}

async function publish(rest: object = {}): Promise<string> {
  const slug = `template-${++templates}`;
  const { body } = await admin.post('/registry/templates', { name: slug, slug });
  const spec = { executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] }, ...rest };
  await admin.post(`/registry/templates/${body.id}/versions`, { version: '1.0.0', spec });
  return body.id;
}

async function admit(templateId: string): Promise<string> {
  const { status, body, text } = await admin.post('/runs', { template_id: templateId });
  expect(status, text).toBe(202);
  return body.id;
}

async function plan(attemptId: string): Promise<void> {
  const change = { address: 'thing', action: 'create' as const, before: null, after: {} };
  const summary = { add: 1, change: 0, destroy: 0 };
  const made = { changes: [change], summary, executorDigest: 'sha256:0', artifact: randomBytes(8) };
  await api.services.transactions.run((tx) =>
    completeAttempt(tx, api.services.keyRing, attemptId, { outcome: 'planned', reason: null, tool: null, plan: made }),
  );
}

/** A run whose apply a worker has begun. */
async function applying(workerId: string, templateId?: string): Promise<{ runId: string; attemptId: string }> {
  const runId = await admit(templateId ?? (await publish()));
  const planning = executing(await next({ runId }));
  await claim(planning, workerId);
  await plan(planning);
  const attemptId = executing(await next({ runId, executed: planning }));
  expect(await claim(attemptId, workerId)).not.toBeNull();
  return { runId, attemptId };
}

async function silence(workerId: string): Promise<void> {
  await api.rows(`update workers set heartbeat_at = now() - interval '5 minutes' where id = ?`, [workerId]);
}

describe('an attempt that the engine considers lost', () => {
  it('is waited for while its worker sends heartbeats, and its result counts', async () => {
    const workerId = await worker();
    const { runId, attemptId } = await applying(workerId);
    expect(await next({ runId, executed: attemptId })).toEqual({ kind: 'wait', seconds: 6 });
    expect(await next({ runId, executed: attemptId })).toEqual({ kind: 'wait', seconds: 6 });
    const result = { outcome: 'applied', reason: null, tool: null } as const;
    await api.services.transactions.run((tx) => completeAttempt(tx, api.services.keyRing, attemptId, result));
    expect(await next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'succeeded' });
  });

  it('is lost once its worker was silent at two checks, and not after one', async () => {
    const workerId = await worker();
    const { runId, attemptId } = await applying(workerId);
    await silence(workerId);
    expect(await next({ runId, executed: attemptId })).toMatchObject({ kind: 'wait', suspects: true });
    await recordHeartbeat(api.services.orm.em.fork(), workerId, false);
    expect(await next({ runId, executed: attemptId, suspected: true })).toEqual({ kind: 'wait', seconds: 6 });
    await silence(workerId);
    expect(await next({ runId, executed: attemptId, suspected: true })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'failed', status_reason: 'apply_interrupted' });
    expect(await eventsOf(runId)).toContain('run.attempt_lost');
  });

  it('is lost at once where its worker is known to be gone', async () => {
    const workerId = await worker();
    const { runId, attemptId } = await applying(workerId);
    await deregisterWorker(api.services.orm.em.fork(), workerId);
    expect(await next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'failed', status_reason: 'apply_interrupted' });
  });

  it('is lost where it exceeds its time limit, although its worker is alive', async () => {
    const workerId = await worker();
    const { runId, attemptId } = await applying(workerId);
    await api.rows(`update run_attempts set started_at = now() - interval '3 hours' where id = ?`, [attemptId]);
    expect(await next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
  });

  it('is executed again where no worker had claimed it, even an apply', async () => {
    const workerId = await worker();
    const runId = await admit(await publish());
    const planning = executing(await next({ runId }));
    await claim(planning, workerId);
    await plan(planning);
    const first = executing(await next({ runId, executed: planning }));
    const second = executing(await next({ runId, executed: first }));
    expect(second).not.toBe(first);
    expect(await claim(first, workerId)).toBeNull();
    expect(await claim(second, workerId)).not.toBeNull();
    expect(await eventsOf(runId)).not.toContain('run.attempt_lost');
  });

  it('keeps a canceled run from ending while its worker still executes it', async () => {
    const workerId = await worker();
    const { runId, attemptId } = await applying(workerId);
    await admin.post(`/runs/${runId}/cancel`);
    const asked = { runId, executed: attemptId, canceled: true };
    expect(await next(asked)).toEqual({ kind: 'wait', seconds: 6 });
    const result = { outcome: 'canceled', reason: null, tool: null } as const;
    await api.services.transactions.run((tx) => completeAttempt(tx, api.services.keyRing, attemptId, result));
    expect(await next(asked)).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'canceled', status_reason: 'canceled_by_user' });
  });
});

describe('a result that is stored together with the next step', () => {
  const change = { address: 'thing', action: 'create' as const, before: null, after: {} };
  const summary = { add: 1, change: 0, destroy: 0 };
  const made = () => ({ changes: [change], summary, executorDigest: 'sha256:0', artifact: randomBytes(8) });
  const planned = () => ({ outcome: 'planned', reason: null, tool: null, plan: made() }) as const;
  const conclude = (attemptId: string, result: Parameters<typeof concludeAttempt>[3]) =>
    api.services.transactions.run((tx) => concludeAttempt(tx, api.services.keyRing, attemptId, result));
  /** A run that a worker is planning. */
  async function planning(spec: object = {}) {
    const workerId = await worker();
    const runId = await admit(await publish(spec));
    const attemptId = executing(await next({ runId }));
    await claim(attemptId, workerId);
    return { workerId, runId, attemptId };
  }

  it('opens the apply that follows; the workflow gets the same one, and one worker can claim it', async () => {
    const { workerId, runId, attemptId } = await planning();
    const following = executing(await conclude(attemptId, planned()));
    expect(executing(await next({ runId, executed: attemptId }))).toBe(following);
    expect(await claim(following, workerId)).not.toBeNull();
    expect(await claim(following, await worker())).toBeNull();
    expect(await next({ runId, executed: following })).toMatchObject({ kind: 'wait' });
    expect(await conclude(following, { outcome: 'applied', reason: null, tool: null })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'succeeded' });
    expect(await next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
  });

  it('opens no attempt where approval is needed, or where the run is being canceled', async () => {
    const waiting = await planning({ approval: { required: 1, when: 'always' } });
    expect(await conclude(waiting.attemptId, planned())).toMatchObject({ kind: 'wait' });
    expect(await readRun(waiting.runId)).toMatchObject({ status: 'pending_approval' });
    const canceling = await planning();
    await admin.post(`/runs/${canceling.runId}/cancel`);
    expect(await conclude(canceling.attemptId, planned())).toEqual({ kind: 'end' });
    expect(await readRun(canceling.runId)).toMatchObject({ status: 'canceled' });
  });

  it('is refused when it is repeated, since the attempt is over', async () => {
    const { attemptId } = await planning();
    await conclude(attemptId, planned());
    await expect(conclude(attemptId, planned())).rejects.toThrow(AttemptSuperseded);
  });
});

describe('a worker that gives an attempt up', () => {
  const abandon = (attemptId: string, workerId: string, outcome: 'handed_back' | 'failed' | 'lost') =>
    api.services.transactions.run((tx) => abandonAttempt(tx, attemptId, workerId, outcome));

  it('ends an apply as one whose worker was lost', async () => {
    const workerId = await worker();
    const { runId, attemptId } = await applying(workerId);
    await abandon(attemptId, await worker(), 'lost');
    expect(await next({ runId, executed: attemptId })).toMatchObject({ kind: 'wait' });
    await abandon(attemptId, workerId, 'lost');
    expect(await next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'failed', status_reason: 'apply_interrupted' });
  });

  it('makes planning start again, three times at most', async () => {
    const workerId = await worker();
    const runId = await admit(await publish());
    let attemptId = executing(await next({ runId }));
    for (let tries = 1; tries < 3; tries += 1) {
      await claim(attemptId, workerId);
      await abandon(attemptId, workerId, 'lost');
      attemptId = executing(await next({ runId, executed: attemptId }));
    }
    await claim(attemptId, workerId);
    await abandon(attemptId, workerId, 'lost');
    expect(await next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'failed', status_reason: 'plan_interrupted' });
  });

  it('leaves an attempt unclaimed that it cannot unseal, and fails the run with a reason', async () => {
    const workerId = await worker();
    const runId = await admit(await publish());
    const attemptId = executing(await next({ runId }));
    const stranger = new KeyRing([{ id: 'other', key: createHash('sha256').update('other').digest() }]);
    await expect(claim(attemptId, workerId, stranger)).rejects.toThrow();
    expect(await api.rows(`select worker_id from run_attempts where id = ?`, [attemptId])).toEqual([
      { worker_id: null },
    ]);
    await abandon(attemptId, workerId, 'failed');
    expect(await next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'failed', status_reason: 'executor_failed' });
  });
});

describe('a state that arrives when its attempt is over', () => {
  /** A run whose apply was interrupted. */
  async function cutOff(templateId?: string): Promise<{ runId: string; attemptId: string }> {
    const workerId = await worker();
    const begun = await applying(workerId, templateId);
    await deregisterWorker(api.services.orm.em.fork(), workerId);
    expect(await next({ runId: begun.runId, executed: begun.attemptId })).toEqual({ kind: 'end' });
    return begun;
  }
  const instanceOf = async (runId: string) => (await readRun(runId)).instance_id as string;
  const serialOf = async (runId: string) =>
    (
      await api.rows<{ state_serial: number }>(`select state_serial from instances where id = ?`, [
        await instanceOf(runId),
      ])
    )[0]?.state_serial;

  it('becomes the latest of its instance, and the run reports it; logs and results are refused', async () => {
    const { runId, attemptId } = await cutOff();
    expect(await keep({ attemptId, content: Buffer.from('{"made":1}') })).toBe('late');
    expect(await readRun(runId)).toMatchObject({ status: 'failed', state_serial_after: 1 });
    expect(await eventsOf(runId)).toContain('run.state_recovered');
    const kept = await readState(api.services.orm.em.fork(), api.services.keyRing, await instanceOf(runId), 1);
    expect(String(kept)).toBe('{"made":1}');
    const content = Buffer.from('late\n');
    const chunk = { sequence: 1, phase: 'apply', stream: 'stdout', time: new Date().toISOString(), content } as const;
    const log = appendLog(api.services.orm.em.fork(), attemptId, { ...chunk, firstLine: 0, lines: 1, checksum: 'x' });
    await expect(log).rejects.toThrow(AttemptSuperseded);
    const result = { outcome: 'applied', reason: null, tool: null } as const;
    const completed = api.services.transactions.run((tx) =>
      completeAttempt(tx, api.services.keyRing, attemptId, result),
    );
    await expect(completed).rejects.toThrow(AttemptSuperseded);
  });

  it('is stored once however often it arrives, and in the order of its writes', async () => {
    const { runId, attemptId } = await cutOff();
    expect(await keep({ attemptId, write: 1 })).toBe('late');
    expect(await keep({ attemptId, write: 2 })).toBe('late');
    expect(await keep({ attemptId, write: 2 })).toBe('kept');
    expect(await keep({ attemptId, write: 1 })).toBe('kept');
    expect(await serialOf(runId)).toBe(2);
    expect((await eventsOf(runId)).filter((type: string) => type === 'run.state_recovered')).toHaveLength(2);
  });

  it('follows the states that its own attempt had stored before, and never replaces a later one', async () => {
    const workerId = await worker();
    const { runId, attemptId } = await applying(workerId);
    expect(await keep({ attemptId, write: 3 })).toBe('kept');
    await deregisterWorker(api.services.orm.em.fork(), workerId);
    await next({ runId, executed: attemptId });
    expect(await keep({ attemptId, write: 2 })).toBe('outdated');
    expect(await keep({ attemptId, write: 4 })).toBe('late');
    expect(await serialOf(runId)).toBe(2);
  });

  it('is outdated where a later run has written a state', async () => {
    const templateId = await publish();
    const first = await cutOff(templateId);
    const second = await applying(await worker(), templateId);
    expect(await keep({ attemptId: second.attemptId })).toBe('kept');
    expect(await keep({ attemptId: first.attemptId })).toBe('outdated');
    expect(await serialOf(first.runId)).toBe(1);
  });

  it('makes the service refuse a plan that was made without it', async () => {
    const templateId = await publish({ approval: { required: 1, when: 'always' } });
    const workerId = await worker();
    const { runId, attemptId } = await cutOff(await publish());
    const instance = (await readRun(runId)).instance_id;
    const later = await admit(templateId);
    await api.rows(`update runs set instance_id = ? where id = ?`, [instance, later]);
    const planning = executing(await next({ runId: later }));
    await claim(planning, workerId);
    await plan(planning);
    expect(await next({ runId: later, executed: planning })).toMatchObject({ kind: 'wait' });
    expect(await keep({ attemptId })).toBe('late');
    await api.rows(`update runs set approval_required = 0 where id = ?`, [later]);
    expect(await next({ runId: later, executed: planning })).toEqual({ kind: 'end' });
    expect(await readRun(later)).toMatchObject({ status: 'failed', status_reason: 'plan_moved' });
  });

  it('of an apply that was repeated counts only until the repetition writes', async () => {
    const workerId = await worker();
    const { runId, attemptId } = await applying(workerId, await publish({ retry_safe: true }));
    await deregisterWorker(api.services.orm.em.fork(), workerId);
    const again = executing(await next({ runId, executed: attemptId }));
    await claim(again, await worker());
    expect(await keep({ attemptId, write: 1 })).toBe('late');
    expect(await keep({ attemptId: again, write: 1 })).toBe('kept');
    expect(await keep({ attemptId, write: 2 })).toBe('outdated');
  });
});
