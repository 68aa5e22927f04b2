import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join } from '#test/support/access/tenancy.ts';
import type { ApiUser } from '#test/support/api/in-process-api.ts';
import { startUndoStage, type UndoStage } from '#test/support/undo/undo-stage.ts';

let stage: UndoStage;
let owner: ApiUser;
let other: ApiUser;
beforeAll(async () => {
  stage = await startUndoStage();
  owner = stage.tenant.owner;
  other = await stage.api.addUser('operator');
  await join(stage.tenant, other, 'member', 'admin');
});
afterAll(() => stage?.api.close());

const secret = 's3cret-of-the-owner';

describe('a secret variable in an undo', () => {
  test('is compared and restored without being shown', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 1, token: secret } });
    const changed = await stage.deploy({ ...place, variables: { a: 1, token: 'another-secret' } });
    await stage.deploy({ ...place, variables: { a: 2, token: 'another-secret' } });
    const attempt = await stage.checked(changed);
    expect(attempt).toMatchObject({
      state: 'ready',
      verdicts: [{ path: '/variables/token', verdict: 'clean' }],
      changes: [{ path: '/variables/token', from: { sensitive: true }, to: { sensitive: true } }],
      candidate: { variables: { a: 2, token: { sensitive: true } } },
    });
    const planned = await stage.checkCandidate(attempt.id, ['thing.a']);
    const { body: run } = await stage.promote(planned);
    await stage.apply(run.id);
    const stored = await stage.api.rows(
      `select to_jsonb(a)::text as text from selective_undo_attempts a union all select after::text from audit_records
        union all select data::text from domain_events`,
    );
    expect(JSON.stringify([attempt, planned, run, stored])).not.toContain('secret-');
    expect(JSON.stringify([attempt, planned, run, stored])).not.toContain(secret);
    const redo = await stage.checked(run.id);
    expect(redo).toMatchObject({ state: 'ready', verdicts: [{ path: '/variables/token', verdict: 'clean' }] });
  });

  test('counts as unchanged if it is the same in both runs', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 1, token: secret } });
    const run = await stage.deploy({ ...place, variables: { a: 2, token: secret } });
    expect((await stage.checked(run)).verdicts).toEqual([{ path: '/variables/a', verdict: 'clean', cause: null }]);
  });

  test('a secret variable of another person is not restored with inputs with which it was never deployed', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 'https://good.example', token: secret } });
    const hidden = await stage.deploy(
      { ...place, variables: { a: 'https://good.example', token: 'x' } },
      { by: other },
    );
    await stage.deploy({ ...place, variables: { a: 'https://evil.example', token: 'x' } }, { by: other });
    expect(await stage.check(hidden, other)).toMatchObject({
      state: 'blocked',
      problem: { code: 'secret_at_risk', message: expect.stringContaining('"token"') },
      baseline_run_id: null,
    });
    const own = await stage.checked(hidden, owner);
    expect(own.state).toBe('ready');
    const taken = await other.post(`/selective-undo/${own.id}/candidate-checks`);
    expect([taken.status, taken.headers['x-error-code']], 'nor by the attempt of who may').toEqual([
      409,
      'undo_not_ready',
    ]);
  });

  test('a secret variable of another person is restored with the inputs with which it was deployed', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 1, token: secret } });
    const run = await stage.deploy({ ...place, variables: { a: 1, token: 'x' } }, { by: other });
    expect((await stage.checked(run, other)).state).toBe('ready');
  });

  test('a secret variable of another person is not restored once the environment has other variables', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 1, token: secret } });
    const run = await stage.deploy({ ...place, variables: { a: 1, token: 'x' } }, { by: other });
    const ready = await stage.checked(run, other);
    expect(ready.state).toBe('ready');
    const variable = { value: 'https://evil.example', category: 'env' };
    const set = await other.put(`/environments/${stage.tenant.environment}/variables/PROVIDER_ENDPOINT`, variable);
    expect(set.status, set.text).toBeLessThan(300);
    const planned = await other.post(`/selective-undo/${ready.id}/candidate-checks`);
    expect(planned.status, planned.text).toBe(422);
    expect(planned.body.detail ?? planned.text).toContain('other variables now than when they were deployed');
    expect(await stage.check(run, other)).toMatchObject({ state: 'blocked', problem: { code: 'candidate_invalid' } });
    expect((await stage.checked(run, owner)).state).toBe('ready');
  });

  test('a secret variable of the environment blocks an undo only if its value changed', async () => {
    const environment = await owner.make('/environments', {
      project_id: stage.tenant.project,
      name: 'With a secret',
      kind: 'development',
    });
    const set = async (value: string) => {
      const path = `/environments/${environment.id}/variables/PROVIDER_TOKEN`;
      const answer = await owner.put(path, { value, category: 'env', sensitive: true });
      expect(answer.status, answer.text).toBeLessThan(300);
    };
    await set('of-the-provider');
    const place = stage.place(environment.id);
    await stage.deploy({ ...place, variables: { a: 1, token: secret } });
    await set('of-the-provider');
    const run = await stage.deploy({ ...place, variables: { a: 1, token: 'x' } }, { by: other });
    await set('of-the-provider');
    const ready = await stage.checked(run, other);
    expect(ready).toMatchObject({ state: 'ready', verdicts: [{ path: '/variables/token', verdict: 'clean' }] });
    await set('of-the-provider');
    expect((await stage.checkCandidate(ready.id, ['thing.a'], other)).state).toBe('promotable');
    await set('of-somebody');
    expect(await stage.check(run, other)).toMatchObject({ state: 'blocked', problem: { code: 'candidate_invalid' } });
  });

  test('a secret default of the environment blocks no undo, even after its value changed', async () => {
    const environment = await owner.make('/environments', {
      project_id: stage.tenant.project,
      name: 'With a secret default',
      kind: 'development',
    });
    const set = async (value: string) => {
      const path = `/environments/${environment.id}/variables/token`;
      const answer = await owner.put(path, { value, category: 'template', sensitive: true });
      expect(answer.status, answer.text).toBeLessThan(300);
    };
    await set(secret);
    const place = stage.place(environment.id);
    await stage.deploy({ ...place, variables: { a: 1, b: 1 } });
    const middle = await stage.deploy({ ...place, variables: { a: 2, b: 1 } }, { by: other });
    await stage.deploy({ ...place, variables: { a: 2, b: 2 } });
    const ready = await stage.checked(middle, other);
    expect(ready).toMatchObject({
      state: 'ready',
      candidate: { variables: { a: 1, b: 2, token: { sensitive: true } } },
    });
    const planned = await stage.checkCandidate(ready.id, ['thing.a'], other);
    expect(planned.state).toBe('promotable');
    await set('another-secret');
    const promoted = await stage.promote(planned, other);
    expect(promoted.status, promoted.text).toBe(409);
    expect(await stage.checked(middle, other)).toMatchObject({
      state: 'ready',
      candidate: { variables: { a: 1, b: 2, token: { sensitive: true } } },
    });
  });

  test.each([
    { variable: 'token', wanted: 'text', value: 123_456 },
    { variable: 'pin', wanted: 'a number', value: '123456' },
    { variable: 'isHidden', wanted: 'a boolean', value: 'true' },
  ])(
    'a secret default of the environment blocks no undo if the template requires $wanted and it was written as $value',
    async ({ variable, value }) => {
      const environment = await owner.make('/environments', {
        project_id: stage.tenant.project,
        name: `With a secret ${variable}`,
        kind: 'development',
      });
      const path = `/environments/${environment.id}/variables/${variable}`;
      const set = await owner.put(path, { value, category: 'template', sensitive: true });
      expect(set.status, set.text).toBeLessThan(300);
      const place = stage.place(environment.id);
      await stage.deploy({ ...place, variables: { a: 1, b: 1 } });
      const middle = await stage.deploy({ ...place, variables: { a: 2, b: 1 } }, { by: other });
      await stage.deploy({ ...place, variables: { a: 2, b: 2 } });
      expect(await stage.checked(middle, other)).toMatchObject({ state: 'ready', problem: null });
    },
  );

  test('does not belong to somebody who merely requeued a run with it', async () => {
    const place = stage.place();
    const first = await stage.deploy({ ...place, variables: { a: 1, token: secret } });
    await stage.deploy({ ...place, variables: { a: 1, token: 'x' } });
    const { body: repeated } = await other.post(`/runs/${first}/requeue`);
    await stage.apply(repeated.id);
    const hidden = await stage.deploy({ ...place, variables: { a: 1, token: 'y' } }, { by: other });
    await stage.deploy({ ...place, variables: { a: 'https://evil.example', token: 'y' } }, { by: other });
    expect(await stage.check(hidden, other)).toMatchObject({ state: 'blocked', problem: { code: 'secret_at_risk' } });
  });

  test('does not belong to somebody whose run merely kept the deployed one', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 'https://good.example', token: secret } });
    await stage.deploy({ ...place, variables_from: 'deployed', variables: {} }, { by: other });
    const hidden = await stage.deploy(
      { ...place, variables: { a: 'https://good.example', token: 'y' } },
      { by: other },
    );
    await stage.deploy({ ...place, variables: { a: 'https://evil.example', token: 'y' } }, { by: other });
    expect(await stage.check(hidden, other)).toMatchObject({ state: 'blocked', problem: { code: 'secret_at_risk' } });
    expect((await stage.checked(hidden, owner)).state).toBe('ready');
  });

  test('still belongs to who gave it and has kept it since', async () => {
    const place = stage.place();
    await stage.deploy({ ...place, variables: { a: 'https://good.example', token: secret } }, { by: other });
    await stage.deploy({ ...place, variables_from: 'deployed', variables: { b: 1 } }, { by: other });
    const hidden = await stage.deploy(
      { ...place, variables_from: 'deployed', variables: { token: 'y' } },
      { by: other },
    );
    await stage.deploy(
      { ...place, variables_from: 'deployed', variables: { a: 'https://new.example' } },
      { by: other },
    );
    expect((await stage.checked(hidden, other)).state).toBe('ready');
  });
});
