import { expect } from 'vitest';
import { join, makeTenant, type Tenant } from '../access/tenancy.ts';
import type { ApiUser, TestApi } from '../api/in-process-api.ts';
import { signInVisitor } from '../browser/signed-in.ts';
import type { Visitor } from '../browser/visitor.ts';
import { manifestOf, PluginAdministrator } from './plugin-world.ts';
import { ownershipOf } from './tenant-plugin.ts';

const roots = [{ schema: 'dns', table: 'zones', key: 'id' }];
export const shownManifest = manifestOf('1.4.0', { resources: [{ type: 'zone', roots }] });

/** A plugin of an organization, with what its pages show and those who visit them. */
export interface ShownPlugin {
  readonly tenant: Tenant;
  readonly root: PluginAdministrator;
  readonly administrator: ApiUser;
  readonly plugin: string;
  readonly sync: string;
  readonly zone: string;
  readonly grants: { readonly dan: string; readonly revoked: string };
  /** The owner of the team, to whom an action was assigned and revoked. */
  readonly bea: ApiUser;
  /** A member of the team, to whom an action is assigned. */
  readonly dan: ApiUser;
  /** A member of the team without an assignment. */
  readonly eve: ApiUser;
  /** Bea in a browser. */
  readonly owner: Visitor;
  /** The markup of a page of the plugin. */
  show(visitor: Visitor, query: object): Promise<string>;
  /** Installs another plugin like it in the organization. */
  install(name: string): Promise<string>;
}

/** Installs a plugin in the organization of a tenant, with one action approved. */
async function installShown(root: PluginAdministrator, { organization }: Tenant, name: string): Promise<string> {
  const id = await root.install({ organization_id: organization }, { organization_id: organization }, name);
  await root.stage(id, shownManifest);
  await root.activate(id, '1.4.0');
  await root.approve(id, ['zone.sync'], []);
  return id;
}

/** Adds the plugin with its tenant. */
export async function addShownPlugin(api: TestApi): Promise<ShownPlugin> {
  const tenant = await makeTenant(api);
  const bea = await api.addUser('maintainer', 'Bea');
  const dan = await api.addUser('requester', 'Dan');
  const eve = await api.addUser('requester', 'Eve');
  await join(tenant, bea, 'member', 'owner');
  for (const user of [dan, eve]) await join(tenant, user, 'member', 'member');
  const administrator = await api.addUser('admin', 'Root');
  const root = new PluginAdministrator(administrator);
  const plugin = await installShown(root, tenant, 'DNS zones');
  const sync = await root.actionId(plugin, 'zone.sync');
  const zone = await root.createResource(plugin, { team_id: tenant.team }, ownershipOf(tenant), 'zone-key-17');
  const team = { type: 'team', id: tenant.team };
  const grants = {
    dan: await root.assign(sync, { type: 'user', id: dan.id }, team),
    revoked: await root.assign(sync, { type: 'user', id: bea.id }, { type: 'resource', id: zone }),
  };
  await root.revoke(grants.revoked, ownershipOf(tenant));
  const owner = await signInVisitor(api, bea);
  return {
    ...{ tenant, root, administrator, plugin, sync, zone, grants, bea, dan, eve, owner },
    show: (visitor, query) => showPlugin(visitor, plugin, query),
    install: (name) => installShown(root, tenant, name),
  };
}

/** The markup of a page of a plugin. */
export async function showPlugin(visitor: Visitor, plugin: string, query: object): Promise<string> {
  const { status, text } = await visitor.get(`/admin/plugins/${plugin}?${new URLSearchParams({ ...query })}`);
  expect(status, text).toBe(200);
  return text;
}
