import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { copyRun, countReads } from '#test/support/runs/many-runs.ts';

const many = 20_000;
const spec = { executor: { kind: 'command', apply: [{ name: 'act', run: ['true'] }] } };

/** The ids by which lists select a run. */
type Values = Readonly<Record<string, string>>;

let api: TestApi;
let busy: Tenant;
let quiet: Tenant;
let member: ApiUser;
/** What the many runs have in common. */
let common: Values;
let rareTemplate: string;
/** The rare run in the busy team. */
let rare: { readonly run: string; readonly by: ApiUser; readonly values: Values };

beforeAll(async () => {
  api = await startApi();
  [busy, quiet] = [await makeTenant(api), await makeTenant(api)];
  member = await api.addUser('requester');
  await join(quiet, member, 'member', 'viewer');
  const { id, values } = await addRun(busy);
  common = values;
  ({ template: rareTemplate } = await addRun(quiet));
  rare = await addRareRun();
  await copyRun(api, id, many);
});
afterAll(() => api?.close());

async function addRun(tenant: Tenant): Promise<{ id: string; values: Values; template: string }> {
  const { id: template } = await tenant.owner.make('/registry/templates', { name: 'Ours', team_id: tenant.team });
  await tenant.owner.make(`/registry/templates/${template}/versions`, { version: '1.0.0', spec });
  const { body } = await tenant.owner.post('/runs', { template_id: template, environment_id: tenant.environment });
  const { id, instance_id } = body;
  const values = {
    instance_id,
    environment_id: tenant.environment,
    template_id: template,
    requested_by: tenant.owner.id,
  };
  return { id, values, template };
}

/** Adds a run of the busy team whose instance, environment, template and requester have no other run. */
async function addRareRun(): Promise<typeof rare> {
  const by = await api.addUser('maintainer');
  await join(busy, by, 'member', 'member');
  const { id: template } = await busy.owner.make('/registry/templates', { name: 'Rare', team_id: busy.team });
  await busy.owner.make(`/registry/templates/${template}/versions`, { version: '1.0.0', spec });
  const { id: environment } = await busy.owner.make('/environments', {
    name: 'Rare',
    kind: 'development',
    project_id: busy.project,
  });
  const { status, text, body } = await by.post('/runs', { template_id: template, environment_id: environment });
  expect(status, text).toBe(202);
  const { id: run, instance_id } = body;
  await api.rows(`update runs set status = 'succeeded', phase = 'finished', finished_at = now() where id = ?`, [run]);
  return { run, by, values: { instance_id, environment_id: environment, template_id: template, requested_by: by.id } };
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

describe('while the same team has thousands of younger runs', () => {
  const statuses = ['', '&status=succeeded', '&status=failed&status=succeeded&status=running'];

  it.each(['instance_id', 'environment_id', 'template_id', 'requested_by'])(
    'lists of the rare runs by %s read few rows, whoever reads them in whichever scope',
    async (filter) => {
      const scopes = [`team_id=${busy.team}`, `organization_id=${busy.organization}`, 'scope=readable'];
      const paths = scopes.flatMap((scope) =>
        statuses.map((status) => `/runs?${scope}&${filter}=${rare.values[filter]}${status}`),
      );
      const readers = [busy.owner, rare.by, await api.addUser('admin')];
      const readAll = async () => {
        for (const reader of readers) for (const path of paths) await expectRareRun(reader, path);
        return { status: 200 };
      };
      expect(await countReads(api, readAll)).toBeLessThan(many);
    },
  );

  it.each(['instance_id', 'environment_id', 'template_id', 'requested_by'])(
    'a list of thousands of runs by %s reads few of them',
    async (filter) => {
      const path = `/runs?team_id=${busy.team}&${filter}=${common[filter]}&limit=5`;
      expect(await countReads(api, () => busy.owner.get(path))).toBeLessThan(many / 10);
    },
  );

  it('a page of one run of a team reads no more rows than it shows and the next one', async () => {
    const path = `/runs?team_id=${busy.team}&limit=1`;
    expect(await countReads(api, () => busy.owner.get(path))).toBeLessThan(10);
  });

  async function expectRareRun(reader: ApiUser, path: string): Promise<void> {
    const { body, text } = await reader.get(path);
    expect(
      body.runs?.map(({ id }: { id: string }) => id),
      `${path}: ${text}`,
    ).toEqual([rare.run]);
  }
});
