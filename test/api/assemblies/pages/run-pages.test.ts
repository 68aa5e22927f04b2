import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toEvents } from '#api/assemblies/pages/run/run-changes.ts';
import { addAssembly, addRun, openPageStage, type PageStage, threeNodes } from '#test/support/assemblies/page-stage.ts';
import { textOf } from '#test/support/browser/page-text.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { setProgress } from '#test/support/pages/assemblies/progress.ts';

let stage: PageStage;
let owner: Visitor;
let viewer: Visitor;
let shop: string;

beforeAll(async () => {
  stage = await openPageStage();
  [owner, viewer] = await Promise.all([
    signInVisitor(stage.api, stage.tenant.owner),
    signInVisitor(stage.api, stage.viewer),
  ]);
  shop = await addAssembly(stage, threeNodes(stage.template), { name: 'Shop' });
});
afterAll(() => stage?.api.close());

const basic = { version: '', shown: '1.0.0', operation: 'apply', message: 'Why <not>', do: '' };

describe('the form that runs an assembly', () => {
  it('asks for its variables, and starts one run even if it is sent several times', async () => {
    const form = await owner.get(`/assemblies/${shop}/run`);
    const key = /name="key" value="([^"]+)"/.exec(form.text)?.[1] ?? '';
    expect(form.text).toContain('name="v/token"');
    const fields = { ...basic, key, environment_id: stage.tenant.environment, 'v/name': 'shop', 'v/token': 's3cret' };
    const sent = await Promise.all([1, 2].map(() => owner.submit(`/assemblies/${shop}/run`, fields)));
    const [first] = sent;
    expect(first?.location, first?.text).toMatch(/\/runs\/[0-9a-f-]{36}\?done=admitted$/);
    expect(new Set(sent.map(({ location }) => location)).size).toBe(1);
    const page = await owner.get(first?.location ?? '');
    expect(page.text).toContain('Why &lt;not&gt;');
    expect(page.text).not.toContain('s3cret');
    const again = await owner.get(
      `/assemblies/${shop}/run?from=${/runs\/([0-9a-f-]+)/.exec(first?.location ?? '')?.[1]}`,
    );
    expect(again.text).toContain('value="shop"');
    expect(again.text).toContain('Filled in from');
  });

  it('keeps what was typed, and shows each problem at its field', async () => {
    const refused = await owner.submit(`/assemblies/${shop}/run`, {
      ...basic,
      key: '',
      environment_id: '',
      'v/name': 'kept',
    });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('Choose an environment.');
    expect(refused.text).toContain('value="kept"');
    const fields = `${new URLSearchParams({ ...basic, key: '', environment_id: stage.tenant.environment, 'v/name': 'x' })}&only=service`;
    const alone = await owner.submit(`/assemblies/${shop}/run`, fields);
    expect(alone.status).toBeGreaterThanOrEqual(400);
    expect(alone.text).toMatch(/name="only" value="service" checked/);
  });

  it('removes a secret that was entered before', async () => {
    const fields = { ...basic, key: randomUUID(), environment_id: '', 'v/name': 'kept' };
    const refused = await owner.submit(`/assemblies/${shop}/run`, { ...fields, 'v/token': 's3cret' });
    expect([refused.status, refused.text.includes('You have entered it')]).toEqual([422, true]);
    const carried = /name="carried" value="([^"]+)"/.exec(refused.text)?.[1] ?? '';
    const removed = await owner.submit(`/assemblies/${shop}/run`, { ...fields, carried, do: 'forget:0@/token' });
    expect([removed.status, removed.text.includes('You have entered it')]).toEqual([200, false]);
    expect(removed.text).toContain('name="carried" value=""');
  });

  it('says that secrets from earlier steps are lost, whichever button was pressed and whatever else is wrong', async () => {
    const fields = { ...basic, environment_id: '', 'v/name': 'kept' };
    const at = `/assemblies/${shop}/run`;
    const refused = await owner.submit(at, { ...fields, key: randomUUID(), 'v/token': 's3cret' });
    const carried = /name="carried" value="([^"]+)"/.exec(refused.text)?.[1] ?? '';
    const of = { ...fields, key: randomUUID(), carried };
    for (const more of [{}, { do: 'show:0@' }, { shown: '0.9.0' }]) {
      const { status, text } = await owner.submit(at, { ...of, ...more });
      expect([status, text.includes('Enter them again')], JSON.stringify(more)).toEqual([409, true]);
    }
  });

  it('refuses those who may not run it', async () => {
    const fields = { ...basic, key: randomUUID(), environment_id: stage.tenant.environment, 'v/name': 'x' };
    expect((await viewer.submit(`/assemblies/${shop}/run`, fields)).status).toBeGreaterThanOrEqual(403);
    expect((await viewer.get(`/assemblies/${shop}`)).text).toMatch(/aria-disabled="true"[^>]*>[\s\S]{0,200}Run</);
  });
});

