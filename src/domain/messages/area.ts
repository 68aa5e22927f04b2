import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { FailingDestinationSchema, OutgoingMessageSchema } from './entity.ts';
import { messageTables } from './ownership.ts';
import { tokenContext } from './queue/tokens.ts';

export const entities = [FailingDestinationSchema, OutgoingMessageSchema] as const;
export const ownership = messageTables;

/** The one-time tokens of messages that wait. */
export const sealed = [
  sealedColumn({
    table: 'outgoing_messages',
    column: 'sealedToken',
    key: ['id'],
    context: ({ id }) => tokenContext(id),
  }),
];
