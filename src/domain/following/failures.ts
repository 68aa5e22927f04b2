import { AuthorityEnded, lostAuthorities } from '#domain/identity/stored-authority.ts';
import { QuotaExceeded } from '#domain/quotas/errors.ts';
import { FeatureDisabled, Forbidden, ServiceError, Unauthenticated } from '#domain/shared/errors.ts';
import type { FollowDeps, UpstreamChange } from './change.ts';
import { OwnerChanged } from './errors.ts';
import { lockUnchanged, noteSeen } from './follows-store.ts';
import { type FollowFailure, type FollowReason, followReasons } from './model.ts';

export type Failure = Omit<FollowFailure, 'at'>;

export const failureFor = (reason: FollowReason): Failure => ({ reason, message: followReasons[reason] });

/**
 * Records why the instance did not follow, and notifies its present owners, unless somebody has saved the setting again or a transfer has
 * ended it meanwhile.
 */
export async function fail(
  { transactions }: FollowDeps,
  { follow: found, seen }: UpstreamChange,
  failure: Failure,
): Promise<void> {
  await transactions.run(async (tx) => {
    const locked = await lockUnchanged(tx.em, found);
    if (!locked) return;
    const { instanceId, teamId, organizationId } = locked;
    await noteSeen(tx.em, locked, { seen, failure: { ...failure, at: new Date().toISOString() } });
    const data = { reason: failure.reason };
    tx.publish({ type: 'instance.follow_failed', subjectId: instanceId, owners: { teamId, organizationId }, data });
  });
}

/** Why no run was started; undefined if trying again may help. */
export function toFailure(error: unknown): Failure | undefined {
  if (error instanceof AuthorityEnded) return failureFor(lostAuthorities[error.reason]);
  if (error instanceof OwnerChanged) return failureFor('owner_changed');
  if (error instanceof FeatureDisabled || error instanceof QuotaExceeded)
    return { reason: 'refused', message: error.message };
  if (error instanceof Forbidden || error instanceof Unauthenticated) return failureFor('not_permitted');
  const mayPass = !(error instanceof ServiceError) || error.kind === 'unavailable' || error.kind === 'limited';
  return mayPass ? undefined : { reason: 'refused', message: error.message };
}
