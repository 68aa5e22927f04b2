import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addServiceAccount } from '#test/support/access/people.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { publishTemplate } from '#test/support/api/publish-template.ts';
import { aPlan, executing, RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let steps: RunSteps;
let tenant: Tenant;
let worker: string;
let publisher: ApiUser;
let requester: ApiUser;
let reviewer: ApiUser;

const fourEyes = { required: 1, when: 'always', allow_self: false };
const spec = { executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] } };

beforeAll(async () => {
  api = await startApi();
  steps = new RunSteps(api, await api.addUser('admin'));
  tenant = await makeTenant(api, { approval_policy: fourEyes });
  worker = await steps.worker('sandbox');
  [publisher, requester, reviewer] = [await addMember(), await addMember(), await addMember()];
});
afterAll(() => api?.close());

async function addMember(): Promise<ApiUser> {
  const user = await api.addUser('maintainer');
  await join(tenant, user, 'member', 'admin');
  return user;
}

/** A service account of the tenant's team, or one that belongs to a user and is a member of the team. */
async function addAccount(owner: { userId: string } | { teamId: string }): Promise<ApiUser> {
  const memberships = {
    teams: { [tenant.team]: 'admin' },
    organizations: { [tenant.organization]: 'member' },
  } as const;
  const place = { url: '', orm: api.services.orm };
  const { key, id } = await addServiceAccount(place, 'maintainer', 'userId' in owner ? memberships : {}, owner);
  return new ApiUser(api, { 'x-api-key': key }, { id, email: '' });
}

const issuedBy = (account: ApiUser, person: ApiUser) =>
  api.rows('update api_keys set issued_by = ? where principal_id = ?', [person.id, account.id]);

const publish = (by: ApiUser) => publishTemplate(by, spec, { team_id: tenant.team });

/** Advances an admitted run until it waits for approval; answers the response to a review of it. */
async function awaitApproval(runId: string) {
  const attemptId = executing(await steps.next({ runId }));
  await steps.claim(attemptId, worker, 'sandbox');
  await steps.complete(attemptId, { outcome: 'planned', plan: aPlan() });
  await steps.next({ runId, executed: attemptId });
  const { body } = await reviewer.get(`/runs/${runId}`);
  expect(body.status).toBe('pending_approval');
  return { id: runId, digest: body.plan.digest as string };
}

async function pendingRun(templateId: string, environment = tenant.environment) {
  const { status, body, text } = await requester.post('/runs', {
    template_id: templateId,
    environment_id: environment,
    instance: `i-${templateId}`,
  });
  expect(status, text).toBe(202);
  return awaitApproval(body.id);
}

const review = (by: ApiUser, run: { id: string; digest: string }, decision = 'approve') =>
  by.post(`/runs/${run.id}/approval/review`, { decision, comment: 'seen', plan_digest: run.digest });

const refusal = {
  status: 409,
  body: {
    error:
      'another person must approve this run, because you published version 1.0.0 of its template, and the environment does not allow self-approval',
  },
};

describe('approving a run as the publisher of its version', () => {
  it('answers 409 with a message that somebody else must approve it', async () => {
    const run = await pendingRun(await publish(publisher));
    expect(await review(publisher, run)).toMatchObject(refusal);
    expect((await reviewer.get(`/runs/${run.id}`)).body.approval.reviews).toEqual([]);
    expect(await review(reviewer, run)).toMatchObject({ status: 200 });
  });

  it('answers 409 for a requeue of the run, too', async () => {
    const run = await pendingRun(await publish(publisher));
    await review(publisher, run, 'reject');
    const { body } = await requester.post(`/runs/${run.id}/requeue`);
    expect(await review(publisher, await awaitApproval(body.id))).toMatchObject(refusal);
  });

  it('answers 200 if the environment allows self-approval', async () => {
    const policy = { ...fourEyes, allow_self: true };
    const body = { project_id: tenant.project, name: 'Open', kind: 'staging', approval_policy: policy };
    const { id } = await tenant.owner.make('/environments', body);
    expect(await review(publisher, await pendingRun(await publish(publisher), id))).toMatchObject({ status: 200 });
  });

  it('publishing the same content again answers 200 and makes no version', async () => {
    const templateId = await publish(publisher);
    const again = await reviewer.post(`/registry/templates/${templateId}/versions`, { version: '1.0.0', spec });
    expect(again.status).toBe(200);
    expect(await review(reviewer, await pendingRun(templateId))).toMatchObject({ status: 200 });
  });

  it('answers 200 to the publisher of another version of the same template', async () => {
    const templateId = await publish(publisher);
    const other = { executor: { kind: 'command', apply: [{ name: 'act', run: ['false'] }] } };
    await reviewer.make(`/registry/templates/${templateId}/versions`, { version: '0.9.0', spec: other });
    expect(await review(reviewer, await pendingRun(templateId))).toMatchObject({ status: 200 });
  });
});

describe('rejecting a run as the publisher of its version', () => {
  it('ends the run', async () => {
    const run = await pendingRun(await publish(publisher));
    expect(await review(publisher, run, 'reject')).toMatchObject({ status: 200, body: { status: 'canceled' } });
  });
});

describe('a version that a service account published', () => {
  it('cannot be approved by the account or by the user who owns it', async () => {
    const account = await addAccount({ userId: publisher.id });
    const run = await pendingRun(await publish(account));
    expect(await review(account, run)).toMatchObject(refusal);
    expect(await review(publisher, run)).toMatchObject(refusal);
    expect(await review(reviewer, run)).toMatchObject({ status: 200 });
  });

  it('cannot be approved by the issuer of its key, even after another person has become responsible for the account', async () => {
    const account = await addAccount({ teamId: tenant.team });
    await issuedBy(account, publisher);
    const run = await pendingRun(await publish(account));
    await issuedBy(account, reviewer);
    expect(await review(publisher, run)).toMatchObject(refusal);
    expect(await review(account, run)).toMatchObject(refusal);
    expect(await review(reviewer, run)).toMatchObject({ status: 200 });
  });

  it('cannot be approved by another account of the responsible person', async () => {
    const run = await pendingRun(await publish(await addAccount({ userId: publisher.id })));
    expect(await review(await addAccount({ userId: publisher.id }), run)).toMatchObject(refusal);
  });
});

describe('a version that a user published', () => {
  it('cannot be approved by a service account for which that user is responsible', async () => {
    const run = await pendingRun(await publish(publisher));
    expect(await review(await addAccount({ userId: publisher.id }), run)).toMatchObject(refusal);
    const account = await addAccount({ teamId: tenant.team });
    await issuedBy(account, publisher);
    expect(await review(account, run)).toMatchObject(refusal);
  });
});
