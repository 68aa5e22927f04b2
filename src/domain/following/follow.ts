import { findStoredPrincipal } from '#domain/identity/stored-authority.ts';
import { hasChanged } from '#domain/runs/references/changed-inputs.ts';
import { findReadingDeployment } from '#domain/runs/references/dependents-store.ts';
import { readUpstream, type UpstreamRead } from '#domain/runs/references/upstream.ts';
import type { FollowDeps, UpstreamChange } from './change.ts';
import { FollowMoved } from './errors.ts';
import { type Failure, fail, failureFor, toFailure } from './failures.ts';
import {
  type Follow,
  findFollow,
  isBusy,
  lostReason,
  noteSeen,
  readChain,
  readSeen,
  type SeenSource,
} from './follows-store.ts';
import { type FollowReason, maxChain, stops } from './model.ts';
import { startFollower } from './start-follower.ts';

/** Why an instance is processed. */
export interface Cause {
  /** The run that ended; null: something else happened to what the instance reads. */
  readonly runId: string | null;
  /** Other instances have used up the limit of followers for this change, so no run starts for this one. */
  readonly isBeyondLimit: boolean;
}

/** Starts a run of the instance if outputs that it was deployed with have changed, or records why it does not. */
export async function follow(deps: FollowDeps, instanceId: string, cause: Cause): Promise<void> {
  const change = await findChange(deps, instanceId, cause.runId);
  if (!change) return;
  const hindrance = await findHindrance(deps, change, cause);
  if (hindrance) return fail(deps, change, hindrance);
  try {
    const principal = await deps.transactions.run(({ em }) => findStoredPrincipal(em, change.follow));
    await startFollower(deps, change, principal);
  } catch (error) {
    // If a run is executing, its end triggers this again. Any other change is read again by the next try.
    if (error instanceof FollowMoved && (await isBusy(deps.orm.em.fork(), instanceId))) return;
    const failure = toFailure(error);
    if (!failure) throw error;
    await fail(deps, change, failure);
  }
}

/** What the instance must follow now; undefined: nothing. */
async function findChange(
  deps: FollowDeps,
  instanceId: string,
  runId: string | null,
): Promise<UpstreamChange | undefined> {
  const em = deps.orm.em.fork();
  const found = await findFollow(em, instanceId);
  // The end of an executing run triggers this again.
  if (!found || (found.failure && stops(found.failure)) || (await isBusy(em, instanceId))) return undefined;
  const { seen, sources } = await readSeen(em, instanceId, await findReadingDeployment(em, instanceId));
  if (seen === found.seen) return undefined;
  const upstream = (await readUpstream(em, deps.keyRing, instanceId)).filter((read) => read.instanceId !== instanceId);
  const changed = upstream.filter(hasChanged);
  const reads = changed.length > 0 ? changed : upstream.filter((read) => read.upstream === 'unknown');
  if (reads.length === 0 || isKnown(found, reads)) {
    const failure = reads.length === 0 ? null : found.failure;
    await deps.transactions.run((tx) => noteSeen(tx.em, found, { seen, failure }));
    return undefined;
  }
  const runs = runsBehind(reads, sources);
  const startedBy = runs.find((id) => id === runId) ?? runs[0] ?? null;
  return { follow: found, seen, reads, startedBy, runs };
}

/** Why no read can be repeated, independent of the caller; null: some read can. */
function reasonIn(reads: readonly UpstreamRead[]): FollowReason | null {
  if (!reads.some(hasChanged)) return 'not_compared';
  return reads.every(({ upstream }) => upstream === 'ended') ? 'source_ended' : null;
}

/** Whether the same failure was already reported, so that it is not reported again. */
function isKnown({ failure }: Follow, reads: readonly UpstreamRead[]): boolean {
  const reason = reasonIn(reads);
  return reason !== null && failure?.reason === reason;
}

function runsBehind(reads: readonly UpstreamRead[], sources: readonly SeenSource[]): string[] {
  const changed = sources.filter(({ id }) => reads.some((read) => read.instanceId === id));
  return changed.map(({ deployedRunId }) => deployedRunId).filter((id) => id !== null);
}

/** Why no run may start for a change, independent of the caller. */
async function findHindrance(
  { orm }: FollowDeps,
  { follow: found, reads, runs }: UpstreamChange,
  { isBeyondLimit }: Cause,
): Promise<Failure | null> {
  const lost = lostReason(found);
  if (lost) return failureFor(lost);
  const reason = reasonIn(reads);
  if (reason) return failureFor(reason);
  const chain = await readChain(orm.em.fork(), runs);
  if (chain.instances.has(found.instanceId)) return failureFor('loop');
  if (chain.length >= maxChain) return failureFor('too_long');
  return isBeyondLimit ? failureFor('too_many') : null;
}
