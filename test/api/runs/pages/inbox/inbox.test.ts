import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeNews } from '#api/runs/pages/inbox/news.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { wordsOf } from '#test/support/browser/page-text.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { change, PendingRuns } from '#test/support/runs/pending-runs.ts';

let api: TestApi;
let runs: PendingRuns;

beforeAll(async () => {
  api = await startApi();
  runs = await PendingRuns.start(api);
});
afterAll(() => api?.close());

async function visitAs(user: ApiUser): Promise<Visitor> {
  const visiting = await signInVisitor(api, user);
  return visiting;
}

/** The address by which a page updates itself. */
const updateOf = (text: string) => /id="live" hx-get="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
const rowsOf = (text: string) => [...text.matchAll(/id="run-([^"]+)"/g)].map(([, id]) => id);

describe('the inbox of approvals', () => {
  it('says that nothing needs approval, and that one run is new once it waits', async () => {
    const rita = await visitAs(runs.reviewers[0]!);
    const { status, text } = await rita.get('/workloads/approvals');
    expect(status).toBe(200);
    expect(wordsOf(text)).toContain('Nothing needs your approval');
    const run = await runs.add([]);
    expect(wordsOf((await rita.get(updateOf(text))).text)).toContain('1 run 1 new – show');
    await runs.asker.post(`/runs/${run}/cancel`, { force: true });
  });

  it('lists waiting runs, oldest first, with what a reviewer needs to choose one, and without a button that decides', async () => {
    const changes = [
      change('delete', 'a', {}, null),
      change('replace', 'b', {}, {}),
      change('update', 'c', {}, { x: 1 }),
    ];
    const first = await runs.add(changes, { message: '<b>Renumber</b>' });
    const second = await runs.add(changes, { operation: 'apply' });
    const request = { reviewers: [runs.reviewers[0]!.id], message: 'before noon' };
    await runs.asker.post(`/runs/${second}/approval/request`, request);
    const rita = await visitAs(runs.reviewers[0]!);
    const { text } = await rita.get('/workloads/approvals');
    expect(rowsOf(text)).toEqual([first, second]);
    const words = wordsOf(text);
    for (const each of ['destroy', 'Development', 'Core', 'Aki Asker', '0 of 2', 'before noon', '&lt;b&gt;Renumber'])
      expect(words).toContain(each);
    expect(text).toContain(`href="/workloads/runs/${first}?tab=plan"`);
    expect(text).not.toMatch(/value="(approve|reject)"/);
    expect(rowsOf((await rita.get('/workloads/approvals?asked=true')).text)).toEqual([second]);
    const asked = await (await visitAs(runs.reviewers[1]!)).get('/workloads/approvals?asked=true');
    expect(wordsOf(asked.text)).toContain('No review requests');
  });

  it('is limited to the team that the address selects', async () => {
    const rita = await visitAs(runs.reviewers[0]!);
    expect(rowsOf((await rita.get(`/workloads/approvals?team_id=${runs.tenant.team}`)).text)).toHaveLength(2);
    const other = '019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11';
    expect((await rita.get(`/workloads/approvals?team_id=${other}`)).status).toBe(404);
  });

  it('says in an update how many runs are new, and does not send rows', async () => {
    const rita = await visitAs(runs.reviewers[0]!);
    const before = (await rita.get('/workloads/approvals')).text;
    await runs.add([]);
    const { text } = await rita.get(updateOf(before));
    const live = text.slice(text.indexOf('id="live"'), text.indexOf('class="list-panel'));
    expect(wordsOf(live)).toContain('3 runs 1 new – show');
    expect(live).not.toContain('data-row');
  });

  it('answers 403 to a visitor who may not approve', async () => {
    const requester = await api.addUser('requester');
    expect((await (await visitAs(requester)).get('/workloads/approvals')).status).toBe(403);
  });
});

describe('the text of an inbox update', () => {
  it.each([
    ['nothing', { shown: 2, last: 'b' }, ['a', 'b'], false, null],
    ['one more', { shown: 2, last: 'b' }, ['a', 'b', 'c'], false, '1 new'],
    ['one decided', { shown: 2, last: 'b' }, ['b'], false, '1 no longer waits'],
    ['both', { shown: 3, last: 'c' }, ['c', 'd', 'e'], false, '2 new, 2 no longer wait'],
    ['the first ones', { shown: 0, last: '' }, ['a'], false, '1 new'],
    ['nothing behind a full page', { shown: 2, last: 'b' }, ['a', 'b', 'c'], true, null],
    ['an address that somebody changed', { shown: Number.NaN, last: 'b' }, ['a'], false, null],
  ] as const)('says what changed: %s', (_, shown, ids, hasMore, news) => {
    expect(describeNews(shown, ids, hasMore)).toBe(news);
  });
});
