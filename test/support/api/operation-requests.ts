import { randomUUID } from 'node:crypto';
import { type Operation, routeOf } from '#api/pipeline/operation.ts';
import { newId } from '#domain/shared/ids.ts';
import {
  addEnvironment,
  addPerson,
  addServiceAccount,
  addTeam,
  type Person,
  publish,
  sayHello,
} from '../access/people.ts';
import { addFinding, addMonitor, type Execute } from '../drift/drift-rows.ts';
import { addPlugin } from '../plugins/tenant-plugin.ts';
import type { TestApi } from './http-api.ts';
import { pluginBodies } from './plugin-bodies.ts';
import { needsPart, type TenantPart } from './tenant-parts.ts';

/** The ids of one tenant's resources, by the names that `pathOf` and `bodies` use. */
export type Ids = Record<
  | 'organization'
  | 'team'
  | 'project'
  | 'environment'
  | 'template'
  | 'assembly'
  | 'assemblyRun'
  | 'schedule'
  | 'connection'
  | 'variableSet'
  | 'run'
  | 'selectiveUndo'
  | 'comment'
  | 'monitor'
  | 'finding'
  | 'evidence'
  | 'instance'
  | 'person'
  | 'session'
  | 'key'
  | 'account'
  | 'accountKey'
  | 'invitation'
  | 'webhook'
  | 'channel'
  | 'delivery'
  | 'notification'
  | 'plugin'
  | 'pluginAction'
  | 'pluginGrant'
  | 'pluginBackground'
  | 'pluginResource'
  | 'auditRecord',
  string
>;

interface TenantOptions {
  readonly organization?: string;
  readonly team?: string;
  /** The only operation that the tenant is for. What it does not need is not made. */
  readonly operation?: Operation;
}

/** Adds a team with one resource of every kind, and a run of its template, which the administrator requests. */
export async function addTenant(
  api: Pick<TestApi, 'url' | 'orm'>,
  root: Person,
  options: TenantOptions = {},
): Promise<Ids> {
  const { organization, team } = await placeIn(api, options);
  const { projectId: project, environmentId: environment } = await addEnvironment(api.orm, team);
  const made = async (part: TenantPart, make: () => Promise<string>) =>
    needsPart(options.operation, part) ? make() : newId();
  const [person, account, invitation, connection, variableSet, work] = await Promise.all([
    addPerson(api, 'requester', { organizations: { [organization]: 'member' }, teams: { [team]: 'member' } }),
    addServiceAccount(api, 'requester', {}, { teamId: team }),
    made('invitation', () => addInvitation(root, { organization, team })),
    made('connection', () => addNamed(root, '/admin/connections', { ...genericConnection(), team_id: team })),
    made('variableSet', () => addNamed(root, '/variable-sets', { name: `Common ${environment}`, team_id: team })),
    needsPart(options.operation, 'work') ? addWork(api, root, { team, environment }, options.operation) : noWork(),
  ]);
  const hasPlugin = needsPart(options.operation, 'plugin');
  return {
    organization,
    team,
    project,
    environment,
    ...work,
    ...(needsPart(options.operation, 'webhook')
      ? await addWebhook(api, root, team)
      : { webhook: newId(), delivery: newId() }),
    channel: await made('channel', () => addNamed(root, '/admin/notification-channels', { ...signing, team_id: team })),
    ...(hasPlugin ? await addPlugin(root.caller, { organization, team }) : noPlugin()),
    notification: await made('notification', () => addNotification(api, root, work.run)),
    person: person.id,
    session: newId(),
    key: person.keyId,
    account: account.id,
    accountKey: account.keyId,
    invitation,
    connection,
    variableSet,
    auditRecord: await made('work', () => findAuditRecord(api, work.run)),
  };
}

/** Adds a resource by a request. Returns its id. */
async function addNamed({ caller }: Person, path: string, request: object): Promise<string> {
  const { body, status, text } = await caller.post(path, request);
  if (status !== 201) throw new Error(`POST ${path} answered ${status}: ${text}`);
  return body.id;
}

async function addInvitation({ caller }: Person, place: { organization: string; team: string }): Promise<string> {
  const path = `/organizations/${place.organization}/teams/${place.team}/invitations`;
  const { body, status, text } = await caller.post(path, { email: `${newId()}@example.com`, role: 'viewer' });
  if (status !== 201) throw new Error(`the invitation answered ${status}: ${text}`);
  return body.invitation.id;
}

