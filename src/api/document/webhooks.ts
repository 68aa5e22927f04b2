import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { channelMessages } from '#api/notification-channels/payload-views.ts';
import type { Operation } from '#api/pipeline/operation.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import { eventCatalogue } from '#api/webhooks/event-catalogue.ts';
import { auditStream } from '#domain/webhooks/model.ts';
import { testType } from '#domain/webhooks/payload.ts';
import type { DocumentSchemas } from './schemas.ts';

const headers = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
  name,
  in: 'header' as const,
  required: true,
  schema: { type: 'string' as const },
}));

/** The messages that the service sends to webhooks, and to channels of the kind `webhook`: one entry for each type of message. */
export function describeWebhooks(operations: readonly Operation[], schemas: DocumentSchemas) {
  const events = eventCatalogue(operations).map(({ type, subject, summary, data }) => ({
    type,
    summary,
    payload: type === auditStream ? recordPayload(data) : payloadOfEvent(type, subject, data),
  }));
  const entries = [...events, webhookTest, ...channelMessages()].map(({ type, summary, payload }) => {
    const schema = schemas.describe(payload);
    const post = {
      operationId: `webhook.${type}`,
      summary,
      security: [],
      parameters: headers,
      requestBody: { required: true, content: { 'application/json': { schema } } },
      responses: {
        '2XX': { description: 'It was delivered. Everything else is tried again, and 410 disables the webhook.' },
      },
    };
    return [type, { post }] as const;
  });
  return Object.fromEntries(entries) as unknown as Record<string, OpenAPIV3_1.PathItemObject>;
}

const Actor = z
  .object({ type: z.string(), id: AnswerId, name: z.string() })
  .describe('Who caused it.')
  .meta({ id: 'EventActor' });

const webhookTest = {
  type: testType,
  summary: 'A test of a webhook: nothing has happened',
  payload: z.object({ type: z.literal(testType), timestamp: Time, data: z.object({ webhook_id: AnswerId }) }),
};

/** A message with a record of the audit. It has the form of `GET /audit/{id}`, because it is not an event of a subject. */
function recordPayload(record: z.ZodObject) {
  return z.object({ type: z.literal(auditStream), timestamp: Time, data: record });
}

function payloadOfEvent(type: string, subject: string, details: z.ZodObject) {
  return z.object({
    type: z.literal(type),
    timestamp: Time,
    data: z.object({
      event_id: AnswerId.describe('The same in every delivery of the event.'),
      subject: z.object({ kind: z.literal(subject), id: AnswerId }),
      ordinal: z
        .int()
        .describe('Counts the events of the subject from 1, without gaps. Deliveries may overtake each other.'),
      organization_id: AnswerId.nullable(),
      team_id: AnswerId.nullable(),
      project_id: AnswerId.nullable(),
      actor: Actor,
      details,
    }),
  });
}
