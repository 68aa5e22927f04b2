import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { addAssembly, addRun, openPageStage, type PageStage, threeNodes } from '#test/support/assemblies/page-stage.ts';
import type { RunProgress } from '#test/support/pages/assemblies/progress.ts';
import { copyRun } from '#test/support/runs/many-runs.ts';

/** How many other nodes the assembly run has, and how many runs of its nodes are listed. */
const [nodes, listed] = [500, 50];

let stage: PageStage;
let source: string;
beforeAll(async () => {
  stage = await openPageStage();
  const { api, tenant, template } = stage;
  const assembly = await addAssembly(stage, threeNodes(template));
  const ended: RunProgress = { status: 'succeeded', minutesAgo: 3, nodes: () => ({ status: 'succeeded' }) };
  const assemblyRun = await addRun(stage, assembly, ended, { variables: { name: 'shop' } });
  const [{ id: templateId = '' } = {}] = await api.rows<{ id: string }>('select id from templates where slug = ?', [
    template,
  ]);
  const where = { template_id: templateId, environment_id: tenant.environment };
  ({ id: source } = (
    await tenant.owner.post('/runs', { ...where, instance: 'source', variables: { name: 'network' } })
  ).body);
  const { body: run } = await tenant.owner.post('/runs', { ...where, variables: { name: '10.0.0.0/16' } });
  const nodeId = (key: string) =>
    `(select id from assembly_nodes where assembly_run_id = '${assemblyRun}' and key = '${key}')`;
  await api.rows(`update assembly_nodes set run_id = ? where id = ${nodeId('network')}`, [source]);
  await copyRun(api, run.id, listed, {
    status: `'succeeded'`,
    assembly_run_id: `'${assemblyRun}'::uuid`,
    assembly_node_id: nodeId('service'),
    outputs: `'{}'::jsonb`,
  });
  await addNodes(assemblyRun);
});
afterAll(() => stage?.api.close());

/** Adds nodes on which no other depends. */
async function addNodes(assemblyRun: string): Promise<void> {
  const columns = await stage.api.rows<{ name: string }>(
    `select column_name as name from information_schema.columns where table_name = 'assembly_nodes'`,
  );
  const own: Record<string, string> = {
    id: 'gen_random_uuid()',
    key: `'other-' || n`,
    instance: `'other-' || n`,
    position: 'position + n',
  };
  const names = columns.map(({ name }) => `"${name}"`);
  const values = columns.map(({ name }) => own[name] ?? `"${name}"`);
  await stage.api.rows(
    `insert into assembly_nodes (${names.join(', ')}) select ${values.join(', ')} from assembly_nodes, generate_series(1, ?::int) n
      where assembly_run_id = ? and key = 'check'`,
    [nodes, assemblyRun],
  );
  await stage.api.rows('analyze assembly_nodes');
}

async function countReadNodes(): Promise<number> {
  const [{ count } = { count: 0 }] = await stage.api.rows<{ count: number }>(
    `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as count from pg_stat_user_tables where relname = 'assembly_nodes'`,
  );
  return count;
}

const list = async () => {
  const { environment, owner } = stage.tenant;
  const answer = await owner.get(`/runs?environment_id=${environment}&status=succeeded&limit=${listed}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.body.runs as { id: string; variables: object }[];
};

it('a list of node runs of a large assembly reads only the nodes to which these runs refer', async () => {
  const before = await countReadNodes();
  expect(await list()).toHaveLength(listed);
  const read = await vi.waitFor(
    async () => {
      const count = (await countReadNodes()) - before;
      expect(count).toBeGreaterThan(0);
      return count;
    },
    { timeout: 20_000, interval: 100 },
  );
  expect(read).toBeLessThan((nodes * listed) / 10);
});

it.each(['apply', 'plan', 'destroy'])(
  'a list of runs masks a secret output that a node read, for the operation %s',
  async (operation) => {
    const { api } = stage;
    await api.rows(`update runs set operation = ? where status = 'succeeded'`, [operation]);
    const [waiting, waitedFor] = operation === 'destroy' ? ['network', 'service'] : ['service', 'network'];
    await api.rows(`update assembly_nodes set dependencies = '[]' where key = ?`, [waitedFor]);
    await api.rows(`update assembly_nodes set dependencies = ?::jsonb where key = ?`, [
      JSON.stringify([waitedFor]),
      waiting,
    ]);
    const output = (sensitive: boolean) =>
      JSON.stringify({ cidr: { value: sensitive ? null : '10.0.0.0/16', sensitive } });
    await api.rows('update runs set outputs = ?::jsonb where id = ?', [output(false), source]);
    expect((await list())[0]?.variables).toEqual({ name: '10.0.0.0/16' });
    await api.rows('update runs set outputs = ?::jsonb where id = ?', [output(true), source]);
    expect(new Set((await list()).map(({ variables }) => JSON.stringify(variables)))).toEqual(
      new Set([JSON.stringify({ name: { sensitive: true } })]),
    );
  },
);