/** Adds a disabled webhook of a team, with a delivery that has failed. */
async function addWebhook({ orm }: Pick<TestApi, 'orm'>, { caller }: Person, team: string) {
  const { body, status, text } = await caller.post('/admin/webhooks', { ...hearing, team_id: team });
  if (status !== 201) throw new Error(`the creation of a webhook answered ${status}: ${text}`);
  const delivery = newId();
  await orm.em.fork().execute(
    `insert into webhook_deliveries (id, created_at, webhook_id, event_id, event_type, message_id, status, attempts, due_at)
     values (?, now(), ?, ?, 'run.finished', 'msg_1', 'failed', 9, now())`,
    [delivery, body.id, newId()],
  );
  return { webhook: body.id as string, delivery };
}

function noPlugin() {
  return {
    plugin: newId(),
    pluginAction: newId(),
    pluginGrant: newId(),
    pluginBackground: newId(),
    pluginResource: newId(),
  };
}

/** Tells the administrator how a run ended. */
async function addNotification({ orm }: Pick<TestApi, 'orm'>, { id: user }: Person, run: string): Promise<string> {
  const id = newId();
  await orm.em.fork().execute(
    `insert into notifications (id, user_id, kind, subject_kind, subject_id, title, cause, created_at)
     values (?, ?, 'run.finished', 'run', ?, 'The run of network failed', ?, now())`,
    [id, user, run, id],
  );
  return id;
}

/** An address that tests may use and nothing answers at. */
const signing = { name: 'On call', kind: 'webhook', config: { url: 'http://127.0.0.9:9/hook' }, enabled: false };
const hearing = { name: 'Chat', url: 'http://127.0.0.9:9/hook', events: ['run.*'], enabled: false };

/** Adds a template with a run, and a schedule and an assembly with a run if the operation needs them. */
async function addWork(
  api: Pick<TestApi, 'url' | 'orm'>,
  root: Person,
  { team, environment }: { team: string; environment: string },
  operation: Operation | undefined,
) {
  const template = await publish(root.caller, sayHello, team);
  const addRun = async () => {
    const { body: run } = await root.caller.post('/runs', { template_id: template, environment_id: environment });
    const { body: comment } = await root.caller.post(`/runs/${run.id}/comments`, { text: 'Seen.' });
    const selectiveUndo = await addUndoAttempt(api, run);
    return { run: run.id as string, instance: run.instance_id as string, comment: comment.id as string, selectiveUndo };
  };
  const addAssembly = async () => {
    const assembly = await publishAssembly(root, team, template);
    return { assembly, assemblyRun: await addAssemblyRun(api, root, { assembly, environment }) };
  };
  const none = { assembly: newId(), assemblyRun: newId() };
  const schedule = yearly({ team, environment, template });
  const [run, assembly, scheduleId] = await Promise.all([
    addRun(),
    needsPart(operation, 'assembly') ? addAssembly() : none,
    needsPart(operation, 'schedule') ? addNamed(root, '/schedules', schedule) : newId(),
  ]);
  const drift = await addDrift(api, { team, environment, ...run });
  return { template, schedule: scheduleId, ...run, ...assembly, ...drift };
}

/** Ids in place of `addWork`, of things that do not exist. */
function noWork(): Awaited<ReturnType<typeof addWork>> {
  const run = { run: newId(), instance: newId(), comment: newId(), selectiveUndo: newId() };
  const drift = { monitor: newId(), finding: newId(), evidence: newId() };
  return { template: newId(), schedule: newId(), assembly: newId(), assemblyRun: newId(), ...run, ...drift };
}

/** Adds a monitor of an instance, and a finding of it. */
async function addDrift(
  { orm }: Pick<TestApi, 'orm'>,
  { run, ...place }: { team: string; environment: string; instance: string; run: string },
) {
  const em = orm.em.fork();
  const execute: Execute = (sql, values) => em.execute(sql, values);
  const monitor = await addMonitor(execute, place);
  return { monitor, ...(await addFinding(execute, { ...place, monitor, run })) };
}

function genericConnection() {
  return { name: `Connection ${newId()}`, kind: 'generic', credentials: { variables: { TOKEN: 'kept' } } };
}