describe('the page of an assembly run', () => {
  it('says of each node what it waits for or why it ended, in the drawing and in the table', async () => {
    const run = await addRun(stage, shop, {
      status: 'running',
      minutesAgo: 3,
      nodes: (key) =>
        ({
          network: { status: 'running', attempts: 2 } as const,
          service: { status: 'pending', waiting: { code: 'dependencies', nodes: ['network'] } } as const,
          check: {
            status: 'skipped',
            reason: { code: 'condition_false', message: 'its condition is <false>' },
          } as const,
        })[key] ?? { status: 'pending' },
    });
    const path = `/assemblies/${shop}/runs/${run}`;
    const { text } = await viewer.get(path);
    expect(text).toContain('1 of 3 nodes done');
    expect(text).toMatch(/<td[^>]*>(?:<[^>]*>)*2<\//);
    expect(text).toContain('class="graph-node running status-running"');
    expect(text).toContain('class="graph-node skipped status-canceled"');
    expect(text).toMatch(/waits for <a class="foreign" href="#node-network">network<\/a>/);
    expect(text).toContain('Its condition is &lt;false&gt;.');
    expect(text).toContain(`${path}/stream?revision=`);
    expect((await viewer.get(`${path}?tab=events`)).text).toContain('asked for it: Apply, 3 nodes');
    expect((await viewer.get(`${path}?tab=details`)).text).toContain('Variables');
    const graph = await stage.tenant.owner.get(`/assemblies/${shop}/runs/${run}/graph`, { accept: 'image/svg+xml' });
    expect([graph.status, graph.headers['content-type']]).toEqual([200, 'image/svg+xml']);
    expect(text).toContain(graph.text);
  });

  it('says that a plan was rejected, and counts only the nodes that succeeded', async () => {
    const reason = { code: 'run_rejected', message: 'a reviewer rejected the plan' } as const;
    const run = await addRun(stage, shop, {
      status: 'canceled',
      reason: 'nodes_rejected',
      minutesAgo: 3,
      nodes: (key) => (key === 'network' ? { status: 'canceled', reason } : { status: 'succeeded' }),
    });
    const { text } = await viewer.get(`/assemblies/${shop}/runs/${run}`);
    expect(text).toContain('2 of 3 nodes succeeded');
    expect(text).toMatch(/status-canceled">[\s\S]{0,120}Rejected<\/span>/);
    expect(text).toContain('Reviewers rejected plans of nodes.');
    expect(text).not.toContain('nodes done');
  });

  it('links from the count of a status to its nodes, and from there to all nodes', async () => {
    const runId = await addNodeRun();
    const reason = { code: 'run_failed', message: 'its run failed' } as const;
    const run = await addRun(stage, shop, {
      status: 'running',
      minutesAgo: 3,
      nodes: (key) =>
        key === 'network' ? { status: 'failed', reason, runId } : { status: 'pending', waiting: waitingForNetwork },
    });
    const path = `/assemblies/${shop}/runs/${run}`;
    const { text } = await viewer.get(path);
    expect(text).toContain(`href="${path}?tab=nodes&amp;status=failed"`);
    const failed = await viewer.get(`${path}?tab=nodes&status=failed`);
    expect(rowsIn(failed.text)).toEqual(['network']);
    expect(failed.text).toContain('Only nodes with the status <strong>failed</strong>');
    expect(failed.text).toContain(`href="${path}?tab=nodes">Show all nodes`);
    expect(failed.text).toContain(`href="/workloads/runs/${runId}?tab=log">Log`);
    const pending = await viewer.get(`${path}?tab=nodes&status=pending`);
    expect(rowsIn(pending.text)).toEqual(['check', 'service']);
    expect(pending.text).not.toContain('href="#node-network"');
    expect((await viewer.get(`${path}?tab=nodes&status=asleep`)).status).toBe(400);
  });

  it('links from a node that needs approval to the plan of its run, and says if only a lock blocks the node', async () => {
    const run = await addRun(stage, shop);
    const runId = await addNodeRun();
    await setProgress(stage.api, run, {
      status: 'pending_approval',
      minutesAgo: 3,
      nodes: (key) => (key === 'network' ? { status: 'pending_approval', runId } : { status: 'pending' }),
    });
    await stage.api.rows(
      `update runs set assembly_run_id = n.assembly_run_id, assembly_node_id = n.id, status = 'pending_approval'
         from assembly_nodes n where runs.id = ? and n.assembly_run_id = ? and n.key = 'network'`,
      [runId, run],
    );
    const { text } = await owner.get(`/assemblies/${shop}/runs/${run}`);
    expect(text).toContain('One node needs approval');
    expect(text).toContain(`href="/workloads/runs/${runId}?tab=plan"`);
    expect(text).toMatch(
      new RegExp(`Nobody has been asked yet\\. <a href="/workloads/runs/${runId}/request-approval">Ask for a review`),
    );
    const page = await owner.get(`/workloads/runs/${runId}`);
    expect(page.text).toContain(`href="/assemblies/${shop}/runs/${run}"`);
    expect((await stage.tenant.owner.get(`/runs/${runId}`)).body.assembly_node).toEqual({
      assembly_id: shop,
      key: 'network',
    });
    const lock = { code: 'locked', since: '2026-01-01T00:00:00Z', position: null, blocker: null };
    await stage.api.rows('update runs set waiting_on = ? where id = ?', [JSON.stringify(lock), runId]);
    const held = await owner.get(`/assemblies/${shop}/runs/${run}`);
    expect(held.text).toMatch(/status-queued">[\s\S]{0,120}Held by a lock<\/span>/);
    expect(held.text).not.toMatch(/One node needs approval|<\/svg>Needs approval</);
    const runs = await owner.get(`/assemblies/${shop}?tab=runs`);
    expect(runs.text).toContain('</svg>Held by a lock<');
  });

  it('shows the plan of each node in the table, with outputs and failing checks', async () => {
    const run = await addRun(stage, shop);
    const runId = await addNodeRun();
    await setProgress(stage.api, run, {
      status: 'succeeded',
      minutesAgo: 3,
      nodes: (key) => (key === 'network' ? { status: 'succeeded', runId } : { status: 'skipped' }),
    });
    const summary = { add: 0, change: 2, destroy: 0, outputs: 1, checks: 1, actions: 2, deferred: 1 };
    await stage.api.rows(`update runs set plan_digest = 'sha256:0', plan_summary = ?::jsonb where id = ?`, [
      JSON.stringify(summary),
      runId,
    ]);
    const { text } = await owner.get(`/assemblies/${shop}/runs/${run}`);
    const shown = textOf(text);
    expect(shown).toContain('2 change · 1 output changes · 2 actions · 1 deferred · 1 check fails');
  });

  it('is canceled and resumed by forms, which say why they are disabled', async () => {
    const run = await addRun(stage, shop);
    const path = `/assemblies/${shop}/runs/${run}`;
    expect((await owner.get(`${path}/resume`)).text).toContain('notice-problem');
    const canceled = await owner.submit(`${path}/cancel`, { reason: 'Wrong one', key: '' });
    expect(canceled.location, canceled.text).toBe(`${path}?done=canceled`);
    await setProgress(stage.api, run, {
      status: 'failed',
      reason: 'nodes_failed',
      minutesAgo: 9,
      nodes: () => ({ status: 'failed' }),
    });
    const failed = await owner.get(path);
    expect(failed.text).toContain('Nodes failed.');
    expect(failed.text).not.toContain('hx-sse:connect');
    const resumed = await owner.submit(`${path}/resume`, { key: '' });
    expect(resumed.location, resumed.text).toBe(`${path}?done=resumed`);
    expect((await viewer.submit(`${path}/cancel`, { reason: '', key: '' })).status).toBeGreaterThanOrEqual(403);
  });

  it('draws many nodes of the same place as one node with their number', async () => {
    const shards = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`shard-${index}`, { template: stage.template, depends_on: ['begin'] }]),
    );
    const id = await addAssembly(stage, { nodes: { begin: { template: stage.template }, ...shards } });
    const run = await addRun(
      stage,
      id,
      { status: 'running', minutesAgo: 1, nodes: (key) => ({ status: key === 'shard-7' ? 'failed' : 'running' }) },
      {},
    );
    const { text } = await owner.get(`/assemblies/${id}/runs/${run}`);
    expect(text).toContain('60 nodes');
    expect(text).toContain('1 failed, …');
    expect(text.match(/class="graph-node /g)).toHaveLength(2);
    expect(text).toContain('id="node-shard-7"');
  });

  it('tells an open page at once that it is out of date, and ends with the run', async () => {
    const statuses = ['running', 'running', 'succeeded'] as const;
    let asked = 0;
    const read = async () => ({ status: statuses[asked++] ?? 'succeeded', revision: asked }) as const;
    async function* changes() {
      yield 'changed' as const;
      yield 'changed' as const;
      yield 'changed' as const;
    }
    const events: string[] = [];
    for await (const { event } of toEvents(changes(), read, 0)) events.push(event ?? '');
    expect(events).toEqual(['changed', 'changed', 'changed', 'end']);
  });

  async function addNodeRun(): Promise<string> {
    const { body } = await stage.tenant.owner.get(`/registry/templates?team_id=${stage.tenant.team}`);
    const [template] = body.templates as { id: string }[];
    const sent = await stage.tenant.owner.post('/runs', {
      template_id: template?.id,
      environment_id: stage.tenant.environment,
      instance: 'network',
    });
    expect(sent.status, sent.text).toBe(202);
    return sent.body.id;
  }
});

const waitingForNetwork = { code: 'dependencies', nodes: ['network'] } as const;

/** The nodes that have rows. */
function rowsIn(text: string): (string | undefined)[] {
  return [...text.matchAll(/data-row id="node-([^"]+)"/g)].map(([, key]) => key);
}
