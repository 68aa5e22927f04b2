import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runActions } from '#domain/runs/actions.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiAnswer, type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { publishTemplate } from '#test/support/api/publish-template.ts';
import { StatementFaults } from '#test/support/database/statement-faults.ts';
import { aPlan, executing, RunSteps } from '#test/support/runs/run-steps.ts';

interface Action {
  name: (typeof runActions)[number];
  allowed: boolean;
  reason: string | null;
}
const fourEyes = { required: 2, when: 'always', allow_self: false };
const spec = { executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] } };

let api: TestApi;
let admin: ApiUser;
let steps: RunSteps;
let tenant: Tenant;
let worker: string;
let otherTeam: string;
let templateId: string;
let made = 0;
/** The callers who read the runs, by the role that distinguishes them. */
const people: Record<string, ApiUser> = {};

beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  steps = new RunSteps(api, admin);
  tenant = await makeTenant(api, { approval_policy: fourEyes });
  otherTeam = (await makeTenant(api)).team;
  for (const name of ['publisher', 'asker', 'reviewer', 'second']) people[name] = await addMember('operator', 'admin');
  people['requester'] = await addMember('requester', 'member');
  people['viewer'] = await addMember('operator', 'viewer');
  people['administrator'] = admin;
  templateId = await publish();
});
/** A worker counts as lost 30 s after its last heartbeat, and this file may take longer. */
beforeEach(async () => {
  worker = await steps.worker('sandbox');
});
afterAll(() => api?.close());

const person = (name: string): ApiUser => people[name]!;

async function addMember(role: 'operator' | 'requester', teamRole: 'admin' | 'member' | 'viewer'): Promise<ApiUser> {
  const user = await api.addUser(role);
  await join(tenant, user, 'member', teamRole);
  return user;
}

/** A template of the tenant's team, with one version by the publisher. */
const publish = (more: object = {}) =>
  publishTemplate(person('publisher'), { ...spec, ...more }, { team_id: tenant.team });

async function admit(template = templateId): Promise<string> {
  const body = { template_id: template, environment_id: tenant.environment, instance: `i-${++made}` };
  const { status, body: run, text } = await person('asker').post('/runs', body);
  expect(status, text).toBe(202);
  return run.id;
}

async function running(): Promise<string> {
  const id = await admit();
  expect(await steps.claim(executing(await steps.next({ runId: id })), worker, 'sandbox')).not.toBeNull();
  return id;
}

async function pending(...approvers: string[]): Promise<string> {
  const id = await admit();
  const attemptId = executing(await steps.next({ runId: id }));
  await steps.claim(attemptId, worker, 'sandbox');
  await steps.complete(attemptId, { outcome: 'planned', plan: aPlan() });
  await steps.next({ runId: id, executed: attemptId });
  for (const name of approvers) expect(await perform(person(name), id, 'approve')).toMatchObject({ status: 200 });
  return id;
}

async function ended(template?: string): Promise<string> {
  const id = await admit(template);
  await person('asker').post(`/runs/${id}/cancel`, { force: true });
  return id;
}

/** A run in every situation in which its actions differ. */
const scenes: Record<string, () => Promise<string>> = {
  queued: () => admit(),
  running,
  canceling: async () => {
    const id = await running();
    await person('asker').post(`/runs/${id}/cancel`);
    return id;
  },
  'waiting for approval': () => pending(),
  'waiting for approval, approved by one': () => pending('reviewer'),
  'waiting for approval, approved by all who are needed': () => pending('reviewer', 'second'),
  'waiting for approval, after the time for it': async () => {
    const id = await pending();
    await api.rows(`update runs set approval_expires_at = now() - interval '1 second' where id = ?`, [id]);
    return id;
  },
  ended: () => ended(),
  'ended, and its template is archived': async () => {
    const template = await publish();
    const id = await ended(template);
    expect((await person('publisher').post(`/registry/templates/${template}/archive`)).status).toBe(200);
    return id;
  },
  'ended, and its template is gone': async () => {
    const template = await publish();
    const id = await ended(template);
    await api.rows('update templates set deleted_at = now() where id = ?', [template]);
    return id;
  },
  'ended, and its pool is closed to the team': async () => {
    const pool = `closed-${++made}`;
    const id = await ended(await publish({ pool }));
    await admin.make('/worker-pools', { name: pool, team_ids: [otherTeam] });
    return id;
  },
  deleted: async () => {
    const id = await ended();
    expect((await admin.delete(`/runs/${id}`)).status).toBe(204);
    return id;
  },
};

