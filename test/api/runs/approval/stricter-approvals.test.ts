import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { aPlan, RunSteps } from '#test/support/runs/run-steps.ts';

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
  tenant = await makeTenant(api);
  const joined = async () => {
    const user = await api.addUser('maintainer');
    await join(tenant, user, 'member', 'admin');
    return user;
  };
  reviewers = [await joined(), await joined(), await joined()];
});
// On a busy machine, one worker would count as lost before the last test.
beforeEach(async () => {
  worker = await steps.worker('none');
});
afterAll(() => api?.close());

interface Pending {
  readonly runId: string;
  readonly attemptId: string;
  readonly environment: string;
}

/** A run that waits for approval in a new environment with a policy. */
async function pending(policy: object, of = tenant): Promise<Pending> {
  const body = { project_id: of.project, name: randomUUID(), kind: 'staging', approval_policy: policy };
  const environment = await of.owner.make('/environments', body);
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

type Absence = (user: ApiUser) => Promise<unknown>;
const absences: [what: string, leave: Absence, comeBack: Absence][] = [
  [
    'is disabled',
    (user) => admin.put(`/users/${user.id}`, { enabled: false }),
    (user) => admin.put(`/users/${user.id}`, { enabled: true }),
  ],
  [
    'leaves the team',
    (user) => tenant.owner.delete(`${tenant.teamPath}/members/${user.id}`),
    (user) => tenant.owner.put(`${tenant.teamPath}/members/${user.id}`, { role: 'admin' }),
  ],
  [
    'may no longer approve',
    (user) => admin.put(`/users/${user.id}`, { role: 'requester' }),
    (user) => admin.put(`/users/${user.id}`, { role: 'maintainer' }),
  ],
];
const countsOf = async (run: Pending) =>
  (await read(run)).approval.reviews.map(({ counts }: { counts: boolean | null }) => counts);

describe('an approval', () => {
  it.each(endings)(
    'an approval whose reviewer %s no longer counts, so the run waits for another approval, and an event has the reason',
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

  it.each(absences)(
    'an approval whose reviewer %s counts again once that is reverted, and the run then continues its work',
    async (_, leave, comeBack) => {
      const user = await api.addUser('maintainer');
      await join(tenant, user, 'member', 'admin');
      const run = await pending(strict);
      await approve(run, user);
      expect(await leave(user)).toMatchObject({ status: expect.toSatisfy((status) => status < 300) });
      await approve(run, reviewers[0]);
      expect(await countsOf(run)).toEqual([false, true]);
      expect(await next(run)).toMatchObject({ kind: 'wait', seconds: 300 });
      expect(await comeBack(user)).toMatchObject({ status: expect.toSatisfy((status) => status < 300) });
      expect(await countsOf(run)).toEqual([true, true]);
      expect(await approve(run, reviewers[1])).toMatchObject({
        status: 409,
        body: { error: expect.stringMatching(/^the run has all the approvals/) },
      });
      expect(await next(run)).toMatchObject({ kind: 'execute' });
      expect(await countsOf(run), 'a run that applies no longer counts').toEqual([null, null]);
    },
  );

  it("an approval whose reviewer keeps the role in a team still counts after the team was transferred, and the run's project cannot be transferred", async () => {
    const [moving, other] = [await makeTenant(api), await makeTenant(api)];
    await join(other, moving.owner, 'admin');
    const reviewer = await api.addUser('maintainer');
    await join(moving, reviewer, 'member', 'admin');
    await join(other, reviewer, 'member');
    await moving.owner.patch(moving.teamPath, { slug: 'moving' });
    const run = await pending(lax, moving);
    expect(await approve(run, reviewer)).toMatchObject({ status: 200 });
    const elsewhere = await moving.owner.make(`/organizations/${moving.organization}/teams`, { name: 'Elsewhere' });
    expect(await moving.owner.post(`/projects/${moving.project}/transfer`, { team_id: elsewhere.id })).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining(`runs that have not ended: ${run.runId}`) },
    });
    const moved = await moving.owner.post(`${moving.teamPath}/transfer`, { organization_id: other.organization });
    expect(moved.status, moved.text).toBe(200);
    expect(await countsOf(run)).toEqual([true]);
    expect(await next(run)).toMatchObject({ kind: 'execute' });
  });

  it('discarding the approval of a disabled reviewer increases the revision of the run', async () => {
    const leaving = await api.addUser('maintainer');
    await join(tenant, leaving, 'member', 'admin');
    const run = await pending(strict);
    await approve(run, leaving);
    await next(run);
    const { revision } = await read(run);
    await admin.put(`/users/${leaving.id}`, { enabled: false });
    for (let repeat = 0; repeat < 2; repeat += 1) await next(run);
    expect((await read(run)).revision).toBe(revision + 1);
  });

  it('an approval by the requester no longer counts once the environment forbids people to approve their own runs', async () => {
    const run = await pending({ ...lax, allow_self: true });
    expect(await approve(run, admin)).toMatchObject({ status: 200 });
    expect(await change(run, lax)).toMatchObject({ status: 200 });
    expect(await next(run)).toMatchObject({ kind: 'wait' });
    expect(await eventsOf(run, 'run.approval_lapsed')).toMatchObject([{ data: { reason: 'self_approval' } }]);
    expect(await approve(run, reviewers[0])).toMatchObject({ status: 200 });
    expect(await next(run)).toMatchObject({ kind: 'execute' });
  });
});

