import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id } from '#database/columns.ts';
import type { SubjectKind } from '#domain/news/model.ts';
import type { Medium, MessageContent, MessageStatus } from './model.ts';

/** A message to one recipient. The row is kept for some time after the message was sent or the service has given up sending it. */
export const OutgoingMessageSchema = defineEntity({
  name: 'OutgoingMessage',
  tableName: 'outgoing_messages',
  uniques: [{ name: 'outgoing_messages_cause_unique', properties: ['destination', 'cause'] }],
  indexes: [
    {
      name: 'outgoing_messages_pending_index',
      expression: `create index "outgoing_messages_pending_index" on "outgoing_messages" ("destination", "due_at", "id") where "status" = 'pending'`,
    },
    {
      name: 'outgoing_messages_channel_index',
      expression: `create index "outgoing_messages_channel_index" on "outgoing_messages" ("channel_id", "id") where "channel_id" is not null`,
    },
    { name: 'outgoing_messages_user_index', properties: ['userId'] },
    { name: 'outgoing_messages_created_at_index', properties: ['createdAt'] },
  ],
  properties: {
    id: id(),
    medium: p.string().$type<Medium>(),
    /** The user who is its recipient; null: the recipient is a channel or an address. */
    userId: p.uuid().nullable(),
    /** The channel that is its recipient. For a channel that sends e-mail, `address` is one of its recipients. */
    channelId: p.uuid().nullable(),
    /** The e-mail address at the creation of the message; null: the user's address at the time of sending. */
    address: p.text().nullable(),
    /** Where it goes. The messages of one destination are sent one after another. */
    destination: p.text(),
    /** The event or the command that caused the message. A destination gets only one message for each cause. */
    cause: p.text(),
    content: p.json<MessageContent>(),
    /** The one-time token of its link; deleted once the message has ended. */
    sealedToken: p.blob().nullable().hidden(),
    subjectKind: p.string().$type<SubjectKind>().nullable(),
    subjectId: p.uuid().nullable(),
    status: p.string().$type<MessageStatus>(),
    /** How many tries have begun. */
    attempts: p.integer(),
    dueAt: at(),
    /** Until when the worker that has leased it may try to send it. */
    leasedUntil: at().nullable(),
    /** Why the last try failed, or why it is withheld. */
    problem: p.text().nullable(),
    createdAt: createdAt(),
    settledAt: at().nullable(),
  },
});
export class OutgoingMessage extends OutgoingMessageSchema.class {}
OutgoingMessageSchema.setClass(OutgoingMessage);

/** A destination to which the last message could not be delivered. The next successful message deletes the row. */
export const FailingDestinationSchema = defineEntity({
  name: 'FailingDestination',
  tableName: 'failing_destinations',
  indexes: [
    {
      name: 'failing_destinations_channel_id_index',
      expression: `create index "failing_destinations_channel_id_index" on "failing_destinations" ("channel_id") where "channel_id" is not null`,
    },
  ],
  properties: {
    destination: p.text().primary(),
    /** The channel to which the destination belongs; null: it belongs to a user, or is an address. */
    channelId: p.uuid().nullable(),
    /** The e-mail address, if the destination is one. */
    address: p.text().nullable(),
    /** Why the last try failed. */
    problem: p.text(),
    failingSince: at(),
    /** No message is sent there before this time. */
    quietUntil: at(),
  },
});
export class FailingDestination extends FailingDestinationSchema.class {}
FailingDestinationSchema.setClass(FailingDestination);
