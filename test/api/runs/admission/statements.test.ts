import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BindingConnection } from '#database/connection.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let tenant: Tenant;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
});
afterAll(() => api?.close());

const opentofu = {
  executor: { kind: 'opentofu', files: { 'main.tf': 'output "a" {\n  value = 1\n}\n' } },
};
const command = { executor: { kind: 'command', apply: [{ name: 'hello', run: ['true'] }] } };

async function publish(spec: object): Promise<string> {
  const slug = `t-${randomUUID()}`;
  const { id } = await tenant.owner.make('/registry/templates', { name: slug, slug, team_id: tenant.team });
  await tenant.owner.make(`/registry/templates/${id}/versions`, { version: '1.0.0', spec });
  return id;
}

const admit = (template_id: string, environment_id?: string) =>
  tenant.owner.post('/runs', { template_id, instance: `i-${randomUUID()}`, ...(environment_id && { environment_id }) });

/** How many statements an admission sends: all of them, and those of its transaction with its begin and its commit. */
async function countStatements(template: string, environment?: string): Promise<{ all: number; transactions: number }> {
  for (let warmUp = 0; warmUp < 2; warmUp += 1) expect((await admit(template, environment)).status).toBe(202);
  const spies = (['run', 'begin', 'commit'] as const).map((name) => vi.spyOn(BindingConnection.prototype, name));
  try {
    expect((await admit(template, environment)).status).toBe(202);
    return {
      all: spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0),
      transactions: spies[1]?.mock.calls.length ?? 0,
    };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

describe('the admission of a run for a new instance', () => {
  it('is one transaction of twelve statements, after the one that authenticates the caller', async () => {
    for (const spec of [command, opentofu]) {
      const { all, transactions } = await countStatements(await publish(spec), tenant.environment);
      expect({ transactions, inTransaction: all - 1 }).toEqual({ transactions: 1, inTransaction: 12 });
    }
  });
});
