import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { publishTemplate } from '#test/support/api/publish-template.ts';
import { aPlan, executing, RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let steps: RunSteps;
let worker: string;
const people: Record<string, ApiUser> = {};
const person = (name: string) => people[name] as ApiUser;
/** The ids of the runs that wait for approval, by what distinguishes them, in the order of their admission. */
const runs: Record<string, string> = {};
let made = 0;

const spec = { executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] } };

beforeAll(async () => {
  api = await startApi();
  people['admin'] = await api.addUser('admin');
  steps = new RunSteps(api, person('admin'));
  worker = await steps.worker('sandbox');
  const policy = { required: 2, when: 'always', allow_self: false };
  const here = await makeTenant(api, { approval_policy: policy });
  const there = await makeTenant(api, { approval_policy: policy });
  const lenient = await makeTenant(api, { approval_policy: { ...policy, allow_self: true } });
  people['owner of another tenant'] = there.owner;
  for (const name of ['publisher', 'asker', 'reviewer', 'second']) {
    people[name] = await api.addUser('operator');
    for (const tenant of [here, lenient]) await join(tenant, person(name), 'member', 'admin');
  }
  people['viewer'] = await api.addUser('operator');
  await join(here, person('viewer'), 'member', 'viewer');
  people['requester'] = await api.addUser('requester');
  await join(here, person('requester'), 'member', 'member');
  await addRuns(here, there, lenient);
});
afterAll(() => api?.close());

async function addRuns(here: Tenant, there: Tenant, lenient: Tenant): Promise<void> {
  const template = await publishTemplate(person('publisher'), spec, { team_id: here.team });
  runs['waiting'] = await pending(template, here.environment);
  runs['approved by one'] = await pending(template, here.environment, 'reviewer');
  runs['approved by all'] = await pending(template, here.environment, 'reviewer', 'second');
  runs['expired'] = await pending(template, here.environment);
  await api.rows(`update runs set approval_expires_at = now() - interval '1 second' where id = ?`, [runs['expired']]);
  runs['self-approval allowed'] = await pending(
    await publishTemplate(person('publisher'), spec, { team_id: lenient.team }),
    lenient.environment,
  );
  const theirs = await publishTemplate(there.owner, spec, { team_id: there.team });
  runs['of another tenant'] = await pending(theirs, there.environment, { by: there.owner });
  await person('asker').post('/runs', { template_id: template, environment_id: here.environment, instance: 'queued' });
}

/** A run that waits for approval, after the given approvals. */
async function pending(template: string, environment: string, ...rest: (string | { by: ApiUser })[]): Promise<string> {
  const by = rest.find((each) => typeof each === 'object')?.by ?? person('asker');
  const body = { template_id: template, environment_id: environment, instance: `i-${++made}` };
  const { id } = (await by.post('/runs', body)).body;
  const attemptId = executing(await steps.next({ runId: id }));
  await steps.claim(attemptId, worker, 'sandbox');
  await steps.complete(attemptId, { outcome: 'planned', plan: aPlan() });
  await steps.next({ runId: id, executed: attemptId });
  for (const name of rest.filter((each) => typeof each === 'string')) {
    const { plan } = (await person(name).get(`/runs/${id}`)).body;
    const review = { decision: 'approve', plan_digest: plan.digest };
    expect((await person(name).post(`/runs/${id}/approval/review`, review)).status).toBe(200);
  }
  return id;
}

async function inboxOf(name: string, query = ''): Promise<string[]> {
  const { status, body, text } = await person(name).get(`/approvals?${query}`);
  expect(status, text).toBe(200);
  return body.approvals.map(({ run }: { run: { id: string } }) => run.id);
}

/** The runs whose own answer says that a person may approve them. */
async function approvableBy(name: string): Promise<string[]> {
  const ids: string[] = [];
  for (const id of Object.values(runs)) {
    const { status, body } = await person(name).get(`/runs/${id}`);
    const approve = status === 200 && body.actions.find((action: { name: string }) => action.name === 'approve');
    if (approve?.allowed) ids.push(id);
  }
  return ids;
}

const named = (...names: string[]) => names.map((name) => runs[name]);

