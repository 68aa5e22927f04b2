import { afterAll, beforeAll, expect, test } from 'vitest';
import { sayHello } from '#test/support/access/people.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let tenant: Tenant;
let path: string;

beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  const { owner, team, environment } = tenant;
  const template = await owner.make('/registry/templates', { name: 'Net', team_id: team });
  await owner.make(`/registry/templates/${template.id}/versions`, { version: '1.0.0', spec: sayHello });
  const instance = await owner.make('/instances', {
    environment_id: environment,
    template_id: template.id,
    name: 'net',
  });
  const resource = { mode: 'managed', type: 'vm', name: 'a', instances: [{ attributes: { id: 'hunter2' } }] };
  await owner.make(`/instances/${instance.id}/state`, { version: 4, serial: 3, lineage: 'a', resources: [resource] });
  path = `/instances/${instance.id}/state-comparison`;
});
afterAll(() => api?.close());

test('comparing a state with itself returns no changes, and leaves an audit record', async () => {
  const { status, body } = await tenant.owner.get(`${path}?from=1&to=1`);
  const same = { changes: [], omitted: 0, unchanged: 1, outputs: [], omitted_outputs: 0 };
  expect([status, body]).toEqual([200, { from: 1, to: 1, ...same }]);
  const { body: audit } = await tenant.owner.get(
    `/audit?action=instance.states_compared&organization_id=${tenant.organization}`,
  );
  expect(audit.audit_records).toHaveLength(1);
});

test('comparing states with a missing version answers 404, and without two versions 400', async () => {
  expect((await tenant.owner.get(`${path}?from=1&to=2`)).status).toBe(404);
  expect((await tenant.owner.get(`${path}?from=1`)).status).toBe(400);
  expect((await tenant.owner.get(`${path}?from=0&to=1`)).status).toBe(400);
});

test('comparing states requires the right to download them', async () => {
  const member = await api.addUser('requester');
  await join(tenant, member, 'member', 'member');
  expect((await member.get(`${path}?from=1&to=1`)).status).toBe(403);
  const stranger = await makeTenant(api);
  expect((await stranger.owner.get(`${path}?from=1&to=1`)).status).toBe(404);
});
