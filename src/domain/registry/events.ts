import { z } from 'zod';
import type { EventType } from '#domain/shared/events/event-type.ts';
import { TemplateApproval } from '#domain/shared/vocabulary/approval.ts';

/** The maximum length of a message in an event, in characters. */
export const maxEventMessage = 1_000;

/** The events of templates. */
export const templateEvents = {
  'template.approval_weakened': {
    subject: 'template',
    summary: 'A version was published that demands less approval than the highest version before it',
    data: z.strictObject({
      version: z.string(),
      before: TemplateApproval.nullable(),
      after: TemplateApproval.nullable(),
    }),
  },
  'template.check_failed': {
    subject: 'template',
    summary: 'A worker found errors in a version after it was published',
    data: z.strictObject({
      version: z.string(),
      error_count: z.int(),
      first_error: z.strictObject({
        path: z.string(),
        file: z.string().nullable(),
        line: z.int().nullable(),
        message: z.string(),
      }),
    }),
  },
} as const satisfies Record<string, EventType>;
