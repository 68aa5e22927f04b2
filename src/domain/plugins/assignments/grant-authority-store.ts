import { type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { EndRecord } from '#domain/shared/access/ended-eligibility.ts';
import { endRecord, firstEnd, onlyGeneration } from '#domain/shared/access/ended-eligibility-store.ts';
import { isCurrentCeiling } from '../ceilings/store.ts';
import type { SelectorType, SubjectType } from '../model.ts';
import { isWithin } from '../places/owner-chain.ts';
import type { OwnershipSnapshot } from '../places/ownership-snapshot.ts';
import type { ScopeStanding } from '../places/scope-end.ts';
import { scopeOf, scopeStanding } from '../places/scope-store.ts';
import type { Absence, Basis, EndRecords, Standing } from './basis.ts';

/** An assignment with the present values that it relies on, read by one statement. */
export interface GrantWithStanding {
  readonly id: string;
  readonly installationId: string;
  readonly actionId: string;
  readonly actionName: string;
  readonly subjectType: SubjectType;
  readonly subjectId: string;
  readonly subjectName: string;
  readonly selectorType: SelectorType;
  readonly selectorId: string;
  readonly basis: Basis;
  readonly grantedBy: string;
  readonly revokedAt: string | null;
  readonly revokedBy: string | null;
  readonly revision: number;
  readonly createdAt: string;
  /** The present owners of the place. */
  readonly ownership: OwnershipSnapshot;
  readonly standing: Standing;
  /** The place as it is now. */
  readonly place: ScopeStanding;
  /** Why the subject cannot use anything at the place; null if it can. */
  readonly absence: Absence | null;
}

/** An assignment as its readers see it. */
export interface ShownGrant extends GrantWithStanding, EndRecords {}

/**
 * Assignments `g` with their action `a`, installation `i`, subject `s` and place `scope`. This is the only definition of what an assignment
 * relies on: both creating and using an assignment read it here.
 */
export function selectGrants(em: Em) {
  return joinSubjects(joinPlaces(em))
    .select(['g.id', 'g.installationId', 'g.actionId', 'a.name as actionName'])
    .select(['g.subjectType', 'g.subjectId', 's.name as subjectName'])
    .select(['g.selectorType', 'g.selectorId', 'g.basis', 'g.grantedBy'])
    .select(['g.revokedAt', 'g.revokedBy', 'g.revision', 'g.createdAt'])
    .select([standing.as('standing'), scopeStanding.as('place'), 'scope.ownership', absence.as('absence')]);
}

const installationPair = sql<string>`concat_ws(' ', g.installation_id, g.basis ->> 'installation')`;

/**
 * Assignments with the end of each part of their basis. A text of `Basis` lists ids, each followed by its generation. A membership
 * has no generation.
 */
export function selectShownGrants(em: Em) {
  const approval = sql<string>`concat_ws(' ', g.basis ->> 'approval', ${onlyGeneration}::int, ${installationPair})`;
  const subject = sql<string>`concat_ws(' ', g.subject_id, replace(g.basis ->> 'subject', 'owner ', ''))`;
  const revoked = endRecord(sql`b.revoked_at`, sql`b.revoked_by`);
  const subjectEnd = sql<EndRecord | null>`coalesce(${firstEnd(subject)}, ${revoked})`;
  return selectGrants(em)
    .select(endRecord(sql`g.revoked_at`, sql`g.revoked_by`).as('revocation'))
    .select(endRecord(sql`i.deleted_at`, sql`i.deleted_by`).as('removal'))
    .select([firstEnd(installationPair).as('installationEnd'), firstEnd(approval).as('approvalEnd')])
    .select([firstEnd(sql`g.basis ->> 'scope'`).as('scopeEnd'), subjectEnd.as('subjectEnd')]);
}

/** The approval of the action in a ceiling of the active release. */
const approval = sql<
  string | null
>`(select x ->> 'approval' from jsonb_array_elements(c.actions) x where x ->> 'name' = a.name)`;

const membership = sql<string | null>`case
  when n.owner_team_id is not null and scope.team_id is null
    then case when w.organization_id = scope.organization_id then concat('owner ', w.id, ' ', w.eligibility_generation) end
  when n.owner_team_id is not null then case when w.id = scope.team_id then concat('owner ', w.id) end
  when scope.team_id is null then om.id::text
  else tm.id::text end`;

/** A background principal acts only in its own place, and only until the place changes after the approval. */
const ownScope = sql<string | null>`case when b.revoked_at is null and b.installation_id = g.installation_id
  and ${isWithin(sql`scope.usable_chain`, sql`b.scope_basis`)} then b.scope_basis end`;

/** The value by which the subject belongs to the place, besides its generation; null if it does not. */
const belonging = sql<string | null>`case s.kind when 'background' then ${ownScope} else ${membership} end`;

/** Why the subject cannot use anything at the place; null if it can. */
const absence = sql<Absence | null>`case
  when s.deleted_at is not null then 'deleted'
  when b.revoked_at is not null then 'revoked'
  when not s.enabled then 'disabled'
  when ${belonging} is null then case when n.id is not null then 'transferred' when b.id is not null then 'out_of_scope' else 'left' end
  when w.archived_at is not null then 'archived' end`;

/** The present values on which an assignment relies. */
const standing = sql<Standing>`jsonb_build_object(
  'installation', case when i.deleted_at is null then i.revision end,
  'isDeclared', a.is_declared,
  'approval', ${approval},
  'subject', case when ${absence} is null then concat(s.eligibility_generation, ' ', ${belonging}) end,
  'scope', scope.usable_chain)`;

/** Whether an assignment is in force, as `findEnd` says: it was not revoked, and nothing that it relies on has changed. */
export const isInForce = sql<SqlBool>`(g.revoked_at is null and a.is_declared and g.basis = ${standing} - 'isDeclared')`;

function joinPlaces(em: Em) {
  return db(em)
    .selectFrom('plugin_action_grants as g')
    .innerJoin('plugin_installations as i', 'i.id', 'g.installationId')
    .innerJoin('plugin_actions as a', 'a.id', 'g.actionId')
    .leftJoin('plugin_ceilings as c', (join) => join.on(isCurrentCeiling))
    .innerJoinLateral(scopeOf(sql`g.selector_type`, sql`g.selector_id`), (join) => join.onTrue());
}

function joinSubjects(places: ReturnType<typeof joinPlaces>) {
  return places
    .innerJoin('principals as s', 's.id', 'g.subjectId')
    .leftJoin('plugin_background_principals as b', 'b.id', 's.id')
    .leftJoin('service_accounts as n', 'n.id', 's.id')
    .leftJoin('teams as w', (join) => join.onRef('w.id', '=', 'n.ownerTeamId').on('w.deletedAt', 'is', null))
    .leftJoin('team_members as tm', (join) =>
      join.onRef('tm.principalId', '=', 's.id').onRef('tm.teamId', '=', 'scope.teamId'),
    )
    .leftJoin('organization_members as om', (join) =>
      join.onRef('om.principalId', '=', 's.id').onRef('om.organizationId', '=', 'scope.organizationId'),
    );
}
