import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id } from '#database/columns.ts';
import type { EventTypeName } from '#domain/events.ts';
import type { PrincipalKind } from '#domain/identity/model.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { OutboxPayload } from './outbox.ts';

/** Everything that happened, for good. Its columns name owners and actors as they were, without foreign keys. */
export const DomainEventSchema = defineEntity({
  name: 'DomainEvent',
  tableName: 'domain_events',
  uniques: [{ name: 'domain_events_subject_sequence_unique', properties: ['subjectKind', 'subjectId', 'sequence'] }],
  indexes: [{ name: 'domain_events_transaction_index', properties: ['transactionId'] }],
  properties: {
    id: id(),
    /** Ascends in the order of writing, which is not the order of committing. */
    position: p.bigint('string').autoincrement(),
    subjectKind: p.string(),
    subjectId: p.uuid(),
    /** Counts the events of one subject from 1, without gaps, in the order of their commits. */
    sequence: p.integer(),
    type: p.string().$type<EventTypeName>(),
    data: p.json<Record<string, JsonValue>>(),
    organizationId: p.uuid().nullable(),
    teamId: p.uuid().nullable(),
    /** The project of the subject; null if it has none. */
    projectId: p.uuid().nullable(),
    actorId: p.uuid(),
    actorType: p.string().$type<PrincipalKind>(),
    actorName: p.string(),
    /** PostgreSQL's id of the transaction that wrote it: a cursor tells by it which events it has seen (`cursor-store.ts`). */
    transactionId: p.string().columnType('xid8').defaultRaw('pg_current_xact_id()'),
    createdAt: createdAt(),
  },
});
export class DomainEvent extends DomainEventSchema.class {}
DomainEventSchema.setClass(DomainEvent);

/** What was committed and not yet delivered. */
export const OutboxRowSchema = defineEntity({
  name: 'OutboxRow',
  tableName: 'outbox',
  indexes: [
    { name: 'outbox_target_index', properties: ['subscriber', 'target', 'id'] },
    { name: 'outbox_due_index', properties: ['subscriber', 'dueAt', 'id'] },
  ],
  properties: {
    id: p.bigint('string').primary().autoincrement(),
    subscriber: p.string().default('engine'),
    /** What orders the rows of a subscriber: rows of one target are delivered in order. */
    target: p.string(),
    payload: p.json<OutboxPayload>(),
    createdAt: createdAt(),
    dueAt: at(),
    attempts: p.integer().default(0),
    lastError: p.text().nullable(),
  },
});
export class OutboxRow extends OutboxRowSchema.class {}
OutboxRowSchema.setClass(OutboxRow);
