import { type Expression, type Kysely, type SqlBool, sql } from 'kysely';
import { jsonObjectFrom } from 'kysely/helpers/postgres';
import type { Em } from '#database/database.ts';
import { isDatabaseUnreachable } from '#database/errors.ts';
import type { ParameterOf } from '#database/queries.ts';
import { db, type Over, prepare } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { Unauthenticated } from '../errors.ts';
import type { OrganizationRole, TeamRole } from '../vocabulary/roles.ts';
import { sharePrincipal } from './authority-lock.ts';
import {
  type AccountOwner,
  AuthorizationUnavailable,
  type Credential,
  noCredential,
  type Principal,
  type PrincipalSnapshot,
  toPrincipal,
} from './principal.ts';

type PrincipalTable = Over<{ p: 'principals' }>;

/** Selects everything that a decision needs about the principal in the row `p` (a `PrincipalSnapshot`). */
export function selectPrincipal(eb: PrincipalTable) {
  return [
    'p.id',
    'p.kind',
    'p.name',
    'p.role',
    'p.enabled',
    eb.selectFrom('users').whereRef('users.id', '=', 'p.id').select('users.email').as('email'),
    eb.case().when('p.kind', '=', 'service_account').then(selectOwner(eb)).end().as('owner'),
    selectOrganizations(eb).$asScalar().$notNull().as('organizations'),
    selectTeams(eb).$asScalar().$notNull().as('teams'),
    selectFeatures(eb).as('features'),
  ] as const;
}

/** The user or the team that owns a service account; null if the owner was deleted. */
function selectOwner(eb: PrincipalTable) {
  return jsonObjectFrom(
    eb
      .selectFrom('service_accounts as a')
      .leftJoin('principals as ou', (join) => join.onRef('ou.id', '=', 'a.ownerUserId').on('ou.deletedAt', 'is', null))
      .leftJoin('teams as ot', (join) => join.onRef('ot.id', '=', 'a.ownerTeamId').on('ot.deletedAt', 'is', null))
      .leftJoin('organizations as oo', (join) =>
        join.onRef('oo.id', '=', 'ot.organizationId').on('oo.deletedAt', 'is', null),
      )
      .whereRef('a.id', '=', 'p.id')
      .where((owner) => owner.or([owner('ou.id', 'is not', null), owner('oo.id', 'is not', null)]))
      .select(['ou.id as userId', 'ot.id as teamId', 'oo.id as organizationId']),
  ).$castTo<AccountOwner | null>();
}

function selectOrganizations(eb: PrincipalTable) {
  return eb
    .selectFrom('organization_members as m')
    .innerJoin('organizations as o', 'o.id', 'm.organizationId')
    .whereRef('m.principalId', '=', 'p.id')
    .where('o.deletedAt', 'is', null)
    .select((of) => rolesById<OrganizationRole>(of.ref('m.organizationId'), of.ref('m.role')).as('roles'));
}

function selectTeams(eb: PrincipalTable) {
  return eb
    .selectFrom('team_members as m')
    .innerJoin('teams as t', 't.id', 'm.teamId')
    .whereRef('m.principalId', '=', 'p.id')
    .where('t.deletedAt', 'is', null)
    .select((of) => rolesById<TeamRole>(of.ref('m.teamId'), of.ref('m.role')).as('roles'));
}

/** Selects the closed features together with the principal, so that every check that has the caller also has them. */
function selectFeatures(eb: PrincipalTable) {
  const set = sql<unknown>`coalesce(${sql.ref('settings.document')} -> 'features', '{}')`;
  return eb.selectFrom('settings').select(set.as('set')).$asScalar();
}

function rolesById<Role extends string>(id: Expression<string>, role: Expression<Role>) {
  return sql<Record<string, Role>>`coalesce(jsonb_object_agg(${id}, ${role}), '{}')`;
}

