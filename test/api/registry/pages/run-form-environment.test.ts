import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiUser } from '#test/support/api/in-process-api.ts';
import { textOf } from '#test/support/browser/page-text.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { openReadingStage, type ReadingStage } from '#test/support/references/reading-stage.ts';
import { sendForm } from './deploy-form-page.ts';

/** The values of the environment in a form for a run, and the form of a run whose environment was deleted. */

let stage: ReadingStage;
let admin: ApiUser;
let visitor: Awaited<ReturnType<typeof signInVisitor>>;
beforeAll(async () => {
  stage = await openReadingStage();
  admin = await stage.api.addUser('admin');
  visitor = await signInVisitor(stage.api, admin);
});
afterAll(() => stage?.api.close());

const step = [{ name: 'go', run: ['true'] }];
const specOf = (more: object = {}) => ({
  variables: { type: 'object', properties: { size: { type: 'integer' } } },
  executor: { kind: 'command', apply: step, destroy: step },
  ...more,
});

async function environment(name: string): Promise<string> {
  const place = { project_id: stage.tenant.project, name, kind: 'development' };
  return (await stage.tenant.owner.make('/environments', place)).id;
}

async function ask(body: object): Promise<string> {
  const { status, text, body: run } = await admin.post('/runs', body);
  expect(status, text).toBe(202);
  return run.id;
}

async function canceledRun(body: object): Promise<string> {
  const id = await ask(body);
  await admin.post(`/runs/${id}/cancel`, { force: true });
  return id;
}

test('the forms for a run and for a schedule use all variables of an environment, even if there are several pages', async () => {
  const template = await stage.steps.publish(specOf());
  const place = await environment('Crowded');
  const names = [...Array.from({ length: 200 }, (_, index) => `a${String(index).padStart(3, '0')}`), 'size'];
  const variables = names.map((name) => ({ name, value: 7, category: 'template', sensitive: false }));
  const put = await stage.tenant.owner.put(`/environments/${place}/variables`, { variables });
  expect(put.status, put.text).toBe(200);
  const at = `environment_id=${place}`;
  for (const path of [`/catalog/${template}/run?${at}`, `/schedules/new?template_id=${template}&${at}`])
    expect((await visitor.get(path)).text, path).toContain('Crowded sets 7');
});

test('the form that repeats a run whose environment was deleted says why it cannot, and what to do instead', async () => {
  const template = await stage.steps.publish(specOf());
  const place = await environment('Gone');
  const run = await canceledRun({ template_id: template, environment_id: place, instance: 'web', variables: {} });
  const path = `/catalog/${template}/run?from=${run}`;
  await stage.api.rows('update environments set deleted_at = now() where id = ?', [place]);
  const { text } = await visitor.get(path);
  expect(text).toContain('Run the template anew, in another environment.');
  expect(text).not.toContain('name="operation"');
  const sent = await sendForm(visitor, path, { instance: 'web' });
  expect([sent.status, sent.text.includes('Run the template anew')], sent.text).toEqual([422, true]);
  expect(sent.text).not.toContain('href="#field-environment_id"');
});

test('the form that repeats a destroy names the approvals that the version of that run requires', async () => {
  const template = await stage.steps.publish(specOf());
  const approval = { required: 2, when: 'changes' };
  await admin.make(`/registry/templates/${template}/versions`, { version: '2.0.0', spec: specOf({ approval }) });
  const body = { template_id: template, instance: 'web', variables: {} };
  await stage.finish(await ask({ ...body, version: '1.0.0' }));
  const run = await canceledRun({ ...body, version: '2.0.0', operation: 'destroy' });
  const text = textOf((await visitor.get(`/catalog/${template}/run?from=${run}`)).text);
  expect(text).toContain('Only what the template demands applies: 2 people approve');
});
