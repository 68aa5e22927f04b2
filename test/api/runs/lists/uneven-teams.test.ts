import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { copyRun, countReads } from '#test/support/runs/many-runs.ts';

const many = 6_000;
const spec = { executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] } };

let api: TestApi;
let busy: Tenant;
let quiet: Tenant;
let member: ApiUser;
let rareTemplate: string;

beforeAll(async () => {
  api = await startApi();
  [busy, quiet] = [await makeTenant(api), await makeTenant(api)];
  member = await api.addUser('requester');
  await join(quiet, member, 'member', 'viewer');
  const { id } = await addRun(busy);
  ({ template: rareTemplate } = await addRun(quiet));
  await copyRun(api, id, many);
});
afterAll(() => api?.close());

async function addRun(tenant: Tenant): Promise<{ id: string; template: string }> {
  const { id: template } = await tenant.owner.make('/registry/templates', { name: 'Ours', team_id: tenant.team });
  await tenant.owner.make(`/registry/templates/${template}/versions`, { version: '1.0.0', spec });
  const { body } = await tenant.owner.post('/runs', { template_id: template, environment_id: tenant.environment });
  return { id: body.id, template };
}

describe('while another team has thousands of younger runs', () => {
  it.each(['', '&status=succeeded', '&status=queued&status=failed'])(
    "a list of a team's few runs reads few rows (%s)",
    async (filter) => {
      expect(await countReads(api, () => member.get(`/runs?team_id=${quiet.team}${filter}`))).toBeLessThan(many / 10);
      expect(await countReads(api, () => member.get(`/runs?scope=readable${filter}`))).toBeLessThan(many / 10);
    },
  );

  it('a list of templates reads few rows for a template that is used rarely', async () => {
    expect(await countReads(api, () => member.get('/registry/templates'))).toBeLessThan(many / 10);
    expect(await countReads(api, () => member.get(`/registry/templates/${rareTemplate}`))).toBeLessThan(many / 10);
  });
});
