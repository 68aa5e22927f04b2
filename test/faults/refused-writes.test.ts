import { beforeEach, describe, expect, it } from 'vitest';
import { appendLog } from '#domain/runs/attempts/logs.ts';
import { recordRefusedState } from '#domain/runs/attempts/refused-state.ts';
import type { LogChunk } from '#domain/runs/attempts/writes.ts';
import { AttemptWriteRefused } from '#domain/runs/errors.ts';
import { aPlan } from '#test/support/runs/run-steps.ts';
import { openRunStepsApi } from './harness/run-steps-api.ts';

const { api, admin, steps, readRun, readEvents } = await openRunStepsApi();
let worker: string;
beforeEach(async () => {
  worker = await steps.worker('none');
});

const statesOf = (runId: string) => api.rows('select serial from state_versions where run_id = ?', [runId]);
const planning = (request: object = {}) => steps.planning(worker, 'none', request);
const applying = (request: object = {}) => steps.applying(worker, 'none', request);
const refusal = (reason: string) => expect.objectContaining({ name: 'AttemptWriteRefused', reason });

describe('a state', () => {
  it.each(['plan', 'apply'])('is refused from an attempt that plans a run of the operation %s', async (operation) => {
    const { runId, attemptId } = await planning({ operation });
    await expect(steps.keep({ attemptId })).rejects.toEqual(refusal('state_refused'));
    expect(await statesOf(runId)).toEqual([]);
    expect(await readRun(runId)).toMatchObject({ state_serial_after: null });
  });

  it('is refused for a plan-only run even if its attempt is in the phase applying', async () => {
    const { runId, attemptId } = await planning({ operation: 'plan' });
    await api.rows(`update run_attempts set phase = 'applying' where id = ?`, [attemptId]);
    await expect(steps.keep({ attemptId })).rejects.toEqual(refusal('state_refused'));
    expect(await statesOf(runId)).toEqual([]);
  });

  it.each([
    ['a NUL byte', { content: Buffer.from('{"a":"\0"}') }],
    ['invalid UTF-8', { content: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]) }],
    ['no content', { content: Buffer.alloc(0) }],
    ['content that is not JSON', { content: Buffer.from('state') }],
    ['a path as its write number', { write: '/../x' as never }],
    ['a write number of more than six digits', { write: 1_000_000 }],
  ])('a state with %s is refused, and the next one is stored', async (_, wrong) => {
    const { runId, attemptId } = await applying();
    await expect(steps.keep({ attemptId, ...wrong })).rejects.toEqual(refusal('state_refused'));
    expect(await statesOf(runId)).toEqual([]);
    expect(await steps.keep({ attemptId })).toBe('kept');
  });

  it('a state that was set aside is reported in one event of its run, even if the run has ended, and counted', async () => {
    const { runId, attemptId } = await applying();
    await admin.post(`/runs/${runId}/cancel`, { force: true });
    const counted = () => api.rows<{ states_refused: number }>('select states_refused from installation');
    const [before] = await counted();
    const refused = {
      attemptId,
      write: 3,
      digest: 'sha256:1',
      file: `${attemptId}.000003.refused`,
      workerId: worker,
      problem: 'the database refused it (22003)',
    };
    for (let times = 0; times < 2; times += 1)
      await api.services.transactions.run((tx) => recordRefusedState(tx, refused));
    const { workerId: _worker, attemptId: _attempt, ...data } = refused;
    expect(await readEvents(runId, 'run.state_refused')).toMatchObject([
      { data: { ...data, attempt_id: attemptId, worker_id: worker } },
    ]);
    expect((await counted())[0]?.states_refused).toBe((before?.states_refused ?? 0) + 1);
  });

  it('a state that was refused makes a run fail even while it is being canceled, since its changes are unknown', async () => {
    const { runId, attemptId } = await applying();
    await admin.post(`/runs/${runId}/cancel`);
    await steps.complete(attemptId, { outcome: 'failed', reason: 'state_refused' });
    expect(await steps.next({ runId, executed: attemptId, canceled: true })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'failed', status_reason: 'state_refused' });
  });
});

