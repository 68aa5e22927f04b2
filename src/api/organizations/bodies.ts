import { z } from 'zod';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';

export const TransferOrganization = z
  .strictObject({ new_owner_user_id: Id, ...ExpectedRevision })
  .meta({ id: 'TransferOrganization' });
