import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { check, PluginAdministrator } from '#test/support/plugins/plugin-world.ts';
import { addPlugin } from '#test/support/plugins/tenant-plugin.ts';

let api: TestApi;
let tenant: Tenant;
let admin: ApiUser;
let ids: Awaited<ReturnType<typeof addPlugin>>;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  admin = await api.addUser('admin', 'Root');
  ids = await addPlugin(admin, tenant);
});
afterAll(() => api?.close());

const turn = (plugins: object) => admin.patch('/admin/settings', { features: { plugins } });
const off = { enabled: false, reason: 'being audited' };

it('plugins that are turned off answer 403 with the reason in the API and on pages, until they are on again', async () => {
  const place = { type: 'team', id: tenant.team };
  const assignment = await new PluginAdministrator(admin).assignmentOf(ids.pluginAction, {}, place);
  const paths = ['', `/${ids.plugin}`].map((rest) => `/plugin-installations${rest}`);
  const lists = ['/plugin-actions', '/plugin-action-grants', '/plugin-background-principals', '/plugin-resources'];
  await turn(off);
  for (const path of [...paths, ...lists]) {
    const { status, headers, text } = await tenant.owner.get(path);
    expect([path, status, headers['x-error-code']]).toEqual([path, 403, 'feature_disabled']);
    expect(text).toContain('being audited');
  }
  for (const question of ['check', 'grant-review']) {
    const { status, headers } = await admin.post(`/plugin-actions/${ids.pluginAction}/${question}`, {
      selector: place,
    });
    expect([question, status, headers['x-error-code']]).toEqual([question, 403, 'feature_disabled']);
  }
  const outsider = await api.addUser('requester');
  expect((await outsider.get(`/plugin-installations/${ids.plugin}`)).status).toBe(404);
  const visitor = await signInVisitor(api, admin);
  expect(await visitor.page('/')).not.toContain('href="/admin/plugins"');
  for (const path of [
    '/admin/plugins',
    `/admin/plugins/${ids.plugin}`,
    `/admin/plugin-resources/${ids.pluginResource}`,
  ]) {
    const page = await visitor.get(path);
    expect([path, page.status, page.text.includes('being audited')]).toEqual([path, 403, true]);
  }
  await turn({ enabled: true });
  expect((await visitor.get('/')).text).toContain('href="/admin/plugins"');
  expect(await new PluginAdministrator(admin).assignmentOf(ids.pluginAction, {}, place)).toEqual(assignment);
  expect(await check(admin, ids.pluginAction, place)).toMatchObject({ reason: { code: 'not_assigned' } });
});

it('a search finds neither plugins nor their resources while plugins are turned off', async () => {
  const find = async () => {
    const found = await Promise.all([ids.plugin, ids.pluginResource].map((id) => admin.get(`/search?q=${id}`)));
    return found.flatMap(({ body }) => body.results.map(({ kind }: { kind: string }) => kind));
  };
  expect(await find()).toEqual(['plugin_installation', 'plugin_resource']);
  await turn(off);
  expect(await find()).toEqual([]);
  await turn({ enabled: true });
});
