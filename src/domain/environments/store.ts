import type { Kysely } from 'kysely';
import type { Em } from '#database/database.ts';
import { lockRows, toChange } from '#database/row-lock.ts';
import type { RowOf } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { presentProjects } from '#domain/projects/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import type { ArchivedFilter } from '#domain/shared/archiving.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import type { PolicyFields } from '#domain/shared/vocabulary/approval.ts';
import { archivedComparison, archivedLevels, prepareLookup } from '#domain/tenancy/store.ts';
import { Environment } from './entity.ts';

/** Environments `e` with project `p`, team `t` and organization `o`. Omits rows that are deleted at any level. */
export function presentEnvironments(queries: Kysely<Tables>) {
  return presentProjects(queries)
    .innerJoin('environments as e', 'e.projectId', 'p.id')
    .where('e.deletedAt', 'is', null);
}

function selectEnvironments(queries: Kysely<Tables>) {
  return presentEnvironments(queries)
    .select([
      'e.id',
      'o.id as organizationId',
      't.id as teamId',
      'p.id as projectId',
      'e.name',
      'e.slug',
      'e.kind',
      'e.approvalRequired',
      'e.approvalWhen',
      'e.approvalAllowSelf',
      'e.ttlSeconds',
      'e.isolation',
      'e.allowedOptions',
      'e.planSecrets',
      'e.tool',
      'e.lock',
      'e.freezeWindows',
      'e.eligibilityGeneration',
      'e.revision',
      'e.variablesRevision',
      'e.createdAt',
      'e.archivedAt',
    ])
    .select((eb) =>
      archivedLevels({
        organization: eb.ref('o.archivedAt'),
        team: eb.ref('t.archivedAt'),
        project: eb.ref('p.archivedAt'),
        environment: eb.ref('e.archivedAt'),
      }).as('archived'),
    );
}

/** The columns of an environment for authorization and answers. */
export type EnvironmentTarget = RowOf<typeof selectEnvironments>;

/** The fields of an environment that a request may change. */
export type EnvironmentFields = Pick<
  EnvironmentTarget,
  'name' | 'slug' | 'kind' | keyof PolicyFields | 'ttlSeconds' | 'isolation' | 'allowedOptions' | 'planSecrets' | 'tool'
>;

/** An environment by its id; undefined if it or an owner was deleted. `lock` locks its row and its owners'. */
export const findEnvironment = prepareLookup((queries, id, lock) =>
  lockRows(selectEnvironments(queries).where('e.id', '=', id), ['o', 't', 'p', 'e'], lock),
);

/** The environment that a command changes. `lock` locks its row for the change. */
export function findEnvironmentToChange(em: Em, id: string, lock: boolean) {
  return findEnvironment(em, id, toChange(lock));
}

export interface EnvironmentFilter {
  readonly organizationId?: string | undefined;
  readonly teamId?: string | undefined;
  readonly projectId?: string | undefined;
}

/** The environments of the teams that the principal may read, of one organization, of one team, or of one project. */
export function listEnvironments(
  em: Em,
  principal: Principal,
  { organizationId, teamId, projectId, ...request }: PageRequest & ArchivedFilter & EnvironmentFilter,
): Promise<Page<EnvironmentTarget>> {
  let listed = selectEnvironments(db(em))
    .where('e.archivedAt', archivedComparison(request), null)
    .where((eb) => isInReadableTeam(principal, eb.ref('t.id'), 'hidden'));
  if (organizationId !== undefined) listed = listed.where('o.id', '=', organizationId);
  if (teamId !== undefined) listed = listed.where('t.id', '=', teamId);
  if (projectId !== undefined) listed = listed.where('p.id', '=', projectId);
  return pageOf(listed, 'e.id', request);
}

export async function insertEnvironment(
  em: Em,
  environment: EnvironmentFields & { id: string; projectId: string },
): Promise<void> {
  await em.persist(em.create(Environment, environment)).flush();
}