describe('every approval', () => {
  it('wakes the run, even while others are missing, so that it discards approvals that no longer count', async () => {
    const run = await pending(strict);
    const { idempotency_key: workflow } = await read(run);
    await api.rows('delete from outbox where target = ?', [workflow]);
    await approve(run, reviewers[0]);
    const messages = await api.rows('select payload from outbox where target = ?', [workflow]);
    expect(messages).toEqual([{ payload: { kind: 'signal', signal: 'wake' } }]);
  });
});

describe('a run whose environment changes its policy while the run waits', () => {
  it('needs the larger number of approvals if the environment requires more now', async () => {
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

  it('needs as many approvals as at its admission if the environment requires fewer now', async () => {
    const run = await pending(strict);
    await change(run, { required: 0, when: 'never', allow_self: true });
    expect((await read(run)).approval).toMatchObject(strict);
    expect(await approve(run, admin), 'self-approval was not allowed at admission').toMatchObject({ status: 409 });
    await approve(run, reviewers[0]);
    expect(await next(run)).toMatchObject({ kind: 'wait' });
    await approve(run, reviewers[1]);
    expect(await next(run)).toMatchObject({ kind: 'execute' });
  });

  it('gets a new revision, which answers waiting requests, unless the run has ended', async () => {
    const run = await pending(lax);
    const other = await pending(lax);
    const revisionOf = async (pendingRun: Pending) => (await read(pendingRun)).revision;
    const [before, apart] = [await revisionOf(run), await revisionOf(other)];
    const answer = admin.get(`/runs/${run.runId}?wait=20s&revision=${before}`);
    await change(run, strict);
    expect((await answer).body).toMatchObject({ approval: strict, revision: before + 1 });
    expect(await revisionOf(other), 'a run of another environment').toBe(apart);
    await tenant.owner.patch(`/environments/${run.environment}`, { name: randomUUID() });
    expect(await revisionOf(run), 'a change that is none of the policy').toBe(before + 1);
    await admin.post(`/runs/${run.runId}/cancel`);
    await next(run);
    const last = await read(run);
    expect(last).toMatchObject({ status: 'canceled' });
    await change(run, lax);
    expect(await revisionOf(run), 'an ended run').toBe(last.revision);
  });

  it('refuses self-approval if the environment forbids it now', async () => {
    const run = await pending({ ...lax, allow_self: true });
    await change(run, lax);
    expect(await approve(run, admin)).toMatchObject({ status: 409, headers: expect.anything() });
  });

  it("waits for approval if the environment began to require it after the run's admission", async () => {
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
