import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { wordsOf } from '#test/support/browser/page-text.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { encode } from '#test/support/plugins/plugin-world.ts';
import { addShownPlugin, type ShownPlugin, shownManifest, showPlugin } from '#test/support/plugins/shown-plugin.ts';

let api: TestApi;
let shown: ShownPlugin;
beforeAll(async () => {
  api = await startApi();
  shown = await addShownPlugin(api);
});
afterAll(() => api?.close());

describe('the assignments of a plugin', () => {
  it('show subject, place and author, when and by whom one was revoked, and the ids that commands require', async () => {
    const markup = await shown.show(shown.owner, { tab: 'assignments' });
    for (const id of Object.values(shown.grants)) expect(markup).toContain(`data-value>${id}</code>`);
    const text = wordsOf(markup);
    expect(text).toMatch(/Dan user \S+ zone\.sync team Core In force/);
    expect(text).toMatch(/resource zone-key-17 Ended Revoked .* UTC by Root/);
  });

  it.each([
    [{ subject: 'dAn' }, 'dan'],
    [{ subject: '$bea' }, 'revoked'],
    [{ place: 'zone-key' }, 'revoked'],
    [{ place: '$team' }, 'dan'],
    [{ state: 'in_force' }, 'dan'],
    [{ state: 'ended' }, 'revoked'],
    [{ action: 'zone.sync', subject: 'Dan' }, 'dan'],
    [{ action: 'zone.read' }, null],
    [{ action: 'none.such' }, null],
  ] as const)('are filtered by %j', async (filter, expected) => {
    const ids: Record<string, string> = { $bea: shown.bea.id, $team: shown.tenant.team };
    const query = Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, ids[value] ?? value]));
    const markup = await shown.show(shown.owner, { tab: 'assignments', ...query });
    const found = Object.entries(shown.grants).filter(([, id]) => markup.includes(id));
    expect(found.map(([name]) => name)).toEqual(expected === null ? [] : [expected]);
  });

  it('are filtered by their state as each of them says', async () => {
    const of = (query: string) => shown.root.read(`/plugin-action-grants?installation_id=${shown.plugin}${query}`);
    const { grants: all } = await of('');
    for (const state of [true, false]) {
      const { grants: some } = await of(`&in_force=${state}`);
      expect(some).toEqual(all.filter((each: { in_force: boolean }) => each.in_force === state));
    }
  });
});

it('a user who left a team sees their old assignments there without the name of the team', async () => {
  const { tenant, root } = shown;
  const left = await api.addUser('requester', 'Fay');
  await join(tenant, left, 'member', 'member');
  const other = await shown.install('Left');
  const team = { type: 'team', id: tenant.team };
  await root.assign(await root.actionId(other, 'zone.sync'), { type: 'user', id: left.id }, team);
  const visitor = await signInVisitor(api, left);
  const read = async () => wordsOf(await showPlugin(visitor, other, { tab: 'assignments' }));
  expect(await read()).toContain('team Core');
  await root.command(['DELETE', `${tenant.teamPath}/members/${left.id}`]);
  expect(await read()).toContain(`team ${tenant.team}`);
  expect(await read()).not.toContain('team Core');
});

it('an assignment that a ceiling ended is shown with time and author of the ceiling, even after many later events', async () => {
  const other = await shown.install('Approved no longer');
  const [action, team] = [await shown.root.actionId(other, 'zone.sync'), { type: 'team', id: shown.tenant.team }];
  await shown.root.assign(action, { type: 'user', id: shown.dan.id }, team);
  await shown.root.approve(other, ['zone.read']);
  await shown.root.approve(other, []);
  const path = `/admin/plugins/${other}?tab=assignments`;
  const message = 'The ceiling of the installation stopped approving the action since it was assigned.';
  for (const visitor of [await signInVisitor(api, shown.tenant.owner), shown.owner])
    expect(wordsOf((await visitor.get(path)).text)).toMatch(new RegExp(`${message} That was [^.]* UTC by Root`));
});

describe('the other parts of a plugin', () => {
  it('show a ceiling with who approved it, both revisions, and what is not approved', async () => {
    const text = wordsOf(await shown.show(shown.owner, { tab: 'ceiling' }));
    expect(text).toMatch(/Approved .* UTC by Root/);
    expect(text).toContain(
      '1 of the ceiling, which has been set once. It was set for revision 2 of the plugin, which it still has.',
    );
    expect(text).toMatch(/Declared actions that are not approved zone\.read/);
    expect(text).toMatch(/Declared executions that are not approved nightly/);
  });

  it('show the whole digest of a release and its manifest', async () => {
    const list = await shown.show(shown.owner, { tab: 'releases' });
    expect(list).toContain(`data-value>${encode(shownManifest).digest}</code>`);
    const text = wordsOf(await shown.show(shown.owner, { tab: 'releases', release: '1.4.0' }));
    for (const each of [encode(shownManifest).digest, 'dns.write', 'one resource', 'nightly', 'dns.zones by id'])
      expect(text).toContain(each);
    expect(wordsOf(await shown.show(shown.owner, { tab: 'releases', release: '9' }))).toContain('No such release');
  });

  it('show actions with their ids and where they can be assigned', async () => {
    const markup = await shown.show(shown.owner, {});
    expect(markup).toContain(`data-value>${shown.sync}</code>`);
    expect(wordsOf(markup)).toContain('team, one resource');
    expect(markup).not.toContain('Can be assigned to');
  });

  it('show resources with their keys, and one with its roots', async () => {
    const list = await shown.show(shown.owner, { tab: 'resources' });
    expect(list).toContain(`href="/admin/plugin-resources/${shown.zone}"`);
    const { status, text } = await shown.owner.get(`/admin/plugin-resources/${shown.zone}`);
    expect(status).toBe(200);
    for (const each of [shown.zone, 'zone-key-17', 'dns.zones by id', 'team Core'])
      expect(wordsOf(text)).toContain(each);
    const stranger = await signInVisitor(api, (await makeTenant(api)).owner);
    expect((await stranger.get(`/admin/plugin-resources/${shown.zone}`)).status).toBe(404);
  });
});

