import { z } from 'zod';
import { changesOf } from '#api/pipeline/fields.ts';
import { namesOneOwner, ownerFields } from '#api/pipeline/owned.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { ResourceName } from '#domain/tenancy/model.ts';
import { maxPatterns } from '#domain/webhooks/model.ts';

/** A pattern of event types. The operation, which knows all operations, checks whether such a type exists. */
export const Pattern = z
  .string()
  .max(100)
  .regex(/^(\*|[a-z_]+\.(\*|[a-z_]+))$/, {
    error: 'expected "*", an area such as "run.*", or a type such as "run.finished"',
  });

const Events = z
  .array(Pattern)
  .min(1)
  .max(maxPatterns)
  .describe(
    'Which events it hears: `["*"]` for all, `run.*` for an area, or exact names. GET /api/v1/admin/webhooks/events lists them. ' +
      'Records of the audit come only to webhooks that name `audit.recorded` or `audit.*`.',
  );

const Url = z
  .string()
  .min(1)
  .max(2000)
  .describe('An https:// address on the public Internet, unless an operator allows others.');

const webhook = { name: ResourceName, url: Url, events: Events };

export const CreateWebhook = z
  .strictObject({ ...ownerFields, ...webhook, enabled: z.boolean().default(true) })
  .check(namesOneOwner)
  .meta({ id: 'CreateWebhook' });

export const UpdateWebhook = z
  .strictObject({
    ...changesOf(webhook),
    enabled: z.boolean().optional().describe('Enabling the webhook sends the deliveries that wait.'),
    ...ExpectedRevision,
  })
  .meta({ id: 'UpdateWebhook' });

export const RotateWebhook = z.strictObject({ ...ExpectedRevision }).meta({ id: 'RotateWebhook' });
