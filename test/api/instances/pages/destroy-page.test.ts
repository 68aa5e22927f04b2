import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { textOf } from '#test/support/browser/page-text.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { openReadingStage, type ReadingStage } from '#test/support/references/reading-stage.ts';

/** The page that destroys an instance describes the consequences. */

let stage: ReadingStage;
let visitor: Awaited<ReturnType<typeof signInVisitor>>;
beforeAll(async () => {
  stage = await openReadingStage();
  visitor = await signInVisitor(stage.api, stage.tenant.owner);
});
afterAll(() => stage?.api.close());

test('the page that destroys an instance is shown to a visitor who may not read its template', async () => {
  const id = await stage.deploy({ instance: 'foreign-template' }, {});
  const { team } = await makeTenant(stage.api);
  await stage.api.rows('update templates set team_id = ? where id = ?', [team, stage.template]);
  const { status, text } = await visitor.get(`/workloads/instances/${id}/destroy`);
  await stage.api.rows('update templates set team_id = null where id = ?', [stage.template]);
  expect([status, text.includes('A plan is made first.')]).toEqual([200, true]);
});

async function environment(name: string, policy: object): Promise<string> {
  const place = { project_id: stage.tenant.project, name, kind: 'development', approval_policy: policy };
  return (await stage.tenant.owner.make('/environments', place)).id;
}

async function pageOf(place: { environment?: string; instance: string }): Promise<string> {
  const id = await stage.deploy(place, {});
  return (await visitor.get(`/workloads/instances/${id}/destroy`)).text;
}

test('the page that destroys an instance names the environment and the approvals that the destroy requires', async () => {
  const asked = await environment('Careful', { required: 1, when: 'destroys' });
  const text = textOf(await pageOf({ environment: asked, instance: 'guarded' }));
  expect(text).toContain('It is deployed in the environment Careful.');
  expect(text).toContain('This destroy needs approval. One person approves, if a plan destroys something.');
  const free = await environment('Free', { required: 0, when: 'never' });
  const other = textOf(await pageOf({ environment: free, instance: 'free' }));
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
  expect(textOf(text)).toMatch(/schedules start work on it, also after the destroy.*Bring it back: apply, every day/);
  expect(text).not.toMatch(/Another instance|Paused one/);
});

describe('the page that destroys an instance which no run has deployed', () => {
  const required = {
    variables: {
      type: 'object',
      properties: { name: { type: 'string' }, owner: { type: 'string' }, size: { type: 'integer', default: 1 } },
      required: ['name', 'owner', 'size'],
    },
    executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }], destroy: [{ name: 'end', run: ['true'] }] },
  };
  let made = 0;

  async function imported(variables: object[] = []) {
    const place = await environment(`Adopted ${++made}`, { required: 0, when: 'never' });
    const template = await stage.steps.publish(required);
    await stage.tenant.owner.put(`/environments/${place}/variables`, { variables });
    const body = { environment_id: place, template_id: template, name: 'adopted' };
    const { id } = await stage.tenant.owner.make('/instances', body);
    return { id, place, template, page: `/workloads/instances/${id}/destroy` };
  }

  const linkIn = (text: string) => /href="([^"]*operation=destroy[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  const given = (name: string) => ({ name, value: 'given', category: 'template', sensitive: false });

  test('links to the form for a run, which asks for the variables without a value', async () => {
    const { page, place } = await imported([given('owner')]);
    const { text } = await visitor.get(page);
    expect(textOf(text)).toContain('This version needs the variable name, which nothing gives: fill in the form');
    const link = linkIn(text) ?? '';
    const form = (await visitor.get(link)).text;
    expect(form).toMatch(new RegExp(`value="${place}"[^>]*selected`));
    expect(form).toMatch(/value="destroy"[^>]*(selected|checked)/);
    expect(form).toMatch(/name="v\/name" aria-required="true"/);
    expect(form).not.toMatch(/name="v\/owner" aria-required="true"/);
  });

  test('links to no other form if the environment has all variables', async () => {
    const { page } = await imported([given('owner'), given('name')]);
    expect(linkIn((await visitor.get(page)).text)).toBeUndefined();
  });

  test('names the missing variables when it is sent without them', async () => {
    const { page } = await imported();
    const sent = await visitor.submit(page, { confirmation: 'adopted' });
    expect(sent.status).toBe(422);
    const words = textOf(sent.text);
    expect(words).toContain('name: Enter a value.');
    expect(words).not.toContain('/name');
    expect(linkIn(sent.text)).toBeDefined();
  });
});

test('the page of an instance names the failed destroy whose changes are not all recorded', async () => {
  const id = await stage.deploy({ instance: 'half-destroyed' }, {});
  const { template, shared } = stage;
  const place = { template_id: template, environment_id: shared, instance: 'half-destroyed' };
  const { body, text } = await stage.tenant.owner.post('/runs', { ...place, operation: 'destroy' });
  expect(body.instance_id, text).toBe(id);
  await stage.api.rows('update instances set unrecorded_run_id = ?, unrecorded_at = now() where id = ?', [body.id, id]);
  const page = textOf((await visitor.get(`/workloads/instances/${id}`)).text);
  expect(page).toMatch(/The destroy of .* did not end well/);
});
