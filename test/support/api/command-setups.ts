import type { Orm } from '#database/database.ts';
import { newId } from '#domain/shared/ids.ts';
import { registerWorker } from '#domain/workers/store.ts';
import { addPerson, addTeam, type Person, publish } from '../access/people.ts';
import { Caller } from './caller.ts';
import type { Ids, Request } from './operation-requests.ts';

/** A running API, with its database and an administrator. */
export interface SetupApi {
  readonly url: string;
  readonly orm: Orm;
  readonly root: Person;
}

/** What a request needs in addition to a new tenant, so that the command succeeds. */
export type Setup = Partial<Omit<Request, 'body'>> & { readonly body?: object };
type MakeSetup = (api: SetupApi, ids: Ids) => Promise<Setup>;

const digest = `sha256:${'0'.repeat(64)}`;
const password = 'correct horse battery';
const secret = (of: string) => `secret-of-${of}-${newId()}`;

/** The spec of a template that takes a secret variable. */
const withSecret = {
  variables: { type: 'object', properties: { token: { type: 'string', writeOnly: true } } },
  executor: { kind: 'command', apply: [{ name: 'work', run: ['true'] }] },
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
    `update runs set status = 'pending_approval', phase = 'approval', plan_digest = ?, approval_required = 2,
        plan_summary = '{"add": 0, "change": 0, "destroy": 0}' where id = ?`,
    [digest, run],
  );
  return { key: (await addPerson(api, 'admin')).key };
}

/** A new user who has a session and no other credential. */
async function signIn(api: SetupApi): Promise<Setup & { readonly id: string }> {
  const { id, email } = await addPerson(api, 'requester', {}, password);
  const { body } = await new Caller(api.url, {}).post('/auth/sessions', { email, password });
  return { id, key: undefined, headers: { authorization: `Bearer ${body.token}` } };
}

async function ownKey(api: SetupApi, ids: Ids): Promise<Setup> {
  const { key, keyId } = await addPerson(api, 'requester');
  return { key, ids: { ...ids, key: keyId } };
}

/** Adds a resource without dependents, so that it can be deleted. */
function empty(kind: keyof Ids, path: (ids: Ids) => string, body: (ids: Ids) => object): MakeSetup {
  return async ({ root }, ids) => {
    const made = await root.caller.post(path(ids), body(ids));
    if (made.status !== 201) throw new Error(`could not create the ${kind}: ${made.text}`);
    return { ids: { ...ids, [kind]: made.body.id } };
  };
}

async function addPool({ root }: SetupApi): Promise<Setup> {
  const { headers } = await root.caller.post('/worker-pools', { name: `pool-${newId()}` });
  return { path: headers.get('location') ?? undefined };
}

async function runWithSecret({ root }: SetupApi, { team, environment }: Ids) {
  const template = await publish(root.caller, withSecret, team);
  return { template_id: template, environment_id: environment, variables: { token: secret('run') } };
}

/** Setups by operation id. Other commands succeed on a new tenant without one. */
export const setups: Readonly<Record<string, MakeSetup>> = {
  'bootstrap.admin': async () => ({
    key: undefined,
    headers: { 'x-service-bootstrap-token': secret('bootstrap') },
    body: { email: 'first@example.com', name: 'First', password: secret('first') },
  }),
  'auth.sign_in': async (api) => {
    const { email } = await addPerson(api, 'requester', {}, password);
    return { key: undefined, body: { email, password } };
  },
  'auth.sign_out': async (api) => ({ ...(await signIn(api)), path: '/api/v1/auth/sessions/current' }),
  'auth.reset_password': async ({ root }, { person }) => {
    const { body } = await root.caller.post(`/users/${person}/password-reset`);
    return { key: undefined, body: { token: body.token, new_password: secret('reset') } };
  },
  'profile.rotate_api_key': ownKey,
  'profile.revoke_api_key': ownKey,
  'profile.change_password': async (api) => {
    const next = secret('password');
    const body = { current_password: password, new_password: next, confirm_password: next };
    return { ...(await signIn(api)), body };
  },
  'users.update': async () => ({ body: { password: secret('user') } }),
  'runs.create': async (api, ids) => ({ body: await runWithSecret(api, ids) }),
  'template_versions.run': async (api, ids) => {
    const { template_id: template, ...body } = await runWithSecret(api, ids);
    return { ids: { ...ids, template }, body };
  },
  'runs.requeue': endRun,
  'runs.delete': endRun,
  'runs.request_approval': awaitApproval,
  'runs.review': awaitApproval,
  'instances.import_state': async () => ({
    body: {
      version: 4,
      serial: 1,
      lineage: 'a',
      outputs: { token: { value: secret('state'), type: 'string' } },
      resources: [],
    },
  }),
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
  'environment_variables.remove': async ({ root }, { environment }) => {
    const variable = { value: secret('variable'), category: 'template', sensitive: true };
    await root.caller.send('PUT', `/environments/${environment}/variables/REGION`, variable);
    return {};
  },
  'worker_pools.update': addPool,
  'worker_pools.delete': addPool,
  'service_accounts.transfer': async ({ root }) => ({ body: { owner: { user_id: root.id } } }),
  'organizations.archive': endRun,
  'teams.archive': endRun,
  'projects.archive': endRun,
  'environments.archive': endRun,
  'organizations.delete': empty(
    'organization',
    () => '/organizations',
    () => ({ name: `Empty ${newId()}` }),
  ),
  'teams.delete': empty(
    'team',
    ({ organization }) => `/organizations/${organization}/teams`,
    () => ({ name: 'Empty' }),
  ),
  'projects.delete': empty(
    'project',
    () => '/projects',
    ({ team }) => ({ team_id: team, name: 'Empty' }),
  ),
  'environments.delete': empty(
    'environment',
    () => '/environments',
    ({ project }) => ({
      project_id: project,
      name: 'Empty',
      kind: 'staging',
    }),
  ),
  'teams.transfer': async ({ orm }, ids) => {
    const { organizationId: organization, teamId: team } = await addTeam(orm);
    return { ids: { ...ids, organization, team }, body: { organization_id: (await addTeam(orm)).organizationId } };
  },
  'projects.transfer': async (api, ids) => {
    await endRun(api, ids);
    const { body } = await api.root.caller.post(`/organizations/${ids.organization}/teams`, { name: 'Other' });
    return { body: { team_id: body.id } };
  },
  'workers.drain': async ({ orm }, ids) => {
    const facts = { host: 'test', processId: 1, version: '0', pools: ['default'], tools: [], concurrency: 1 };
    const containment = { isolation: 'none', limits: 'process', isolationReason: 'a test' } as const;
    await registerWorker(orm.em.fork(), { id: ids.session, ...facts, ...containment });
    return {};
  },
  'invitations.accept': async (api, { organization }) => {
    const { email, key } = await addPerson(api, 'requester');
    const { body } = await api.root.caller.post(`/organizations/${organization}/invitations`, { email });
    return { key, body: { token: body.token } };
  },
};