describe('a result', () => {
  const deep = JSON.parse(`${'['.repeat(300)}${']'.repeat(300)}`);
  const change = (more: object) => ({ address: 'a', action: 'create', before: null, after: null, ...more });

  it('a result with outputs is refused from an attempt that plans, and changes no output', async () => {
    const { runId, attemptId } = await planning({ operation: 'plan' });
    const outputs = { address: { value: 'forged', sensitive: false } };
    const kept = steps.complete(attemptId, { outcome: 'unchanged', outputs });
    await expect(kept).rejects.toEqual(refusal('outputs_invalid'));
    const { instance_id: instance, outputs: shown } = await readRun(runId);
    expect(shown).toEqual({});
    expect((await admin.get(`/instances/${instance}/outputs`)).body.outputs).toEqual({});
  });

  it.each(['applied', 'lost'])(
    'a result with the outcome "%s" is refused from an attempt that plans',
    async (outcome) => {
      const { runId, attemptId } = await planning();
      await expect(steps.complete(attemptId, { outcome: outcome as never })).rejects.toThrow(AttemptWriteRefused);
      expect(await readRun(runId)).toMatchObject({ status: 'running', phase: 'planning' });
    },
  );

  it('a result with the outcome "planned" is refused from an attempt that applies', async () => {
    const { attemptId } = await applying();
    const kept = steps.complete(attemptId, { outcome: 'planned', plan: aPlan() });
    await expect(kept).rejects.toThrow(AttemptWriteRefused);
  });

  it.each([
    ['a NUL character', [change({ after: { text: 'a\0b' } })]],
    ['a NUL character in a name', [change({ after: { 'a\0b': 1 } })]],
    ['half of a surrogate pair', [change({ before: '\ud800' })]],
    ['a number that JSON does not have', [change({ after: Number.POSITIVE_INFINITY })]],
    ['values that are nested too deeply', [change({ after: deep })]],
    ['an address that is too long', [change({ address: 'a'.repeat(4097) })]],
    ['an address that is not a string', [change({ address: 7 })]],
    ['an unknown action', [change({ action: 'explode' })]],
    ['more than 64 Ki changes', Array.from({ length: 65_537 }, () => change({}))],
  ])('a result whose plan has %s is refused', async (_, changes) => {
    const { runId, attemptId } = await planning();
    const kept = steps.complete(attemptId, { outcome: 'planned', plan: aPlan({ changes }) });
    await expect(kept).rejects.toEqual(refusal('plan_invalid'));
    await steps.complete(attemptId, { outcome: 'failed', reason: 'plan_invalid' });
    expect(await steps.next({ runId, executed: attemptId })).toEqual({ kind: 'end' });
    expect(await readRun(runId)).toMatchObject({ status: 'failed', status_reason: 'plan_invalid' });
  });

  it.each([
    ['an output that does not say whether it is sensitive', { outputs: { a: { value: 1 } as never } }],
    ['an invalid resource count', { resourceCount: 1e12 }],
  ])('a result with %s is refused', async (_, wrong) => {
    const { attemptId } = await applying();
    const kept = steps.complete(attemptId, { outcome: 'applied', ...wrong });
    await expect(kept).rejects.toEqual(refusal('outputs_invalid'));
  });

  it('a result with an unknown reason is refused', async () => {
    const { attemptId } = await applying();
    const kept = steps.complete(attemptId, { outcome: 'failed', reason: 'x'.repeat(300) as never });
    await expect(kept).rejects.toEqual(refusal('executor_failed'));
  });
});

describe('a chunk of log', () => {
  const chunk = {
    sequence: 1,
    phase: 'apply',
    stream: 'stdout',
    time: new Date().toISOString(),
    content: Buffer.from('a\0\n'),
    firstLine: 0,
    lines: 1,
    checksum: 'sha256:0',
  } as const;
  const append = (attemptId: string, more: Partial<LogChunk> = {}) =>
    appendLog(api.services.orm.em.fork(), attemptId, { ...chunk, ...more } as LogChunk);

  it.each<[string, Partial<LogChunk>]>([
    ['sequence', { sequence: 2 ** 31 }],
    ['sequence', { sequence: 0 }],
    ['lines', { firstLine: -1 }],
    ['lines', { lines: 0.5 }],
    ['phase', { phase: 'a\0b' }],
    ['stream', { stream: 'stdin' as never }],
    ['time', { time: '+275760-09-13T00:00:00.000Z' }],
    ['time', { time: 'yesterday' }],
    ['time', { time: '0000-01-01T00:00:00.000Z' }],
    ['time', { time: '2026-02-30T00:00:00.000Z' }],
    ['checksum', { checksum: 'a\0' }],
    ['bytes', { content: Buffer.alloc(4 * 1024 * 1024 + 1) }],
  ])('a chunk of log with an invalid %s is refused', async (field, wrong) => {
    const { attemptId } = await applying();
    await expect(append(attemptId, wrong)).rejects.toMatchObject({
      name: 'AttemptWriteRefused',
      reason: 'logs_not_saved',
      message: expect.stringContaining(field),
    });
    await append(attemptId);
  });
});
