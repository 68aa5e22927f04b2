import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { PlatformRole, PrincipalKind } from '#domain/identity/model.ts';
import type { OrganizationRole } from '#domain/organizations/model.ts';
import { teamRoleOfAccount } from '#domain/service-accounts/model.ts';
import type { TeamRole } from '#domain/teams/model.ts';
import { Unavailable } from '../errors.ts';
import { findByCredential, findPrincipals, sharePrincipal } from './principal-rows.ts';

/** By what a request proved who it comes from (specification, *Principal types*). */
export interface Credential {
  readonly type: 'session' | 'api_key' | 'system';
  readonly id: string;
  /** The person who answers for a key. */
  readonly issuedBy?: string;
}

/** Whose a service account is: a user's or a team's. */
export type AccountOwner =
  | { readonly userId: string; readonly teamId: null; readonly organizationId: null }
  | { readonly userId: null; readonly teamId: string; readonly organizationId: string };

/** Who acts, and everything that a decision needs of them, as one query saw it. Never kept for another request. */
export interface Principal {
  readonly id: string;
  readonly kind: PrincipalKind;
  readonly name: string;
  readonly email: string | null;
  readonly role: PlatformRole | null;
  readonly enabled: boolean;
  readonly credential: Credential;
  /** Of a service account; null for everybody else, and where its owner is gone. */
  readonly owner: AccountOwner | null;
  /**
   * The person who answers for what it does: a user for themselves, the user who owns a service account, else whoever
   * issued the key that it came with. Four eyes compares these.
   */
  readonly responsibleUserId: string | null;
  readonly organizations: Readonly<Record<string, OrganizationRole>>;
  readonly teams: Readonly<Record<string, TeamRole>>;
}

/** A principal as `selectPrincipal` reads it. */
export interface PrincipalRow {
  id: string;
  kind: PrincipalKind;
  name: string;
  role: PlatformRole | null;
  enabled: boolean;
  email: string | null;
  owner: AccountOwner | null;
  organizations: Record<string, OrganizationRole>;
  teams: Record<string, TeamRole>;
}

export function toPrincipal(row: PrincipalRow, credential: Credential): Principal {
  if (row.kind === 'service_account') return toServiceAccount(row, credential);
  return { ...row, credential, responsibleUserId: row.kind === 'user' ? row.id : null };
}

/**
 * A service account acts by its own role, which says what it is in a team as well; in an organization it is a mere member,
 * since more would open every team there. One whose owner is gone has no role left.
 */
function toServiceAccount(row: PrincipalRow, credential: Credential): Principal {
  const { owner } = row;
  const role = owner && row.role;
  const responsibleUserId = owner?.userId ?? credential.issuedBy ?? null;
  const teams = owner?.teamId ? [owner.teamId] : Object.keys(row.teams);
  const organizations = owner?.organizationId ? [owner.organizationId] : Object.keys(row.organizations);
  return {
    ...{ ...row, role, credential, responsibleUserId },
    teams: role ? Object.fromEntries(teams.map((id) => [id, teamRoleOfAccount[role]])) : {},
    organizations: role ? Object.fromEntries(organizations.map((id) => [id, 'member'])) : {},
  };
}

/**
 * Locks a principal's row inside a command's transaction against every change of its authority until the commit, and
 * then reads it. Two statements, sent together: one that waits for a lock goes on with what it saw before it waited,
 * so that it would still find the memberships that were taken away meanwhile. Undefined where it is gone.
 */
export function lockPrincipal(tx: Em, principal: Pick<Principal, 'id' | 'credential'>): Promise<Principal | undefined> {
  return lockAndRead(tx, principal, findByCredential.system);
}

/** `lockPrincipal` for whoever asks: undefined also where the credential that the request came by no longer counts. */
export function lockCaller(tx: Em, caller: Principal): Promise<Principal | undefined> {
  return lockAndRead(tx, caller, findByCredential[caller.credential.type]);
}

/**
 * Held, before any row, by commands that change what a principal is or comes by: memberships, keys, sessions. Each shares
 * the row of its caller and takes the row that it changes; two that do so to each other, or one caller to themselves
 * twice, would wait for each other.
 */
export function authorityLock(principalId: string): string {
  return `principals/${principalId}`;
}

/**
 * Waits until no command is under way that a principal gave by what is being taken away from it (its row is shared by each
 * until the commit), and keeps the next ones waiting until this is committed. To be called when the change is made: who
 * comes then reads it.
 */
export async function lockAgainstUse(tx: Em, principalId: string): Promise<void> {
  await db(tx).selectFrom('principals').where('id', '=', principalId).select('id').forNoKeyUpdate().execute();
}

async function lockAndRead(
  tx: Em,
  { id, credential }: Pick<Principal, 'id' | 'credential'>,
  find: (typeof findByCredential)[Credential['type']],
): Promise<Principal | undefined> {
  const [, [row]] = await Promise.all([sharePrincipal(tx, { id }), find(tx, { id, credentialId: credential.id })]);
  return row && toPrincipal(row, credential);
}

/** Principals as they are now, by their ids, whatever they came by; those that are gone are left out. */
export async function readPrincipals(em: Em, ids: readonly string[]): Promise<Map<string, Principal>> {
  if (ids.length === 0) return new Map();
  const rows = await findPrincipals(em, ids);
  return new Map(rows.map((row) => [row.id, toPrincipal(row, noCredential(row.id))]));
}

/** Of somebody who is spoken of, and does not ask. */
export function noCredential(id: string): Credential {
  return { type: 'system', id };
}

/** A database that does not answer while somebody is being identified: never a guess (access.md, rule 6). */
export class AuthorizationUnavailable extends Unavailable {
  constructor(cause: unknown) {
    super('authorization is unavailable: the database does not answer; try again', { cause });
  }
}

/** Whoever calls a public operation. It has no permission and no row. */
export const anonymous: Principal = {
  id: '00000000-0000-0000-0000-000000000000',
  kind: 'system',
  name: 'anonymous',
  email: null,
  role: null,
  enabled: true,
  credential: { type: 'system', id: '00000000-0000-0000-0000-000000000000' },
  owner: null,
  responsibleUserId: null,
  organizations: {},
  teams: {},
};

/** The service itself, by the name of what acts in it unasked. It has no row and no credential either. */
export function systemPrincipal(name: string): Principal {
  return { ...anonymous, name };
}
