import { z } from 'zod';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';

export const TransferTeam = z.strictObject({ organization_id: Id, ...ExpectedRevision }).meta({ id: 'TransferTeam' });
