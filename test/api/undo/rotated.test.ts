import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readInputs } from '#test/support/runs/run-inputs.ts';
import { startUndoStage, type UndoStage } from '#test/support/undo/undo-stage.ts';

/** Undos of runs that got values that their environment, or a variable set, had changed. */

let stage: UndoStage;
beforeAll(async () => {
  stage = await startUndoStage();
});
afterAll(() => stage?.api.close());

/** An instance in its own environment. */
async function place() {
  const { owner, project } = stage.tenant;
  const name = `Place ${randomUUID().slice(0, 8)}`;
  const { id } = await owner.make('/environments', { project_id: project, name, kind: 'development' });
  const give = async (variable: string, value: unknown, sensitive = true) => {
    const path = `/environments/${id}/variables/${variable}`;
    const { status, text } = await owner.put(path, { value, category: 'template', sensitive });
    expect(status, text).toBeLessThan(300);
  };
  return { at: stage.place(id), give };
}

const keeps = { message: expect.stringContaining('the undo keeps the value that it gives now') };

describe('undoing a run that changed something and got a rotated value', () => {
  test("keeps the environment's present values, secret and plain, and says so", async () => {
    const { at, give } = await place();
    await give('token', 'token-1111');
    await give('b', 'us', false);
    await stage.deploy({ ...at, variables: { a: 1 } });
    await give('token', 'token-2222');
    await give('b', 'ap', false);
    const changed = await stage.deploy({ ...at, variables: { a: 2 } });
    const attempt = await stage.checked(changed);
    expect(attempt).toMatchObject({
      state: 'ready',
      verdicts: [
        { path: '/variables/a', verdict: 'clean', cause: null },
        { path: '/variables/b', verdict: 'kept', cause: keeps },
        { path: '/variables/token', verdict: 'kept', cause: keeps },
      ],
      changes: [{ path: '/variables/a', from: 2, to: 1 }],
      candidate: { variables: { a: 1, b: 'ap', token: { sensitive: true } } },
    });
    const planned = await stage.checkCandidate(attempt.id, ['thing.a']);
    const { body: run, text } = await stage.promote(planned);
    expect(`${JSON.stringify([attempt, planned])}${text}`).not.toMatch(/token-(1111|2222)/);
    const { variables, sources } = await readInputs(stage.api, run.id);
    expect(variables).toMatchObject({ a: 1, b: 'ap', token: 'token-2222' });
    expect(Object.keys(sources ?? {}).sort()).toEqual(['b', 'token']);
  });

  test('uses a secret that was rotated once more, whether the run changed it or not', async () => {
    const { at, give } = await place();
    await give('token', 'token-1111');
    await stage.deploy({ ...at, variables: { a: 1 } });
    await give('token', 'token-2222');
    const first = await stage.deploy({ ...at, variables: { a: 2 } });
    const second = await stage.deploy({ ...at, variables: { a: 2, b: 'new' } });
    await give('token', 'token-3333');
    for (const [undone, variables] of [
      [second, { a: 2, token: 'token-3333' }],
      [first, { a: 1, b: 'new', token: 'token-3333' }],
    ] as const) {
      const attempt = await stage.checked(undone);
      expect(attempt.state, JSON.stringify(attempt.verdicts)).toBe('ready');
      await stage.checkCandidate(attempt.id, ['thing.a']);
      const { body } = await stage.tenant.owner.get(`/selective-undo/${attempt.id}/candidate-checks`);
      expect((await readInputs(stage.api, body.candidate_checks[0].run_id)).variables).toEqual(variables);
    }
  });

  test("restores the environment's secret if the run itself had set another one", async () => {
    const { at, give } = await place();
    await give('token', 'token-1111');
    await stage.deploy({ ...at, variables: { a: 1 } });
    const changed = await stage.deploy({ ...at, variables: { a: 1, token: 'of-the-run' } });
    const attempt = await stage.checked(changed);
    expect(attempt).toMatchObject({ state: 'ready', verdicts: [{ path: '/variables/token', verdict: 'clean' }] });
  });

  test('is refused if the run changed nothing else, with where to change the value', async () => {
    const { at, give } = await place();
    await give('token', 'token-1111');
    await stage.deploy({ ...at, variables: { a: 1 } });
    await give('token', 'token-2222');
    const changed = await stage.deploy({ ...at, variables: { a: 1 } });
    expect(await stage.check(changed)).toMatchObject({
      state: 'blocked',
      problem: { code: 'nothing_changed', message: expect.stringContaining('change the value there') },
    });
  });

  test('does not change a value that the environment no longer has', async () => {
    const { at, give } = await place();
    await give('b', 'us', false);
    await stage.deploy({ ...at, variables: { a: 1 } });
    await give('b', 'ap', false);
    const changed = await stage.deploy({ ...at, variables: { a: 2 } });
    await stage.tenant.owner.delete(`/environments/${at.environment_id}/variables/b`);
    expect(await stage.checked(changed)).toMatchObject({
      state: 'ready',
      verdicts: [
        { path: '/variables/a', verdict: 'clean' },
        { path: '/variables/b', verdict: 'kept', cause: { message: expect.stringContaining('what is deployed now') } },
      ],
      candidate: { variables: { a: 1, b: 'ap' } },
    });
  });
});
