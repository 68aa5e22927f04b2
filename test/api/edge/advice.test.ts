import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { RunSteps } from '#test/support/runs/run-steps.ts';

let api: TestApi;
let admin: ApiUser;
let tenant: Tenant;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  tenant = await makeTenant(api);
});
afterAll(() => api?.close());

describe('the message of a refusal', () => {
  it('the message about an organization that is named by neither an id nor a slug says what is accepted', async () => {
    const { status, body } = await admin.get('/organizations/not_a_uuid!');
    expect([status, body.error]).toEqual([
      400,
      expect.stringMatching(/expected a lowercase UUID .*, or a slug such as/),
    ]);
  });

  it('the message about an isolation that nothing can require says what is accepted', async () => {
    await admin.make('/worker-pools', { name: 'plain' });
    for (const { status, body } of [
      await admin.patch('/worker-pools/plain', { isolation: 'none' }),
      await tenant.owner.patch(`/environments/${tenant.environment}`, { isolation: 'none' }),
    ])
      expect([status, body.error]).toEqual([400, 'field "isolation" must be "sandbox" or null']);
  });

  it('the message about an invalid version says what is accepted, with the name of the parameter', async () => {
    const template = await new RunSteps(api, admin).publish();
    const { status, body } = await admin.get(`/registry/templates/${template}/versions/foo`);
    expect([status, body.error]).toEqual([404, expect.stringMatching(/^version: expected an exact version such as/)]);
  });

  it("the message about an action that the audit's catalogue does not list says what is accepted", async () => {
    const { status, body } = await admin.get('/audit?action=run.create');
    expect([status, body.error]).toEqual([400, expect.stringContaining('GET /api/v1/audit/actions')]);
    expect((await admin.get('/audit?action=run.created')).status).toBe(200);
  });

  it("the message about a change of one's own role begins with the name of the field", async () => {
    const { status, body } = await admin.put(`/users/${admin.id}`, { role: 'operator' });
    expect([status, body.error]).toEqual([403, 'role: you cannot change your own role']);
  });
});
