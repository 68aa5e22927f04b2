import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { summarizePlan } from '#domain/runs/plans/model.ts';
import { noSections } from '#domain/runs/plans/sections.ts';
import { addEnvironment, addTeam } from '#test/support/access/people.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { executing, RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let root: ApiUser;
let steps: RunSteps;
let worker: string;
let visitor: Visitor;

beforeAll(async () => {
  api = await startApi();
  root = await api.addUser('admin', 'Root');
  steps = new RunSteps(api, root);
  worker = await steps.worker('sandbox');
  visitor = await visitAs(root);
});
afterAll(() => api?.close());

async function visitAs(user: ApiUser): Promise<Visitor> {
  const visiting = await signInVisitor(api, user);
  return visiting;
}

const keyIn = (text: string) => /name="key" value="([^"]+)"/.exec(text)![1]!;
const eventTypes = async (id: string): Promise<string[]> =>
  (await root.get(`/runs/${id}/events`)).body.events.map(({ type }: { type: string }) => type);

/** A run that has ended. */
async function endedRun(): Promise<string> {
  const { runId, attemptId } = await steps.planning(worker, 'sandbox');
  await steps.complete(attemptId, { outcome: 'unchanged' });
  await steps.next({ runId, executed: attemptId });
  return runId;
}

describe('the form of an action on a run', () => {
  it('cancels once, with the reason, however often it is sent', async () => {
    const id = await steps.admit();
    const asked = await visitor.get(`/workloads/runs/${id}/cancel`);
    expect(asked.text).toContain('It has not changed anything.');
    const fields = { key: keyIn(asked.text), reason: 'The <wrong> zone' };
    for (let sent = 0; sent < 2; sent += 1) {
      const { status, location } = await visitor.submit(`/workloads/runs/${id}/cancel`, fields);
      expect([status, location]).toEqual([303, `/workloads/runs/${id}?done=canceled`]);
    }
    expect((await eventTypes(id)).filter((type) => type === 'run.cancel_requested')).toHaveLength(1);
    expect((await visitor.get(`/workloads/runs/${id}`)).text).toContain('The &lt;wrong&gt; zone');
  });

  it('offers to end the run by force only after the time limit of a cancellation, and then ends it', async () => {
    const { runId } = await steps.planning(worker, 'sandbox');
    const force = `/workloads/runs/${runId}/force`;
    const shown = async () => (await visitor.get(`/workloads/runs/${runId}`)).text.includes(`href="${force}"`);
    expect(await shown()).toBe(false);
    await root.post(`/runs/${runId}/cancel`);
    expect(await shown()).toBe(false);
    const past = `update domain_events set created_at = created_at - interval '1 minute' where subject_id = ? returning id`;
    await api.rows(past, [runId]);
    expect(await shown()).toBe(true);
    const asked = await visitor.get(force);
    const sent = await visitor.submit(force, { key: keyIn(asked.text), reason: '' });
    expect(sent.location).toBe(`/workloads/runs/${runId}?done=forced`);
    expect((await root.get(`/runs/${runId}`)).body).toMatchObject({ status: 'canceled', status_reason: 'forced' });
  });

  it('runs again once: a second click leads to the same new run', async () => {
    const id = await endedRun();
    const asked = await visitor.get(`/workloads/runs/${id}/requeue`);
    const fields = { key: keyIn(asked.text) };
    const first = await visitor.submit(`/workloads/runs/${id}/requeue`, fields);
    const second = await visitor.submit(`/workloads/runs/${id}/requeue`, fields);
    expect(first.location).toMatch(/^\/workloads\/runs\/[\w-]+\?done=admitted$/);
    expect(second.location).toBe(first.location);
    expect((await visitor.get(first.location!)).text).toContain(`href="/workloads/runs/${id}"`);
  });

  it('says what a deletion removes and keeps, and the page of the deleted run says that it was deleted', async () => {
    const id = await endedRun();
    const asked = await visitor.get(`/workloads/runs/${id}/delete`);
    expect(asked.text).toMatch(/What goes:[\s\S]*its log[\s\S]*What stays:[\s\S]*its events/);
    const sent = await visitor.submit(`/workloads/runs/${id}/delete`, { key: keyIn(asked.text) });
    expect(sent.location).toBe('/workloads/runs?done=deleted');
    const { status, text } = await visitor.get(`/workloads/runs/${id}?tab=plan`);
    expect(status).toBe(200);
    expect(text).toContain('This run was deleted.');
    expect(text).not.toContain('Add comment');
    expect(text).not.toMatch(/href="[^"]*\/(delete|requeue)"/);
  });

  it('is shown again with the rule that refuses it, and with what was typed', async () => {
    const id = await endedRun();
    const asked = await visitor.get(`/workloads/runs/${id}/requeue`);
    const sent = await visitor.submit(`/workloads/runs/${id}/cancel`, { key: keyIn(asked.text), reason: 'Typed' });
    expect(sent.status).toBe(409);
    expect(sent.text).toMatch(/role="alert"[\s\S]*The run has already ended/);
    expect(sent.text).toContain('value="Typed"');
  });
});

