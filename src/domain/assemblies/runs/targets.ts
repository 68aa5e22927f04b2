import { LockMode } from '@mikro-orm/core';
import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { lockRows } from '#database/row-lock.ts';
import { db } from '#domain/db.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Archivable } from '#domain/shared/archiving.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import { AssemblyRun } from '../entity.ts';
import { actionsByStatus } from '../model.ts';
import { type BusyRun, findBusyRun } from './admission/busy-store.ts';

/** The owners of an assembly, and which of them or itself are archived. */
interface AssemblyOwner extends Ownership, Archivable {
  readonly assemblyId: string;
  readonly teamId: string;
}

/** An assembly that is to be run, and the place. */
export interface WantedStart extends AssemblyOwner {
  /** Null: the assembly's team has no such environment. */
  readonly place: { readonly projectId: string; readonly environmentId: string } | null;
}

export interface StartTarget extends AssemblyOwner {
  readonly projectId: string;
  readonly environmentId: string;
}

export interface AssemblyRunTarget extends AssemblyOwner {
  readonly run: AssemblyRun;
  /** Whether its environment still belongs to the assembly's team. */
  readonly hasEnvironment: boolean;
  /** A run beside which this one cannot be resumed; null if there is none. */
  readonly busy: BusyRun | null;
  /** The assembly was deleted: its runs can only be read. */
  readonly isDeleted: boolean;
}

/** An assembly by its id with its owners, deleted or not; undefined if an owner was deleted. `lock` shares their rows until the commit. */
async function findOwner(
  em: Em,
  assemblyId: string,
  lock: boolean,
): Promise<(AssemblyOwner & { isDeleted: boolean }) | undefined> {
  const found = db(em)
    .selectFrom('organizations as o')
    .innerJoin('teams as t', 't.organization_id', 'o.id')
    .innerJoin('assemblies as a', 'a.team_id', 't.id')
    .where('a.id', '=', assemblyId)
    .where('t.deleted_at', 'is', null)
    .where('o.deleted_at', 'is', null)
    .select(['o.id as organizationId', 't.id as teamId', 'a.id as assemblyId'])
    .select(({ ref }) => [
      sql<boolean>`${ref('o.archived_at')} is not null`.as('organization'),
      sql<boolean>`${ref('t.archived_at')} is not null`.as('team'),
      sql<boolean>`${ref('a.archived_at')} is not null`.as('assembly'),
      sql<boolean>`${ref('a.deleted_at')} is not null`.as('isDeleted'),
    ]);
  const row = await lockRows(found, ['o', 't', 'a'], lock).executeTakeFirst();
  if (!row) return undefined;
  const { organizationId, teamId, isDeleted } = row;
  const archived = (['organization', 'team', 'assembly'] as const).filter((level) => row[level]);
  return { organizationId, teamId, assemblyId, archived, isDeleted };
}

/** Who owns the runs of an assembly. They outlive it. */
export function findOwnerOfRuns(em: Em, assemblyId: string): Promise<Ownership | undefined> {
  return findOwner(em, assemblyId, false);
}

/** An assembly and the environment in which it is to run. With `lock`, nobody archives or deletes one of them before the commit. */
export async function findWantedStart(
  em: Em,
  { assemblyId, environmentId }: { assemblyId: string; environmentId: string },
  lock: boolean,
): Promise<WantedStart | undefined> {
  const environment = await findEnvironment(em, environmentId, lock);
  const owner = await findOwner(em, assemblyId, lock);
  if (!owner || owner.isDeleted) return undefined;
  if (environment?.teamId !== owner.teamId) return { ...owner, place: null };
  const archived = [...new Set([...environment.archived, ...owner.archived])];
  return { ...owner, archived, place: { projectId: environment.projectId, environmentId } };
}

/** @throws Unprocessable if the assembly's team has no such environment: the same whether another team has it */
export function requirePlace({ place, ...owner }: WantedStart): StartTarget {
  if (place) return { ...owner, ...place };
  throw new Unprocessable("environment_id: the assembly's team has no such environment", {
    code: 'environment_unknown',
  });
}

type RunParams = { readonly assemblyId: string; readonly runId: string };

/** A run of an assembly that is to be changed. With `lock`, its owners are shared, and its row is locked. */
export async function findAssemblyRun(
  em: Em,
  params: RunParams,
  lock: boolean,
): Promise<AssemblyRunTarget | undefined> {
  const target = await findRun(em, params, lock);
  return target?.isDeleted ? undefined : target;
}

/** A run that is to be read. It outlives its assembly. */
export function findReadableAssemblyRun(em: Em, params: RunParams): Promise<AssemblyRunTarget | undefined> {
  return findRun(em, params, false);
}

async function findRun(
  em: Em,
  { assemblyId, runId }: RunParams,
  lock: boolean,
): Promise<AssemblyRunTarget | undefined> {
  const known = await em.findOne(AssemblyRun, { id: runId, assemblyId });
  if (!known) return undefined;
  const environment = await findEnvironment(em, known.environmentId, lock);
  const owner = await findOwner(em, assemblyId, lock);
  if (!owner) return undefined;
  const run = lock
    ? await em.findOne(AssemblyRun, { id: runId }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true })
    : known;
  if (!run) return undefined;
  const archived = [...new Set([...(environment?.archived ?? []), ...owner.archived])];
  const busy = actionsByStatus[run.status].includes('resume') ? await findBusyRun(em, run, lock) : null;
  return { ...owner, archived, run, busy, hasEnvironment: environment?.teamId === owner.teamId };
}
