import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';
import { check, encode, manifestOf, PluginAdministrator } from '#test/support/plugins/plugin-world.ts';
import { ownershipOf } from '#test/support/plugins/tenant-plugin.ts';

const roots = [{ schema: 'dns', table: 'zones', key: 'id' }];
const manifest = manifestOf('1.4.0', { resources: [{ type: 'zone', roots }] });

let api: TestApi;
let tenant: Tenant;
let root: PluginAdministrator;
let plugin: string;
let sync: string;
let zone: string;
let grants: { dan: string; revoked: string };
let [bea, dan, eve]: ApiUser[] = [];
let owner: Visitor;

beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  [bea, dan, eve] = [
    await api.addUser('maintainer', 'Bea'),
    await api.addUser('requester', 'Dan'),
    await api.addUser('requester', 'Eve'),
  ];
  await join(tenant, bea, 'member', 'owner');
  for (const user of [dan, eve]) await join(tenant, user, 'member', 'member');
  root = new PluginAdministrator(await api.addUser('admin', 'Root'));
  plugin = await installDns('DNS zones');
  sync = await root.actionId(plugin, 'zone.sync');
  zone = await root.createResource(plugin, { team_id: tenant.team }, ownershipOf(tenant), 'zone-key-17');
  const team = { type: 'team', id: tenant.team };
  grants = {
    dan: await root.assign(sync, { type: 'user', id: dan.id }, team),
    revoked: await root.assign(sync, { type: 'user', id: bea.id }, { type: 'resource', id: zone }),
  };
  await root.revoke(grants.revoked, ownershipOf(tenant));
  owner = await signInVisitor(api, bea);
});
afterAll(() => api?.close());

async function installDns(name: string): Promise<string> {
  const id = await root.install(
    { organization_id: tenant.organization },
    { organization_id: tenant.organization },
    name,
  );
  await root.stage(id, manifest);
  await root.activate(id, '1.4.0');
  await root.approve(id, ['zone.sync'], []);
  return id;
}

const pathOf = (query: object) => `/admin/plugins/${plugin}?${new URLSearchParams({ ...query })}`;
const textOf = (markup: string) => markup.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

async function show(visitor: Visitor, query: object): Promise<string> {
  const { status, text } = await visitor.get(pathOf(query));
  expect(status, text).toBe(200);
  return text;
}

describe('the assignments of a plugin', () => {
  it('say who, where, by whom, and when and by whom one was revoked, with the ids that commands name', async () => {
    const markup = await show(owner, { tab: 'assignments' });
    for (const id of Object.values(grants)) expect(markup).toContain(`data-value>${id}</code>`);
    const text = textOf(markup);
    expect(text).toMatch(/Dan user zone\.sync team Core In force/);
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
    const ids: Record<string, string> = { $bea: bea!.id, $team: tenant.team };
    const query = Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, ids[value] ?? value]));
    const markup = await show(owner, { tab: 'assignments', ...query });
    const shown = Object.entries(grants).filter(([, id]) => markup.includes(id));
    expect(shown.map(([name]) => name)).toEqual(expected === null ? [] : [expected]);
  });

  it('are filtered by their state as each of them says', async () => {
    const of = (query: string) => root.read(`/plugin-action-grants?installation_id=${plugin}${query}`);
    const { grants: all } = await of('');
    for (const state of [true, false]) {
      const { grants: some } = await of(`&in_force=${state}`);
      expect(some).toEqual(all.filter((each: { in_force: boolean }) => each.in_force === state));
    }
  });
});

it('an end that the reader may not read in the audit is shown without who brought it about', async () => {
  const other = await installDns('Approved no longer');
  const [action, team] = [await root.actionId(other, 'zone.sync'), { type: 'team', id: tenant.team }];
  await root.assign(action, { type: 'user', id: dan!.id }, team);
  await root.approve(other, ['zone.read']);
  const path = `/admin/plugins/${other}?tab=assignments`;
  const message = 'The ceiling of the installation stopped approving the action since it was assigned.';
  const administrator = await signInVisitor(api, tenant.owner);
  expect(textOf((await administrator.get(path)).text)).toMatch(new RegExp(`${message} That was .* UTC by Root`));
  const text = textOf((await owner.get(path)).text);
  expect(text).toContain(message);
  expect(text).not.toContain('That was');
});