it('a removed plugin is listed separately, and its page says when and by whom it was removed', async () => {
  const removed = await shown.install('Removed zones');
  const [action, team] = [await shown.root.actionId(removed, 'zone.sync'), { type: 'team', id: shown.tenant.team }];
  await shown.root.assign(action, { type: 'user', id: shown.dan.id }, team);
  await shown.root.remove(removed);
  const administrator = await signInVisitor(api, shown.tenant.owner);
  const listed = (query: string) => administrator.page(`/admin/plugins${query}`);
  expect(await listed('')).not.toContain('Removed zones');
  expect(await listed('?deleted=true')).toContain(`href="/admin/plugins/${removed}"`);
  const tab = async (name: string) => wordsOf(await showPlugin(administrator, removed, { tab: name }));
  expect(await tab('actions')).toMatch(/The plugin was removed .* UTC by Root \. Its ceiling, its assignments/);
  expect(await tab('assignments')).toMatch(/Ended The plugin was removed\. That was .* UTC by Root/);
  const ceiling = await tab('ceiling');
  expect(ceiling).toMatch(/State Ended/);
  expect(ceiling).not.toContain('set it again');
  expect(ceiling).toContain('Actions that were approved zone.sync');
  expect(ceiling).not.toContain('Approved actions');
  expect(ceiling).not.toContain('that are not approved');
  expect(wordsOf(await listed('?deleted=true'))).toContain('Removed plugins');
});

it('a ceiling of an earlier release shows what it approved, and that nothing of the active release is approved', async () => {
  const other = await shown.install('Staled');
  await shown.root.stage(other, { ...shownManifest, release: '1.5.0' });
  await shown.root.activate(other, '1.5.0');
  const administrator = await signInVisitor(api, shown.tenant.owner);
  const text = wordsOf(await showPlugin(administrator, other, { tab: 'ceiling' }));
  expect(text).toContain('State Stale');
  expect(text).toContain('Actions that were approved zone.sync');
  expect(text).not.toContain('Approved actions');
  expect(text).toMatch(/Declared actions that are not approved zone\.(read, zone\.sync|sync, zone\.read)/);
});

describe('the history of a plugin', () => {
  const actionsIn = (text: string) => new Set(text.match(/plugin_[a-z_]+\.[a-z_]+(?=<\/a>)/g));
  const path = () => /href="(\/audit\?plugin_installation_id=[^"]+)"/;

  it('has the changes of its assignments and resources, for users who may read them', async () => {
    const [, link = ''] = path().exec(await shown.show(shown.owner, {})) ?? [];
    const { status, text } = await shown.owner.get(`${link}&outcome=committed`);
    expect(status).toBe(200);
    expect(actionsIn(text)).toEqual(
      new Set(['plugin_action_grant.created', 'plugin_action_grant.revoked', 'plugin_resource.created']),
    );
  });

  it('has the changes of the plugin and its ceiling, for administrators of its owner', async () => {
    const visitor = await signInVisitor(api, shown.tenant.owner);
    const { text } = await visitor.get(`/audit?plugin_installation_id=${shown.plugin}`);
    expect(actionsIn(text)).toContain('plugin_installation.ceiling_replaced');
    expect(actionsIn(text)).toContain('plugin_action_grant.revoked');
    expect(text).toContain(`name="plugin_installation_id" value="${shown.plugin}"`);
  });

  it('has nothing for strangers, and nothing of other plugins', async () => {
    const stranger = (await makeTenant(api)).owner;
    expect((await stranger.get(`/audit?plugin_installation_id=${shown.plugin}`)).body.audit_records).toEqual([]);
    const other = await shown.install('Other');
    const { audit_records: records } = await shown.root.read(`/audit?plugin_installation_id=${other}`);
    expect(records.map((each: { resource: { id: string } }) => each.resource.id)).toEqual(Array(4).fill(other));
  });
});

describe('a search for plugins', () => {
  const find = async (user: ApiUser, text: string) =>
    (await user.get(`/search?q=${encodeURIComponent(text)}`)).body.results.map(
      ({ kind, id }: { kind: string; id: string }) => [kind, id],
    );

  it('finds a plugin by its name and id, and a resource by its name, key and id', async () => {
    expect(await find(shown.dan, 'dns zo')).toEqual([['plugin_installation', shown.plugin]]);
    expect(await find(shown.dan, shown.plugin)).toEqual([['plugin_installation', shown.plugin]]);
    expect(await find(shown.dan, 'KEY-17')).toEqual([['plugin_resource', shown.zone]]);
    expect(await find(shown.dan, shown.zone)).toEqual([['plugin_resource', shown.zone]]);
  });

  it('finds neither plugins nor resources that the caller may not read', async () => {
    const stranger = (await makeTenant(api)).owner;
    for (const text of ['dns zo', shown.plugin, 'key-17', shown.zone]) expect(await find(stranger, text)).toEqual([]);
  });

  it('links to the pages of plugins and resources', async () => {
    const { text } = await shown.owner.get('/search?q=dns+zones');
    expect(text).toContain(`href="/admin/plugins/${shown.plugin}"`);
    const { location } = await shown.owner.get(`/search?q=${shown.zone}`);
    expect(location).toBe(`/admin/plugin-resources/${shown.zone}`);
  });
});
