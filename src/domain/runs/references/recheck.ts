import type { Em } from '#database/database.ts';
import { findEnvironment } from '#domain/environments/store.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';
import { findTeamById } from '#domain/teams/store.ts';
import type { Run } from '../entity.ts';
import { ReadsRefused } from '../errors.ts';
import { isReader, type OutputRead, type ReadingPlace } from './model.ts';
import { findSourcesById } from './sources-store.ts';

type Checked = Pick<OutputRead, 'instanceId' | 'reference' | 'copied'>;

/**
 * The reads that need the present permission of the owner. A scan or a destroy may always repeat the reads of the deployment, so that an
 * instance can be checked and removed even after the permission was withdrawn.
 */
function readsToCheck<Read extends Checked>(operation: RunOperation, reads: readonly Read[]): Read[] {
  const repeatsOnly = operation === 'scan' || operation === 'destroy';
  return reads.filter(({ copied }) => !(copied && repeatsOnly));
}

/** @throws Unprocessable `reference_unresolved` if the run repeats a read that is no longer allowed */
export async function refuseEndedReads(
  em: Em,
  place: ReadingPlace,
  operation: RunOperation,
  reads: readonly OutputRead[],
): Promise<void> {
  const copied = readsToCheck(operation, reads).filter((read) => read.copied);
  const ended = await findEndedRead(em, place, copied, false);
  if (!ended) return;
  throw new Unprocessable(`variables: ${describeEnded(ended)}`, { code: 'reference_unresolved' });
}

/**
 * Checks that the owners still let a run read its outputs, and locks their permission until the commit. Call it before an
 * attempt of the run is claimed: instances are locked before runs.
 * @throws ReadsRefused naming a reference that is no longer allowed
 */
export async function lockReadsForShare(
  em: Em,
  run: Pick<Run, 'operation'> & Partial<Pick<Run, 'reads' | 'environmentId' | 'teamId'>>,
): Promise<void> {
  const reads = readsToCheck(run.operation, run.reads ?? []);
  if (reads.length === 0) return;
  const ended = await findEndedRead(em, await findReadingPlace(em, run), reads, true);
  if (ended) throw new ReadsRefused(describeEnded(ended));
}

/** The place of a run with its present owners, who may have changed since the run was admitted. */
export async function findReadingPlace(
  em: Em,
  { environmentId, teamId }: Partial<Pick<Run, 'environmentId' | 'teamId'>>,
): Promise<ReadingPlace> {
  const environment = environmentId ? await findEnvironment(em, environmentId) : undefined;
  if (environment) {
    const { id, organizationId, projectId } = environment;
    return { organizationId, teamId: environment.teamId, projectId, environmentId: id };
  }
  const team = teamId ? await findTeamById(em, teamId, false) : undefined;
  const organizationId = environmentId ? null : (team?.organizationId ?? null);
  return { organizationId, teamId: team?.id ?? null, projectId: null, environmentId: null };
}

async function findEndedRead<Read extends Checked>(
  em: Em,
  place: ReadingPlace,
  reads: readonly Read[],
  lock: boolean,
): Promise<Read | null> {
  const sources = await findSourcesById(em, [...new Set(reads.map(({ instanceId }) => instanceId))], lock);
  const allowed = new Set(sources.filter((source) => isReader(source, place)).map(({ id }) => id));
  return reads.find(({ instanceId }) => !allowed.has(instanceId)) ?? null;
}

function describeEnded({ reference }: Checked): string {
  return `the run may not read ${reference} any longer: the owner of the instance has taken that back, or the instance was deleted`;
}
