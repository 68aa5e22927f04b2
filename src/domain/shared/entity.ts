import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id } from '#database/columns.ts';

/** The one row that says which installation this database belongs to. */
export const InstallationSchema = defineEntity({
  name: 'Installation',
  tableName: 'installation',
  properties: {
    id: id(),
    /** Always true and unique: a second row cannot be. */
    only: p.boolean().default(true).unique(),
    /** Sealed: the keys that sign sessions and bind idempotency keys. They outlive the rotation of the key ring. */
    sealedKeys: p.blob().hidden(),
    /** The id of the engine's namespace; another one under the same name refuses to start. */
    engineNamespaceId: p.string().nullable(),
    createdAt: createdAt(),
    /** When the unfinished runs were last compared with the engine. */
    reconciledAt: at().nullable(),
    /** How many of them it had lost. */
    runsMissed: p.integer().default(0),
    /** How many states of attempts were set aside since they could not be stored. */
    statesRefused: p.integer().default(0),
  },
});
export class Installation extends InstallationSchema.class {}
InstallationSchema.setClass(Installation);

/** What a command key was used for. Kept for good, without any foreign key: it outlives all that it names. */
export const CommandReceiptSchema = defineEntity({
  name: 'CommandReceipt',
  tableName: 'command_receipts',
  properties: {
    key: p.uuid().primary(),
    principalId: p.uuid(),
    operation: p.string(),
    /** HMAC over caller, operation, target and accepted input. */
    binding: p.blob().hidden(),
    /** What its repeat is answered from, as whoever took the command wants it; null: a receipt of an earlier release. */
    answer: p.json<Record<string, unknown>>().nullable(),
    /** The same, as the release before this one reads it. */
    status: p.integer().default(0),
    location: p.string().nullable(),
    resourceId: p.uuid().nullable(),
    revision: p.integer().nullable(),
    auditRecordId: p.uuid(),
    createdAt: createdAt(),
  },
});
export class CommandReceipt extends CommandReceiptSchema.class {}
CommandReceiptSchema.setClass(CommandReceipt);
