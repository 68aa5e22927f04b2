import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let root: ApiUser;
let steps: RunSteps;
let visitor: Visitor;

beforeAll(async () => {
  api = await startApi();
  root = await api.addUser('admin', 'Root <b>Admin</b>');
  steps = new RunSteps(api, root);
  visitor = await visitAs(root);
});
afterAll(() => api?.close());

async function visitAs(user: ApiUser): Promise<Visitor> {
  const visiting = await signInVisitor(api, user);
  return visiting;
}

const hiddenKey = (text: string) => /name="key" value="([^"]+)"/.exec(text)![1]!;

describe('the page of a run', () => {
  it('shows the status in the title of the tab, why the run waits, its steps and its facts', async () => {
    const id = await steps.admit({ message: 'Because <i>I</i> can' });
    const { status, text } = await visitor.get(`/workloads/runs/${id}`);
    expect(status).toBe(200);
    expect(text).toContain('<title>Queued: Apply: stepped-');
    expect(text).toContain('was created and has not started yet');
    expect(text).toContain('Because &lt;i&gt;I&lt;/i&gt; can');
    expect(text).toContain('Root &lt;b&gt;Admin&lt;/b&gt;');
    expect(text).toContain('aria-current="step"');
    expect(text).not.toMatch(/<script(?! src="\/assets\/)|\sstyle=/);
  });

  it.each([
    [
      'person',
      'Root &lt;b&gt;Admin&lt;/b&gt;</span> has all the slots that one person may have at once',
      'Runs that have the slots of the requester',
    ],
    [
      'team',
      'This run has no team. All runs without one count as one team, which has all the slots that one team may have at once',
      'Runs that have the slots of runs without a team',
    ],
    [
      'team',
      'The team of this run has all the slots that one team may have at once',
      'Runs that have the slots of the team',
      async (): Promise<string> => (await makeTenant(api)).team,
    ],
  ])(
    'says that the share of the %s is exhausted, and by which runs: %s',
    async (share, words, heading, findTeam?: () => Promise<string>) => {
      const { runId: holder } = await steps.applying(await steps.worker('sandbox'), 'sandbox');
      const id = await steps.admit();
      if (findTeam) await api.rows('update runs set team_id = ? where id in (?, ?)', [await findTeam(), id, holder]);
      // A service account of the person asked for the holder, which waits for a worker for its next attempt.
      await api.rows('update runs set requested_by_id = gen_random_uuid(), waiting_on = ? where id = ?', [
        JSON.stringify({ code: 'no_worker', since: new Date().toISOString(), position: null, blocker: null }),
        holder,
      ]);
      await api.rows(`update runs set waiting_on = ? where id = ?`, [
        JSON.stringify({ code: 'pool_share', since: new Date().toISOString(), position: null, blocker: null, share }),
        id,
      ]);
      const { text } = await visitor.get(`/workloads/runs/${id}`);
      expect(text).toContain(words);
      expect(text).toMatch(new RegExp(`${heading}[\\s\\S]*href="/workloads/runs/${holder}"[\\s\\S]*time limit`));
    },
  );

  it('says what the run waits for that blocks a waiting run of the same instance', async () => {
    const [blocker, id] = [await steps.admit(), await steps.admit()];
    const wait = (code: string, more: object) =>
      JSON.stringify({ code, since: new Date().toISOString(), position: null, blocker: null, ...more });
    const tools = [{ name: 'opentofu', version: '' }];
    await api.rows('update runs set waiting_on = ? where id = ?', [wait('no_worker', { tools }), blocker]);
    await api.rows(
      `update runs set waiting_on = ?, instance_position = 2, instance_id = (select instance_id from runs where id = ?) where id = ?`,
      [wait('instance_busy', { blocker }), blocker, id],
    );
    const { text } = await visitor.get(`/workloads/runs/${id}`);
    expect(text).toContain('The run that has the instance is waiting too');
    expect(text).toMatch(
      new RegExp(`href="/workloads/runs/${blocker}">run …\\w+</a> waits for a worker with OpenTofu`),
    );
    await api.rows('update runs set waiting_on = null where id = ?', [blocker]);
    expect((await visitor.get(`/workloads/runs/${id}`)).text).not.toContain('is waiting too');
  });

  it.each(['plan', 'log', 'events', 'details'])('shows the tab %s', async (tab) => {
    const worker = await steps.worker('sandbox');
    const { runId } = await steps.planned(worker, 'sandbox');
    const { status, text } = await visitor.get(`/workloads/runs/${runId}?tab=${tab}`);
    expect(status).toBe(200);
    expect(text).toMatch(new RegExp(`tab=${tab}"[^>]*aria-current="page"`));
  });

  it('opens the plan when the run waits for approval, unless the visitor has selected a tab', async () => {
    const update = async (path: string) =>
      /id="live" hx-get="([^"]*)"/.exec((await visitor.get(path)).text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const current = async (path: string) =>
      /tab=(\w+)"[^>]*aria-current="page"/.exec((await visitor.get(path)).text)?.[1];
    const id = await steps.admit();
    const [followed, kept] = [await update(`/workloads/runs/${id}`), await update(`/workloads/runs/${id}?tab=events`)];
    expect([await current(followed), await current(kept)]).toEqual(['events', 'events']);
    expect((await visitor.get(`/workloads/runs/${id}`)).text).toContain('/plan.js"');
    await api.rows(`update runs set status = 'pending_approval' where id = ?`, [id]);
    expect([await current(followed), await current(kept)]).toEqual(['plan', 'events']);
  });

  it('says which variable set or environment a variable comes from', async () => {
    const id = await steps.admit();
    const from = { kind: 'variable_set', id, name: 'aws <b>common</b>' };
    const sources = [
      { variable: 'size', category: 'template', ...from },
      { variable: 'AWS_REGION', category: 'env', ...from },
    ];
    await api.rows(`update runs set variables = '{"size": 3, "own": 1}', variable_sources = ? where id = ?`, [
      JSON.stringify(sources),
      id,
    ]);
    const { text } = await visitor.get(`/workloads/runs/${id}?tab=details`);
    const given = /<dt class="foreign">(\w+)<\/dt><dd>[\s\S]*?<\/dd>/g;
    const shown = [...text.matchAll(given)].map(([line, name]) => [name, line.includes('from the set')]);
    expect(shown).toEqual(
      expect.arrayContaining([
        ['size', true],
        ['own', false],
        ['AWS_REGION', true],
      ]),
    );
    expect(text).toContain('aws &lt;b&gt;common&lt;/b&gt;');
  });

  it('the page of a run of another team and that of no run look the same', async () => {
    const missing = await visitor.get('/workloads/runs/019aa5c2-7d31-7cc4-9c55-0d6a1f6c8b11');
    expect(missing.status).toBe(404);
    expect(missing.text).toContain("It doesn't exist, or you may not have access to it.");
  });

  it('takes a comment once, however often its form is sent', async () => {
    const id = await steps.admit();
    const { text } = await visitor.get(`/workloads/runs/${id}?tab=details`);
    const fields = { key: hiddenKey(text), text: 'Looks <em>good</em>', tab: 'details' };
    for (let sent = 0; sent < 2; sent += 1) {
      const answer = await visitor.submit(`/workloads/runs/${id}/comments`, fields);
      expect([answer.status, answer.location]).toEqual([
        303,
        `/workloads/runs/${id}?tab=details&done=commented#discussion`,
      ]);
    }
    const after = await visitor.get(`/workloads/runs/${id}?tab=details&done=commented`);
    expect(after.text.match(/Looks &lt;em&gt;good&lt;\/em&gt;/g)).toHaveLength(1);
    const empty = await visitor.submit(`/workloads/runs/${id}/comments`, { ...fields, text: ' ' });
    expect(empty.status).toBe(400);
    expect(empty.text).toContain('id="field-text-problem"');
  });
});