async function perform(by: ApiUser, id: string, action: Action['name']): Promise<ApiAnswer> {
  const path = `/runs/${id}`;
  if (action === 'delete') return by.delete(path);
  if (action === 'requeue') return by.post(`${path}/requeue`);
  if (action === 'copy') return by.post(`${path}/copy`, {});
  if (action === 'request_approval') return by.post(`${path}/approval/request`, {});
  if (action === 'cancel' || action === 'force') return by.post(`${path}/cancel`, { force: action === 'force' });
  const { body } = await admin.get(path);
  const digest = body.plan?.digest ?? `sha256:${'0'.repeat(64)}`;
  return by.post(`${path}/approval/review`, { decision: action, comment: 'seen', plan_digest: digest });
}

async function actionsOf(by: ApiUser, id: string): Promise<Action[]> {
  const { status, body, text } = await by.get(`/runs/${id}`);
  expect(status, text).toBe(200);
  return body.actions;
}

describe.each(Object.entries(scenes))('the actions of a run that is %s', (scene, make) => {
  it('agree for every caller with what each operation answers', { timeout: 120_000 }, async () => {
    const shared = await make();
    for (const [name, caller] of Object.entries(people)) {
      const actions = await actionsOf(caller, shared);
      expect(actions.map((action) => action.name)).toEqual([...runActions]);
      for (const action of actions) {
        const label = `${name} ${action.name}`;
        // A copy may name a version that uses another pool. This one does not.
        if (action.name === 'copy' && action.allowed && scene.includes('pool is closed')) continue;
        const { status, body } = await perform(caller, action.allowed ? await make() : shared, action.name);
        if (action.allowed) expect([action.reason, Math.floor(status / 100)], label).toEqual([null, 2]);
        else expect([status, body?.error], label).toEqual([expect.toBeOneOf([403, 404, 409]), action.reason]);
      }
    }
  });
});

describe('the actions of a run', () => {
  const allowedTo = async (by: ApiUser, id: string) =>
    (await actionsOf(by, id)).filter(({ allowed }) => allowed).map(({ name }) => name);

  it('differ by platform role and team role', async () => {
    const id = await admit();
    expect(await allowedTo(person('reviewer'), id)).toEqual(['cancel', 'force']);
    for (const name of ['requester', 'viewer']) expect(await allowedTo(person(name), id), name).toEqual([]);
    const [cancel] = await actionsOf(person('viewer'), id);
    expect(cancel?.reason).toBe(
      'permission denied: this needs team.metadata.write (the team role admin) in the team that owns the run',
    );
  });

  it('let neither requester nor publisher approve, and let both reject', async () => {
    const id = await pending();
    for (const name of ['asker', 'publisher']) {
      const allowed = await allowedTo(person(name), id);
      expect([allowed.includes('approve'), allowed.includes('reject')], name).toEqual([false, true]);
    }
    expect(await allowedTo(person('reviewer'), id)).toContain('approve');
  });

  it('are in every response with one run, and in no list', async () => {
    const body = { template_id: templateId, environment_id: tenant.environment, instance: `i-${++made}` };
    const asker = person('asker');
    const created = await asker.post('/runs', body);
    const canceled = await asker.post(`/runs/${created.body.id}/cancel`, { force: true });
    const requeued = await asker.post(`/runs/${created.body.id}/requeue`);
    const repeated = await asker.post('/runs', body, { 'idempotency-key': String(created.headers['idempotency-key']) });
    const waiting = await pending();
    const asked = await perform(asker, waiting, 'request_approval');
    const reviewed = await perform(person('reviewer'), waiting, 'approve');
    for (const { status, body: run, text } of [created, canceled, requeued, repeated, asked]) {
      expect(status, text).toBe(202);
      expect(run.actions.map(({ name }: Action) => name)).toEqual([...runActions]);
    }
    expect(reviewed.body.actions.find(({ name }: Action) => name === 'approve').reason).toMatch(/already decided/);
    expect(created.body.actions).toEqual(await actionsOf(asker, requeued.body.id));
    const list = await asker.get(`/runs?environment_id=${tenant.environment}`);
    expect(list.body.runs.length).toBeGreaterThan(2);
    for (const run of list.body.runs) expect(run).not.toHaveProperty('actions');
  });

  it('need one more SQL statement if a review or a repetition is possible, and none otherwise', async () => {
    const faults = await StatementFaults.open(api.services.orm);
    try {
      const count = async (id: string) =>
        (await faults.during(null, () => person('reviewer').get(`/runs/${id}`))).statements.length;
      for (const make of [admit, running]) expect(await count(await make())).toBe(1);
      for (const make of [pending, () => ended()]) expect(await count(await make())).toBe(2);
    } finally {
      faults.remove();
    }
  });

  it('are documented by name in the OpenAPI document', async () => {
    const document = JSON.parse((await api.app.inject({ url: '/api/v1/openapi.json' })).body);
    const { Run, ListedRun } = document.components.schemas;
    expect(Run.properties.actions.items.properties.name.enum).toEqual([...runActions]);
    expect(Run.properties.actions.description).toContain('reason');
    expect(ListedRun.properties).not.toHaveProperty('actions');
  });
});
