import type { Orm } from '#database/database.ts';
import { newId } from '#domain/shared/ids.ts';
import { registerWorker } from '#domain/workers/store.ts';
import { addKey, addPerson, type Person, publish, sayHello } from '../access/people.ts';
import { mergeDeclared } from '../areas/declared.ts';
import { deploy } from '../drift/drift-rows.ts';
import { PluginAdministrator } from '../plugins/plugin-world.ts';
import { carryOutNext } from '../plugins/restoring.ts';
import { Caller } from './caller.ts';
import type { Request } from './operation-requests.ts';
import type { Ids } from './tenant-ids.ts';

/** A running API, with its database and an administrator. */
export interface SetupApi {
  readonly url: string;
  readonly orm: Orm;
  readonly root: Person;
}

/** The parts of a request that differ from the tenant's ids, the example `bodies` and the administrator's key. */
export interface Setup extends Partial<Omit<Request, 'ids' | 'body'>> {
  readonly ids?: Partial<Ids>;
  readonly body?: object;
}

export type MakeSetup = (api: SetupApi, ids: Ids) => Promise<Setup>;

/** The token of an API whose first administrator a test creates. */
export const bootstrapToken = `secret-of-bootstrap-${newId()}`;

const digest = `sha256:${'0'.repeat(64)}`;
const password = 'correct horse battery';
const secret = (of: string) => `secret-of-${of}-${newId()}`;

/** The spec of a template that takes a secret variable. */
const withSecret = {
  variables: { type: 'object', properties: { token: { type: 'string', writeOnly: true } } },
  executor: { kind: 'command', apply: [{ name: 'work', run: ['true'] }] },
};

/** The spec of a template that can be scanned. */
const detectable = {
  executor: {
    kind: 'command',
    apply: [{ name: 'work', run: ['true'] }],
    detect: [{ name: 'look', run: ['true'] }],
  },
};

async function endRun({ orm }: SetupApi, { run }: Ids): Promise<Setup> {
  await orm.em.execute(
    `update runs set status = 'canceled', phase = 'finished', waiting_on = null, finished_at = now() where id = ?`,
    [run],
  );
  return {};
}

/** Makes the run wait for approval. The caller is not the user who requested the run. */
async function awaitApproval(api: SetupApi, { run }: Ids): Promise<Setup> {
  const { orm } = api;
  await orm.em.execute(
    `insert into run_plans (run_id, digest, executor_digest, changes, state_serial, created_at) values (?, ?, ?, '[]', 0, now())`,
    [run, digest, digest],
  );
  await orm.em.execute(
    `update runs set status = 'pending_approval', phase = 'approval', waiting_on = null, plan_digest = ?, approval_required = 2,
        plan_summary = '{"add": 0, "change": 0, "destroy": 0}' where id = ?`,
    [digest, run],
  );
  return { key: (await addPerson(api, 'admin')).key };
}

/** Makes the run wait for approval, and adds somebody beside the caller who may be asked for it. */
async function awaitRequest(api: SetupApi, ids: Ids): Promise<Setup> {
  await addPerson(api, 'admin');
  return awaitApproval(api, ids);
}

/** Ends a run as one that has deployed its instance. */
async function deployed({ orm }: SetupApi, run: string): Promise<void> {
  await orm.em.execute(
    `update runs set status = 'succeeded', phase = 'finished', waiting_on = null, finished_at = now(), state_serial_after = 1
      where id = ?`,
    [run],
  );
  await orm.em.execute(
    `update instances set deployed_run_id = r.id, state_serial = 1, resource_count = 1 from runs r
      where r.id = ? and instances.id = r.instance_id`,
    [run],
  );
}

/** Makes an attempt at undoing a second run of the instance, in a state. */
async function undoIn(state: string, api: SetupApi, ids: Ids): Promise<Setup> {
  const { orm, root } = api;
  const { template, environment } = ids;
  await deployed(api, ids.run);
  await root.caller.post(`/registry/templates/${template}/versions`, { version: '2.0.0', spec: sayHello });
  const { body: run } = await root.caller.post('/runs', { template_id: template, environment_id: environment });
  await deployed(api, run.id);
  const { body: attempt } = await root.caller.send('POST', `/runs/${run.id}/selective-undo/check`, undefined, {
    'idempotency-key': newId(),
  });
  await orm.em.execute(
    `update runs set status = 'succeeded', phase = 'finished', waiting_on = null, finished_at = now()
      where id = (select baseline_run_id from selective_undo_attempts where id = ?)`,
    [attempt.id],
  );
  await orm.em.execute(`update selective_undo_attempts set state = ?, problem = null, collateral = '[]' where id = ?`, [
    state,
    attempt.id,
  ]);
  await orm.em.execute(
    `insert into selective_undo_candidate_checks (id, attempt_id, run_id, state, requested_by_id, requested_by_type, requested_by_name, created_at)
      values (gen_random_uuid(), ?, gen_random_uuid(), 'passed', gen_random_uuid(), 'user', 'Ana', now())`,
    [attempt.id],
  );
  const body = { candidate_digest: attempt.candidate.digest, accepted_collateral: [] };
  return { ids: { selectiveUndo: attempt.id }, ...(state === 'promotable' && { body }) };
}