/** A schedule that runs a template once a year. */
function yearly({ team, environment, template }: { team: string; environment: string; template: string }) {
  const run = { template_id: template, environment_id: environment };
  return { team_id: team, name: 'Yearly', schedule: { cron: '0 0 1 1 *' }, work: { run } };
}

/** Adds an attempt at undoing a run, which something is in the way of. */
async function addUndoAttempt(
  { orm }: Pick<TestApi, 'orm'>,
  { id: run, instance_id: instance }: { id: string; instance_id: string },
): Promise<string> {
  const id = newId();
  await orm.em.fork().execute(
    `insert into selective_undo_attempts (id, run_id, instance_id, state, verdicts, changes, state_serial, requested_by_id,
        requested_by_type, requested_by_name, created_at) values (?, ?, ?, 'blocked', '[]', '[]', 0, ?, 'user', 'Ana', now())`,
    [id, run, instance, newId()],
  );
  return id;
}

/** Adds an assembly with a draft of one node and a version. */
async function publishAssembly({ caller }: Person, team: string, template: string): Promise<string> {
  const { body: assembly } = await caller.post('/assemblies', { team_id: team, name: `Landscape ${newId()}` });
  await caller.send('PUT', `/assemblies/${assembly.id}/draft`, { spec: { nodes: { hello: { template } } } });
  const { status, text } = await caller.post(`/assemblies/${assembly.id}/publish`, { version: '1.0.0' });
  if (status !== 201) throw new Error(`the publication of an assembly answered ${status}: ${text}`);
  return assembly.id;
}

/** Adds a run of an assembly that has failed. */
async function addAssemblyRun(
  { orm }: Pick<TestApi, 'orm'>,
  { caller }: Person,
  { assembly, environment }: { assembly: string; environment: string },
): Promise<string> {
  const { body: run } = await caller.post(`/assemblies/${assembly}/runs`, { environment_id: environment });
  const failed = `update assembly_runs set status = 'failed', status_reason = 'nodes_failed', finished_at = now() where id = ?`;
  await orm.em.fork().execute(failed, [run.id]);
  return run.id;
}

async function placeIn(
  { orm }: Pick<TestApi, 'orm'>,
  { organization, team }: { organization?: string; team?: string },
) {
  if (organization && team) return { organization, team };
  const added = await addTeam(orm, organization);
  return { organization: added.organizationId, team: added.teamId };
}

/** The record of the command that created a resource. */
async function findAuditRecord({ orm }: Pick<TestApi, 'orm'>, resourceId: string): Promise<string> {
  const sql = 'select id from audit_records where resource_id = ?';
  const [record] = await orm.em.fork().execute<{ id: string }[]>(sql, [resourceId]);
  if (!record) throw new Error(`no audit record names the resource ${resourceId}`);
  return record.id;
}

/** Ids of resources that do not exist. */
export function missingIds(like: Ids): Ids {
  return Object.fromEntries(Object.keys(like).map((name) => [name, newId()])) as Ids;
}

/** The resource that `:id` names in a path, by the area: the first part of an operation's id. A new area has its line here. */
const resourceOfId: Record<string, keyof Ids> = {
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
  schedules: 'schedule',
  connections: 'connection',
  variable_sets: 'variableSet',
  variable_set_variables: 'variableSet',
  variable_set_attachments: 'variableSet',
  webhooks: 'webhook',
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
  const table = '`resourceOfId` of test/support/api/operation-requests.ts';
  throw new Error(`${operation.id}: say in ${table} which of a tenant's resources ":id" names`);
}

function areaOf({ id }: Operation): string {
  return id.split('.')[0] ?? '';
}

const inAWeek = () => new Date(Date.now() + 7 * 24 * 3600_000).toISOString();

