import { z } from 'zod';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';

const Changed = z.record(z.string(), z.unknown()).nullable();

export const RecordView = z
  .object({
    id: AnswerId,
    at: Time,
    action: z.string(),
    outcome: z.enum(['committed', 'refused']),
    actor: z.object({ type: z.string(), id: z.string().nullable(), name: z.string() }),
    credential: z.object({ type: z.string(), id: z.string() }).nullable(),
    resource: z.object({ type: z.string(), id: z.string().nullable() }),
    organization_id: AnswerId.nullable(),
    team_id: AnswerId.nullable(),
    request_id: z.string().nullable(),
    address: z.string().nullable(),
    before: Changed,
    after: Changed,
  })
  .meta({ id: 'AuditRecord' });

export type ShownRecord = z.input<typeof RecordView>;
