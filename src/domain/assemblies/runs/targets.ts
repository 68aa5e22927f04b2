import type { Em } from '#database/database.ts';
import { lockForChange } from '#database/row-lock.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { RunStatus } from '#domain/shared/vocabulary/runs.ts';
import { AssemblyRun } from '../entity.ts';
import { actionsByStatus } from '../model.ts';
import { type AssemblyOwners, findAssemblyOwners } from '../store.ts';
import { type BusyRun, findBusyRun } from './admission/busy-store.ts';

/** An assembly to run, and the environment that the request names. */
export interface StartTarget extends AssemblyOwners {
  /** Null: the assembly's team has no such environment. */
  readonly environment: { readonly projectId: string; readonly environmentId: string } | null;
}

export interface AssemblyInEnvironment extends AssemblyOwners {
  readonly projectId: string;
  readonly environmentId: string;
}

export interface AssemblyRunTarget extends AssemblyOwners {
  readonly run: AssemblyRun;
  /** Whether its environment still belongs to the assembly's team. */
  readonly hasEnvironment: boolean;
  /** The unfinished run because of which this one cannot be resumed; null if there is none. */
  readonly busy: BusyRun | null;
}

/** The facts on which the actions of an assembly run depend. */
export interface AssemblyRunFacts extends Omit<AssemblyRunTarget, 'run'> {
  readonly run: Pick<AssemblyRun, 'status'>;
}

/** The owners of the runs of an assembly. The runs outlive the assembly. */
export function findOwnerOfRuns(em: Em, assemblyId: string): Promise<Ownership | undefined> {
  return findAssemblyOwners(em, assemblyId, false);
}

/** An assembly and the environment for its run. With `lock`, nobody archives or deletes one of them before the commit. */
export async function findStartTarget(
  em: Em,
  { assemblyId, environmentId }: { assemblyId: string; environmentId: string },
  lock: boolean,
): Promise<StartTarget | undefined> {
  const found = await findEnvironment(em, environmentId, lock);
  const owners = await findAssemblyOwners(em, assemblyId, lock);
  if (!owners || owners.isDeleted) return undefined;
  if (found?.teamId !== owners.teamId) return { ...owners, environment: null };
  const archived = [...new Set([...found.archived, ...owners.archived])];
  return { ...owners, archived, environment: { projectId: found.projectId, environmentId } };
}

/** @throws Unprocessable if the assembly's team has no such environment; the message is the same if another team has it */
export function requireEnvironment({ environment, ...owners }: StartTarget): AssemblyInEnvironment {
  if (environment) return { ...owners, ...environment };
  throw new Unprocessable("environment_id: the assembly's team has no such environment", {
    code: 'environment_unknown',
  });
}

type RunParams = { readonly assemblyId: string; readonly runId: string };

/** A run of an assembly to be changed. With `lock`, it takes share locks on the owners, and locks the row of the run. */
export async function findAssemblyRun(
  em: Em,
  params: RunParams,
  lock: boolean,
): Promise<AssemblyRunTarget | undefined> {
  const target = await findRun(em, params, lock);
  return target?.isDeleted ? undefined : target;
}

/** A run to be read. Runs outlive their assembly. */
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
  const owner = await findAssemblyOwners(em, assemblyId, lock);
  if (!owner) return undefined;
  const run = lock ? await lockForChange(em, AssemblyRun, { id: runId }) : known;
  if (!run) return undefined;
  const archived = [...new Set([...(environment?.archived ?? []), ...owner.archived])];
  const busy = await findBusyRunFor(em, run, run.status, lock);
  return { ...owner, archived, run, busy, hasEnvironment: environment?.teamId === owner.teamId };
}

/** The unfinished run because of which this one cannot be resumed. It is only looked up if the status allows a resume. */
async function findBusyRunFor(em: Em, run: AssemblyRun, status: RunStatus, lock: boolean): Promise<BusyRun | null> {
  return actionsByStatus[status].includes('resume') ? findBusyRun(em, run, lock) : null;
}

/**
 * The facts for the actions of a run at a status that was read after the target. The run may change between two statements, and an answer
 * must not combine one status with the actions of another.
 */
export async function findFactsAt(em: Em, target: AssemblyRunTarget, status: RunStatus): Promise<AssemblyRunFacts> {
  if (target.run.status === status) return target;
  return { ...target, run: { status }, busy: await findBusyRunFor(em, target.run, status, false) };
}