/** Principals by their ids as they are now, with no credential. Deleted ones are left out. */
export async function readPrincipals(em: Em, ids: readonly string[]): Promise<Map<string, Principal>> {
  if (ids.length === 0) return new Map();
  const found: PrincipalSnapshot[] = await db(em)
    .selectFrom('principals as p')
    .where('p.id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .where('p.deletedAt', 'is', null)
    .select(selectPrincipal)
    .execute();
  return new Map(found.map((snapshot) => [snapshot.id, toPrincipal(snapshot, noCredential(snapshot.id))]));
}

type Caller = { id: string; credentialId: string };

/** Finds a principal by its id, if its credential is still valid. */
const findByCredential = {
  system: prepare((db, parameter: ParameterOf<Caller>) => selectCaller(db, parameter)),
  session: prepare((db, parameter: ParameterOf<Caller>) =>
    selectCaller(db, parameter).where(isCredentialValid('session', parameter('credentialId'))),
  ),
  api_key: prepare((db, parameter: ParameterOf<Caller>) =>
    selectCaller(db, parameter).where(isCredentialValid('api_key', parameter('credentialId'))),
  ),
} satisfies Record<Credential['type'], unknown>;

/**
 * The condition that a credential is still valid. Its expiry is compared with the clock and not with the transaction's start,
 * because the transaction may have waited for a lock since then.
 */
export function isCredentialValid(type: Credential['type'], id: string) {
  const clock = sql<string>`clock_timestamp()`;
  return (eb: PrincipalTable): Expression<SqlBool> => {
    if (type === 'system') return eb.lit(true);
    if (type === 'session') {
      const session = eb.selectFrom('sessions as s').where('s.id', '=', id).where('s.revokedAt', 'is', null);
      return eb.exists(session.where('s.expiresAt', '>', clock).select('s.id'));
    }
    const key = eb.selectFrom('api_keys as k').where('k.id', '=', id).where('k.revokedAt', 'is', null);
    return eb.exists(
      key.where((of) => of.or([of('k.expiresAt', 'is', null), of('k.expiresAt', '>', clock)])).select('k.id'),
    );
  };
}

function selectCaller(db: Kysely<Tables>, parameter: ParameterOf<Caller>) {
  return db
    .selectFrom('principals as p')
    .where('p.id', '=', parameter('id'))
    .where('p.deletedAt', 'is', null)
    .select(selectPrincipal);
}

/**
 * Shares a principal's authority until the commit, and reads it. Undefined if it was deleted. This takes two statements, sent together: a
 * single one that waits for the lock would use the snapshot from before the wait, and would still find memberships that were removed during
 * the wait.
 */
export function lockPrincipal(tx: Em, principal: Pick<Principal, 'id' | 'credential'>): Promise<Principal | undefined> {
  return lockAndRead(tx, principal, findByCredential.system);
}

/** `lockPrincipal` for the caller of a command: undefined also if the credential of the request is no longer valid. */
export function lockCaller(tx: Em, caller: Principal): Promise<Principal | undefined> {
  return lockAndRead(tx, caller, findByCredential[caller.credential.type]);
}

/**
 * The caller of a request as it is now, without a lock.
 * @throws Unauthenticated if the credential of the request is no longer valid; AuthorizationUnavailable if the database cannot be reached
 */
export async function readCaller(em: Em, { id, credential }: Principal): Promise<Principal> {
  const found = findByCredential[credential.type](em, { id, credentialId: credential.id });
  const [snapshot] = await found.catch((error: unknown) => {
    throw isDatabaseUnreachable(error) ? new AuthorizationUnavailable(error) : error;
  });
  if (!snapshot?.enabled) throw new Unauthenticated('the credential is no longer valid');
  return toPrincipal(snapshot, credential);
}

/** Reads the caller again after the changes of the transaction: a command may have changed the caller's own memberships. */
export async function readCallerAgain(tx: Em, caller: Principal): Promise<Principal> {
  const { id, credential } = caller;
  const [snapshot] = await findByCredential.system(tx, { id, credentialId: credential.id });
  return snapshot ? toPrincipal(snapshot, credential) : caller;
}

async function lockAndRead(
  tx: Em,
  { id, credential }: Pick<Principal, 'id' | 'credential'>,
  find: (typeof findByCredential)[Credential['type']],
): Promise<Principal | undefined> {
  const [, [snapshot]] = await Promise.all([sharePrincipal(tx, { id }), find(tx, { id, credentialId: credential.id })]);
  return snapshot && toPrincipal(snapshot, credential);
}
