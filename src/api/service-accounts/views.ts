import { z } from 'zod';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import { PlatformRole } from '#domain/identity/model.ts';
import type { AccountTarget } from '#domain/service-accounts/store.ts';

export const ServiceAccountView = z
  .object({
    id: AnswerId,
    name: z.string(),
    role: PlatformRole,
    enabled: z.boolean(),
    owner: z.object({ user_id: AnswerId.nullable(), team_id: AnswerId.nullable() }).describe('One of the two.'),
    created_by: z.string(),
    revision: z.int(),
    created_at: Time,
  })
  .meta({ id: 'ServiceAccount' });

export function viewServiceAccount(account: AccountTarget) {
  const { id, name, role, enabled, createdBy, revision, createdAt } = account;
  return {
    id,
    name,
    role,
    enabled,
    owner: viewOwner(account),
    created_by: createdBy,
    revision,
    created_at: createdAt,
  };
}

export function viewOwner({ ownerUserId, teamId }: Pick<AccountTarget, 'ownerUserId' | 'teamId'>) {
  return { user_id: ownerUserId, team_id: teamId };
}
