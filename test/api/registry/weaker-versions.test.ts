import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

/** The right to publish a version that requires fewer approvals than the template did before. */
let api: TestApi;
let tenant: Tenant;
let teamAdmin: ApiUser;
let platformAdmin: ApiUser;

beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  teamAdmin = await api.addUser('maintainer');
  await join(tenant, teamAdmin, 'member', 'admin');
  platformAdmin = await api.addUser('admin');
});
afterAll(() => api?.close());

const strict = { required: 2, when: 'changes' };
let made = 0;

function specWith(approval: object | undefined) {
  const apply = [{ name: 'say', run: ['echo', `${++made}`] }];
  return { executor: { kind: 'command', apply }, ...(approval && { approval }) };
}

const publish = (user: ApiUser, id: string, version: string, approval?: object) =>
  user.post(`/registry/templates/${id}/versions`, { version, spec: specWith(approval) });

/** A template of the team whose version 1.0.0 requires an approval. */
async function makeTemplate(approval: object | undefined = strict): Promise<string> {
  const { id } = await tenant.owner.make('/registry/templates', { name: `T ${++made}`, team_id: tenant.team });
  expect(await publish(tenant.owner, id, '1.0.0', approval)).toMatchObject({ status: 201 });
  return id;
}

const weaker: [what: string, approval: object | undefined][] = [
  ['no approval', undefined],
  ['fewer approvals', { ...strict, required: 1 }],
  ['approvals of less', { required: 5, when: 'destroys' }],
];

describe('a check of a version', () => {
  it('reports an approval policy that the caller may not weaken, and a tool that the settings do not allow', async () => {
    const id = await makeTemplate();
    const check = (user: ApiUser, spec: object) => user.post(`/registry/templates/${id}/versions/check`, { spec });
    expect((await check(teamAdmin, specWith(undefined))).body).toMatchObject({
      valid: false,
      state: 'failed',
      errors: [{ path: '/approval', message: expect.stringContaining('less approval than 1.0.0') }],
    });
    expect((await check(tenant.owner, specWith(undefined))).body).toMatchObject({ valid: true, errors: [] });
    await platformAdmin.patch('/admin/settings', { allowed_tools: { terraform: ['>=1.0'] } });
    const found = await check(tenant.owner, specWith(strict));
    await platformAdmin.patch('/admin/settings', { allowed_tools: null });
    expect(found.body).toMatchObject({
      valid: false,
      errors: [{ path: '/executor', message: expect.stringContaining('allow only terraform') }],
    });
  });
});

describe.each(weaker)('a new version that requires %s', (_, approval) => {
  it('answers 403 to an admin of the team, whatever its number is', async () => {
    const id = await makeTemplate();
    for (const version of ['1.1.0', '0.1.0', '2.0.0-rc.1'])
      expect(await publish(teamAdmin, id, version, approval)).toMatchObject({
        status: 403,
        body: { error: expect.stringContaining('less approval than 1.0.0') },
      });
    expect((await teamAdmin.get(`/registry/templates/${id}/versions`)).body.versions).toHaveLength(1);
  });

  it('answers 403 even after the strict version was yanked', async () => {
    const id = await makeTemplate();
    await teamAdmin.post(`/registry/templates/${id}/versions/1.0.0/yank`);
    expect(await publish(teamAdmin, id, '1.1.0', approval)).toMatchObject({ status: 403 });
  });

  it('can be published by owners of the team and administrators, with an event', async () => {
    for (const user of [tenant.owner, platformAdmin]) {
      const id = await makeTemplate();
      expect(await publish(user, id, '1.1.0', approval)).toMatchObject({ status: 201 });
      const sql = `select type, data, team_id from domain_events where subject_id = ? and type = 'template.approval_weakened'`;
      const events = await api.rows(sql, [id]);
      const data = { version: '1.1.0', before: strict, after: approval ?? null };
      expect(events).toEqual([{ type: 'template.approval_weakened', data, team_id: tenant.team }]);
    }
  });
});

describe('an admin of the team', () => {
  it.each([
    ['the same approval', strict],
    ['more approvals', { required: 3, when: 'always' }],
  ])('may publish a version that requires %s', async (_, approval) => {
    expect(await publish(teamAdmin, await makeTemplate(), '1.1.0', approval)).toMatchObject({ status: 201 });
  });

  it('may publish a version without approval if the highest version requires none', async () => {
    const id = await makeTemplate();
    await publish(tenant.owner, id, '2.0.0');
    expect(await publish(teamAdmin, id, '2.0.1')).toMatchObject({ status: 201 });
  });

  it('may publish the first version without approval', async () => {
    const { id } = await teamAdmin.make('/registry/templates', { name: 'First', team_id: tenant.team });
    expect(await publish(teamAdmin, id, '1.0.0')).toMatchObject({ status: 201 });
  });
});
