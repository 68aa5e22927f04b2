import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { concernsList } from '#api/runs/pages/list/list-changes.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { PublishedEvent } from '#domain/shared/events/event-type.ts';
import { addEnvironment, addTeam } from '#test/support/access/people.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { addRuns } from '#test/support/runs/run-rows.ts';
import { RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let root: ApiUser;
let steps: RunSteps;
let visitor: Visitor;
let first: string;

beforeAll(async () => {
  api = await startApi();
  root = await api.addUser('admin', 'Root');
  steps = new RunSteps(api, root);
  visitor = await signInVisitor(api, root);
  first = await steps.admit({ message: 'the first' });
});
afterAll(() => api?.close());

/** The ids of the runs in a list, in its order. */
const rowsOf = (text: string) => [...text.matchAll(/id="run-([\w-]{36})"/g)].map(([, id]) => id);
const toAddress = (text: string) => text.replaceAll('&amp;', '&');
const liveAddress = (text: string) => toAddress(/id="live" hx-get="([^"]+)"/.exec(text)![1]!);

describe('the list of runs', () => {
  it('links to the next page, which begins where this one ends', async () => {
    const times = Array.from({ length: 60 }, (_, index) => `2026-01-01T00:${String(index).padStart(2, '0')}:00Z`);
    await addRuns(
      api,
      first,
      times.map((createdAt) => ({ status: 'succeeded', createdAt })),
    );
    const { text } = await visitor.get('/workloads/runs?status=succeeded');
    expect(rowsOf(text)).toHaveLength(50);
    const next = toAddress(/href="([^"]+)" rel="next"/.exec(text)![1]!);
    const second = await visitor.get(next);
    expect(rowsOf(second.text)).toHaveLength(10);
    expect(new Set([...rowsOf(text), ...rowsOf(second.text)]).size).toBe(60);
    expect(second.text).toContain('href="/workloads/runs?status=succeeded"');
  });

  it('keeps the runs that are shown at an update, and counts the newer ones up to 20', async () => {
    const template = (await root.get(`/runs/${first}`)).body.template_id;
    const path = `/workloads/runs?template_id=${template}&from=2026-06-01`;
    const shown = (await visitor.get(path)).text;
    expect(rowsOf(shown)).toEqual([first]);
    const update = { 'hx-request': 'true' };
    expect(await visitor.page(liveAddress(shown), update)).not.toContain('new – show');
    // Ids only grow, and another test of this process may have made some in a later time than now.
    const firstAt = Number.parseInt(first.replaceAll('-', '').slice(0, 12), 16);
    const now = Math.max(Date.now(), firstAt) + 60_000;
    const later = Array.from({ length: 25 }, (_, index) => new Date(now + index * 1000).toISOString());
    await addRuns(
      api,
      first,
      later.slice(0, 3).map((createdAt) => ({ status: 'queued', createdAt })),
    );
    const after = await visitor.get(liveAddress(shown), update);
    expect(rowsOf(after.text)).toEqual([first]);
    expect(after.text).toContain('3 new – show');
    expect(liveAddress(after.text)).toBe(liveAddress(shown));
    await addRuns(
      api,
      first,
      later.slice(3).map((createdAt) => ({ status: 'queued', createdAt })),
    );
    expect((await visitor.get(liveAddress(shown), update)).text).toContain('20 or more new – show');
    expect(rowsOf((await visitor.get(path)).text)).toHaveLength(26);
  });

  it('shows the message of a run, escaped, and counts a replacement once', async () => {
    const id = await steps.admit({ message: 'Grow <b> the pool' });
    const summary = { add: 3, change: 0, destroy: 2, replace: 1, forget: 0, import: 0, move: 0 };
    await api.rows(`update runs set plan_digest = 'sha256:0', plan_summary = ? where id = ?`, [
      JSON.stringify(summary),
      id,
    ]);
    const { text } = await visitor.get('/workloads/runs');
    const row = new RegExp(`id="run-${id}".*?</tr>`, 's').exec(text)?.[0];
    expect(row).toContain('>Grow &lt;b&gt; the pool</span>');
    expect(row).toContain('aria-label="2 to add, 0 to change, 1 to replace, 1 to destroy"');
    expect(row).toMatch(/>\+2<.*>±1<.*>−1</s);
  });

  it('keeps its filters in the form, and marks the view whose statuses are selected', async () => {
    const { text } = await visitor.get(
      '/workloads/runs?status=failed&status=timed_out&operation=destroy&from=2026-01-02',
    );
    expect(text).toMatch(/aria-current="true">Failed</);
    expect(text).toMatch(/value="destroy" selected/);
    expect(text).toContain('value="2026-01-02"');
    expect(text).toMatch(/value="timed_out" checked/);
    expect(text).toContain('No matching runs');
  });

  it('says which filter is wrong, and keeps the filters', async () => {
    const { status, text } = await visitor.get('/workloads/runs?status=burned&operation=plan');
    expect(status).toBe(400);
    expect(text).toMatch(/role="alert"[\s\S]*Status: Choose one of/);
    expect(text).toMatch(/value="plan" selected/);
  });

  it('names an environment that a link filters by only to those who may read it', async () => {
    const { teamId } = await addTeam(api.services.orm);
    const { environmentId } = await addEnvironment(api.services.orm, teamId);
    const { status } = await visitor.get(`/workloads/runs?environment_id=${environmentId}`);
    expect(status).toBe(200);
    const stranger = await signInVisitor(api, await api.addUser('maintainer'));
    const hidden = await stranger.get(`/workloads/runs?environment_id=${environmentId}`);
    expect(hidden.status).toBe(404);
    const [{ name }] = (await api.rows<{ name: string }>('select name from environments where id = ?', [
      environmentId,
    ])) as [{ name: string }];
    expect(hidden.text).not.toContain(name);
  });
});

describe('the stream of the list', () => {
  const member = { kind: 'user', enabled: true, role: 'maintainer', teams: { t1: 'viewer' }, organizations: {} };
  const hears = (scope: { teamId?: string; organizationId?: string }, event: object) =>
    concernsList(member as unknown as Principal, { teamId: undefined, organizationId: undefined, ...scope })({
      subject: { kind: 'run', id: 'r' },
      organizationId: 'o1',
      teamId: 't1',
      ...event,
    } as PublishedEvent);

  it('reports changes of the runs that the visitor may read, and of no others', () => {
    expect(hears({}, {})).toBe(true);
    expect(hears({}, { teamId: null, organizationId: null })).toBe(true);
    expect(hears({}, { teamId: 't2' })).toBe(false);
    expect(hears({}, { subject: { kind: 'template', id: 'r' } })).toBe(false);
  });

  it('reports only changes in the team or organization that the list is limited to', () => {
    expect(hears({ teamId: 't1' }, {})).toBe(true);
    expect(hears({ teamId: 't2' }, {})).toBe(false);
    expect(hears({ organizationId: 'o1' }, {})).toBe(true);
    expect(hears({ organizationId: 'o2' }, {})).toBe(false);
  });
});
