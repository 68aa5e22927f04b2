import type { Em } from '#database/database.ts';
import type { RowLock } from '#database/row-lock.ts';
import { findOrganization } from '#domain/organizations/store.ts';
import { findProject } from '#domain/projects/store.ts';
import { installationOwnership } from '#domain/shared/access/decide.ts';
import { findTeamById, type Owner } from '#domain/teams/store.ts';

/** The owner that a row or a request names: the innermost of the present ids, or the installation if there are none. */
export interface OwnerIds {
  readonly organizationId?: string | null | undefined;
  readonly teamId?: string | null | undefined;
  readonly projectId?: string | null | undefined;
}

/** An owner, with the ids under which it is written to a row. */
export interface RowOwner extends Owner {
  readonly columns: {
    readonly organizationId: string | null;
    readonly teamId: string | null;
    readonly projectId: string | null;
  };
}

/** The owner that these ids name; undefined if it, or an owner of it, was deleted. `lock` locks its row and those above it. */
export async function findRowOwner(em: Em, ids: OwnerIds, lock: RowLock = false): Promise<RowOwner | undefined> {
  const { organizationId, teamId, projectId } = ids;
  if (projectId) {
    const project = await findProject(em, projectId, lock);
    return project && withColumns(project, { teamId: project.teamId, projectId });
  }
  if (teamId) {
    const team = await findTeamById(em, teamId, lock);
    return team && withColumns(team, { teamId });
  }
  if (!organizationId) return withColumns({ ...installationOwnership, archived: [] }, {});
  const organization = await findOrganization(em, organizationId, lock);
  return organization && withColumns(organization, { organizationId: organization.id });
}

function withColumns({ organizationId, teamId, archived }: Owner, ids: OwnerIds): RowOwner {
  const columns = {
    organizationId: ids.organizationId ?? null,
    teamId: ids.teamId ?? null,
    projectId: ids.projectId ?? null,
  };
  return { organizationId, teamId, archived, columns };
}