/** An example body for every operation that takes one. */
export const bodies: Record<string, (ids: Ids) => object> = {
  'auth.can_i': ({ project, team }) => ({
    resource_attributes: {
      group: 'delivery.coordinator',
      version: 'v1',
      resource: 'projects',
      verb: 'get',
      name: project,
      team_id: team,
    },
  }),
  'profile.create_api_key': () => ({ name: 'ci' }),
  'profile.rotate_api_key': () => ({}),
  'profile.regenerate_api_key': () => ({}),
  'profile.change_password': () => ({
    current_password: 'not the one',
    new_password: 'long enough',
    confirm_password: 'long enough',
  }),
  'profile.confirm_email': () => ({ token: 'not the one' }),
  'users.confirm_email': () => ({}),
  'users.create': () => ({ email: `${newId()}@example.com`, name: 'New', password: 'long enough', role: 'requester' }),
  'users.update': () => ({ name: 'Renamed' }),
  'service_accounts.create': ({ team }) => ({ name: 'deploy', role: 'requester', owner: { team_id: team } }),
  'service_accounts.update': () => ({ name: 'Renamed' }),
  'service_accounts.transfer': ({ team }) => ({ owner: { team_id: team } }),
  'service_account_keys.create': () => ({ name: 'ci' }),
  'service_account_keys.rotate': () => ({}),
  'organizations.create': () => ({ name: `Organization ${newId()}` }),
  'organizations.update': () => ({ name: 'Renamed' }),
  'organizations.transfer': ({ person }) => ({ new_owner_user_id: person }),
  'teams.transfer': ({ organization }) => ({ organization_id: organization }),
  'projects.transfer': ({ team }) => ({ team_id: team }),
  'organization_invitations.create': ({ team }) => ({ email: `${newId()}@example.com`, team_id: team }),
  'team_invitations.create': () => ({ email: `${newId()}@example.com` }),
  'invitations.accept': () => ({ token: 'none' }),
  'organization_members.set': () => ({ role: 'member' }),
  'teams.create': () => ({ name: 'Platform' }),
  'teams.update': () => ({ name: 'Renamed' }),
  'team_members.set': () => ({ role: 'viewer' }),
  'projects.create': ({ team }) => ({ team_id: team, name: 'Network' }),
  'projects.update': () => ({ name: 'Renamed' }),
  'environments.create': ({ project }) => ({ project_id: project, name: 'Staging', kind: 'staging' }),
  'environments.update': () => ({ name: 'Renamed' }),
  'environments.lock': () => ({ reason: 'An incident' }),
  'environments.set_freeze_windows': () => ({ freeze_windows: [] }),
  'signing_keys.rotate': () => ({ withdraw_others: true }),
  'quotas.set': () => ({ limits: { instances: 100 } }),
  'apply_pause.set': () => ({ reason: 'An incident' }),
  'settings.update': () => ({ sign_in_notice: `Notice ${newId()}` }),
  'environment_variables.set': () => ({ value: 'eu', category: 'template' }),
  'environment_variables.replace': () => ({ variables: [{ name: 'REGION', value: 'eu', category: 'template' }] }),
  'templates.create': ({ team }) => ({ team_id: team, name: 'Network' }),
  'templates.update': () => ({ description: 'Changed' }),
  'template_versions.publish': () => ({ version: '2.0.0', spec: sayHello }),
  'template_versions.validate': () => ({ variables: {} }),
  'template_versions.yank': () => ({ reason: 'Replaced' }),
  'template_versions.run': ({ environment }) => ({ environment_id: environment }),
  'connections.create': ({ team }) => ({ ...genericConnection(), ...(team !== undefined && { team_id: team }) }),
  'connections.update': () => ({ name: `Renamed ${newId()}` }),
  'connections.test': () => ({}),
  'connections.rotate': () => ({ credentials: { variables: { TOKEN: 'replaced' } } }),
  'variable_sets.create': ({ team }) => ({ name: 'Shared', team_id: team }),
  'variable_sets.update': () => ({ name: 'Renamed' }),
  'variable_set_variables.set': () => ({ value: 'eu', category: 'template' }),
  'variable_set_variables.replace': () => ({ variables: [{ name: 'REGION', value: 'eu', category: 'template' }] }),
  'variable_set_attachments.replace': ({ environment }) => ({ project_ids: [], environment_ids: [environment] }),
  'project_connections.replace': ({ connection }) => ({ cloud: { connection_id: connection } }),
  'environment_connections.replace': ({ connection }) => ({ cloud: { connection_id: connection, phases: ['apply'] } }),
  'schedules.create': yearly,
  'schedules.update': () => ({ name: 'Renamed' }),
  'notification_preferences.replace': () => ({ preferences: [{ kind: 'run.finished', page: false }] }),
  'notification_channels.create': ({ team }) => ({ ...signing, team_id: team }),
  'notification_channels.update': () => ({ name: 'Renamed' }),
  'notification_channels.rotate': () => ({}),
  'webhooks.create': ({ team }) => ({ ...hearing, team_id: team }),
  'webhooks.update': () => ({ name: 'Renamed' }),
  'webhooks.rotate': () => ({}),
  ...pluginBodies,
  'assemblies.create': ({ team }) => ({ team_id: team, name: `Landscape ${newId()}` }),
  'assemblies.update': () => ({ description: 'Changed' }),
  'assemblies.save_draft': ({ template }) => ({ spec: { nodes: { network: { template } } } }),
  'assemblies.validate': () => ({}),
  'assemblies.publish': () => ({ version: '2.0.0' }),
  'assemblies.run': ({ environment }) => ({ environment_id: environment }),
  'assemblies.cancel_run': () => ({}),
  'assemblies.approve_node': () => ({ decision: 'approve', plan_digest: `sha256:${'0'.repeat(64)}` }),
  'drift_monitors.create': ({ environment, template }) => ({
    ...(environment === undefined ? { template_id: template } : { environment_id: environment }),
    schedule: { every: 'PT6H' },
  }),
  'drift_monitors.update': () => ({ enabled: false }),
  'drift_monitors.set_ignore_rules': () => ({ rules: [{ address: '*', path: 'tags.*' }] }),
  'drift_findings.suppress': ({ evidence = newId() }) => ({
    evidence_id: evidence,
    reason: 'Accepted',
    until: inAWeek(),
  }),
  'drift_findings.suppress_many': ({ finding, evidence = newId() }) => ({
    findings: [{ id: finding, evidence_id: evidence }],
    reason: 'Accepted',
    until: inAWeek(),
  }),
  'drift_findings.reopen': () => ({ reason: 'It is not right' }),
  'drift_findings.remediate': ({ evidence = newId() }) => ({
    evidence_id: evidence,
    expected_revision: 1,
    direction: 'revert',
  }),
  'runs.create': ({ template, environment }) => ({ template_id: template, environment_id: environment }),
  'runs.request_approval': () => ({}),
  'runs.review': () => ({ decision: 'approve', plan_digest: `sha256:${'0'.repeat(64)}` }),
  'selective_undo.promote': () => ({ candidate_digest: `hmac-sha256:${'0'.repeat(64)}`, accepted_collateral: [] }),
  'runs.cancel': () => ({}),
  'instances.create': ({ template, environment }) => ({
    template_id: template,
    environment_id: environment,
    name: `made-${newId()}`,
  }),
  'runs.copy': () => ({}),
  'run_comments.create': () => ({ text: 'Looks good.' }),
  'instances.import_state': () => ({ version: 4, serial: 1, lineage: 'a', resources: [] }),
  'worker_pools.create': () => ({ name: `pool-${newId()}` }),
  'worker_pools.update': () => ({ isolation: 'sandbox' }),
};

export interface Request {
  readonly ids: Ids;
  readonly key?: string | undefined;
  readonly body?: string | undefined;
  /** Replaces the operation's own path. */
  readonly path?: string | undefined;
  readonly headers?: Record<string, string>;
}

/** Sends a request to an operation, with its example body unless the request has one. Event streams are not read. */
export async function ask(
  { url }: { readonly url: string },
  operation: Operation,
  { key, ids, body, path = pathOf(operation, ids), headers }: Request,
): Promise<{ status: number; text: string; location: string | null }> {
  const content = body ?? (operation.body ? JSON.stringify(bodies[operation.id]?.(ids) ?? {}) : undefined);
  const stop = new AbortController();
  const response = await fetch(url + path, {
    method: routeOf(operation).method,
    headers: {
      ...(key && { 'x-api-key': key }),
      ...(content !== undefined && { 'content-type': 'application/json' }),
      ...(operation.idempotency === 'required' && { 'idempotency-key': randomUUID() }),
      ...headers,
    },
    ...(content !== undefined && { body: content }),
    signal: stop.signal,
  });
  const isEventStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  const text = isEventStream ? '' : await response.text();
  stop.abort();
  return { status: response.status, text, location: response.headers.get('location') };
}