describe('the inbox of approvals', () => {
  it.each(['admin', 'publisher', 'asker', 'reviewer', 'second', 'viewer', 'owner of another tenant'])(
    'the inbox of approvals of %s holds exactly the runs that they may approve, oldest first',
    async (name) => {
      expect(await inboxOf(name)).toEqual(await approvableBy(name));
    },
  );

  it("omits the reader's own runs, runs of versions that the reader published, and runs that the reader reviewed", async () => {
    expect(await inboxOf('admin')).toEqual(
      named('waiting', 'approved by one', 'self-approval allowed', 'of another tenant'),
    );
    expect(await inboxOf('second')).toEqual(named('waiting', 'approved by one', 'self-approval allowed'));
    expect(await inboxOf('reviewer')).toEqual(named('waiting', 'self-approval allowed'));
    expect(await inboxOf('asker')).toEqual(named('self-approval allowed'));
    expect(await inboxOf('publisher')).toEqual(named('self-approval allowed'));
    expect(await inboxOf('viewer')).toEqual([]);
    expect((await person('requester').get('/approvals')).status).toBe(403);
  });

  it('is read page by page', async () => {
    const first = (await person('admin').get('/approvals?limit=3')).body;
    expect(first.approvals).toHaveLength(3);
    const second = (await person('admin').get(`/approvals?limit=3&cursor=${first.next_cursor}`)).body;
    expect(second).toMatchObject({ approvals: [{ run: { id: runs['of another tenant'] } }], next_cursor: null });
    expect((await person('admin').get('/approvals?cursor=changed')).status).toBe(400);
  });

  it('can be limited to named runs, and then has those that its reader may approve', async () => {
    const query = ['waiting', 'approved by one', 'of another tenant'].map((name) => `run_id=${runs[name]}`).join('&');
    expect(await inboxOf('second', query)).toEqual(named('waiting', 'approved by one'));
    expect(await inboxOf('reviewer', query)).toEqual(named('waiting'));
    expect(await inboxOf('asker', query)).toEqual([]);
  });

  it('marks the runs for which somebody asked the reader for a review, and can be limited to these', async () => {
    const request = { reviewers: [person('second').id], message: 'please' };
    const { status, text } = await person('asker').post(`/runs/${runs['waiting']}/approval/request`, request);
    expect(status, text).toBe(202);
    const { approvals } = (await person('second').get('/approvals')).body;
    expect(approvals.map(({ asked }: { asked: boolean }) => asked)).toEqual([true, false, false]);
    expect(await inboxOf('second', 'asked=true')).toEqual(named('waiting'));
    expect(await inboxOf('reviewer', 'asked=true')).toEqual([]);
    expect((await person('second').get(`/runs/${runs['waiting']}`)).body.reviewers).toMatchObject([
      { id: person('second').id },
    ]);
  });

  it('shows who last asked the reader for a review with which message, and how many approvals count', async () => {
    const ask = (message: string) =>
      person('asker').post(`/runs/${runs['approved by one']}/approval/request`, {
        reviewers: [person('second').id],
        message,
      });
    await ask('first');
    await ask('before noon, please');
    const { approvals } = (await person('second').get('/approvals')).body;
    const asked = approvals.find(({ run }: { run: { id: string } }) => run.id === runs['approved by one']);
    const request = { by: expect.stringMatching(/^operator/), message: 'before noon, please', at: expect.any(String) };
    expect(asked).toMatchObject({ asked: true, approvals: 1, request });
    expect(approvals.at(-1)).toMatchObject({ asked: false, approvals: 0, request: null });
  });

  it('can be limited to a team or an organization, and hides those of others', async () => {
    const { body } = await person('admin').get(`/runs/${runs['of another tenant']}`);
    expect(await inboxOf('admin', `team_id=${body.team_id}`)).toEqual(named('of another tenant'));
    const { organization_id: theirs } = (await person('admin').get(`/environments/${body.environment_id}`)).body;
    expect(await inboxOf('admin', `organization_id=${theirs}`)).toEqual(named('of another tenant'));
    for (const query of [`team_id=${body.team_id}`, `organization_id=${theirs}`])
      expect((await person('second').get(`/approvals?${query}`)).status, query).toBe(404);
    expect((await person('second').get('/approvals?team_id=1')).status).toBe(400);
  });

  it('takes who was asked from the reviewers that the run shows', async () => {
    const shown = JSON.stringify([{ type: 'user', id: person('reviewer').id, name: 'Shown' }]);
    await api.rows('update runs set reviewers = ?::jsonb where id = ?', [shown, runs['self-approval allowed']]);
    expect(await inboxOf('reviewer', 'asked=true')).toEqual(named('self-approval allowed'));
  });
});
