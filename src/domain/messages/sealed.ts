import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { tokenContext } from './queue/tokens.ts';

/** The one-time tokens of messages that wait. */
export const messageSeals = [
  sealedColumn({
    table: 'outgoing_messages',
    column: 'sealedToken',
    key: ['id'],
    context: ({ id }) => tokenContext(id),
  }),
];
