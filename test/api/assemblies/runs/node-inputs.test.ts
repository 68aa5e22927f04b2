import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { outputsContext } from '#domain/instances/seals.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { addAssembly, addTemplate, admit } from '#test/support/assemblies/assemblies.ts';

/** No engine runs the assembly runs of these tests. They write the outputs of nodes into the database. */
let api: TestApi;
let tenant: Tenant;
let template: string;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  template = (await addTemplate(tenant.owner, { team: tenant.team })).slug;
});
afterAll(async () => {
  await api?.close();
});
afterEach(() => {
  vi.restoreAllMocks();
});

type Outputs = Record<string, JsonValue>;

/** Starts a run of an assembly whose node `last` follows others, which have these outputs. */
async function start(last: object, outputs: Record<string, Outputs>): Promise<{ path: string; node: string }> {
  const keys = Object.keys(outputs);
  const instanceOf = (key: string) => `${key}-${crypto.randomUUID()}`;
  const first = keys.map((key) => [key, { template, instance: instanceOf(key) }]);
  const nodes = {
    ...Object.fromEntries(first),
    last: { template, instance: instanceOf('last'), depends_on: keys, ...last },
  };
  const assembly = await addAssembly(tenant, { nodes });
  const published = await tenant.owner.post(`${assembly}/publish`, { version: '1.0.0' });
  expect(published.status, published.text).toBe(201);
  const { body } = await tenant.owner.post(`${assembly}/runs`, { environment_id: tenant.environment });
  const rows = await api.rows<{ id: string; key: string }>(
    'select id, key from assembly_nodes where assembly_run_id = ?',
    [body.id],
  );
  for (const { id, key } of rows) if (outputs[key]) await succeed(id, outputs[key]);
  return { path: `${assembly}/runs/${body.id}`, node: rows.find(({ key }) => key === 'last')?.id ?? '' };
}

async function succeed(node: string, outputs: Outputs): Promise<void> {
  await admit(api, node);
  const [run] = await api.rows<{ id: string; instance_id: string }>(
    'select id, instance_id from runs where assembly_node_id = ?',
    [node],
  );
  const { id = '', instance_id: instance = '' } = run ?? {};
  const shown = Object.entries(outputs).map(([name, value]) => [name, { value, sensitive: false }]);
  const sealed = api.services.keyRing.sealJson(outputsContext(instance), Object.fromEntries(shown) as MaskedOutputs);
  await api.rows('update instances set deployed_run_id = ?, sealed_outputs = ? where id = ?', [id, sealed, instance]);
  await api.rows(`update assembly_nodes set status = 'succeeded', finished_at = now() where id = ?`, [node]);
}

async function readLast(path: string) {
  return (await tenant.owner.get(`${path}/nodes/last`)).body;
}

/** Counts how many outputs are opened. */
function countOpened(): () => number {
  const opened = vi.spyOn(api.services.keyRing, 'openJson');
  return () => opened.mock.calls.filter(([[kind]]) => kind === outputsContext('')[0]).length;
}

describe('a node that waits for others', () => {
  const few = { cidr: '10.0.0.0/16' };

  it('decrypts only the outputs to which its variables and its condition refer', async () => {
    const others = Object.fromEntries(Array.from({ length: 12 }, (_, number) => [`n${number}`, few]));
    const { path, node } = await start(
      { variables: { name: '${nodes.n1.outputs.cidr}' }, when: 'nodes.n2.outputs.cidr == "10.0.0.0/16"' },
      others,
    );
    const opened = countOpened();
    await admit(api, node);
    expect(await readLast(path)).toMatchObject({ status: 'waiting', attempts: 1 });
    expect(opened()).toBe(2);
  });

  it('decrypts no outputs if it refers to none', async () => {
    const { path, node } = await start({}, { a: { cidr: 'x'.repeat(3 * 1024 * 1024) }, b: few });
    const opened = countOpened();
    await admit(api, node);
    expect(await readLast(path)).toMatchObject({ status: 'waiting' });
    expect(opened()).toBe(0);
  });

  it('fails with the reason if the outputs to which its condition refers are larger than 4 MiB together', async () => {
    const large = { cidr: 'x'.repeat(3 * 1024 * 1024) };
    const { path, node } = await start(
      { when: 'nodes.a.outputs.cidr == nodes.b.outputs.cidr || size(nodes.c.outputs.cidr) > 0' },
      { a: large, b: large, c: large },
    );
    const opened = countOpened();
    await admit(api, node);
    const last = await readLast(path);
    expect(last).toMatchObject({ status: 'failed', reason: { code: 'refused' } });
    expect(last.reason.message).toContain('the outputs to which this node refers are too large');
    expect(opened()).toBe(2);
  });
});
