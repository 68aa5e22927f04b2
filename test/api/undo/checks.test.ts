import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startUndoStage, type UndoStage } from '#test/support/undo/undo-stage.ts';

let stage: UndoStage;
beforeAll(async () => {
  stage = await startUndoStage();
});
afterAll(() => stage?.api.close());

/** Three runs, of which the second changes `a`, and the third `b`. */
async function threeRuns() {
  const place = stage.place();
  const first = await stage.deploy({ ...place, variables: { a: 1, b: 1 } });
  const second = await stage.deploy({ ...place, variables: { a: 2, b: 1 } });
  const third = await stage.deploy({ ...place, variables: { a: 2, b: 3 } });
  return { place, first, second, third };
}

describe('a check of undoing a run', () => {
  test('is ready if no later run changed its paths and nothing drifted, and shows the values to deploy', async () => {
    const { second } = await threeRuns();
    const begun = await stage.check(second);
    expect(begun).toMatchObject({ state: 'checking', run_id: second, problem: null });
    await stage.endScan(begun.baseline_run_id);
    const attempt = await stage.read(begun.id);
    expect(attempt).toMatchObject({
      state: 'ready',
      verdicts: [{ path: '/variables/a', verdict: 'clean', cause: null }],
      changes: [{ path: '/variables/a', from: 2, to: 1 }],
      candidate: { version: '2.0.0', variables: { a: 1, b: 3 }, collateral: null },
    });
    expect(attempt.candidate.digest).toMatch(/^hmac-sha256:[0-9a-f]{64}$/);
    expect(attempt.actions).toEqual([
      { name: 'check_candidate', allowed: true, reason: null },
      { name: 'promote', allowed: false, reason: expect.stringContaining('ask for a candidate check first') },
    ]);
  });

  test('returns the same attempt for the same key, and another attempt for another key', async () => {
    const { second } = await threeRuns();
    const key = randomUUID();
    const begun = await stage.check(second, stage.tenant.owner, key);
    expect((await stage.check(second, stage.tenant.owner, key)).id).toBe(begun.id);
    expect((await stage.check(second)).id).not.toBe(begun.id);
    const { body } = await stage.tenant.owner.get(`/runs/${second}/selective-undo`);
    expect(body.attempts).toHaveLength(2);
    expect(body.actions).toEqual([{ name: 'check', allowed: true, reason: null }]);
  });

  test('a check of undoing a run without an Idempotency-Key answers 400', async () => {
    const { second } = await threeRuns();
    expect((await stage.tenant.owner.post(`/runs/${second}/selective-undo/check`)).status).toBe(400);
  });

  test('is conflicted if a later run changed the same path, and names that run', async () => {
    const { place, second } = await threeRuns();
    const later = await stage.deploy({ ...place, variables: { a: 9, b: 3 } });
    const attempt = await stage.check(second);
    expect(attempt).toMatchObject({
      state: 'conflicted',
      baseline_run_id: null,
      candidate: null,
      verdicts: [{ path: '/variables/a', verdict: 'superseded', cause: { run_id: later } }],
    });
    expect(attempt.actions[0].reason).toContain('later runs changed');
  });

  test('is blocked if the instance has drifted, and names the resources', async () => {
    const { second } = await threeRuns();
    const address = 'thing.b["\u202e"]';
    expect(await stage.checked(second, stage.tenant.owner, [address])).toMatchObject({
      state: 'blocked',
      problem: { code: 'drifted', message: expect.stringContaining('(thing.b[" "]): revert or adopt') },
      verdicts: [{ verdict: 'drifted', cause: { addresses: [address] } }],
    });
  });

  test('fails if its scan failed, and is blocked if the scan stopped for a run', async () => {
    const { second } = await threeRuns();
    const failed = await stage.check(second);
    await stage.endScan(failed.baseline_run_id, { status: 'failed', reason: 'plan_failed' });
    expect(await stage.read(failed.id)).toMatchObject({ state: 'failed', problem: { code: 'scan_failed' } });
    const displaced = await stage.check(second);
    await stage.endScan(displaced.baseline_run_id, { status: 'canceled', reason: 'gave_way' });
    expect(await stage.read(displaced.id)).toMatchObject({ state: 'blocked', problem: { code: 'run_in_flight' } });
  });

  test('is blocked while a run may change the instance, and names that run', async () => {
    const { place, second } = await threeRuns();
    const { body } = await stage.tenant.owner.post('/runs', { ...place, variables: { a: 2, b: 4 } });
    expect(await stage.check(second)).toMatchObject({
      state: 'blocked',
      problem: { code: 'run_in_flight', run_id: body.id },
    });
  });

  test('is blocked if a later run added a member to an object that the run created', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 1 } });
    const made = await stage.deploy({ ...place, variables: { a: 1, size: { cpu: 1 } } });
    const filled = await stage.deploy({ ...place, variables: { a: 1, size: { cpu: 1, memory: 2 } } });
    const attempt = await stage.check(made);
    expect(attempt.state).toBe('blocked');
    expect(attempt.verdicts).toContainEqual({
      path: '/variables/size',
      verdict: 'depended_on',
      cause: expect.objectContaining({ run_id: filled, path: '/variables/size/memory' }),
    });
  });

  test('is blocked for the first run of an instance', async () => {
    const { first } = await threeRuns();
    const attempt = await stage.check(first);
    expect(attempt).toMatchObject({ state: 'blocked' });
    expect(attempt.verdicts).toContainEqual(expect.objectContaining({ path: '/version', verdict: 'irreversible' }));
  });

  test('restores another version of the template', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, version: '1.0.0', variables: { a: 1 } });
    const upgrade = await stage.deploy({ ...place, version: '2.0.0', variables: { a: 1 } });
    await stage.deploy({ ...place, version: '2.0.0', variables: { a: 2 } });
    expect(await stage.checked(upgrade)).toMatchObject({
      state: 'ready',
      changes: [{ path: '/version', from: '2.0.0', to: '1.0.0' }],
      candidate: { version: '1.0.0', variables: { a: 2 } },
    });
  });

  test('is blocked by changed environment variables, and says where to change them', async () => {
    const { environment, owner } = stage.tenant;
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 1 } });
    await owner.put(`/environments/${environment}/variables/REGION`, { category: 'env', value: 'eu' });
    const run = await stage.deploy({ ...place, variables: { a: 2 } });
    const attempt = await stage.check(run);
    await owner.delete(`/environments/${environment}/variables/REGION`);
    expect(attempt).toMatchObject({
      state: 'blocked',
      verdicts: [
        {
          path: '/environment/REGION',
          verdict: 'irreversible',
          cause: { message: expect.stringContaining('environment') },
        },
        { path: '/variables/a', verdict: 'clean' },
      ],
    });
    expect(JSON.stringify(attempt)).not.toContain('"eu"');
  });

  test('is blocked if the inputs of the run or the previous run were deleted', async () => {
    const { first, second } = await threeRuns();
    const operator = await stage.api.addUser('admin');
    const { headers } = await operator.get(`/runs/${first}`);
    const etag = String((headers as { etag?: string }).etag ?? '*');
    const deleted = await operator.delete(`/runs/${first}`, { 'if-match': etag });
    expect(deleted.status, deleted.text).toBe(204);
    expect(await stage.check(second)).toMatchObject({
      state: 'blocked',
      problem: { code: 'data_gone', run_id: first },
    });
  });

  test('is blocked for a run that applied the same inputs as the previous run', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 1 } });
    const same = await stage.deploy({ ...place, variables: { a: 1 } });
    expect(await stage.check(same)).toMatchObject({
      state: 'blocked',
      problem: { code: 'nothing_changed' },
      verdicts: [],
    });
  });

  test('is refused for a run that changed nothing, and for a destroy', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 1 } });
    const destroyed = await stage.deploy({ ...place, operation: 'destroy' });
    const plan = await stage.tenant.owner.post('/runs', { ...stage.place(), operation: 'plan' });
    for (const run of [destroyed, plan.body.id]) {
      const answer = await stage.tenant.owner.post(`/runs/${run}/selective-undo/check`, undefined, {
        'idempotency-key': randomUUID(),
      });
      expect([answer.status, answer.headers['x-error-code']]).toEqual([409, 'run_not_undoable']);
    }
  });

  test('is hidden from another tenant, whose members cannot check, read or promote it', async () => {
    const { second } = await threeRuns();
    const { id, candidate } = await stage.checked(second);
    const stranger = await stage.api.addUser('maintainer');
    const key = { 'idempotency-key': randomUUID() };
    const promotion = { candidate_digest: candidate.digest, accepted_collateral: [] };
    const answers = [
      await stranger.post(`/runs/${second}/selective-undo/check`, undefined, key),
      await stranger.get(`/runs/${second}/selective-undo`),
      await stranger.get(`/selective-undo/${id}`),
      await stranger.get(`/selective-undo/${id}/candidate-checks`),
      await stranger.post(`/selective-undo/${id}/candidate-checks`),
      await stranger.post(`/selective-undo/${id}/promote`, promotion),
    ];
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
  });
});
