import { type Operation, routeOf } from '#api/pipeline/operation.ts';
import { declaredNames, declaredResources } from '../areas/declared.ts';
import type { Ids } from './tenant-ids.ts';

/** The resource that `:id` names in a path, by the first part of an operation's id. Areas with a `declarations.ts` have theirs there. */
const resourceOfId: Record<string, keyof Ids> = {
  ...Object.fromEntries(declaredNames.flatMap((name) => declaredResources[name].namedBy.map((each) => [each, name]))),
  auth: 'session',
  profile: 'key',
  users: 'person',
  runs: 'run',
  run_comments: 'run',
  selective_undo: 'selectiveUndo',
  instances: 'instance',
  templates: 'template',
  template_versions: 'template',
  assemblies: 'assembly',
  drift_monitors: 'monitor',
  drift_findings: 'finding',
  connections: 'connection',
  notification_channels: 'channel',
  notifications: 'notification',
  notification_threads: 'run',
  plugin_installations: 'plugin',
  plugin_actions: 'pluginAction',
  plugin_action_grants: 'pluginGrant',
  plugin_background_principals: 'pluginBackground',
  plugin_resources: 'pluginResource',
  teams: 'team',
  team_members: 'team',
  organization_invitations: 'invitation',
  team_invitations: 'team',
  projects: 'project',
  environments: 'environment',
  environment_variables: 'environment',
  project_connections: 'project',
  environment_connections: 'environment',
  quotas: 'team',
  workers: 'session',
  audit_records: 'auditRecord',
  service_accounts: 'account',
  service_account_keys: 'account',
};

/** The path of an operation on a tenant's resources. */
export function pathOf(operation: Operation, ids: Ids): string {
  const values = parametersOf(operation, ids);
  const path = routeOf(operation).path.replace(/:(\w+)/g, (_all, name: string) => values[name] ?? name);
  const query = isListOfTeam(operation)
    ? `team_id=${ids.team}`
    : queries[operation.id]?.replace(/:(\w+)/g, (_all, name: keyof Ids) => ids[name]);
  return query ? `${path}?${query}` : path;
}

/** The query of operations that demand one, with the names of a tenant's ids. */
export const queries: Readonly<Record<string, string>> = {
  'search.find': 'q=network',
  'instances.compare_states': 'from=1&to=1',
  'assemblies.diff': 'from=1.0.0&to=1.0.0',
  'plugin_actions.list': 'installation_id=:plugin',
  'plugin_background_principals.list': 'installation_id=:plugin',
};

function isListOfTeam({ access, query }: Operation): boolean {
  return 'scope' in access && ['team', 'owned'].includes(access.scope) && query?.shape?.team_id !== undefined;
}

/** The path parameters of an operation on a tenant's resources. */
export function parametersOf(operation: Operation, ids: Ids): Record<string, string> {
  const names = [...routeOf(operation).path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const area = areaOf(operation);
  const values: Record<string, string> = {
    ...(names.includes('id') && { id: ids[findResource(operation)] }),
    orgID: ids.organization,
    userID: ids.person,
    keyID: ids.accountKey,
    commentID: ids.comment,
    deliveryID: ids.delivery,
    runID: ids.assemblyRun,
    scope: 'team',
    key: 'hello',
    invitationID: ids.invitation,
    serial: '1',
    version: '1.0.0',
    name: area === 'worker_pools' ? 'nowhere' : 'REGION',
  };
  return Object.fromEntries(names.map((name) => [name, values[name] ?? name]));
}

function findResource(operation: Operation): keyof Ids {
  const resource = resourceOfId[areaOf(operation)];
  if (resource) return resource;
  const table = '`resourceOfId` of test/support/api/operation-paths.ts';
  throw new Error(`${operation.id}: say in ${table} which of a tenant's resources ":id" names`);
}

function areaOf({ id }: Operation): string {
  return id.split('.')[0] ?? '';
}
