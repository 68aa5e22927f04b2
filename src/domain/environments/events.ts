import { z } from 'zod';
import type { EventType } from '#domain/shared/events/event-type.ts';
import { approvalRules } from '#domain/shared/vocabulary/approval.ts';
import { runOptionNames } from '#domain/shared/vocabulary/run-options.ts';
import { environmentKinds, planSecretsDemands, protections } from './model.ts';

const Protection = z.strictObject({
  kind: z.enum(environmentKinds),
  approval_policy: z.strictObject({
    required: z.number().int(),
    when: z.enum(approvalRules),
    allow_self: z.boolean(),
  }),
  isolation: z.literal('sandbox').nullable(),
  allowed_options: z.array(z.enum(runOptionNames)).nullable().optional(),
  plan_secrets: z.enum(planSecretsDemands).nullable().optional(),
});

/** The events of environments. */
export const environmentEvents = {
  'environment.protection_changed': {
    subject: 'environment',
    summary:
      'The kind of an environment was changed, its approval policy, the isolation or the secrets while planning that it demands, or the options that it allows',
    data: z.strictObject({
      before: Protection,
      after: Protection,
      /** The protections that are weaker than before; a change of the kind counts in either direction. */
      weakened: z.array(z.enum(protections)),
    }),
  },
} as const satisfies Record<string, EventType>;
