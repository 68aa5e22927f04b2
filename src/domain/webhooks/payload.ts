import type { PublishedEvent } from '#domain/shared/events/event-store.ts';

/** What a request to an endpoint says about an event. The OpenAPI document describes it under `webhooks`. */
export function payloadOf(event: PublishedEvent): string {
  const { id, type, subject, sequence, organizationId, teamId, projectId, actor, data, at } = event;
  const timestamp = new Date(at).toISOString();
  const owner = { organization_id: organizationId, team_id: teamId, project_id: projectId };
  return JSON.stringify({
    type,
    timestamp,
    data: { event_id: id, subject, ordinal: sequence, ...owner, actor, details: data },
  });
}

/** What a test sends: nothing has happened. */
export function testPayload(webhookId: string, at: Date): string {
  return JSON.stringify({ type: testType, timestamp: at.toISOString(), data: { webhook_id: webhookId } });
}

export const testType = 'webhook.test';
