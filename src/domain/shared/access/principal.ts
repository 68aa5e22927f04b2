import { Unavailable } from '../errors.ts';
import { type ClosedFeatures, readClosedFeatures } from '../features/gates.ts';
import type { OrganizationRole, PlatformRole, PrincipalKind, TeamRole } from '../vocabulary/roles.ts';
import { teamRoleOfAccount } from '../vocabulary/roles.ts';

/** The credential with which a request proved the identity of its caller (specification, *Other structures*). */
export interface Credential {
  readonly type: 'session' | 'api_key' | 'system';
  readonly id: string;
  /** The user who issued the API key and answers for its use. */
  readonly issuedBy?: string;
}

/** The owner of a service account: a user or a team. */
export type AccountOwner =
  | { readonly userId: string; readonly teamId: null; readonly organizationId: null }
  | { readonly userId: null; readonly teamId: string; readonly organizationId: string };

/** A principal with everything that a decision about it needs, read by one query. It is never reused for another request. */
export interface Principal {
  readonly id: string;
  readonly kind: PrincipalKind;
  readonly name: string;
  readonly email: string | null;
  readonly role: PlatformRole | null;
  readonly enabled: boolean;
  readonly credential: Credential;
  /** The owner of a service account; null for other kinds, and if the owner was deleted. */
  readonly owner: AccountOwner | null;
  /**
   * The user who answers for what the principal does: users answer for themselves, and the owner answers for a user's service
   * account. For a team's service account it is the user who issued the API key. The four-eyes rule compares these users.
   */
  readonly responsibleUserId: string | null;
  readonly organizations: Readonly<Record<string, OrganizationRole>>;
  readonly teams: Readonly<Record<string, TeamRole>>;
  /** What the settings have turned off for everybody. */
  readonly closedFeatures: ClosedFeatures;
}

/**
 * A stored reference to a principal. It keeps the name that the principal had at that time, even if the principal is renamed or deleted.
 */
export interface PrincipalReference {
  type: PrincipalKind;
  id: string;
  name: string;
}

export function referenceTo({ kind: type, id, name }: Principal): PrincipalReference {
  return { type, id, name };
}

/** A principal as the database has it; `toPrincipal` applies the rules for service accounts. */
export interface PrincipalSnapshot {
  id: string;
  kind: PrincipalKind;
  name: string;
  role: PlatformRole | null;
  enabled: boolean;
  email: string | null;
  owner: AccountOwner | null;
  organizations: Record<string, OrganizationRole>;
  teams: Record<string, TeamRole>;
  /** The features as the settings store them; null: there are no settings. */
  features: unknown;
}

export function toPrincipal({ features, ...stored }: PrincipalSnapshot, credential: Credential): Principal {
  const snapshot = { ...stored, closedFeatures: readClosedFeatures(features) };
  if (snapshot.kind === 'service_account') return toServiceAccount(snapshot, credential);
  return { ...snapshot, credential, responsibleUserId: snapshot.kind === 'user' ? snapshot.id : null };
}

type KnownPrincipal = Omit<PrincipalSnapshot, 'features'> & Pick<Principal, 'closedFeatures'>;

/**
 * A service account acts by its own role, which also decides its role in its teams. In an organization it is only a member,
 * because any higher role would open every team there. A service account without an owner has no role.
 */
function toServiceAccount(snapshot: KnownPrincipal, credential: Credential): Principal {
  const { owner } = snapshot;
  const role = owner && snapshot.role;
  const teams = owner?.teamId ? [owner.teamId] : Object.keys(snapshot.teams);
  const organizations = owner?.organizationId ? [owner.organizationId] : Object.keys(snapshot.organizations);
  return {
    ...snapshot,
    role,
    credential,
    responsibleUserId: owner?.userId ?? credential.issuedBy ?? null,
    teams: role ? Object.fromEntries(teams.map((id) => [id, teamRoleOfAccount[role]])) : {},
    organizations: role ? Object.fromEntries(organizations.map((id) => [id, 'member'])) : {},
  };
}

/** The credential of a principal that a command affects but that did not send the command. */
export function noCredential(id: string): Credential {
  return { type: 'system', id };
}

/** The database is unavailable while the service reads the authority of a caller. The service never guesses (specification, *Errors*). */
export class AuthorizationUnavailable extends Unavailable {
  constructor(cause: unknown) {
    super('authorization is unavailable: the database does not answer; try again', { cause });
  }
}

/** The caller of a public operation, without permissions and without a row. */
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
  closedFeatures: {},
};

/**
 * The id of a principal as answers show it; null for principals without a row, which are known only by name and share one id in all tables.
 */
export function shownIdOf(id: string | null): string | null {
  return id === anonymous.id ? null : id;
}

/** The service itself when it acts without a caller, under the name of its acting part. It has no row and no credential. */
export function systemPrincipal(name: string): Principal {
  return { ...anonymous, name };
}
