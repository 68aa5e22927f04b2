import { RecordView } from '#api/audit/views.ts';
import { auditedAction } from '#api/pipeline/audit/auditing.ts';
import type { Operation } from '#api/pipeline/operation.ts';
import { eventTypes } from '#domain/events.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { auditedEventData, hasDeclaredEvent, subjectKindOf } from '#domain/shared/events/audited-events.ts';
import type { EventType } from '#domain/shared/events/event-type.ts';
import { systemActions } from '#domain/system-actions.ts';
import { auditStream, matchesEvent } from '#domain/webhooks/model.ts';

export interface CatalogueEvent extends Pick<EventType, 'subject' | 'summary' | 'data'> {
  readonly type: string;
}

/** All events that webhooks can receive, by name: those that areas declare, those of all other audit actions, and audit records. */
export function eventCatalogue(operations: readonly Operation[]): CatalogueEvent[] {
  const known = catalogues.get(operations);
  if (known) return known;
  const declared = Object.entries<EventType>(eventTypes).map(([type, { subject, summary, data }]) => ({
    type,
    subject,
    summary,
    data,
  }));
  const commands = operations.flatMap((operation) =>
    operation.kind === 'command' ? [{ ...auditedAction(operation), summary: operation.summary }] : [],
  );
  const ownActions = Object.entries(systemActions).map(([action, own]) => ({ action, ...own }));
  const audited = [...commands, ...ownActions]
    .filter(({ action }) => !hasDeclaredEvent(action))
    .map(({ action, resourceType, summary }) => ({
      type: action,
      subject: subjectKindOf(resourceType),
      summary,
      data: auditedEventData,
    }));
  const byType = new Map([auditRecorded, ...audited, ...declared].map((event) => [event.type, event]));
  const events = [...byType.values()].sort((one, other) => (one.type < other.type ? -1 : 1));
  catalogues.set(operations, events);
  return events;
}

/** The event type under which a webhook receives audit records, one message for each record. */
const auditRecorded: CatalogueEvent = {
  type: auditStream,
  subject: 'audit_record',
  summary:
    'The audit has recorded an action or a refusal; only webhooks hear it that name it or `audit.*`, of owners whose audit their maker may read',
  data: RecordView,
};

const catalogues = new WeakMap<readonly Operation[], CatalogueEvent[]>();

/** @throws Invalid naming a pattern that no event matches */
export function checkPatterns(operations: readonly Operation[], patterns: readonly string[]): void {
  const events = eventCatalogue(operations);
  const unknown = patterns.find((pattern) => !events.some(({ type }) => matchesEvent(pattern, type)));
  if (unknown === undefined) return;
  throw new Invalid(`events: there is no event "${unknown}": GET /api/v1/admin/webhooks/events lists them`);
}
