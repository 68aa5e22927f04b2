import { z } from 'zod';
import { changesOf } from '#api/pipeline/fields.ts';
import { PersonName } from '#domain/identity/model.ts';
import type { NewOwner } from '#domain/service-accounts/model.ts';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { PlatformRole } from '#domain/shared/vocabulary/roles.ts';

/** The bodies of requests about service accounts. */

const Owner = z
  .strictObject({ user_id: Id.optional(), team_id: Id.optional() })
  .refine(({ user_id, team_id }) => (user_id === undefined) !== (team_id === undefined), {
    error: 'expected exactly one of user_id and team_id',
  })
  .describe('Exactly one of the two.');

const account = { name: PersonName, role: PlatformRole };

export const CreateServiceAccount = z.strictObject({ ...account, owner: Owner }).meta({ id: 'CreateServiceAccount' });

export const UpdateServiceAccount = z
  .strictObject({ ...changesOf(account), ...ExpectedRevision })
  .meta({ id: 'UpdateServiceAccount' });

export const TransferServiceAccount = z
  .strictObject({ owner: Owner, ...ExpectedRevision })
  .meta({ id: 'TransferServiceAccount' });

export function toNewOwner({ user_id: userId, team_id: teamId }: z.output<typeof Owner>): NewOwner {
  return { userId, teamId };
}