/** Makes the assembly run go on. */
async function continueAssemblyRun({ orm }: SetupApi, { assemblyRun }: Ids): Promise<Setup> {
  const sql = `update assembly_runs set status = 'running', status_reason = null, finished_at = null where id = ?`;
  await orm.em.execute(sql, [assemblyRun]);
  return {};
}

/** Makes the node of the assembly run wait for approval. */
async function awaitNodeApproval(api: SetupApi, ids: Ids): Promise<Setup> {
  const { run, assemblyRun } = ids;
  await api.orm.em.execute('update runs set assembly_run_id = ? where id = ?', [assemblyRun, run]);
  await api.orm.em.execute(
    `update assembly_nodes set run_id = ?, status = 'pending_approval' where assembly_run_id = ?`,
    [run, assemblyRun],
  );
  return awaitApproval(api, ids);
}

/** Makes the run the deployment of its instance, which holds one resource then. */
async function holdSomething({ orm }: SetupApi, ids: Ids): Promise<Setup> {
  const em = orm.em.fork();
  await deploy((sql, values) => em.execute(sql, values), ids);
  return {};
}

function archived(table: string, name: keyof Ids): MakeSetup {
  return async ({ orm }, ids) => {
    await orm.em.execute(`update ${table} set archived_at = now() where id = ?`, [ids[name]]);
    return {};
  };
}

/** Ends the run and removes what else blocks a deletion. The rest of the tenant is deleted together with the target. */
function withoutBlockers(...changes: [sql: string, name: keyof Ids][]): MakeSetup {
  return async (api, ids) => {
    await endRun(api, ids);
    for (const [sql, name] of changes) await api.orm.em.execute(sql, [ids[name]]);
    return {};
  };
}

/** A new user who has a session and no other credential. */
async function signIn(api: SetupApi): Promise<Setup> {
  const { email } = await addPerson(api, 'requester', {}, password);
  const { body } = await new Caller(api.url, {}).post('/auth/sessions', { email, password });
  return { key: undefined, headers: { authorization: `Bearer ${body.token}` } };
}

/** A new user with two keys. The command names the key that the request does not use, so the request can be repeated. */
async function anotherKey(api: SetupApi): Promise<Setup> {
  const { key, caller } = await addPerson(api, 'requester');
  const { body } = await caller.post('/profile/api-keys', { name: 'to be ended' });
  return { key, ids: { key: body.api_key.id } };
}

/** Changes the address of the tenant's person, so that it is to be confirmed. */
async function unverified({ root }: SetupApi, { person }: Ids): Promise<Setup> {
  await root.caller.send('PUT', `/users/${person}`, { email: `${newId()}@example.com` });
  return {};
}

async function addPool({ root }: SetupApi): Promise<Setup> {
  const { headers } = await root.caller.post('/worker-pools', { name: `pool-${newId()}` });
  return { path: headers.get('location') ?? undefined };
}

async function addOrganization({ root }: SetupApi): Promise<string> {
  return (await root.caller.post('/organizations', { name: `Other ${newId()}` })).body.id;
}

async function runWithSecret({ root }: SetupApi, { team, environment }: Ids) {
  const template = await publish(root.caller, withSecret, team);
  return { template_id: template, environment_id: environment, variables: { token: secret('run') } };
}

