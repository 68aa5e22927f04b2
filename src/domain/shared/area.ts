import type { DeclaredAction } from './commands/declared-action.ts';
import { CommandReceiptSchema, EndedEligibilitySchema, InstallationSchema } from './entity.ts';
import { sharedErrorCodes } from './error-codes.ts';
import { DomainEventSchema, EventNumberSchema, OutboxRowSchema } from './events/entity.ts';
import { installationSeals } from './installation/sealed.ts';
import { sharedKinds } from './ownership.ts';
import { RateCountSchema } from './rate-counts/entity.ts';
import { PeriodicWorkSchema } from './tasks/entity.ts';

export const entities = [
  InstallationSchema,
  CommandReceiptSchema,
  DomainEventSchema,
  EventNumberSchema,
  OutboxRowSchema,
  RateCountSchema,
  PeriodicWorkSchema,
  EndedEligibilitySchema,
] as const;
export const ownership = sharedKinds;

export const systemActions = {
  'secrets.resealed': {
    summary: 'Seal secrets anew with the newest key of the installation',
    resourceType: 'secrets',
    actor: 'command line',
  },
} as const satisfies Record<string, DeclaredAction>;
export const sealed = installationSeals;
export const errorCodes = sharedErrorCodes;
