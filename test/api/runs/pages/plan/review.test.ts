import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { textOf } from '#test/support/browser/page-text.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { change, PendingRuns } from '#test/support/runs/pending-runs.ts';

let api: TestApi;
let runs: PendingRuns;
let rita: Visitor;
let sam: Visitor;

const changes = [change('create', 'thing', null, { name: 'x' })];

beforeAll(async () => {
  api = await startApi();
  runs = await PendingRuns.start(api);
  [rita, sam] = (await Promise.all(runs.reviewers.map(visitAs))) as [Visitor, Visitor];
});
afterAll(() => api?.close());

async function visitAs(user: ApiUser): Promise<Visitor> {
  const visiting = await signInVisitor(api, user);
  return visiting;
}

/** The fields of the form under a plan, as the page sends them. */
async function readForm(visitor: Visitor, run: string): Promise<{ key: string; plan_digest: string; comment: string }> {
  const { text } = await visitor.get(`/workloads/runs/${run}?tab=plan`);
  const form = text.slice(text.indexOf(`action="/workloads/runs/${run}/review"`));
  const value = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(form)?.[1] ?? '';
  return { key: value('key'), plan_digest: value('plan_digest'), comment: '' };
}

const decide = (visitor: Visitor, run: string, fields: object) =>
  visitor.submit(`/workloads/runs/${run}/review`, { ...fields } as Record<string, string>);
const reviewsOf = async (run: string) => (await runs.asker.get(`/runs/${run}`)).body.approval.reviews;