describe('the question of who may do what', () => {
  const ask = (visitor: Visitor, who: string, where: string, what = 'zone.sync') =>
    show(visitor, { tab: 'assignments', who, what, where }).then(textOf);

  it.each([
    ['Dan', 'Core', 'Yes, now An assignment covers this.'],
    ['Dan', 'zone-key-17', 'Yes, now'],
    ['Eve', 'Core', 'No No assignment covers this'],
    ['$bea', '$zone', 'No The assignment was revoked'],
    ['', 'Core', 'May Bea use zone.sync'],
    ['Nobody', 'Core', 'You know nobody with the name, e-mail address or id &quot;Nobody&quot;'],
    ['Dan', 'Nowhere', 'There is no place with the name or id'],
  ])('answers whoever assigns actions there about %s at %s', async (who, where, expected) => {
    const ids: Record<string, string> = { $bea: bea!.id, $zone: zone };
    expect(await ask(owner, ids[who] ?? who, ids[where] ?? where)).toContain(expected);
  });

  it('names the step that says no', async () => {
    expect(await ask(owner, 'Dan', 'Core', 'zone.read')).toContain('The ceiling approves the action: no');
    const [visitor, other] = [await signInVisitor(api, root.client as ApiUser), await installDns('Ended')];
    const action = await root.actionId(other, 'zone.sync');
    await root.assign(action, { type: 'user', id: dan!.id }, { type: 'team', id: tenant.team });
    await root.activate(other, '1.4.0');
    const query = new URLSearchParams({ tab: 'assignments', who: dan!.id, what: 'zone.sync', where: 'Core' });
    const path = `/admin/plugins/${other}?${query}`;
    expect(textOf((await visitor.get(path)).text)).toContain('The ceiling approves the action: no');
    await root.approve(other, ['zone.sync']);
    const text = textOf((await visitor.get(path)).text);
    expect(text).toContain('The assignment is still in force: no');
    expect(text).toMatch(/A release was activated since the action was assigned\. That was .* UTC by Root/);
  });

  it('answers as check does', async () => {
    const selector = { type: 'team', id: tenant.team };
    for (const user of [dan!, eve!, bea!]) {
      const { allowed, reason } = await check(user, sync, selector);
      const text = await ask(owner, user.id, `team:${tenant.team}`);
      expect(text).toContain(allowed ? 'Yes, now' : 'No ');
      expect(text.toLowerCase()).toContain(reason.message.toLowerCase());
    }
  });

  it('answers a member about itself only', async () => {
    const visitor = await signInVisitor(api, eve!);
    expect(await ask(visitor, '', 'Core')).toContain('No assignment covers this');
    const text = await ask(visitor, 'Dan', 'Core');
    expect(text).toContain('You may ask about others only where you may assign actions');
    expect(text).not.toContain('Yes, now');
  });

  it('offers the places that a name can mean', async () => {
    const text = await ask(owner, 'Dan', tenant.organization);
    expect(text).toContain('Which place do you mean?');
    expect(text).toMatch(/organization Tenant \d+ alone .*organization Tenant \d+ and everything in it/);
  });

  it('does not know people of other organizations, nor places there', async () => {
    const stranger = await makeTenant(api);
    expect(await ask(owner, stranger.owner.id, 'Core')).toContain('You know nobody');
    expect(await ask(owner, 'Dan', stranger.team)).toContain('There is no place');
    expect(await ask(owner, 'Dan', `team:${stranger.team}`)).toContain('You may ask about others only where');
  });
});

