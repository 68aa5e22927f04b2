import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { maxTries } from '#domain/registry/checks/model.ts';
import { requestCheck } from '#domain/registry/checks/request.ts';
import { endCheck, notDone, noteFailedTry, takeNextCheckStep } from '#domain/registry/checks/steps.ts';
import { lockCheck, removeAbandonedChecks } from '#domain/registry/checks/store.ts';
import { TemplateSpec } from '#domain/registry/spec.ts';
import { findTemplateToChange } from '#domain/registry/store.ts';
import { noCredential } from '#domain/shared/access/principal.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { awaitLockWaits } from '#test/support/database/lock-waits.ts';
import { RunSteps } from '#test/support/runs/run-steps.ts';

/** The ends of checks of versions. There is no worker, so the checks keep waiting. */

let api: TestApi;
let steps: RunSteps;
/** The checks of new versions, which wait for a worker. A version is published at once only while there is none. */
let published: Published[];
beforeAll(async () => {
  api = await startApi();
  steps = new RunSteps(api, await api.addUser('admin'));
  for (let count = 0; count < 4; count++) await steps.publish();
  published = z.array(Published).parse(await api.rows('select * from template_checks'));
  await steps.worker('sandbox');
  await api.rows('update workers set takes_checks = true');
});
afterAll(() => api?.close());

const Published = z.object({ id: z.string(), template_id: z.string(), requested_by: z.string() });
type Published = z.output<typeof Published>;

function take(): Published {
  const taken = published.pop();
  if (!taken) throw new Error('publish more versions before the worker is there');
  return taken;
}

/** Requests a check that belongs to no version. */
async function request(withinMs: number) {
  const [known] = published;
  const principal = { id: known?.requested_by, responsibleUserId: known?.requested_by, credential: noCredential };
  const target = { template: { id: known?.template_id }, teamId: null, organizationId: null };
  const spec = TemplateSpec.parse({ executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] } });
  const asked = { principal: principal as never, target: target as never, spec, files: {}, environmentId: null };
  return requestCheck(api.services, asked, withinMs);
}

const step = (id: string) => api.services.transactions.run((tx) => takeNextCheckStep(tx, id));
const end = (id: string, why: string) => api.services.transactions.run((tx) => endCheck(tx, id, notDone(why)));
const rowsOf = (id: string) =>
  api.rows<{ ended_at: string; result: object }>('select * from template_checks where id = ?', [id]);
const age = (id: string, time: string) =>
  api.rows(`update template_checks set created_at = now() - ?::interval where id = ?`, [time, id]);

/** Requests a check that does not end within the wait. Returns the id of the check, which continues. */
async function requestInVain(): Promise<string> {
  const { result, later } = await request(100);
  expect(result.notChecked).toEqual(['no worker checked it within 0.1 seconds']);
  return later?.id ?? '';
}

test('a check that has ended keeps its first result, and is removed if its request never reads it', async () => {
  const id = await requestInVain();
  await end(id, 'first');
  await end(id, 'second');
  expect(await rowsOf(id)).toMatchObject([{ result: notDone('first') }]);
  const next = await step(id);
  expect(next).toMatchObject({ kind: 'wait', seconds: expect.any(Number) });
  expect(await rowsOf(id)).toHaveLength(1);
  await age(id, '61 seconds');
  expect(await step(id)).toEqual({ kind: 'end' });
  expect(await rowsOf(id)).toEqual([]);
  expect(await step(id)).toEqual({ kind: 'end' });
});

test('a check that nobody waits for is removed without a workflow, unlike one of a version', async () => {
  const [abandoned, recent] = [await requestInVain(), await requestInVain()];
  const { id: ofVersion } = take();
  await end(abandoned, 'why');
  await age(abandoned, '1 day');
  await age(ofVersion, '1 day');
  await removeAbandonedChecks(api.services.orm.em.fork());
  expect([await rowsOf(abandoned), await rowsOf(recent), await rowsOf(ofVersion)].map(({ length }) => length)).toEqual([
    0, 1, 1,
  ]);
});

test('a check that failed at every try ends with the reason of the last try', async () => {
  const { id, template_id: template } = take();
  await api.services.transactions.run((tx) => noteFailedTry(tx.em, id, 'the worker could not check: no memory'));
  expect(await rowsOf(id)).toMatchObject([{ ended_at: null }]);
  await api.rows('update template_checks set tries = ? where id = ?', [maxTries, id]);
  await step(id);
  expect(await step(id)).toEqual({ kind: 'end' });
  expect(await rowsOf(id)).toEqual([]);
  const versions = await api.rows('select "check" from template_versions where template_id = ?', [template]);
  expect(versions).toMatchObject([
    { check: { state: 'not_done', notChecked: ['the worker could not check: no memory'] } },
  ]);
});

test('a check that ends without a result waits for a publication that locks its template', async () => {
  const { id, template_id: template } = take();
  await api.rows('update template_checks set tries = ? where id = ?', [maxTries, id]);
  let given: Promise<unknown> = Promise.resolve();
  await api.services.transactions.run(async (tx) => {
    await findTemplateToChange(tx.em, template, true);
    given = step(id);
    await awaitLockWaits(api.services.orm);
    expect(await lockCheck(tx.em, id)).toMatchObject({ id });
  });
  await given;
  expect(await rowsOf(id)).toEqual([]);
});

test('a request whose check is removed meanwhile reports that, and not a missing worker', async () => {
  await api.rows('delete from template_checks where version_id is null');
  const asked = request(60_000);
  await expect.poll(() => api.rows('select 1 from template_checks where version_id is null')).not.toEqual([]);
  await api.rows('delete from template_checks where version_id is null');
  const { result, later } = await asked;
  expect(result.notChecked).toEqual(['its check was given up']);
  expect(later).toMatchObject({ id: null });
});

test('a request whose result cannot be read fails, and does not report a missing worker', async () => {
  await api.rows('delete from template_checks where version_id is null');
  const asked = request(60_000).then(
    () => 'answered',
    () => 'failed',
  );
  await expect.poll(() => api.rows('select 1 from template_checks where version_id is null')).not.toEqual([]);
  await api.rows('alter table template_checks rename column other_modules to other_modules_away');
  expect(await asked).toBe('failed');
  await api.rows('alter table template_checks rename column other_modules_away to other_modules');
});

test('a check that no longer exists is not affected by repeated steps', async () => {
  const id = '01900000-0000-7000-8000-000000000000';
  expect(await step(id)).toEqual({ kind: 'end' });
  await end(id, 'nothing');
  expect(await step(id)).toEqual({ kind: 'end' });
});
