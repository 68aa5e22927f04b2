import type { AuditRecord } from '#domain/audit/model.ts';
import type { PublishedEvent } from '#domain/shared/events/event-type.ts';
import { auditStream } from './model.ts';

/** The body of a request that reports an event or a record of the audit. The OpenAPI document describes it under `webhooks`. */
export function payloadOf(content: PublishedEvent | AuditRecord): string {
  return 'action' in content ? payloadOfRecord(content) : payloadOfEvent(content);
}

function payloadOfEvent(event: PublishedEvent): string {
  const { id, type, subject, sequence, organizationId, teamId, projectId, actor, data, at } = event;
  const timestamp = new Date(at).toISOString();
  const owner = { organization_id: organizationId, team_id: teamId, project_id: projectId };
  return JSON.stringify({
    type,
    timestamp,
    data: { event_id: id, subject, ordinal: sequence, ...owner, actor, details: data },
  });
}

/** The record has the form in which `GET /audit/{id}` returns it to administrators of its owner. */
function payloadOfRecord(record: AuditRecord): string {
  return JSON.stringify({ type: auditStream, timestamp: record.at, data: record });
}

/** The body of a test message, which reports no event. */
export function testPayload(webhookId: string, at: Date): string {
  return JSON.stringify({ type: testType, timestamp: at.toISOString(), data: { webhook_id: webhookId } });
}

export const testType = 'webhook.test';
