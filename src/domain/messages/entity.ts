import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id } from '#database/columns.ts';
import type { SubjectKind } from '#domain/news/model.ts';
import type { Medium, MessageContent, MessageStatus } from './model.ts';

/** A message to one recipient, until it is sent or given up, and its end for some time afterwards. */
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
    /** The user who is its recipient; null: a channel or an address is. */
    userId: p.uuid().nullable(),
    /** The channel that is its recipient. Of one that sends e-mail, `address` is one of its recipients. */
    channelId: p.uuid().nullable(),
    /** The e-mail address that the message is for, as it was when the message was made; null: the one that the user has when it is sent. */
    address: p.text().nullable(),
    /** Where it goes. The messages of one destination are sent one after another. */
    destination: p.text(),
    /** The event or the command that caused the message. A destination gets only one message for each cause. */
    cause: p.text(),
    content: p.json<MessageContent>(),
    /** The one-time token of its link; gone once the message has ended. */
    sealedToken: p.blob().nullable().hidden(),
    subjectKind: p.string().$type<SubjectKind>().nullable(),
    subjectId: p.uuid().nullable(),
    status: p.string().$type<MessageStatus>(),
    /** How many tries have begun. */
    attempts: p.integer(),
    dueAt: at(),
    /** A worker tries to send it until then at the longest. */
    leasedUntil: at().nullable(),
    /** Why the last try failed, or why it is withheld. */
    problem: p.text().nullable(),
    createdAt: createdAt(),
    settledAt: at().nullable(),
  },
});
export class OutgoingMessage extends OutgoingMessageSchema.class {}
OutgoingMessageSchema.setClass(OutgoingMessage);

/** Where the last try to send a message failed. The row goes with the next message that arrives there. */
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
    /** The channel whose recipient it is; null: it is a user's or an address. */
    channelId: p.uuid().nullable(),
    /** The e-mail address, if the destination is one. */
    address: p.text().nullable(),
    /** Why the last try failed. */
    problem: p.text(),
    failingSince: at(),
    /** Nothing is sent there before. */
    quietUntil: at(),
  },
});
export class FailingDestination extends FailingDestinationSchema.class {}
FailingDestinationSchema.setClass(FailingDestination);
