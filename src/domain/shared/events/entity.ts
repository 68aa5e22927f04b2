import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id } from '#database/columns.ts';
import type { EventTypeName } from '#domain/events.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { PrincipalKind } from '../vocabulary/roles.ts';
import type { OutboxPayload } from './outbox.ts';

/**
 * Everything that happened. Its columns name owners and actors as they were, without foreign keys. Kept in months by the time in the id; migrations make
 * the table, and nothing changes a row. Each month has a unique index of `subjectKind`, `subjectId` and `sequence`.
 */
export const DomainEventSchema = defineEntity({
  name: 'DomainEvent',
  tableName: 'domain_events',
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

/** The last number of a subject whose last event went out of retention. */
export const EventNumberSchema = defineEntity({
  name: 'EventNumber',
  tableName: 'event_numbers',
  properties: {
    subjectKind: p.string().primary(),
    subjectId: p.uuid().primary(),
    sequence: p.integer(),
    projectId: p.uuid().nullable(),
  },
});
export class EventNumber extends EventNumberSchema.class {}
EventNumberSchema.setClass(EventNumber);

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
