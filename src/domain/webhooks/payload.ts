import type { AuditRecord } from '#domain/audit/model.ts';
import type { PublishedEvent } from '#domain/shared/events/published-event.ts';
import { auditStream } from './model.ts';

/** What a request to an endpoint says about an event or a record of the audit. The OpenAPI document describes it under `webhooks`. */
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

/** The record is what `GET /audit/{id}` shows to those who administer its owner. */
function payloadOfRecord(record: AuditRecord): string {
  return JSON.stringify({ type: auditStream, timestamp: record.at, data: record });
}

/** What a test sends: nothing has happened. */
export function testPayload(webhookId: string, at: Date): string {
  return JSON.stringify({ type: testType, timestamp: at.toISOString(), data: { webhook_id: webhookId } });
}

export const testType = 'webhook.test';
