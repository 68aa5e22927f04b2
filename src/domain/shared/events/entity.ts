import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id } from '#database/columns.ts';
import type { EventTypeName } from '#domain/events.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { PrincipalKind } from '../vocabulary/roles.ts';
import type { OutboxPayload } from './outbox.ts';

/**
 * The events of all areas. The columns name owners and actors as they were at that time, without foreign keys. The table has a partition
 * for each month, by the time in the id. Migrations create it, and rows never change. Each month has a unique index of `subjectKind`,
 * `subjectId` and `sequence`.
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
    /** PostgreSQL's id of the transaction that wrote it: a cursor uses it to tell which events it has seen (`cursor-store.ts`). */
    transactionId: p.string().columnType('xid8').defaultRaw('pg_current_xact_id()'),
    createdAt: createdAt(),
  },
});
export class DomainEvent extends DomainEventSchema.class {}
DomainEventSchema.setClass(DomainEvent);

/** The last event number of a subject whose events were all removed by retention. */
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

/** A message that was committed and not yet delivered. */
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
    /** The rows of a subscriber with the same target are delivered in order. */
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
