import { z } from 'zod';
import type { EventType } from '#domain/shared/events/event-type.ts';
import { quotaKindNames, quotaScopes } from '#domain/shared/vocabulary/quotas.ts';

const subject = 'quota';

/** The events of quotas. The id of the subject is that of the owner, or that of the installation. */
export const quotaEvents = {
  'quota.exceeded': {
    subject,
    summary: 'A quota is full: what goes beyond it waits or is refused. It is said once, until much less is used',
    data: z.strictObject({
      scope: z.enum(quotaScopes),
      id: z.string(),
      kind: z.enum(quotaKindNames),
      limit: z.number().int(),
      used: z.number().int(),
    }),
  },
} as const satisfies Record<string, EventType>;
