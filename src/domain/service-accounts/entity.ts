import { defineEntity, p } from '@mikro-orm/core';
import { PrincipalRecord, User } from '#domain/identity/entity.ts';
import { Team } from '#domain/teams/entity.ts';

/**
 * The owner of a service account: one user or one team. Everything else of an account is in its principal's row. Its authority
 * comes from its own role and never from its owner's. (specification, *Authentication*, rules 6 and 7)
 */
export const ServiceAccountSchema = defineEntity({
  name: 'ServiceAccount',
  tableName: 'service_accounts',
  checks: [{ name: 'service_accounts_one_owner_check', expression: 'num_nonnulls(owner_user_id, owner_team_id) = 1' }],
  indexes: [
    { name: 'service_accounts_owner_user_id_index', properties: ['ownerUserId'] },
    { name: 'service_accounts_owner_team_id_index', properties: ['ownerTeamId'] },
  ],
  properties: {
    id: () => p.oneToOne(PrincipalRecord).owner().primary().mapToPk().fieldName('id').deleteRule('restrict'),
    ownerUserId: () => p.manyToOne(User).mapToPk().fieldName('owner_user_id').deleteRule('restrict').nullable(),
    ownerTeamId: () => p.manyToOne(Team).mapToPk().fieldName('owner_team_id').deleteRule('restrict').nullable(),
    createdBy: p.uuid(),
  },
});
export class ServiceAccount extends ServiceAccountSchema.class {}
ServiceAccountSchema.setClass(ServiceAccount);
