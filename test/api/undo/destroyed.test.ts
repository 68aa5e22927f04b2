import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { startUndoStage, type UndoStage } from '#test/support/undo/undo-stage.ts';

let stage: UndoStage;
let owner: Awaited<ReturnType<typeof signInVisitor>>;
beforeAll(async () => {
  stage = await startUndoStage();
  owner = await signInVisitor(stage.api, stage.tenant.owner);
});
afterAll(() => stage?.api.close());

function check(runId: string) {
  return stage.tenant.owner.post(`/runs/${runId}/selective-undo/check`, undefined, { 'idempotency-key': randomUUID() });
}

async function refusedCheck(runId: string) {
  const { body } = await stage.tenant.owner.get(`/runs/${runId}/selective-undo`);
  const answer = await check(runId);
  return { said: body.actions[0].reason, done: answer.body.error, code: answer.headers['x-error-code'] };
}

/** Two applies, of which an attempt would undo the second, and then a destroy. */
async function destroyedAfterCheck(step: 'ready' | 'promotable') {
  const place = stage.place();
  await stage.deploy({ ...place, variables: { a: 1, b: 'kept' } });
  const run = await stage.deploy({ ...place, variables: { a: 2, b: 'kept' }, message: 'Wrong number' });
  const { id, instance_id: instance } = await stage.checked(run);
  if (step === 'promotable') await stage.checkCandidate(id, ['thing.a']);
  const destroy = await stage.deploy({ ...place, operation: 'destroy' });
  return { place, run, id, instance, destroy };
}

const hasDeployButton = (text: string) =>
  /<a class="button button-primary" href="([^"]*)">(?:(?!<\/a>).)*Deploy/s.exec(text);

describe('undoing a run of an instance that was destroyed later', () => {
  test('is refused with the destroy, in the API and on the page, which offers to deploy the values again', async () => {
    const place = stage.place();
    const run = await stage.deploy({ ...place, variables: { a: 1 } });
    const destroy = await stage.deploy({ ...place, operation: 'destroy' });
    const { said, done, code } = await refusedCheck(run);
    expect(said).toContain(`the instance was destroyed by the run ${destroy}`);
    expect([done, code]).toEqual([said, 'run_not_undoable']);
    const { text } = await owner.get(`/workloads/runs/${run}/undo`);
    expect(text).toMatch(new RegExp(`The instance was destroyed by <a href="/workloads/runs/${destroy}">`));
    expect(text).not.toContain('Check and plan');
    expect(hasDeployButton(text)?.[1]).toBe(`/catalog/${stage.template}/run?from=${run}`);
  });

  test('is refused even after the instance was deployed again', async () => {
    const place = stage.place();
    const run = await stage.deploy({ ...place, variables: { a: 1 } });
    const destroy = await stage.deploy({ ...place, operation: 'destroy' });
    const anew = await stage.deploy({ ...place, variables: { a: 2 } });
    const later = await stage.deploy({ ...place, variables: { a: 3 } });
    const { said, done } = await refusedCheck(run);
    expect(said).toContain(`the run ${destroy} destroyed`);
    expect(said).not.toContain('undo that run first');
    expect(done).toBe(said);
    expect((await check(anew)).status).toBe(202);
    expect((await stage.checked(later)).state).toBe('ready');
  });

  test.each(['ready', 'promotable'] as const)('refuses steps of an attempt that was %s, and says why', async (step) => {
    const { run, id, instance, destroy } = await destroyedAfterCheck(step);
    const { actions } = await stage.read(id);
    for (const { allowed, reason } of actions) {
      expect(allowed).toBe(false);
      expect(reason).toContain(`the instance was destroyed by the run ${destroy}`);
    }
    const tried = await stage.tenant.owner.post(`/selective-undo/${id}/candidate-checks`);
    expect([tried.status, tried.headers['x-error-code']]).toEqual([409, 'run_not_undoable']);
    const { text } = await owner.get(`/selective-undo/${id}`);
    expect(text).toMatch(new RegExp(`The instance was destroyed by <a href="/workloads/runs/${destroy}">`));
    expect(text).not.toContain('Check again');
    expect(text).not.toContain('check again');
    const [, address = ''] = hasDeployButton(text) ?? [];
    expect(address).toContain(`from_instance=${instance}&amp;undo=${id}`);
    expect((await owner.get(`/workloads/runs/${run}/undo`)).text).toContain('Destroyed');
  });

  test('links to a form with environment, name and the values before the undone run', async () => {
    const { place, id, destroy } = await destroyedAfterCheck('ready');
    const [, address = ''] = hasDeployButton((await owner.get(`/selective-undo/${id}`)).text) ?? [];
    const { status, text } = await owner.get(address.replaceAll('&amp;', '&'));
    expect(status).toBe(200);
    expect(text).toMatch(new RegExp(`was destroyed by <a href="/workloads/runs/${destroy}">`));
    expect(text).toContain(place.instance);
    expect(text).toMatch(/kept/);
    expect(text).not.toMatch(/>Choose…</);
  });
});
