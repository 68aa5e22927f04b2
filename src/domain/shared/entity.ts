import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, removedRevision, revision } from '#database/columns.ts';
import type { StoredHold } from './vocabulary/holds.ts';

/** The one row that says which installation this database belongs to. */
export const InstallationSchema = defineEntity({
  name: 'Installation',
  tableName: 'installation',
  properties: {
    id: id(),
    /** Always true and unique, so that there is only one row. */
    only: p.boolean().default(true).unique(),
    /** Sealed: the keys that sign sessions and bind idempotency keys. They outlive the rotation of the key ring. */
    sealedKeys: p.blob().hidden(),
    /** The id of the engine's namespace. The service refuses to start with another namespace of the same name. */
    engineNamespaceId: p.string().nullable(),
    /** Keeps all applies from starting; null: applies are not paused. */
    applyPause: p.json<StoredHold>().nullable(),
    /** The revision of the pause. */
    applyPauseRevision: revision(),
    removedPoolRevision: removedRevision(),
    createdAt: createdAt(),
    /** When the unfinished runs were last compared with the engine. */
    reconciledAt: at().nullable(),
    /** How many of those runs the engine had lost. */
    runsMissed: p.integer().default(0),
    /** How many states of attempts were set aside because they could not be stored. */
    statesRefused: p.integer().default(0),
  },
});
export class Installation extends InstallationSchema.class {}
InstallationSchema.setClass(Installation);

/** The use of a command key. It is never deleted and has no foreign keys, because it outlives everything that it names. */
export const CommandReceiptSchema = defineEntity({
  name: 'CommandReceipt',
  tableName: 'command_receipts',
  properties: {
    key: p.uuid().primary(),
    principalId: p.uuid(),
    operation: p.string(),
    /** HMAC over caller, operation, target, input and precondition as the request named them. */
    binding: p.blob().hidden(),
    /** The same HMAC over the request with defaults filled in, and ids in place of other names. Null: a receipt of an earlier release. */
    resolvedBinding: p.blob().hidden().nullable(),
    /** What the bindings cover: `bindingVersion`. 1: a receipt of an earlier release, without the precondition. */
    bindingVersion: p.smallint().default(1),
    /**
     * The data from which a repeated command is answered; only the sender of the command reads it. Null: a receipt of an earlier release.
     */
    answer: p.json<Record<string, unknown>>().nullable(),
    /** The answer in the form that the previous release reads. */
    status: p.integer().default(0),
    location: p.string().nullable(),
    resourceId: p.uuid().nullable(),
    revision: p.integer().nullable(),
    auditRecordId: p.uuid(),
    /** Whether the key is bound although its command has not been committed yet (`reserveKey`). */
    isReserved: p.boolean().default(false),
    createdAt: createdAt(),
  },
});
export class CommandReceipt extends CommandReceiptSchema.class {}
CommandReceiptSchema.setClass(CommandReceipt);

/**
 * When a generation of a subject ended, and with it everything that relied on that generation. A subject is an owner, a principal, a plugin
 * installation (its generation is the revision that an activation replaced), or a membership or an approval, which have only the generation
 * 0.
 */
export const EndedEligibilitySchema = defineEntity({
  name: 'EndedEligibility',
  tableName: 'ended_eligibilities',
  properties: {
    thingId: p.uuid().primary(),
    generation: p.integer().primary(),
    endedAt: at(),
    /** Who activated the release or replaced the ceiling. Null for all others, whose actor only the audit records. */
    endedBy: p.uuid().nullable(),
  },
});
export class EndedEligibility extends EndedEligibilitySchema.class {}
EndedEligibilitySchema.setClass(EndedEligibility);
