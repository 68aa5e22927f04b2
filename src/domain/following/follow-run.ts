import { QuotaExceeded } from '#domain/quotas/errors.ts';
import { readUpstream, type UpstreamRead } from '#domain/runs/references/upstream.ts';
import { AuthorityEnded, findStoredPrincipal } from '#domain/shared/access/stored-authority.ts';
import { FeatureDisabled, Forbidden, ServiceError, Unauthenticated } from '#domain/shared/errors.ts';
import type { FollowDeps, UpstreamChange } from './change.ts';
import { FollowMoved, OwnerChanged } from './errors.ts';
import {
  findFollow,
  findFollowers,
  isBusy,
  lockFollow,
  lostAuthorities,
  noteSeen,
  readChain,
  readSeen,
  type SeenSource,
} from './follows-store.ts';
import { type FollowFailure, followReasons, maxChain, stops } from './model.ts';
import { startFollower } from './start-follower.ts';

/**
 * Lets instances follow after a run has ended: those that were deployed with its outputs, if these are other ones now, and its own, for what changed while
 * it was under way. It may be repeated: each state of what an instance reads is followed once.
 * @throws any error that may pass, once all instances were tried: the delivery tries again
 */
export async function followRun(deps: FollowDeps, runId: string): Promise<void> {
  const errors: unknown[] = [];
  for (const instanceId of await findFollowers(deps.orm.em.fork(), runId)) {
    try {
      await follow(deps, instanceId, runId);
    } catch (error) {
      deps.log.error({ err: error, instance_id: instanceId }, 'could not let an instance follow what it reads');
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

async function follow(deps: FollowDeps, instanceId: string, endedRunId: string): Promise<void> {
  const change = await findChange(deps, instanceId, endedRunId);
  if (!change) return;
  const { follow: found } = change;
  try {
    const principal = await deps.transactions.run(({ em }) => findStoredPrincipal(em, found));
    await startFollower(deps, change, principal);
  } catch (error) {
    // What is under way ends, and then this is asked again; every other change is read again by the next try.
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
  endedRunId: string,
): Promise<UpstreamChange | undefined> {
  const em = deps.orm.em.fork();
  const found = await findFollow(em, instanceId);
  // A run that is under way ends, and then this is asked again.
  if (!found || (found.failure && stops(found.failure)) || (await isBusy(em, instanceId))) return undefined;
  const upstream = await readUpstream(em, deps.keyRing, instanceId);
  const { seen, sources } = await readSeen(em, instanceId, upstream);
  if (seen === found.seen) return undefined;
  const reads = upstream.filter(
    (read) => read.instanceId !== instanceId && (read.upstream === 'changed' || read.upstream === 'missing'),
  );
  if (reads.length === 0) {
    await deps.transactions.run((tx) => noteSeen(tx.em, found, { seen }));
    return undefined;
  }
  const runs = runsBehind(reads, sources);
  const startedBy = runs.find((id) => id === endedRunId) ?? runs[0] ?? null;
  const change = { follow: found, seen, reads, startedBy };
  const chain = await readChain(em, runs);
  const reason = chain.instances.has(instanceId) ? 'loop' : chain.length >= maxChain ? 'too_long' : null;
  if (reason === null) return change;
  await fail(deps, change, { reason, message: followReasons[reason] });
  return undefined;
}

function runsBehind(reads: readonly UpstreamRead[], sources: readonly SeenSource[]): string[] {
  const changed = sources.filter(({ id }) => reads.some((read) => read.instanceId === id));
  return changed.map(({ deployedRunId }) => deployedRunId).filter((id) => id !== null);
}

/** Keeps why the instance did not follow, unless somebody has saved it again meanwhile. */
async function fail(
  { transactions }: FollowDeps,
  { follow: found, seen }: UpstreamChange,
  failure: Omit<FollowFailure, 'at'>,
): Promise<void> {
  const { instanceId, teamId, organizationId } = found;
  await transactions.run(async (tx) => {
    const locked = await lockFollow(tx.em, instanceId);
    if (locked?.seen !== found.seen || locked.savedAt !== found.savedAt) return;
    await noteSeen(tx.em, locked, { seen, failure: { ...failure, at: new Date().toISOString() } });
    const data = { reason: failure.reason };
    tx.publish({ type: 'instance.follow_failed', subjectId: instanceId, owners: { teamId, organizationId }, data });
  });
}

/** Why no run was started; undefined if trying again may help. */
function toFailure(error: unknown): Omit<FollowFailure, 'at'> | undefined {
  if (error instanceof AuthorityEnded) {
    const reason = lostAuthorities[error.reason];
    return { reason, message: followReasons[reason] };
  }
  if (error instanceof OwnerChanged) return { reason: 'owner_changed', message: followReasons.owner_changed };
  if (error instanceof FeatureDisabled || error instanceof QuotaExceeded)
    return { reason: 'refused', message: error.message };
  if (error instanceof Forbidden || error instanceof Unauthenticated)
    return { reason: 'not_permitted', message: followReasons.not_permitted };
  const mayPass = !(error instanceof ServiceError) || error.kind === 'unavailable' || error.kind === 'limited';
  return mayPass ? undefined : { reason: 'refused', message: error.message };
}
