import { FailingDestinationSchema, OutgoingMessageSchema } from './entity.ts';
import { messageTables } from './ownership.ts';

export const entities = [FailingDestinationSchema, OutgoingMessageSchema] as const;
export const ownership = messageTables;
