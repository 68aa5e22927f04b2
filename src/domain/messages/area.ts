import { FailingDestinationSchema, OutgoingMessageSchema } from './entity.ts';
import { messageTables } from './ownership.ts';
import { messageSeals } from './sealed.ts';

export const entities = [FailingDestinationSchema, OutgoingMessageSchema] as const;
export const ownership = messageTables;
export const sealed = messageSeals;