/** What each command needs to succeed on a new tenant, by operation id. Other commands succeed without a setup. */
export const setups: Readonly<Record<string, MakeSetup>> = {
  ...mergeDeclared('setups'),
  /** Removes all users: the command creates the first one. */
  'bootstrap.admin': async ({ orm }) => {
    await orm.em.execute('truncate principals cascade');
    return {
      key: undefined,
      headers: { 'x-service-bootstrap-token': bootstrapToken },
      body: { email: 'first@example.com', name: 'First', password: secret('first') },
    };
  },
  'auth.sign_in': async (api) => {
    const { email } = await addPerson(api, 'requester', {}, password);
    return { key: undefined, body: { email, password } };
  },
  'auth.sign_out': async (api) => ({ ...(await signIn(api)), path: '/api/v1/auth/sessions/current' }),
  'auth.reset_password': async ({ root }, { person }) => {
    const { body } = await root.caller.post(`/users/${person}/password-reset`);
    return { key: undefined, body: { token: body.token, new_password: secret('reset') } };
  },
  'profile.rotate_api_key': anotherKey,
  'profile.revoke_api_key': anotherKey,
  'profile.regenerate_api_key': async ({ root }) => {
    await root.caller.post('/profile/api-key/regenerate');
    return {};
  },
  'profile.change_password': async (api) => {
    const next = secret('password');
    const body = { current_password: password, new_password: next, confirm_password: next };
    return { ...(await signIn(api)), body };
  },
  'users.issue_email_confirmation': unverified,
  'profile.confirm_email': async (api, ids) => {
    await unverified(api, ids);
    const { body } = await api.root.caller.post(`/users/${ids.person}/email-confirmation-token`);
    return { key: (await addKey(api, ids.person)).key, body: { token: body.token } };
  },
  // The request withdraws the other keys, so there is always one to withdraw.
  'signing_keys.rotate': async ({ root }) => {
    await root.caller.post('/admin/signing-keys/rotate', { withdraw_others: true });
    return {};
  },
  // What the settings were before is part of the audit record, so every request finds a notice.
  'settings.update': async ({ root }) => {
    await root.caller.send('PATCH', '/admin/settings', { sign_in_notice: `Notice ${newId()}` });
    return {};
  },
  // What a person had chosen before is part of the audit record, so every request is that of a new one.
  'notification_preferences.replace': async (api) => ({ key: (await addPerson(api, 'requester')).key }),
  'users.update': async () => ({ body: { name: 'Renamed', password: secret('user') } }),
  'runs.create': async (api, ids) => ({ body: await runWithSecret(api, ids) }),
  'template_versions.run': async (api, ids) => {
    const { template_id: template, ...body } = await runWithSecret(api, ids);
    return { ids: { template }, body };
  },
  'runs.requeue': endRun,
  'runs.copy': endRun,
  'runs.delete': endRun,
  'runs.request_approval': awaitRequest,
  'runs.review': awaitApproval,
  'runs.check_selective_undo': async (api, { run }) => {
    await deployed(api, run);
    return {};
  },
  'selective_undo.check_candidate': (api, ids) => undoIn('ready', api, ids),
  'selective_undo.promote': (api, ids) => undoIn('promotable', api, ids),
  'assemblies.cancel_run': continueAssemblyRun,
  'assemblies.approve_node': awaitNodeApproval,
  'instances.import_state': async () => ({
    body: {
      version: 4,
      serial: 1,
      lineage: 'a',
      outputs: { token: { value: secret('state'), type: 'string' } },
      resources: [],
    },
  }),
  'instances.forget_state': async ({ root }, { instance }) => {
    await root.caller.post(`/instances/${instance}/state`, { version: 4, serial: 1, lineage: 'a', resources: [] });
    return {};
  },
  'templates.delete': endRun,
  'instances.delete': endRun,
  'instances.unlock': async (api, ids) => {
    await endRun(api, ids);
    await api.orm.em.execute(`insert into instance_slots (instance_id, run_id, acquired_at) values (?, ?, now())`, [
      ids.instance,
      ids.run,
    ]);
    return {};
  },
  'environment_variables.set': async () => ({
    body: { value: secret('variable'), category: 'template', sensitive: true },
  }),
  'environment_variables.replace': async () => ({
    body: { variables: [{ name: 'REGION', value: secret('variable'), category: 'template', sensitive: true }] },
  }),
  'connections.create': async (_api, { team }) => ({
    body: {
      name: `New ${newId()}`,
      kind: 'generic',
      team_id: team,
      credentials: { variables: { T: secret('connection') } },
    },
  }),
  'connections.update': async () => ({
    body: { name: `Renamed ${newId()}`, credentials: { variables: { T: secret('changed connection') } } },
  }),
  'connections.rotate': async () => ({ body: { credentials: { files: { T: secret('rotation') } } } }),
  'environment_variables.remove': async ({ root }, { environment }) => {
    const variable = { value: secret('variable'), category: 'template', sensitive: true };
    await root.caller.send('PUT', `/environments/${environment}/variables/REGION`, variable);
    return {};
  },
  'worker_pools.update': addPool,
  'worker_pools.delete': addPool,
  'workers.drain': async ({ orm }, ids) => {
    const facts = { host: 'test', processId: 1, version: '0', pools: ['default'], tools: [], concurrency: 1 };
    const containment = { isolation: 'none', limits: 'process', isolationReason: 'a test' } as const;
    await registerWorker(orm.em.fork(), { id: ids.session, ...facts, ...containment });
    return {};
  },
  'service_accounts.enable': async ({ orm }, { account }) => {
    await orm.em.execute('update principals set enabled = false where id = ?', [account]);
    return {};
  },
  'organization_members.set': async () => ({ body: { role: 'admin' } }),
  'service_accounts.transfer': async ({ root }) => ({ body: { owner: { user_id: root.id } } }),
  'invitations.accept': async (api, { organization }) => {
    const { email, key } = await addPerson(api, 'requester');
    const { body } = await api.root.caller.post(`/organizations/${organization}/invitations`, { email });
    return { key, body: { token: body.token } };
  },
  'organizations.archive': endRun,
  'teams.archive': endRun,
  'projects.archive': endRun,
  'environments.archive': endRun,
  'organizations.unarchive': archived('organizations', 'organization'),
  'teams.unarchive': archived('teams', 'team'),
  'projects.unarchive': archived('projects', 'project'),
  'environments.unarchive': archived('environments', 'environment'),
  'templates.unarchive': archived('templates', 'template'),
  'drift_monitors.scan': async (api, ids) => {
    const detecting = await publish(api.root.caller, detectable, ids.team);
    const [{ id: version }] = await api.orm.em.execute<[{ id: string }]>(
      'select id from template_versions where template_id = ?',
      [detecting],
    );
    await api.orm.em.execute('update runs set template_version_id = ? where id = ?', [version, ids.run]);
    return holdSomething(api, ids);
  },
  'instances.switch_tool': async (api, ids) => {
    const spec = { executor: { kind: 'opentofu', files: { 'main.tf': '' } } };
    const template = await publish(api.root.caller, spec, ids.team);
    await api.orm.em.execute(
      'update runs set template_version_id = (select id from template_versions where template_id = ?) where id = ?',
      [template, ids.run],
    );
    return holdSomething(api, ids);
  },
  'drift_findings.remediate': holdSomething,
  'drift_findings.reopen': async ({ root }, { finding, evidence }) => {
    const until = new Date(Date.now() + 3600_000).toISOString();
    await root.caller.post(`/drift-findings/${finding}/suppress`, { evidence_id: evidence, reason: 'a test', until });
    return {};
  },
  'assemblies.unarchive': archived('assemblies', 'assembly'),
  'organizations.delete': withoutBlockers(['update teams set deleted_at = now() where id = ?', 'team']),
  'teams.delete': withoutBlockers(
    ['update projects set deleted_at = now() where id = ?', 'project'],
    ['update templates set archived_at = now() where id = ?', 'template'],
    ['update assemblies set archived_at = now() where id = ?', 'assembly'],
    ['update principals set deleted_at = now() where id = ?', 'account'],
  ),
  'projects.delete': withoutBlockers(['update environments set deleted_at = now() where id = ?', 'environment']),
  'environments.delete': endRun,
  'environments.unlock': async ({ root }, { environment }) => {
    await root.caller.send('PUT', `/environments/${environment}/lock`, { reason: 'a test' });
    return {};
  },
  'quotas.clear': async ({ root }, { team }) => {
    await root.caller.send('PUT', `/admin/quotas/team/${team}`, { limits: { templates: 100 } });
    return {};
  },
  'plugin_installations.delete': async ({ root }, { pluginResource }) => {
    await new PluginAdministrator(root.caller).deleteResource(pluginResource);
    return {};
  },
  'plugin_resources.restore': async ({ orm, root }, { pluginResource }) => {
    const administrator = new PluginAdministrator(root.caller);
    const path = `/plugin-resources/${pluginResource}`;
    await administrator.deleteResource(pluginResource);
    // If it fails, the request that waits for it fails. A request that is never sent leaves nothing to carry out.
    void carryOutNext(orm, pluginResource).catch(() => undefined);
    return { body: await administrator.stateOf(path) };
  },
  'notifications.take_back': archived('notifications', 'notification'),
  // The notifications of tenants that were added before would make the first answer another one than the next.
  'notifications.read_all': async ({ orm }, { notification }) => {
    await orm.em.execute('update notifications set read_at = now() where id <> ? and read_at is null', [notification]);
    return {};
  },
  'apply_pause.set': async ({ root }) => {
    await root.caller.send('DELETE', '/admin/apply-pause');
    return {};
  },
  'apply_pause.end': async ({ root }) => {
    await root.caller.send('PUT', '/admin/apply-pause', { reason: 'a test' });
    return {};
  },
  'teams.transfer': async (api, { team }) => {
    await api.orm.em.execute('delete from team_members where team_id = ?', [team]);
    return { body: { organization_id: await addOrganization(api) } };
  },
  'projects.transfer': async (api, ids) => {
    await endRun(api, ids);
    const { body } = await api.root.caller.post(`/organizations/${await addOrganization(api)}/teams`, {
      name: 'Other',
    });
    return { body: { team_id: body.id } };
  },
};
