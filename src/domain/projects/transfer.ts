import type { Em } from '#database/database.ts';
import { type Access, decide, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { withRole } from '#domain/shared/access/weakest-role.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict, Forbidden, HiddenResource } from '#domain/shared/errors.ts';
import { transferOwned } from '#domain/shared/ownership-graph/transfer.ts';
import { readBack, refuseStale } from '#domain/shared/revisions.ts';
import { findTeamById, shareTeams, type TeamTarget } from '#domain/teams/store.ts';
import { disableTransferred } from '#domain/tenancy/disable-transferred.ts';
import type { RevisionCheck } from '#domain/tenancy/model.ts';
import { findProject, type ProjectTarget } from './store.ts';

/** The right to take a project into a team, which is that of creating one there. */
const takeProject: Access = {
  anyOf: ['project:write'],
  scope: 'team',
  teamAction: 'team.metadata.write',
  hidden: 'not_found',
  review: 'none',
};

/** The right to move a project out of an organization, in addition to the rights in its team. */
const releaseProject: Access = {
  anyOf: ['project:write'],
  scope: 'organization',
  organizationRole: 'admin',
  hidden: 'not_found',
  review: 'none',
};

/** Whether a caller who may transfer a project may take it to another team, as `transferProject` decides. */
export function mayTakeProject(caller: Principal, project: Ownership, destination: Ownership): boolean {
  const isInside = destination.organizationId === project.organizationId;
  return (
    decide(caller, takeProject, destination).allowed && (isInside || decide(caller, releaseProject, project).allowed)
  );
}

export interface ProjectTransfer extends ProjectTarget {
  /** Undefined: there is no such team. */
  readonly destination: TeamTarget | undefined;
}

/** The project and its destination. It first takes share locks on both teams and their organizations, in the order of their ids. */
export async function findProjectTransfer(
  em: Em,
  { id, to }: { id: string; to: string | undefined },
  lock: boolean,
): Promise<ProjectTransfer | undefined> {
  const known = await findProject(em, id);
  if (!known) return undefined;
  if (lock) await shareTeams(em, to === undefined ? [known.teamId] : [known.teamId, to]);
  const project = await findProject(em, id, lock && 'change');
  const destination = to === undefined ? undefined : await findTeamById(em, to);
  return project && { ...project, destination };
}

/**
 * Moves a project to another team, with its environments, their instances and their runs: from then on the other team reads and changes all
 * of them. It voids all grants under the earlier owner, and disables the project's webhooks and channels.
 * @throws HiddenResource, Forbidden if the caller may not move a project into the other team, or out of its organization
 * @throws Conflict that names runs that have not ended and instances that depend on the earlier team, or for a slug that is taken in the
 * other team
 */
export async function transferProject(
  tx: Transaction,
  caller: Principal,
  project: ProjectTransfer,
  { expectedRevision }: RevisionCheck,
): Promise<ProjectTarget> {
  const { em } = tx;
  const { destination } = project;
  if (destination?.id === project.teamId)
    throw new Conflict("team_id: the project is this team's already", 'same_owner');
  const to = requireDestination(caller, destination);
  if (to.organizationId !== project.organizationId) requireRelease(caller, project);
  for (const each of [project, to]) refuseArchived(each);
  refuseStale(project, expectedRevision);
  await transferOwned(em, 'project', project, { kind: 'team', id: to.id });
  const transferred = await readBack(findProject(em, project.id));
  await disableTransferred(tx, { kind: 'project', id: project.id }, transferred);
  return transferred;
}

function requireDestination(caller: Principal, destination: TeamTarget | undefined): TeamTarget {
  const decision = destination && decide(caller, takeProject, destination);
  if (destination && decision?.allowed) return destination;
  if (!decision || decision.allowed || decision.because === 'hidden') throw new HiddenResource('team_id: the team');
  throw new Forbidden(`permission denied: this needs ${withRole('team.metadata.write')} in the other team as well`);
}

function requireRelease(caller: Principal, project: ProjectTarget): void {
  if (decide(caller, releaseProject, project).allowed) return;
  throw new Forbidden(
    'permission denied: to another organization, this needs the role admin in the organization that owns the project as well',
  );
}
