import { CommandReceiptSchema, EndedEligibilitySchema, InstallationSchema } from './entity.ts';
import { DomainEventSchema, EventNumberSchema, OutboxRowSchema } from './events/entity.ts';
import { sharedKinds } from './ownership.ts';
import { RateCountSchema } from './rate-counts/entity.ts';

export const entities = [
  InstallationSchema,
  CommandReceiptSchema,
  DomainEventSchema,
  EventNumberSchema,
  OutboxRowSchema,
  RateCountSchema,
  EndedEligibilitySchema,
] as const;
export const ownership = sharedKinds;