describe('the review under a plan', () => {
  it('says who must still approve, by when, and what its buttons do', async () => {
    const run = await runs.add(changes);
    const first = textOf((await rita.get(`/workloads/runs/${run}?tab=plan`)).text);
    expect(first).toContain('0 of 2 approvals. 2 more people who may review runs of Core must approve.');
    expect(first).toContain('Approve (1 more must follow)');
    expect(first).toContain('A review is final');
    await decide(rita, run, { ...(await readForm(rita, run)), decision: 'approve' });
    const second = textOf((await sam.get(`/workloads/runs/${run}?tab=plan`)).text);
    expect(second).toContain('1 of 2 approvals. Rita Reviewer approved. One more person');
    expect(second).toContain('Approve and apply');
    expect(second).toContain(
      'Only people who neither requested this run, nor a run that it repeats, nor published version 1.0.0 of its template can approve it.',
    );
  });

  it('warns that the run cannot continue while too few people can approve it', async () => {
    const run = await runs.add(changes);
    const show = async () => textOf((await rita.get(`/workloads/runs/${run}?tab=plan`)).text);
    expect(await show()).not.toMatch(/gets? through/);
    const others = [runs.reviewers[1]?.id, runs.tenant.owner.id];
    await api.rows('update principals set enabled = false where id in (?, ?)', others);
    try {
      expect(await show()).toMatch(/This run (cannot get through|gets through only with approvals of administrators)/);
    } finally {
      await api.rows('update principals set enabled = true where id in (?, ?)', others);
    }
  });

  it('records a decision once, however often its form is sent, and leads to the next run', async () => {
    const [run, next] = [await runs.add(changes), await runs.add(changes)];
    const fields = { ...(await readForm(rita, run)), comment: 'good', decision: 'approve' };
    for (let sent = 0; sent < 2; sent += 1) {
      const answer = await decide(rita, run, fields);
      expect([answer.status, answer.location]).toEqual([303, `/workloads/runs/${run}?tab=plan&reviewed=approved`]);
    }
    expect(await reviewsOf(run)).toMatchObject([{ decision: 'approve', comment: 'good' }]);
    const after = (await rita.get(`/workloads/runs/${run}?tab=plan&reviewed=approved`)).text;
    expect(textOf(after)).toContain('You approved this plan. Your review is final.');
    expect(textOf(after)).toMatch(/Next(?: of (?:[2-9]|\d\d+)\+?)?: net-\d+ in Development/);
    expect(after).toContain(`href="/workloads/runs/${next}?tab=plan"`);
  });

  it('rejects, which ends the run', async () => {
    const run = await runs.add(changes);
    const answer = await decide(sam, run, { ...(await readForm(sam, run)), decision: 'reject', comment: 'not today' });
    expect(answer.location).toBe(`/workloads/runs/${run}?tab=plan&reviewed=rejected`);
    expect((await runs.asker.get(`/runs/${run}`)).body).toMatchObject({
      status: 'canceled',
      status_reason: 'rejected',
    });
    const { text } = await sam.get(answer.location!);
    expect(textOf(text)).toContain('You rejected this plan.');
    expect(text).not.toContain('value="approve"');
    expect(textOf(text)).toContain('Sam Second rejected the plan. not today Change what the reviewer asks for');
    const list = textOf((await sam.get('/workloads/runs?status=canceled')).text);
    for (const shown of [textOf(text), list]) expect(shown).toContain('Rejected');
    expect(textOf(text)).not.toContain('Canceled');
  });

  it('is refused in the form if it rejects without a comment, and the run keeps waiting', async () => {
    const run = await runs.add(changes);
    const answer = await decide(sam, run, { ...(await readForm(sam, run)), decision: 'reject', comment: ' ' });
    expect([answer.status, textOf(answer.text)]).toEqual([
      400,
      expect.stringContaining('Say what the requester should change'),
    ]);
    expect(await reviewsOf(run)).toEqual([]);
    expect(answer.text).toContain('id="field-comment-problem"');
    expect(answer.text).toContain('<section class="plan" id="plan"');
    expect(answer.text).toContain('aria-label="Parts of the run"');
  });

  it('the review of an outdated plan decides nothing, and offers the new plan', async () => {
    const run = await runs.add(changes);
    const shown = await readForm(rita, run);
    await runs.movePlan(run);
    const answer = await decide(rita, run, { ...shown, decision: 'approve' });
    expect(answer.status).toBe(409);
    expect(textOf(answer.text)).toContain('The plan changed – review again');
    expect(answer.text).not.toContain('value="approve"');
    expect(await reviewsOf(run)).toEqual([]);
  });

  it('is replaced by an update once there is a new plan', async () => {
    const run = await runs.add(changes);
    const { text } = await rita.get(`/workloads/runs/${run}?tab=plan&q=thing`);
    const address = /id="live" hx-get="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(address).toContain('q=thing');
    expect((await rita.get(address)).text).toContain('value="approve"');
    await runs.movePlan(run);
    const after = await rita.page(address);
    expect(textOf(after)).toContain('The plan changed – review again');
    expect(after).not.toContain('value="approve"');
    expect((await rita.get(`/workloads/runs/${run}?tab=plan`)).text).toContain('value="approve"');
  });

  it('a review that breaks a rule keeps what was typed, and names the rule', async () => {
    const run = await runs.add(changes);
    const fields = await readForm(rita, run);
    const long = await decide(rita, run, { ...fields, decision: 'approve', comment: 'x'.repeat(4001) });
    expect(long.status).toBe(400);
    expect(long.text).toContain('x'.repeat(4001));
    expect(long.text).toContain('id="field-comment-problem"');
    await decide(rita, run, { ...fields, decision: 'approve' });
    const again = await decide(rita, run, {
      ...fields,
      key: randomUUID(),
      decision: 'reject',
      comment: 'changed my mind',
    });
    expect(again.status).toBe(409);
    expect(textOf(again.text)).toContain('You have already decided on this run');
    expect(again.text).toContain('changed my mind');
    const other = await decide(sam, run, { ...(await readForm(sam, run)), decision: 'reject', comment: 'no' });
    expect(other.status).toBe(303);
    const late = await decide(rita, run, { ...fields, key: randomUUID(), decision: 'approve' });
    expect([late.status, textOf(late.text)]).toEqual([409, expect.stringContaining('is not waiting for approval')]);
  });

  it('has disabled buttons with an explanation of the rule for visitors who may not decide', async () => {
    const run = await runs.add(changes);
    const asker = await visitAs(runs.asker);
    const { text } = await asker.get(`/workloads/runs/${run}?tab=plan`);
    expect(text).toContain('aria-describedby="why-not-approve"');
    expect(textOf(text)).toContain('Another person must approve this run, because you requested it');
    expect(text).not.toContain('value="approve"');
    expect(text).toContain('value="reject"');
  });

  it('names the role that a review requires to a member of the team without it', async () => {
    const run = await runs.add(changes);
    const member = await api.addUser('operator', 'Mo Member');
    await join(runs.tenant, member, 'member', 'member');
    const { text } = await (await visitAs(member)).get(`/workloads/runs/${run}?tab=plan`);
    expect(textOf(text)).toContain('Reviewing takes the team role admin in the team that owns the run.');
  });

  it('is refused from another origin', async () => {
    const run = await runs.add(changes);
    const fields = { ...(await readForm(rita, run)), decision: 'approve' };
    const answer = await rita.submit(`/workloads/runs/${run}/review`, fields, { 'sec-fetch-site': 'cross-site' });
    expect(answer.status).toBe(403);
    expect(await reviewsOf(run)).toEqual([]);
  });
});
