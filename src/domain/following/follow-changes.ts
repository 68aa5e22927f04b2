import { db } from '#domain/db.ts';
import { storedAuthorityOf } from '#domain/identity/stored-authority.ts';
import type { InstanceTarget } from '#domain/instances/store.ts';
import { findReadingDeployment } from '#domain/runs/references/dependents-store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
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
  await db(em).deleteFrom('instance_follows').where('instanceId', '=', id).execute();
  if (isEnabled) {
    const place = await db(em).selectFrom('instances').where('id', '=', id).select('environmentId').executeTakeFirst();
    if (teamId === null || organizationId === null || !place?.environmentId) throw new WithoutEnvironment();
    const deployed = await findReadingDeployment(em, id);
    const { seen } = await readSeen(em, id, deployed);
    const { authorityId, credentialId = null, responsibleUserId = null } = storedAuthorityOf(author);
    await db(em)
      .insertInto('instance_follows')
      .values({
        instanceId: id,
        authorityId,
        authorityType: author.kind,
        authorityName: author.name,
        credentialId,
        responsibleUserId,
        savedForOrganizationId: organizationId,
        savedForTeamId: teamId,
        savedAt: new Date(),
        seen,
      })
      .execute();
  }
  const revision = target.revision + 1;
  await db(em).updateTable('instances').where('id', '=', id).set({ revision }).execute();
  const owners = { teamId, organizationId };
  tx.publish({ type: 'instance.follow_changed', subjectId: id, owners, data: { enabled: isEnabled } });
  return { wasEnabled: before !== undefined, revision };
}

class WithoutEnvironment extends Conflict {
  constructor() {
    super(
      'the instance is in no environment, so no run of it can read outputs of others: deploy it in an environment',
      'instance_without_environment',
    );
  }
}
