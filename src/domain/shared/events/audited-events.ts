import { z } from 'zod';
import { eventTypes } from '#domain/events.ts';
import type { AuditEntry, FormerOwner } from '../audit.ts';
import { isId, newId } from '../ids.ts';
import type { EventType } from './event-type.ts';
import type { EventActor, PendingEvent } from './publish.ts';

/**
 * Whatever the audit records as done is an event as well, so that subscribers outside the service miss nothing. Where an area declares an event for
 * an action, that is the one; every other action has an event of its own name, which tells what was changed and no value.
 */

/** What an event holds that only tells of an action of the audit. */
export const auditedEventData = z.strictObject({
  audit_record_id: z.string().describe('The record of the action: GET /api/v1/audit/{id}.'),
  resource: z
    .object({ type: z.string(), id: z.string().nullable() })
    .describe('What the action was done to, as the audit names it.'),
  changed: z.array(z.string()).describe('The names of the fields that the audit compares, without their values.'),
  former_owner: z
    .object({ organization_id: z.string().nullable(), team_id: z.string().nullable(), audit_record_id: z.string() })
    .optional()
    .describe(
      'Only of a transfer: who owned the subject before, and the record of it that they can read. Their webhooks hear the event as well.',
    ),
});

const declared: Readonly<Record<string, EventType>> = eventTypes;
const covered = new Set(Object.values(declared).flatMap(({ covers = [] }) => covers));

/** Whether an area declares the event that an action publishes. */
export function hasDeclaredEvent(action: string): boolean {
  return action in declared || covered.has(action);
}

/** The kind of subject of an action's event, which is the singular of the audit's type: `drift_monitors` → `drift_monitor`. */
export function subjectKindOf(resourceType: string): string {
  return resourceType.replace(/ies$/, 'y').replace(/s$/, '');
}

/** The event of an entry of the audit; undefined if an area publishes one for its action, or the entry repeats another one. */
export function eventOfEntry(auditRecordId: string, entry: AuditEntry, actor: EventActor): PendingEvent | undefined {
  const { action, resource, before, after, former, repeatedAs } = entry;
  if (hasDeclaredEvent(action) || repeatedAs !== undefined) return undefined;
  const id = newId();
  const changed = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].sort();
  return {
    id,
    type: action,
    subject_kind: subjectKindOf(resource.type),
    // Nothing orders actions that name no resource, so each is the first of its own subject.
    subject_id: resource.id !== null && isId(resource.id) ? resource.id : id,
    team_id: entry.teamId ?? null,
    organization_id: entry.organizationId ?? null,
    data: { audit_record_id: auditRecordId, resource, changed, ...(former && { former_owner: viewFormer(former) }) },
    actor_id: actor.id,
    actor_type: actor.kind,
    actor_name: actor.name,
  };
}

function viewFormer({ organizationId, teamId, recordId }: FormerOwner) {
  return { organization_id: organizationId, team_id: teamId, audit_record_id: recordId };
}
