import { defineEntity, p } from '@mikro-orm/core';
import { at } from '#database/columns.ts';
import { Instance } from '#domain/instances/entity.ts';
import type { PrincipalKind } from '#domain/shared/vocabulary/roles.ts';
import type { FollowFailure } from './model.ts';

/** A setting of an instance: it gets a new run when outputs that it was deployed with change. */
export const InstanceFollowSchema = defineEntity({
  name: 'InstanceFollow',
  tableName: 'instance_follows',
  properties: {
    instanceId: () => p.oneToOne(Instance).owner().primary().mapToPk().fieldName('instance_id').deleteRule('cascade'),
    /** The person or service account that last saved this. Its runs start with their permissions. */
    authorityId: p.uuid(),
    authorityType: p.string().$type<PrincipalKind>(),
    authorityName: p.string(),
    credentialId: p.uuid().nullable(),
    responsibleUserId: p.uuid().nullable(),
    /** The owners of the instance when this was last saved. After a transfer to other owners, it starts no runs. */
    savedForOrganizationId: p.uuid(),
    savedForTeamId: p.uuid(),
    /** When a transfer ended it, even if the instance has returned since; null: no transfer has. */
    voidSince: at().nullable(),
    savedAt: at(),
    /** The deployments and states of its sources that it has followed. It follows each of them once. */
    seen: p.text(),
    failure: p.json<FollowFailure>().nullable(),
  },
});
export class InstanceFollow extends InstanceFollowSchema.class {}
InstanceFollowSchema.setClass(InstanceFollow);
