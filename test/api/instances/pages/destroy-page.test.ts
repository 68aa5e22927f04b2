import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { openReadingStage, type ReadingStage } from '#test/support/references/reading-stage.ts';

/** What the page that destroys an instance says of what follows. */

let stage: ReadingStage;
let visitor: Awaited<ReturnType<typeof signInVisitor>>;
beforeAll(async () => {
  stage = await openReadingStage();
  visitor = await signInVisitor(stage.api, stage.tenant.owner);
});
afterAll(() => stage?.api.close());

test('the page that destroys an instance is shown to somebody who may not read its template', async () => {
  const id = await stage.deploy({ instance: 'foreign-template' }, {});
  const { team } = await makeTenant(stage.api);
  await stage.api.rows('update templates set team_id = ? where id = ?', [team, stage.template]);
  const { status, text } = await visitor.get(`/workloads/instances/${id}/destroy`);
  await stage.api.rows('update templates set team_id = null where id = ?', [stage.template]);
  expect([status, text.includes('A plan is made first.')]).toEqual([200, true]);
});

const plainText = (text: string) => text.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ');

async function environment(name: string, policy: object): Promise<string> {
  const place = { project_id: stage.tenant.project, name, kind: 'development', approval_policy: policy };
  return (await stage.tenant.owner.make('/environments', place)).id;
}

async function pageOf(place: { environment?: string; instance: string }): Promise<string> {
  const id = await stage.deploy(place, {});
  return (await visitor.get(`/workloads/instances/${id}/destroy`)).text;
}

test('the page that destroys an instance names the environment, and the approval that admission demands of the destroy', async () => {
  const asked = await environment('Careful', { required: 1, when: 'destroys' });
  const text = plainText(await pageOf({ environment: asked, instance: 'guarded' }));
  expect(text).toContain('It is deployed in the environment Careful.');
  expect(text).toContain('This destroy needs approval. One person approves, if a plan destroys something.');
  const free = await environment('Free', { required: 0, when: 'never' });
  const other = plainText(await pageOf({ environment: free, instance: 'free' }));
  expect(other).toContain('This destroy needs no approval: it is carried out as soon as it is planned.');
});

test('the page that destroys an instance lists the schedules that start work on it, and no others', async () => {
  const { team, owner } = stage.tenant;
  const place = await environment('Nightly', { required: 0, when: 'never' });
  const add = (name: string, instance: string, enabled = true) => {
    const run = { template_id: stage.template, environment_id: place, instance, operation: 'apply' };
    return owner.make('/schedules', { team_id: team, name, schedule: { every: '1d' }, work: { run }, enabled });
  };
  const { id } = await add('Bring it back', 'returning');
  await add('Another instance', 'other');
  await add('Paused one', 'returning', false);
  const text = await pageOf({ environment: place, instance: 'returning' });
  expect(text).toContain(`href="/schedules/${id}"`);
  expect(plainText(text)).toMatch(
    /schedules start work on it, also after the destroy.*Bring it back: apply, every day/,
  );
  expect(text).not.toMatch(/Another instance|Paused one/);
});
