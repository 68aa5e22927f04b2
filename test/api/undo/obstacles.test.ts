import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startUndoStage, type UndoStage } from '#test/support/undo/undo-stage.ts';

let stage: UndoStage;
beforeAll(async () => {
  stage = await startUndoStage();
});
afterAll(() => stage?.api.close());

/** An attempt that is promotable. */
async function promotable() {
  const { owner, project } = stage.tenant;
  const made = { project_id: project, name: `E ${randomUUID()}`, kind: 'development' };
  const environment = (await owner.make('/environments', made)).id;
  const place = stage.place(environment);
  await stage.deploy({ ...place, variables: { a: 1 } });
  const second = await stage.deploy({ ...place, variables: { a: 2 } });
  const { id } = await stage.checked(second);
  return { environment, place, attempt: await stage.checkCandidate(id, ['thing.a']) };
}

type Attempt = Parameters<UndoStage['promote']>[0];

/** The actions that the attempt shows, and the responses if they are tried. */
async function saidAndDone(attempt: Attempt) {
  const { actions } = await stage.read(attempt.id);
  const answers = [
    await stage.tenant.owner.post(`/selective-undo/${attempt.id}/candidate-checks`),
    await stage.promote(attempt),
  ];
  return {
    said: actions.map(({ reason }: { reason: string | null }) => reason),
    done: answers.map(({ body }) => body.error),
    codes: answers.map(({ status, headers }) => [status, headers['x-error-code']]),
  };
}

test('the actions of an undo attempt are refused, with the run, while a run may change the instance', async () => {
  const { place, attempt } = await promotable();
  const { body: run } = await stage.tenant.owner.post('/runs', { ...place, variables: { a: 3 } });
  const { said, done, codes } = await saidAndDone(attempt);
  expect(said).toEqual([expect.stringContaining(run.id), expect.stringContaining(run.id)]);
  expect(done).toEqual(said);
  expect(codes).toEqual([
    [409, 'instance_busy'],
    [409, 'instance_busy'],
  ]);
});

test('the actions of an undo attempt are refused while the environment is archived', async () => {
  const { environment, attempt } = await promotable();
  await stage.api.rows('update environments set archived_at = now() where id = ?', [environment]);
  const { said, done, codes } = await saidAndDone(attempt);
  expect(said).toEqual(Array(2).fill('the environment is archived: unarchive it first'));
  expect(done).toEqual(said);
  expect(codes).toEqual([
    [409, 'archived'],
    [409, 'archived'],
  ]);
});

test('the actions of an undo attempt without obstacles are allowed', async () => {
  const { attempt } = await promotable();
  const { actions } = await stage.read(attempt.id);
  expect(actions).toMatchObject([{ allowed: true }, { allowed: true }]);
});

test('a run that failed while it applied can be undone once a scan has compared the instance', async () => {
  const place = stage.place();
  const first = await stage.deploy({ ...place, variables: { a: 1 } });
  const { body: failed } = await stage.tenant.owner.post('/runs', { ...place, variables: { a: 2 } });
  await stage.apply(failed.id, ['thing.a'], 'failed');
  const { id } = await stage.checked(failed.id);
  await stage.api.rows('update instances set unrecorded_run_id = null, unrecorded_at = null where name = ?', [
    place.instance,
  ]);
  const attempt = await stage.checkCandidate(id, ['thing.a']);
  expect(attempt.problem).toBeNull();
  expect((await stage.deployed(place)).id).toBe(first);
});
