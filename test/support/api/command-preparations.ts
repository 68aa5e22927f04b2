import { hashPassword } from '#domain/identity/passwords/passwords.ts';
import { newId } from '#domain/shared/ids.ts';
import type { Person } from '../access/people.ts';
import type { Ids } from './operation-requests.ts';

/** What a preparation works with: a new tenant, and direct access to the database. */
export interface PreparationContext {
  readonly root: Person;
  readonly ids: Ids;
  execute(sql: string, ...params: unknown[]): Promise<void>;
}

/** The parts of a request that differ from the tenant's ids and the example `bodies`. */
export interface RequestOverrides {
  readonly ids?: Partial<Ids>;
  readonly body?: object;
  /** With a session token, the request comes from the token's user; otherwise from the administrator. */
  readonly headers?: Record<string, string>;
}

type Preparation = (context: PreparationContext) => Promise<RequestOverrides | undefined>;

export const bootstrapToken = 'the token of the proofs';
const password = 'correct horse battery';
const digest = `sha256:${'0'.repeat(64)}`;

const endRun: Preparation = async ({ ids, execute }) => {
  await execute(
    `update runs set status = 'succeeded', phase = 'finished', waiting_on = null, finished_at = now() where id = $1`,
    ids.run,
  );
  return undefined;
};

const awaitApproval: Preparation = async ({ ids, execute }) => {
  await execute(
    `update runs set status = 'pending_approval', phase = 'approval', waiting_on = null, plan_digest = $2, plan_summary = '{"add": 1, "change": 0, "destroy": 0}',
            approval_required = 2, approval_allow_self = true where id = $1`,
    ids.run,
    digest,
  );
  return undefined;
};

const archived =
  (table: string, name: keyof Ids): Preparation =>
  async ({ ids, execute }) => {
    await execute(`update ${table} set archived_at = now() where id = $1`, ids[name]);
    return undefined;
  };

/** Sets an email address and a password for the tenant's user; returns the address. */
async function givePassword({ ids, execute }: PreparationContext): Promise<string> {
  const email = `${newId()}@example.com`;
  await execute(
    `update users set email = $2, email_key = $2, password_hash = $3 where id = $1`,
    ids.person,
    email,
    await hashPassword(password),
  );
  return email;
}

/** Removes what blocks a deletion. */
const withoutBlockers =
  (...changes: [sql: string, name: keyof Ids][]): Preparation =>
  async (context) => {
    await endRun(context);
    for (const [sql, name] of changes) await context.execute(sql, context.ids[name]);
    return undefined;
  };

async function addOrganization(root: Person): Promise<{ id: string }> {
  return (await root.caller.post('/organizations', { name: `Other ${newId()}` })).body;
}

const anotherKey: Preparation = async ({ root }) => {
  const { body } = await root.caller.post('/profile/api-keys', { name: 'to be ended' });
  return { ids: { key: body.api_key.id } };
};

/** Adds the pool that requests about pools name. */
const addPool: Preparation = async ({ execute }) => {
  await execute('truncate worker_pools');
  await execute(`insert into worker_pools (name, created_at) values ('nowhere', now())`);
  return undefined;
};

/** What to do before a command can succeed, by operation id. Other commands need no preparation. */
export const preparations: Readonly<Record<string, Preparation>> = {
  'organizations.archive': endRun,
  'teams.archive': endRun,
  'projects.archive': endRun,
  'environments.archive': endRun,
  'runs.requeue': endRun,
  'runs.delete': endRun,
  'runs.request_approval': awaitApproval,
  'runs.review': awaitApproval,
  'organizations.unarchive': archived('organizations', 'organization'),
  'teams.unarchive': archived('teams', 'team'),
  'projects.unarchive': archived('projects', 'project'),
  'environments.unarchive': archived('environments', 'environment'),
  'templates.unarchive': archived('templates', 'template'),
  'instances.unlock': async (context) => {
    await endRun(context);
    const { ids, execute } = context;
    await execute(`insert into instance_slots values ($1, $2, now())`, ids.instance, ids.run);
    return undefined;
  },
  'environment_variables.remove': async ({ ids, root }) => {
    await root.caller.send('PUT', `/environments/${ids.environment}/variables/REGION`, {
      value: 'eu',
      category: 'template',
    });
    return undefined;
  },
  'worker_pools.update': addPool,
  'worker_pools.delete': addPool,
  'workers.drain': async ({ execute }) => {
    const session = newId();
    await execute(
      `insert into workers values ($1, 'host', 1, '0.1.0', '[]', '[]', 1, false, null, now(), now())`,
      session,
    );
    return { ids: { session } };
  },
  'profile.revoke_api_key': anotherKey,
  'profile.rotate_api_key': anotherKey,
  'profile.regenerate_api_key': async ({ root }) => {
    await root.caller.post('/profile/api-key/regenerate');
    return undefined;
  },
  'invitations.accept': async ({ ids, root }) => {
    const offer = { email: root.email, role: 'member' };
    const { body } = await root.caller.post(`/organizations/${ids.organization}/invitations`, offer);
    return { body: { token: body.token } };
  },
  'service_accounts.transfer': async ({ ids, execute }) => {
    await execute(`update principals set role = 'maintainer' where id = $1`, ids.person);
    return { body: { owner: { user_id: ids.person } } };
  },
  'teams.transfer': async ({ root, ids, execute }) => {
    await execute('delete from team_members where team_id = $1', ids.team);
    return { body: { organization_id: (await addOrganization(root)).id } };
  },
  'projects.transfer': async (context) => {
    await endRun(context);
    const { root } = context;
    const { id } = await addOrganization(root);
    const { body } = await root.caller.post(`/organizations/${id}/teams`, { name: 'Other' });
    return { body: { team_id: body.id } };
  },
  'organizations.delete': withoutBlockers(['update teams set deleted_at = now() where id = $1', 'team']),
  'teams.delete': withoutBlockers(
    ['update projects set deleted_at = now() where id = $1', 'project'],
    ['update templates set archived_at = now() where id = $1', 'template'],
    ['update principals set deleted_at = now() where id = $1', 'account'],
  ),
  'projects.delete': withoutBlockers(['update environments set deleted_at = now() where id = $1', 'environment']),
  'environments.delete': endRun,
  'auth.sign_out': async ({ root, execute }) => {
    const session = newId();
    await execute(`insert into sessions values ($1, $2, now(), now() + interval '1 hour')`, session, root.id);
    return { ids: { session } };
  },
  'auth.sign_in': async (context) => ({ body: { email: await givePassword(context), password } }),
  'auth.reset_password': async ({ ids, root }) => {
    const { body } = await root.caller.post(`/users/${ids.person}/password-reset`);
    return { body: { token: body.token, new_password: 'another good one' } };
  },
  'profile.change_password': async (context) => {
    const email = await givePassword(context);
    const { body } = await context.root.caller.post('/auth/sessions', { email, password });
    return {
      body: { current_password: password, new_password: 'another good one', confirm_password: 'another good one' },
      headers: { authorization: `Bearer ${body.token}` },
    };
  },
  /** Deletes all users, so it must be the last one. */
  'bootstrap.admin': async ({ execute }) => {
    await execute('truncate principals cascade');
    return {
      body: { email: 'first@example.com', name: 'First', password },
      headers: { 'x-service-bootstrap-token': bootstrapToken },
    };
  },
};
