import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { eventTypes } from '#domain/events.ts';
import type { AuditEntry, FormerOwner } from '../audit.ts';
import { isId, newId, toId } from '../ids.ts';
import type { EventType } from './event-type.ts';
import type { EventActor, PendingEvent } from './publish.ts';

/**
 * Publishes an event for every action that the audit records as done, so that subscribers outside the service miss nothing. If an area
 * declares an event for an action, only that event is published. Every other action gets an event with its own name, which lists the
 * changed fields without their values.
 */

/** The payload of an event that only reports an action of the audit. */
export const auditedEventData = z.strictObject({
  audit_record_id: z.string().describe('The record of the action: GET /api/v1/audit/{id}.'),
  resource: z
    .object({ type: z.string(), id: z.string().nullable() })
    .describe('What the action was done to, as the audit names it.'),
  changed: z
    .array(z.string())
    .describe('The names of the fields that were changed, or that a new resource got, without their values.'),
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

/**
 * The event of an entry of the audit; undefined if an area publishes one for its action, the entry repeats another one, or nothing was
 * changed.
 */
export function eventOfEntry(auditRecordId: string, entry: AuditEntry, actor: EventActor): PendingEvent | undefined {
  const { action, resource, before, after, former, repeatedAs } = entry;
  if (hasDeclaredEvent(action) || repeatedAs !== undefined || changesNothing(entry)) return undefined;
  const id = newId();
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].sort();
  const changed = names.filter((name) => !isDeepStrictEqual(before?.[name], after?.[name]));
  return {
    id,
    type: action,
    subjectKind: subjectKindOf(resource.type),
    subjectId: subjectIdOf(resource, id),
    teamId: entry.teamId ?? null,
    organizationId: entry.organizationId ?? null,
    data: { audit_record_id: auditRecordId, resource, changed, ...(former && { former_owner: viewFormer(former) }) },
    actorId: actor.id,
    actorType: actor.kind,
    actorName: actor.name,
  };
}

/** The names of resources that exist once in the installation. Their events have the installation as their subject. */
const installationNames: readonly string[] = ['global'];

/**
 * The id of the subject; null means the installation. A resource with a name and no id always gets the same id, derived from the name. An
 * action without a resource gets a subject of its own, because nothing orders such actions.
 */
function subjectIdOf({ type, id }: AuditEntry['resource'], eventId: string): string | null {
  if (id === null) return eventId;
  if (isId(id)) return id;
  return installationNames.includes(id)
    ? null
    : toId(
        createHash('sha256')
          .update(`${subjectKindOf(type)}/${id}`)
          .digest(),
      );
}

/** Whether a command changed nothing, because everything was already as requested: its audit entry compares no field. */
function changesNothing({ before, after }: AuditEntry): boolean {
  return isEmpty(before) && isEmpty(after);
}

function isEmpty(fields: AuditEntry['before']): boolean {
  return fields !== null && fields !== undefined && Object.keys(fields).length === 0;
}

function viewFormer({ organizationId, teamId, recordId }: FormerOwner) {
  return { organization_id: organizationId, team_id: teamId, audit_record_id: recordId };
}
