import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { PendingRuns } from '#test/support/runs/pending-runs.ts';

let api: TestApi;
let runs: PendingRuns;
let reviewer: Visitor;
/** The runs that wait, oldest first. */
const waiting: string[] = [];

beforeAll(async () => {
  api = await startApi();
  runs = await PendingRuns.start(api);
  for (let each = 0; each < 10; each += 1) waiting.push(await runs.add([]));
  reviewer = await signInVisitor(api, runs.reviewers[0]!);
});
afterAll(() => api?.close());

/** The runs in a box, by its title. */
function boxOf(text: string, title: string): (string | undefined)[] | null {
  const box = new RegExp(`<section class="box"[^>]*>\\s*<[^>]*><h2[^>]*>${title}</h2>.*?</section>`, 's').exec(
    text,
  )?.[0];
  return box === undefined ? null : [...box.matchAll(/id="start-([0-9a-f-]{36})"/g)].map(([, id]) => id);
}

describe('the start page', () => {
  it('shows the oldest runs that wait for its visitor, and none of them as waiting for others', async () => {
    const { text } = await reviewer.get('/');
    expect(boxOf(text, 'Needs your approval')).toEqual(waiting.slice(0, 8));
    expect(boxOf(text, 'Waiting for others')).toEqual([]);
  });

  it('shows separately a run that only others may approve', async () => {
    const reviewed = waiting[9]!;
    const { body: run } = await runs.reviewers[0]!.get(`/runs/${reviewed}`);
    const review = { decision: 'approve', plan_digest: run.plan.digest, comment: 'seen' };
    const { status, text: why } = await runs.reviewers[0]!.post(`/runs/${reviewed}/approval/review`, review);
    expect(status, why).toBeLessThan(300);
    const { text } = await reviewer.get('/');
    expect(boxOf(text, 'Waiting for others')).toEqual([reviewed]);
  });

  it('shows all waiting runs to a visitor who may approve none of them', async () => {
    const { text } = await (await signInVisitor(api, runs.asker)).get('/');
    expect(boxOf(text, 'Needs your approval')).toBeNull();
    expect(boxOf(text, 'Waiting')).toEqual(waiting.slice(2).reverse());
  });

  it('counts the runs of the last 30 days when it is opened, and not at each update', async () => {
    const { text } = await reviewer.get('/');
    expect(text).toContain('Runs in the last 30 days');
    const update = await reviewer.get('/', { 'hx-request': 'true' });
    expect(update.text).not.toContain('Runs in the last 30 days');
    expect(boxOf(update.text, 'Needs your approval')).toEqual(boxOf(text, 'Needs your approval'));
  });

  it('links to the setup guide for visitors who may set up a team that has few runs', async () => {
    const owner = await api.addUser('maintainer');
    const { id } = await owner.make('/organizations', { name: 'New' });
    const team = await owner.make(`/organizations/${id}/teams`, { name: 'First' });
    const { text } = await (await signInVisitor(api, owner)).get('/');
    expect(text).toContain(`href="/organizations/${id}/teams/${team.id}/setup"`);
    expect(text).toContain('it makes a sample organization');
    expect((await (await signInVisitor(api, await api.addUser('requester'))).get('/')).text).not.toContain(
      'First steps',
    );
  });
});
