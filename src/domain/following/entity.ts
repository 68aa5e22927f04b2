import { defineEntity, p } from '@mikro-orm/core';
import { at } from '#database/columns.ts';
import { Instance } from '#domain/instances/entity.ts';
import type { PrincipalKind } from '#domain/shared/vocabulary/roles.ts';
import type { FollowFailure } from './model.ts';

/** That an instance gets a new run when outputs change that it was deployed with. */
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
    /** The owners for whom it was last saved. It starts nothing for others, to whom the instance came with a transfer. */
    savedForOrganizationId: p.uuid(),
    savedForTeamId: p.uuid(),
    /** When a transfer ended it, also if the instance has come back since; null: none did. */
    voidSince: at().nullable(),
    savedAt: at(),
    /** The deployments and states of its sources that it has followed. It follows each of them once. */
    seen: p.text(),
    failure: p.json<FollowFailure>().nullable(),
  },
});
export class InstanceFollow extends InstanceFollowSchema.class {}
InstanceFollowSchema.setClass(InstanceFollow);
