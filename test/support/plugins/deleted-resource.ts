import { randomUUID } from 'node:crypto';
import type { TestApi } from '../api/in-process-api.ts';
import { manifestOf, type PluginAnswer } from './plugin-world.ts';
import { openPluginReader } from './reader.ts';
import { addUser, stagePlugin } from './stage.ts';

/** The schemas in which the tests of restorations look for rows. */
export const pluginSchemas = ['dns', 'Odd "names"'];

/** The table that the resources of these tests depend on, unless they name others. */
export const zones = { schema: 'dns', table: 'zones', key: 'id' };

/** Adds the tables of plugins, and a role that may read them. Returns the URL with that role. */
export async function addPluginTables(api: TestApi): Promise<string> {
  await api.rows('create schema dns');
  await api.rows('create table dns.zones (id uuid primary key, secret text)');
  await api.rows('create schema "Odd ""names"""');
  await api.rows('create table "Odd ""names"""."a table; --" ("the ""key""" text)');
  await api.rows('create schema hidden');
  await api.rows('create table hidden.zones (id text)');
  return openPluginReader(api.services.config.databaseUrl, pluginSchemas);
}

/** A resource with a root, which was deleted after an action had been assigned for it. */
export async function deleteResource(
  api: TestApi,
  { root: table = zones, key = randomUUID() as string, isThere = true } = {},
) {
  const stage = await stagePlugin(api);
  const { root, installation, team, organization, environment, project } = stage;
  await root.stage(installation, manifestOf('2.0.0', { resources: [{ type: 'zone', roots: [table] }] }));
  await root.activate(installation, '2.0.0');
  await root.approve(installation, ['zone.sync']);
  if (isThere && table === zones) await api.rows('insert into dns.zones values (?)', [key]);
  const { expected_ownership } = await root.assignmentOf(stage.sync, {}, { type: 'environment', id: environment });
  const resource = await root.createResource(installation, { environment_id: environment }, expected_ownership, key);
  const member = await addUser(api, 'requester', { teams: { [team]: 'member' } });
  await root.assign(stage.sync, { type: 'user', id: member.id }, { type: 'resource', id: resource });
  await root.deleteResource(resource);
  return { ...stage, resource, member, key, organization, project };
}

/** The status and the code of a refusal. */
export function codeOf({ headers, status }: PluginAnswer): [number, string | undefined] {
  return [status, (headers as Record<string, string>)['x-error-code']];
}
