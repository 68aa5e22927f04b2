import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { storedAuthorityOf } from '#domain/identity/stored-authority.ts';
import { Instance } from '#domain/instances/entity.ts';
import type { InstanceTarget } from '#domain/instances/store.ts';
import { findReadingDeployment } from '#domain/runs/references/dependents-store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { refuseStale, saveChange } from '#domain/shared/revisions.ts';
import { InstanceFollow } from './entity.ts';
import { findFollow, readSeen } from './follows-store.ts';

export interface FollowChange {
  readonly isEnabled: boolean;
  readonly expectedRevision?: number | undefined;
}

/**
 * Makes an instance follow the outputs that it is deployed with, under the author's authority, or stops that. Earlier changes are not
 * followed. The caller has locked its row. Returns the revision of the instance and whether it followed before.
 * @throws Conflict for a stale revision, or an instance without an environment
 */
export async function setFollow(
  tx: Transaction,
  target: InstanceTarget,
  { isEnabled, expectedRevision }: FollowChange,
  author: Principal,
): Promise<{ readonly wasEnabled: boolean; readonly revision: number }> {
  refuseStale(target, expectedRevision);
  const { em } = tx;
  const { id, teamId, organizationId } = target;
  const before = await findFollow(em, id);
  if (!isEnabled && !before) return { wasEnabled: false, revision: target.revision };
  if (isEnabled) await follow(em, target, author);
  else await em.remove(em.getReference(InstanceFollow, id)).flush();
  const revision = await saveChange(em, Instance, target, {});
  const owners = { teamId, organizationId };
  tx.publish({ type: 'instance.follow_changed', subjectId: id, owners, data: { enabled: isEnabled } });
  return { wasEnabled: before !== undefined, revision };
}

/** Replaces an earlier setting, and forgets what that one has followed and its failure. */
async function follow(em: Em, { id, teamId, organizationId }: InstanceTarget, author: Principal): Promise<void> {
  const place = await db(em).selectFrom('instances').where('id', '=', id).select('environmentId').executeTakeFirst();
  if (teamId === null || organizationId === null || !place?.environmentId) throw new WithoutEnvironment();
  const { seen } = await readSeen(em, id, await findReadingDeployment(em, id));
  const { authorityId, credentialId = null, responsibleUserId = null } = storedAuthorityOf(author);
  await em.upsert(InstanceFollow, {
    instanceId: id,
    authorityId,
    authorityType: author.kind,
    authorityName: author.name,
    credentialId,
    responsibleUserId,
    savedForOrganizationId: organizationId,
    savedForTeamId: teamId,
    voidSince: null,
    savedAt: new Date(),
    seen,
    failure: null,
  });
}

class WithoutEnvironment extends Conflict {
  constructor() {
    super(
      'the instance is in no environment, so no run of it can read outputs of others: deploy it in an environment',
      'instance_without_environment',
    );
  }
}
