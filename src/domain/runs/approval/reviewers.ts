import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { EnvironmentTarget } from '#domain/environments/store.ts';
import { findAdministrators } from '#domain/identity/users/store.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { readPrincipals } from '#domain/shared/access/store.ts';
import type { OrganizationRole, PlatformRole, TeamRole } from '#domain/shared/vocabulary/roles.ts';
import { type ApprovalFacts, countApprovals, findObstacle, type ReviewObstacle, responsiblePerson } from './rules.ts';
import { type ApprovalShortage, findShortage } from './shortage.ts';
import { readApprovalFacts } from './store.ts';

/** A member of a team or an administrator of its organization, and how they stand to reviews of the team's runs. */
export interface PossibleReviewer {
  readonly type: 'user' | 'service_account';
  readonly id: string;
  readonly name: string;
  readonly role: PlatformRole | null;
  readonly teamRole: TeamRole | null;
  readonly organizationRole: OrganizationRole | null;
  /** Null: they may approve. */
  readonly obstacle: ReviewObstacle | null;
}

/** The maximum number of people in one answer. */
export const maxPossibleReviewers = 500;

interface PossibleReviewers {
  readonly reviewers: readonly PossibleReviewer[];
  readonly isCut: boolean;
  /** Why too few people can approve; null if enough can, or if the required number is not known. */
  readonly shortage: ApprovalShortage | null;
}

/**
 * Who may approve the runs of a team in general. The rule that the requester of a run may not approve it is not applied, since no single
 * run is known here.
 */
export async function findTeamReviewers(em: Em, owner: Ownership): Promise<PossibleReviewers> {
  return findReviewers(em, owner, anyRunOf(owner));
}

/** Who may approve the runs in an environment, and whether they are enough for its policy. */
export async function findEnvironmentReviewers(em: Em, environment: EnvironmentTarget): Promise<PossibleReviewers> {
  const { approvalWhen, approvalRequired, approvalAllowSelf: allowSelf } = environment;
  const required = approvalWhen === 'never' ? 0 : approvalRequired;
  return findReviewers(em, environment, { ...anyRunOf(environment), required, allowSelf });
}

/** Who may approve one run. Its reader may know the members of its team. */
export async function findRunReviewers(em: Em, runId: string): Promise<PossibleReviewers> {
  const facts = await readApprovalFacts(em, runId);
  return findReviewers(em, facts.owner, facts);
}

/**
 * The ids of the users other than the asker who may approve a run now: of its team and of those who administer its organization, as many as
 * `maxPossibleReviewers`. If none of them may, those of the administrators of the installation who may. Service accounts are left out:
 * nothing notifies them.
 */
export async function findUsersToAsk(em: Em, runId: string, askerId: string): Promise<string[]> {
  const facts = await readApprovalFacts(em, runId);
  const { reviewers } = await findReviewers(em, facts.owner, facts);
  const able = reviewers.filter(({ type, id, obstacle }) => type === 'user' && id !== askerId && obstacle === null);
  return able.length > 0 ? able.map(({ id }) => id) : findAdministratorsOf(em, facts, askerId);
}

/** The ids of the administrators of the installation other than the asker who may approve a run now. */
export async function findAdministratorsToAsk(em: Em, runId: string, askerId: string): Promise<string[]> {
  return findAdministratorsOf(em, await readApprovalFacts(em, runId), askerId);
}

async function findAdministratorsOf(em: Em, facts: ApprovalFacts, askerId: string): Promise<string[]> {
  const administrators = await readPrincipals(em, await findAdministrators(em));
  const others = [...administrators.values()].filter(({ id }) => id !== askerId);
  return others.filter((each) => findObstacle(facts, each) === null).map(({ id }) => id);
}

async function findReviewers(em: Em, owner: Ownership, facts: ApprovalFacts): Promise<PossibleReviewers> {
  const ids = await findCandidates(em, owner);
  const principals = await readPrincipals(em, ids.slice(0, maxPossibleReviewers));
  const reviewers = ids.flatMap((id) => {
    const principal = principals.get(id);
    return principal ? [describe(principal, owner, facts)] : [];
  });
  const able = reviewers.filter(({ obstacle }) => obstacle === null).flatMap(({ id }) => principals.get(id) ?? []);
  const shortage = await readShortage(em, facts, new Set(able.map(responsiblePerson)));
  return { reviewers, isCut: ids.length > maxPossibleReviewers, shortage };
}

/**
 * Whether the members who may approve, and the administrators of the installation, are enough. If the facts are not those of a single run,
 * any of these people may be the author of a run.
 */
async function readShortage(
  em: Em,
  facts: ApprovalFacts,
  members: ReadonlySet<string>,
): Promise<ApprovalShortage | null> {
  const needed = facts.required - countApprovals(facts);
  if (needed < members.size || needed <= 0) return null;
  const principals = await readPrincipals(em, await findAdministrators(em));
  const able = [...principals.values()].filter((each) => findObstacle(facts, each) === null);
  const administrators = new Set(able.map(responsiblePerson));
  return findShortage(needed, !facts.allowSelf && facts.requesters.length === 0, { members, administrators });
}

function describe(principal: Principal, { teamId, organizationId }: Ownership, facts: ApprovalFacts): PossibleReviewer {
  const { id, kind, name, role } = principal;
  return {
    type: kind === 'user' ? 'user' : 'service_account',
    id,
    name,
    role,
    teamRole: principal.teams[teamId ?? ''] ?? null,
    organizationRole: principal.organizations[organizationId ?? ''] ?? null,
    obstacle: findObstacle(facts, principal),
  };
}

/**
 * The ids of a team's members and of those who administer its organization, by name. Administrators of the installation are not listed:
 * tenants do not know them.
 */
async function findCandidates(em: Em, { teamId, organizationId }: Ownership): Promise<string[]> {
  const inTeam = db(em).selectFrom('team_members as m').where('m.teamId', '=', teamId).select('m.principalId');
  const administering = db(em)
    .selectFrom('organization_members as m')
    .where('m.organizationId', '=', organizationId)
    .where('m.role', 'in', ['owner', 'admin'])
    .select('m.principalId');
  const rows = await db(em)
    .selectFrom('principals as p')
    .where('p.deletedAt', 'is', null)
    .where((eb) => eb.or([eb('p.id', 'in', inTeam), eb('p.id', 'in', administering)]))
    .orderBy(sql`lower(p.name)`)
    .orderBy('p.id')
    .select('p.id')
    .limit(maxPossibleReviewers + 1)
    .execute();
  return rows.map(({ id }) => id);
}

/** The facts that all runs of an owner have in common: nobody is known to answer for them. */
function anyRunOf(owner: Ownership): ApprovalFacts {
  return {
    planDigest: null,
    required: 0,
    allowSelf: true,
    expiresAt: null,
    templateVersion: '',
    owner,
    reviewNeeds: [],
    requesters: [],
    publishers: [],
    authors: [],
    reviews: [],
  };
}
