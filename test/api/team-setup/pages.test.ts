import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
let tenant: Tenant;
let colleague: ApiUser;

beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  colleague = await api.addUser('maintainer', 'Philippa Vogel');
  await join(tenant, colleague, 'member');
});
afterAll(() => api?.close());

/** Sends a form as the page shows it, with its hidden fields. Returns the address to which it leads. */
async function fill(visitor: Visitor, address: string, typed: Record<string, string>): Promise<string> {
  const { text } = await visitor.get(address);
  const hidden = [...text.matchAll(/<input type="hidden"[^>]* name="([^"]+)"[^>]* value="([^"]*)"/g)];
  const sent = { ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])), ...typed };
  const answer = await visitor.submit(address, sent);
  expect(answer.status, answer.text).toBe(303);
  return answer.location ?? '';
}

/** Adds a team by its form, which leads to its set-up. */
async function addTeam(visitor: Visitor, name: string): Promise<string> {
  const first = await fill(visitor, `/organizations/${tenant.organization}/teams/new`, { name });
  expect(first).toMatch(/\/setup\/people\?done=created$/);
  return first.slice(0, first.indexOf('/people'));
}

describe('the set-up of a new team', () => {
  it('adds people, project, environment, policy and template step by step, and each step leads to the next', async () => {
    const visitor = await signInVisitor(api, tenant.owner);
    const setup = await addTeam(visitor, 'Payments');
    const people = await fill(visitor, `${setup}/people`, { user_id: 'philippa vogel', role: 'admin' });
    expect((await visitor.get(people)).text).toContain('Philippa Vogel</span> (admin)');
    const toEnvironment = await fill(visitor, `${setup}/project`, { name: 'Ledger' });
    expect(toEnvironment).toBe(`${setup}/environment?done=project-created`);
    const [, project] = /<option value="([0-9a-f-]{36})"/.exec((await visitor.get(toEnvironment)).text) ?? [];
    const toPolicy = await fill(visitor, toEnvironment, {
      project_id: project ?? '',
      name: 'Live',
      kind: 'production',
    });
    const [, environment = ''] = /environment_id=([0-9a-f-]+)/.exec(toPolicy) ?? [];
    const policy = (await visitor.get(toPolicy)).text;
    expect(policy).toContain('One person approves, if a plan changes something.');
    expect(policy.match(/>If a plan changes something</g)).toHaveLength(1);
    const nobody = { 'approval_policy.when': 'changes', 'approval_policy.required': '0', environment_id: '' };
    expect((await visitor.submit(toPolicy, nobody)).text).toMatch(/with 0 approvals nobody is asked/i);
    await fill(visitor, toPolicy, { 'approval_policy.when': 'destroys', 'approval_policy.required': '1' });
    const toVersion = await fill(visitor, `${setup}/template`, { name: 'Queue' });
    expect(toVersion).toMatch(/^\/catalog\/[0-9a-f-]+\/publish$/);
    const { body: made } = await tenant.owner.get(`/environments/${environment}`);
    expect(made).toMatchObject({
      project_id: project,
      kind: 'production',
      approval_policy: { when: 'destroys', required: 1 },
    });
    const { text } = await visitor.get(setup);
    for (const part of ['2 members', 'Ledger', 'Ledger / Live: 1 for destroys', 'Queue']) expect(text).toContain(part);
    expect(text).not.toContain('Not started');
  });

  it('sets the policy of the environment in the form, although somebody creates another one meanwhile', async () => {
    const visitor = await signInVisitor(api, tenant.owner);
    const setup = await addTeam(visitor, 'Billing');
    const toEnvironment = await fill(visitor, `${setup}/project`, { name: 'Invoices' });
    const [, project = ''] = /<option value="([0-9a-f-]{36})"/.exec((await visitor.get(toEnvironment)).text) ?? [];
    await fill(visitor, toEnvironment, { project_id: project, name: 'Testing', kind: 'development' });
    const shown = (await visitor.get(`${setup}/policy`)).text;
    const hidden = [...shown.matchAll(/<input type="hidden"[^>]* name="([^"]+)"[^>]* value="([^"]*)"/g)];
    await tenant.owner.post('/environments', { project_id: project, name: 'Live', kind: 'production' });
    const policy = {
      'approval_policy.when': 'destroys',
      'approval_policy.required': '1',
      'approval_policy.allow_self': 'yes',
    };
    const sent = { ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])), ...policy };
    expect((await visitor.submit(`${setup}/policy`, sent)).status).toBe(303);
    const { body } = await tenant.owner.get(`/environments?project_id=${project}`);
    expect(
      body.environments.map((each: { name: string; approval_policy: object }) => [each.name, each.approval_policy]),
    ).toEqual(
      expect.arrayContaining([
        ['Testing', expect.objectContaining({ when: 'destroys', allow_self: true })],
        ['Live', expect.objectContaining({ when: 'changes', allow_self: false })],
      ]),
    );
    const elsewhere = await tenant.owner.get(`/environments?limit=100`);
    const other = elsewhere.body.environments.find((each: { name: string }) => each.name === 'Live')?.id;
    expect((await visitor.get(`${tenant.teamPath}/setup/policy?environment_id=${other}`)).status).toBe(404);
  });

  it('can be left at any step, and continues at the first one that is not done', async () => {
    const visitor = await signInVisitor(api, tenant.owner);
    const setup = await addTeam(visitor, 'Identity');
    await fill(visitor, `${setup}/people`, { user_id: colleague.email, role: 'member' });
    const { text } = await (await signInVisitor(api, tenant.owner)).get(setup);
    expect(text).toContain(`href="${setup}/project">Continue: project`);
    expect((await visitor.get(setup.replace(/\/setup$/, ''))).text).toContain(`href="${setup}">Set up`);
  });

  it('says at each step what must exist first', async () => {
    const visitor = await signInVisitor(api, tenant.owner);
    const setup = await addTeam(visitor, 'Empty');
    expect((await visitor.get(`${setup}/environment`)).text).toContain('belongs to a project: create one first');
    expect((await visitor.get(`${setup}/policy`)).text).toContain('belongs to an environment: create one first');
  });

  it('keeps what was typed, with the problem at its field', async () => {
    const visitor = await signInVisitor(api, tenant.owner);
    const setup = await addTeam(visitor, 'Careless');
    const refused = await visitor.submit(`${setup}/people`, { user_id: 'nobody@example.test', role: 'viewer' });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('can invite new people by their e-mail address');
    expect(refused.text).toContain('value="nobody@example.test"');
  });

  it('shows a reason to a member who may not change the team, and is hidden from everybody else', async () => {
    const viewer = await api.addUser('requester');
    await join(tenant, viewer, 'member', 'viewer');
    const setup = `${tenant.teamPath}/setup`;
    const visitor = await signInVisitor(api, viewer);
    for (const step of ['people', 'project', 'environment', 'policy', 'template']) {
      const { status, text } = await visitor.get(`${setup}/${step}`);
      expect([step, status]).toEqual([step, 200]);
      expect(text, step).not.toContain('<button class="button button-primary" type="submit">');
    }
    const stranger = await signInVisitor(api, await api.addUser('maintainer'));
    for (const step of ['', '/people', '/template']) expect((await stranger.get(setup + step)).status).toBe(404);
  });
});
