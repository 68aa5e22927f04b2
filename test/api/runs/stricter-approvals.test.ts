import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { aPlan, RunSteps } from '#test/support/run-steps.ts';

/** Approvals are counted, and the policy is read, each time a run is reviewed and each time its apply is about to start. */
let api: TestApi;
let admin: ApiUser;
let steps: RunSteps;
let worker: string;
let tenant: Tenant;
let reviewers: [ApiUser, ApiUser, ApiUser];

beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  steps = new RunSteps(api, admin);
  worker = await steps.worker('none');
  tenant = await makeTenant(api);
  const joined = async () => {
    const user = await api.addUser('maintainer');
    await join(tenant, user, 'member', 'admin');
    return user;
  };
  reviewers = [await joined(), await joined(), await joined()];
});
afterAll(() => api?.close());

interface Pending {
  readonly runId: string;
  readonly attemptId: string;
  readonly environment: string;
}

/** A run that waits for approval in a new environment with a policy. */
async function pending(policy: object): Promise<Pending> {
  const body = { project_id: tenant.project, name: randomUUID(), kind: 'staging', approval_policy: policy };
  const environment = await tenant.owner.make('/environments', body);
  const { runId, attemptId } = await steps.planning(worker, 'none', { environment_id: environment.id });
  await steps.complete(attemptId, { outcome: 'planned', plan: aPlan() });
  expect(await steps.next({ runId, executed: attemptId })).toMatchObject({ kind: 'wait' });
  return { runId, attemptId, environment: environment.id };
}

const read = async ({ runId }: Pending) => (await admin.get(`/runs/${runId}`)).body;
const next = ({ runId, attemptId }: Pending) => steps.next({ runId, executed: attemptId });
const change = (run: Pending, policy: object) =>
  tenant.owner.patch(`/environments/${run.environment}`, { approval_policy: policy });

async function approve(run: Pending, by: ApiUser) {
  const { plan } = await read(run);
  return by.post(`/runs/${run.runId}/approval/review`, { decision: 'approve', plan_digest: plan.digest });
}
const eventsOf = async (run: Pending, type: string) =>
  (await admin.get(`/runs/${run.runId}/events`)).body.events.filter((event: { type: string }) => event.type === type);

const strict = { required: 2, when: 'always', allow_self: false };
const lax = { ...strict, required: 1 };

const endings: [what: string, end: (user: ApiUser) => Promise<unknown>, reason: string][] = [
  ['is disabled', (user) => admin.put(`/users/${user.id}`, { enabled: false }), 'disabled'],
  ['leaves the team', (user) => tenant.owner.delete(`${tenant.teamPath}/members/${user.id}`), 'not_permitted'],
  ['may no longer approve', (user) => admin.put(`/users/${user.id}`, { role: 'requester' }), 'not_permitted'],
];

describe('an approval whose reviewer', () => {
  it.each(endings)(
    '%s no longer counts: the run waits for another one, and an event says why',
    async (_, end, reason) => {
      const leaving = await api.addUser('maintainer');
      await join(tenant, leaving, 'member', 'admin');
      const run = await pending(strict);
      expect(await approve(run, leaving)).toMatchObject({ status: 200 });
      expect(await end(leaving)).toMatchObject({ status: expect.toSatisfy((status) => status < 300) });
      expect(await approve(run, reviewers[0])).toMatchObject({ status: 200 });
      for (let repeat = 0; repeat < 2; repeat += 1) expect(await next(run)).toMatchObject({ kind: 'wait' });
      expect(await read(run)).toMatchObject({ status: 'pending_approval', waiting_on: { code: 'approval' } });
      expect(await eventsOf(run, 'run.approval_lapsed')).toMatchObject([{ data: { reviewer_id: leaving.id, reason } }]);
      expect(await approve(run, reviewers[1])).toMatchObject({ status: 200 });
      expect(await next(run)).toMatchObject({ kind: 'execute' });
    },
  );

  it('was allowed to approve their own run no longer counts once the environment forbids that', async () => {
    const run = await pending({ ...lax, allow_self: true });
    expect(await approve(run, admin)).toMatchObject({ status: 200 });
    expect(await change(run, lax)).toMatchObject({ status: 200 });
    expect(await next(run)).toMatchObject({ kind: 'wait' });
    expect(await eventsOf(run, 'run.approval_lapsed')).toMatchObject([{ data: { reason: 'self_approval' } }]);
    expect(await approve(run, reviewers[0])).toMatchObject({ status: 200 });
    expect(await next(run)).toMatchObject({ kind: 'execute' });
  });
});

describe('a run whose environment changes its policy while the run waits', () => {
  it('needs the larger number of approvals if the environment demands more now', async () => {
    const run = await pending(lax);
    await change(run, strict);
    expect((await read(run)).approval).toMatchObject(strict);
    await approve(run, reviewers[0]);
    expect(await next(run)).toMatchObject({ kind: 'wait' });
    expect(await approve(run, reviewers[1])).toMatchObject({ status: 200 });
    expect(await next(run)).toMatchObject({ kind: 'execute' });
    await change(run, lax);
    expect((await read(run)).approval, 'it keeps the policy under which it applies').toMatchObject(strict);
  });

  it('needs as many approvals as at its admission if the environment demands fewer now', async () => {
    const run = await pending(strict);
    await change(run, { required: 0, when: 'never', allow_self: true });
    expect((await read(run)).approval).toMatchObject(strict);
    expect(await approve(run, admin), 'self-approval was not allowed at admission').toMatchObject({ status: 409 });
    await approve(run, reviewers[0]);
    expect(await next(run)).toMatchObject({ kind: 'wait' });
    await approve(run, reviewers[1]);
    expect(await next(run)).toMatchObject({ kind: 'execute' });
  });

  it('refuses self-approval if the environment forbids it now', async () => {
    const run = await pending({ ...lax, allow_self: true });
    await change(run, lax);
    expect(await approve(run, admin)).toMatchObject({ status: 409, headers: expect.anything() });
  });

  it('waits for approval if the environment demands it only since the run was admitted', async () => {
    const body = { project_id: tenant.project, name: randomUUID(), kind: 'staging' };
    const { id } = await tenant.owner.make('/environments', body);
    const { runId, attemptId } = await steps.planning(worker, 'none', { environment_id: id });
    await steps.complete(attemptId, { outcome: 'planned', plan: aPlan() });
    const run = { runId, attemptId, environment: id };
    await change(run, lax);
    expect(await next(run)).toMatchObject({ kind: 'wait' });
    expect(await eventsOf(run, 'run.approval_required')).toMatchObject([{ data: { required: 1 } }]);
    await approve(run, reviewers[0]);
    expect(await next(run)).toMatchObject({ kind: 'execute' });
  });
});
