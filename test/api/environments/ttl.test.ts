import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { admitScan } from '#domain/runs/admission/scans/scan.ts';
import { systemPrincipal } from '#domain/shared/access/principal.ts';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiAnswer, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { expireInstances } from '#worker/background/expiry.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const step = (name: string) => [{ name, run: ['echo', name] }];
const destroyable = { executor: { kind: 'command', apply: step('make'), destroy: step('remove') } };

/** An instance that was deployed two hours ago. */
async function deploy(tenant: Tenant, spec: object = destroyable): Promise<ApiAnswer['body']> {
  const template = await tenant.owner.make('/registry/templates', { name: 'Sandbox', team_id: tenant.team });
  await tenant.owner.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec });
  const run = await tenant.owner.post('/runs', { template_id: template.id, environment_id: tenant.environment });
  expect(run.status, run.text).toBe(202);
  await end(run.body.id, 'succeeded', 2);
  await api.rows('update instances set resource_count = 1, deployed_run_id = ? where id = ?', [
    run.body.id,
    run.body.instance_id,
  ]);
  return run.body;
}

const end = (id: string, status: string, hoursAgo: number) =>
  api.rows(
    `update runs set status = ?, phase = 'finished', waiting_on = null,
            created_at = now() - make_interval(hours => ?), finished_at = now() - make_interval(hours => ?) where id = ?`,
    [status, hoursAgo, hoursAgo, id],
  );

function expire(pageSize?: number): Promise<void> {
  const { orm, transactions, keyRing, installation } = api.services;
  const log = pino({ level: 'silent' });
  return expireInstances({ orm, transactions, keyRing, bindingKey: installation.bindingKey, log }, pageSize);
}

const runsOf = async (tenant: Tenant) =>
  (await tenant.owner.get(`/runs?environment_id=${tenant.environment}`)).body.runs as ApiAnswer['body'][];

describe("an environment's time to live", () => {
  test('destroys an older deployment once, by an ordinary run', async () => {
    const tenant = await makeTenant(api, { ttl: '1h' });
    const deployed = await deploy(tenant);
    await Promise.all([expire(), expire(), expire()]);
    const [run, ...others] = await runsOf(tenant);
    expect(others).toMatchObject([{ id: deployed.id }]);
    expect(run).toMatchObject({
      operation: 'destroy',
      status: 'queued',
      instance_id: deployed.instance_id,
      template_version: '1.0.0',
      requested_by: { type: 'system', id: null, name: 'time to live' },
      responsible_user_id: null,
    });
    expect(api.engineMessages).toContainEqual(expect.objectContaining({ target: run.idempotency_key }));
    const records = await api.rows(
      `select action, actor_name from audit_records where resource_id = ? and actor_type = 'system'`,
      [deployed.instance_id],
    );
    expect(records).toEqual([{ action: 'instance.expired', actor_name: 'time to live' }]);
    const audited = await (await api.addUser('admin')).get(
      `/audit?resource_id=${deployed.instance_id}&actor=time%20to%20live`,
    );
    expect(audited.body.audit_records).toMatchObject([{ actor: run.requested_by }]);
    await end(run.id, 'failed', 0);
    await expire();
    expect(await runsOf(tenant)).toHaveLength(2);
  });

  test('destroys a deployment that is scanned for drift, during and after the scan', async () => {
    for (const hasEnded of [false, true]) {
      const tenant = await makeTenant(api, { ttl: '1h' });
      const { instance_id: instanceId } = await deploy(tenant, {
        executor: { ...destroyable.executor, detect: step('look') },
      });
      const { keyRing, transactions } = api.services;
      const request = { key: randomUUID(), instanceId, requester: systemPrincipal('drift monitor') };
      const { runId } = await transactions.run((tx) => admitScan(tx, { keyRing }, request));
      if (hasEnded) await end(runId, 'succeeded', 0);
      await expire();
      expect((await runsOf(tenant)).map(({ operation }) => operation)).toEqual(['destroy', 'apply']);
    }
  });

  test('does not destroy younger, busy, empty and permanent instances', async () => {
    const [young, used, empty, lasting] = await Promise.all(
      ['3h', '1h', '1h', undefined].map((ttl) => makeTenant(api, ttl === undefined ? {} : { ttl })),
    );
    for (const tenant of [young, used, empty, lasting]) {
      if (!tenant) throw new Error('four tenants were made');
      const deployed = await deploy(tenant);
      if (tenant === used) await api.rows('update runs set finished_at = null where id = ?', [deployed.id]);
      if (tenant === empty)
        await api.rows('update instances set resource_count = 0 where id = ?', [deployed.instance_id]);
      await expire();
      expect(await runsOf(tenant)).toHaveLength(1);
    }
  });

  test('does not destroy instances whose template has no destroy steps', async () => {
    const tenant = await makeTenant(api, { ttl: '1h' });
    await deploy(tenant, { executor: { kind: 'command', apply: step('make') } });
    await expire();
    expect(await runsOf(tenant)).toHaveLength(1);
  });

  test('destroys later instances even if an earlier one cannot be destroyed', async () => {
    const [stuck, next] = [await makeTenant(api, { ttl: '1h' }), await makeTenant(api, { ttl: '1h' })];
    const { template_id: template } = await deploy(stuck);
    await deploy(next);
    await stuck.owner.post(`/registry/templates/${template}/archive`);
    await expire(1);
    expect(await runsOf(stuck)).toHaveLength(1);
    expect(await runsOf(next)).toHaveLength(2);
    await stuck.owner.post(`/registry/templates/${template}/unarchive`);
    await expire(1);
    expect(await runsOf(stuck)).toHaveLength(2);
  });

  test('waits for the approval that the environment requires', async () => {
    const tenant = await makeTenant(api, {
      ttl: '1h',
      approval_policy: { required: 1, when: 'always', allow_self: false },
    });
    await deploy(tenant);
    await expire();
    expect((await runsOf(tenant))[0]).toMatchObject({ operation: 'destroy', approval: { required: 1 } });
  });
});