describe('the other parts of a plugin', () => {
  it('show a ceiling with who approved it, both revisions, and what is not approved', async () => {
    const text = textOf(await show(owner, { tab: 'ceiling' }));
    expect(text).toMatch(/Approved .* UTC by Root/);
    expect(text).toContain(
      '1 of the ceiling, which has been set once. It was set for revision 2 of the plugin, which it still has.',
    );
    expect(text).toMatch(/Declared actions that are not approved zone\.read/);
    expect(text).toMatch(/Declared executions that are not approved nightly/);
  });

  it('show the whole digest of a release and its manifest', async () => {
    const list = await show(owner, { tab: 'releases' });
    expect(list).toContain(`data-value>${encode(manifest).digest}</code>`);
    const text = textOf(await show(owner, { tab: 'releases', release: '1.4.0' }));
    for (const shown of [encode(manifest).digest, 'dns.write', 'one resource', 'nightly', 'dns.zones by id'])
      expect(text).toContain(shown);
    expect(textOf(await show(owner, { tab: 'releases', release: '9' }))).toContain('No such release');
  });

  it('show actions with their ids and where they can be assigned', async () => {
    const markup = await show(owner, {});
    expect(markup).toContain(`data-value>${sync}</code>`);
    expect(textOf(markup)).toContain('team, one resource');
    expect(markup).not.toContain('Can be assigned to');
  });

  it('show resources with their keys, and one with its roots', async () => {
    const list = await show(owner, { tab: 'resources' });
    expect(list).toContain(`href="/admin/plugin-resources/${zone}"`);
    const { status, text } = await owner.get(`/admin/plugin-resources/${zone}`);
    expect(status).toBe(200);
    for (const shown of [zone, 'zone-key-17', 'dns.zones by id', 'team Core']) expect(textOf(text)).toContain(shown);
    const stranger = await signInVisitor(api, (await makeTenant(api)).owner);
    expect((await stranger.get(`/admin/plugin-resources/${zone}`)).status).toBe(404);
  });
});

describe('the history of a plugin', () => {
  const actionsIn = (text: string) => new Set(text.match(/plugin_[a-z_]+\.[a-z_]+(?=<\/a>)/g));
  const path = () => /href="(\/audit\?plugin_installation_id=[^"]+)"/;

  it('has what was done to its assignments and resources, for those who may read that', async () => {
    const [, link = ''] = path().exec(await show(owner, {})) ?? [];
    const { status, text } = await owner.get(`${link}&outcome=committed`);
    expect(status).toBe(200);
    expect(actionsIn(text)).toEqual(
      new Set(['plugin_action_grant.created', 'plugin_action_grant.revoked', 'plugin_resource.created']),
    );
  });

  it('has what was done to the plugin and its ceiling, for administrators of its owner', async () => {
    const visitor = await signInVisitor(api, tenant.owner);
    const { text } = await visitor.get(`/audit?plugin_installation_id=${plugin}`);
    expect(actionsIn(text)).toContain('plugin_installation.ceiling_replaced');
    expect(actionsIn(text)).toContain('plugin_action_grant.revoked');
    expect(text).toContain(`name="plugin_installation_id" value="${plugin}"`);
  });

  it('has nothing for strangers, and nothing of other plugins', async () => {
    const stranger = (await makeTenant(api)).owner;
    expect((await stranger.get(`/audit?plugin_installation_id=${plugin}`)).body.audit_records).toEqual([]);
    const other = await installDns('Other');
    const { audit_records: records } = await root.read(`/audit?plugin_installation_id=${other}`);
    expect(records.map((each: { resource: { id: string } }) => each.resource.id)).toEqual(Array(4).fill(other));
  });
});

describe('a search', () => {
  const find = async (user: ApiUser, text: string) =>
    (await user.get(`/search?q=${encodeURIComponent(text)}`)).body.results.map(
      ({ kind, id }: { kind: string; id: string }) => [kind, id],
    );

  it('finds a plugin by its name and id, and a resource by its name, key and id', async () => {
    expect(await find(dan!, 'dns zo')).toEqual([['plugin_installation', plugin]]);
    expect(await find(dan!, plugin)).toEqual([['plugin_installation', plugin]]);
    expect(await find(dan!, 'KEY-17')).toEqual([['plugin_resource', zone]]);
    expect(await find(dan!, zone)).toEqual([['plugin_resource', zone]]);
  });

  it('finds neither for those who may not read them', async () => {
    const stranger = (await makeTenant(api)).owner;
    for (const text of ['dns zo', plugin, 'key-17', zone]) expect(await find(stranger, text)).toEqual([]);
  });

  it('leads to the page of either', async () => {
    const { text } = await owner.get('/search?q=dns+zones');
    expect(text).toContain(`href="/admin/plugins/${plugin}"`);
    const { location } = await owner.get(`/search?q=${zone}`);
    expect(location).toBe(`/admin/plugin-resources/${zone}`);
  });
});