describe('a run of a team', () => {
  let teamId: string;
  let runId: string;

  const member = async (role: 'viewer' | 'member' | 'admin', platform: 'requester' | 'maintainer' = 'maintainer') => {
    const user = await api.addUser(platform);
    await api.rows(
      `insert into team_members (id, team_id, principal_id, role, revision, created_at)
       values (gen_random_uuid(), ?, ?, ?, 1, now()) returning id`,
      [teamId, user.id, role],
    );
    return user;
  };

  beforeAll(async () => {
    ({ teamId } = await addTeam(api.services.orm));
    const { environmentId } = await addEnvironment(api.services.orm, teamId, { required: 1 });
    const planned = await steps.planning(worker, 'sandbox', { environment_id: environmentId });
    runId = planned.runId;
    const change = { address: 'thing', action: 'create' as const, before: null, after: {} };
    const plan = {
      changes: [change],
      sections: noSections,
      summary: summarizePlan([change]),
      executorDigest: 'sha256:0',
      artifact: Buffer.from('x'),
    };
    await steps.complete(planned.attemptId, { outcome: 'planned', plan });
    const step = await steps.next({ runId, executed: planned.attemptId });
    expect(() => executing(step)).toThrow();
  });

  it('is hidden from people outside, who see the same as for a run that does not exist', async () => {
    const stranger = await visitAs(await api.addUser('maintainer'));
    const hidden = await stranger.get(`/workloads/runs/${runId}`);
    const missing = await stranger.get('/workloads/runs/019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11');
    const plain = (text: string) =>
      text.replace(/<dl class="facts[\s\S]*?<\/dl>/, '').replaceAll(/\/assets\/[^"]+/g, '');
    expect([hidden.status, plain(hidden.text)]).toEqual([404, plain(missing.text)]);
    for (const path of ['stream', 'cancel', 'request-approval'])
      expect((await stranger.get(`/workloads/runs/${runId}/${path}`)).status, path).toBe(404);
    expect(await stranger.page('/workloads/runs')).not.toContain(runId);
  });

  it('shows a viewer its buttons disabled, with the rule', async () => {
    const { text } = await (await visitAs(await member('viewer'))).get(`/workloads/runs/${runId}`);
    expect(text).toMatch(/aria-disabled="true" aria-describedby="why-not-cancel"/);
    expect(text).not.toContain(`href="/workloads/runs/${runId}/cancel"`);
  });

  it('names the platform role that canceling requires to a visitor who lacks it', async () => {
    const takes = /You cannot cancel it: that takes the platform role maintainer/;
    expect(await (await visitAs(await member('member', 'requester'))).page(`/workloads/runs/${runId}`)).toMatch(takes);
    expect(await visitor.page(`/workloads/runs/${runId}`)).not.toContain('You cannot cancel it');
  });

  it('says before it is sent that a review request would reach nobody, and names no missing field', async () => {
    const form = `/workloads/runs/${runId}/request-approval`;
    const { text } = await visitor.get(form);
    expect(text).toContain('No other person can review this run now, so a request would reach no one.');
    expect(text).toContain(`href="/workloads/runs/${runId}/reviewers">Add a reviewer first`);
    expect(text).not.toContain('Administrators of the installation who may are notified');
    const requester = await member('member', 'requester');
    const theirs = await (await visitAs(requester)).page(form);
    expect(theirs.includes('Those whom you name')).toBe(theirs.includes('name="other"'));
    const reviewer = await member('admin');
    expect(await visitor.page(form)).not.toContain('would reach no one');
    await api.rows('delete from team_members where principal_id = any(?::uuid[])', [
      `{${requester.id},${reviewer.id}}`,
    ]);
  });

  it('asks named members for a review, and names who may not', async () => {
    const reviewer = await member('admin');
    const requester = await member('member', 'requester');
    const asked = await visitor.get(`/workloads/runs/${runId}/request-approval`);
    expect(asked.text).toContain(`name="reviewer-${reviewer.id}"`);
    expect(asked.text).not.toContain(`name="reviewer-${requester.id}"`);
    expect(asked.text).toContain('The platform role requester does not allow reviews.');
    const fields = { key: keyIn(asked.text), message: 'Please <look>' };
    const wrong = { ...fields, [`reviewer-${requester.id}`]: 'yes' };
    const refused = await visitor.submit(`/workloads/runs/${runId}/request-approval`, wrong);
    expect(refused.status).toBe(422);
    expect(refused.text).toMatch(/role="alert"[\s\S]*requester \d+ may not review this run/);
    expect(refused.text).toContain('Please &lt;look&gt;');
    const right = { ...fields, [`reviewer-${reviewer.id}`]: 'yes' };
    const sent = await visitor.submit(`/workloads/runs/${runId}/request-approval`, right);
    expect(sent.location).toBe(`/workloads/runs/${runId}?done=asked`);
    const [asking] = (await root.get(`/runs/${runId}`)).body.reviewers;
    expect(asking.id).toBe(reviewer.id);
  });
});
