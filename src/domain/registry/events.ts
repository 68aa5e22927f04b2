import { z } from 'zod';
import type { EventType } from '#domain/shared/events/event-type.ts';
import { TemplateApproval } from './spec.ts';

/** What happens to templates. */
export const templateEvents = {
  'template.approval_weakened': {
    subject: 'template',
    summary: 'Somebody published a version that demands less approval than the highest version before it',
    data: z.strictObject({
      version: z.string(),
      before: TemplateApproval.nullable(),
      after: TemplateApproval.nullable(),
    }),
  },
} as const satisfies Record<string, EventType>;
