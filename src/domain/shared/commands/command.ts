import { createHmac } from 'node:crypto';
import type { Em } from '#database/database.ts';
import { sqlState } from '#database/errors.ts';
import { takeAdvisoryLocks } from '../access/authority-lock.ts';
import type { Ownership } from '../access/decide.ts';
import type { Principal } from '../access/principal.ts';
import { lockCaller } from '../access/store.ts';
import { type AuditedAction, type CommandChange, entriesOf, type RequestFacts } from '../audit.ts';
import { Unauthenticated } from '../errors.ts';
import { newId } from '../ids.ts';
import { settledValue } from '../tasks/settled.ts';
import { timed } from '../tasks/spans.ts';
import { canonicalJson } from './canonical.ts';
import { type Bindings, claimKey, completeReceipt, type Receipt, readReceipt, reserveKey } from './receipts.ts';
import type { Transaction, Transactions } from './transaction.ts';

/** The SQLSTATE of every statement after a failed one in the same transaction. */
const failedTransaction = '25P02';

/** The request of a caller, and its idempotency key. */
export interface Command {
  /** Null: the operation has no key and writes no receipt. */
  readonly key: string | null;
  readonly caller: Principal;
  readonly operation: string;
  /** The action that its audit record names. */
  readonly audit: AuditedAction;
  /** The ids that the request names in its path. */
  readonly target: Readonly<Record<string, string>>;
  /** The accepted input before defaults are filled in. */
  readonly input: unknown;
  /** The revision of the target that the request demands outside its input (`If-Match`), as it was sent. */
  readonly precondition?: string | undefined;
  /**
   * The resolved meaning of the request: the input with defaults, and with ids instead of other names. By default the request as it was
   * sent.
   */
  readonly resolved?: Pick<Command, 'target' | 'input' | 'precondition'>;
  /** Advisory locks that are taken before anything else. */
  readonly locks: readonly string[];
  readonly request: RequestFacts;
}

/** What a command does inside its transaction. */
export interface CommandWork<Found extends Ownership | null | undefined, Done extends CommandChange, Answer> {
  /**
   * Finds the target and locks it. Its statements are sent together with those that lock receipt and caller, so it must not depend on
   * these.
   */
  find(tx: Transaction): Promise<Found>;
  /** Decides, and makes the change. `caller` was read and locked by the transaction. */
  act(tx: Transaction, caller: Principal, found: Found): Promise<Done>;
  /** The data that the receipt keeps, so that a repeated command can be answered. */
  answer?(change: Done, found: Found): Answer;
}

/** The result of a command. A replayed one has only its receipt: the change is known only the first time. */
export type CommandResult<Done extends CommandChange, Answer> =
  | { readonly receipt: Receipt<Answer>; readonly replayed: false; readonly change: Done }
  | { readonly receipt: Receipt<Answer>; readonly replayed: true };

/**
 * Runs a command in one transaction: receipt, change, audit record, events and outbox rows are committed together or not at all. A repeated
 * command with the same key, caller, operation, target, input and precondition gets the first answer again, even if it leaves out a default
 * or names the target differently. The same key with anything else is a conflict. A refused command does not bind its key. The events of
 * the command name its caller as their actor. (specification, *Original-key outcome and command keys*)
 */
export async function runCommand<Found extends Ownership | null | undefined, Done extends CommandChange, Answer>(
  transactions: Transactions,
  bindingKey: Buffer,
  command: Command,
  work: CommandWork<Found, Done, Answer>,
): Promise<CommandResult<Done, Answer>> {
  const bindings = command.key === null ? null : bindingsOf(bindingKey, command);
  const run = (act: (tx: Transaction) => Promise<CommandResult<Done, Answer>>) =>
    timed('command', { operation: command.operation }, () => transactions.run(act, { actor: command.caller }));
  return run(async (tx) => {
    const auditRecordId = newId();
    // The statements are sent together, and PostgreSQL executes them one after another, in the order of locks. The first refusal decides.
    const [, earlier, current, found] = await settleAll([
      takeAdvisoryLocks(tx.em, command.locks, command.caller.id),
      claimKey<Answer>(tx, command, bindings, auditRecordId),
      refreshCaller(tx, command.caller),
      work.find(tx),
    ]);
    const replayed = settledValue(earlier);
    if (replayed) return { receipt: replayed, replayed: true };
    const [caller, target] = [settledValue(current), settledValue(found)];
    const change = await work.act(tx, caller, target);
    // The receipt names the first record. The records for former owners and for other changed resources have ids of their own.
    for (const [index, entry] of entriesOf(command.audit, change, target).entries()) {
      const id = index === 0 ? auditRecordId : (entry.repeatedAs ?? newId());
      tx.record(id, change.actor ?? caller, entry, command.request);
    }
    const receipt = toReceipt(change, auditRecordId, work.answer?.(change, target) ?? null);
    if (command.key !== null) completeReceipt(tx, command.key, receipt);
    return { receipt, replayed: false, change };
  });
}

/** Waits for all promises. @throws the first error of PostgreSQL: all later statements failed because of it */
async function settleAll<T extends readonly Promise<unknown>[]>(
  promises: readonly [...T],
): Promise<{ [I in keyof T]: PromiseSettledResult<Awaited<T[I]>> }> {
  const settled = await Promise.allSettled(promises);
  for (const result of settled) {
    const state = result.status === 'rejected' ? sqlState(result.reason) : undefined;
    if (result.status === 'rejected' && state !== undefined && state !== failedTransaction) throw result.reason;
  }
  return settled;
}

function toReceipt<Answer>(
  { id, revision }: CommandChange,
  auditRecordId: string,
  answer: Answer | null,
): Receipt<Answer> {
  return { answer, resourceId: id, revision: revision ?? null, auditRecordId };
}

/** The receipt of an earlier use of the command's key. @throws Conflict if another command used the key */
export async function findReceipt<Answer>(
  em: Em,
  bindingKey: Buffer,
  command: Command,
): Promise<Receipt<Answer> | undefined> {
  return command.key === null ? undefined : readReceipt(em, command.key, bindingsOf(bindingKey, command));
}

/**
 * Binds the key of a command that a workflow carries out, before its workflow is started: the key is the id of the workflow. A refusal of
 * the workflow leaves it bound. @throws Conflict if another command used the key
 */
export async function reserveForWorkflow(em: Em, bindingKey: Buffer, command: Command): Promise<string> {
  const { key } = command;
  if (key === null) throw new Error(`${command.operation} has no key`);
  await reserveKey(em, { ...command, key }, bindingsOf(bindingKey, command));
  return key;
}

/** Two requests are the same if they are equal either as they were sent or as they were resolved. */
function bindingsOf(bindingKey: Buffer, command: Command): Bindings {
  const bind = (bound: BoundParts) => bindCommand(bindingKey, bound);
  const resolved = { ...command, ...command.resolved };
  return {
    sent: bind(command),
    resolved: bind(resolved),
    earlier: {
      sent: bind({ ...command, precondition: undefined }),
      resolved: bind({ ...resolved, precondition: undefined }),
    },
  };
}

type BoundParts = Pick<Command, 'caller' | 'operation' | 'target' | 'input' | 'precondition'>;

/** HMAC over caller, operation, target, input and precondition. Two commands are the same when their bindings are equal. */
export function bindCommand(bindingKey: Buffer, command: BoundParts): Buffer {
  const { caller, operation, target, input, precondition } = command;
  // Without a precondition the list equals that of earlier releases, so the bindings stay comparable.
  const demanded = precondition === undefined ? [] : [precondition];
  return createHmac('sha256', bindingKey)
    .update(canonicalJson([caller.id, operation, target, input ?? null, ...demanded]))
    .digest();
}

/** Reads the caller again and locks it, so that an authority that was revoked since the request arrived does not count. */
async function refreshCaller(tx: Transaction, caller: Principal): Promise<Principal> {
  if (caller.kind === 'system') return caller;
  const current = await lockCaller(tx.em, caller);
  if (!current?.enabled) throw new Unauthenticated('the credential is no longer valid');
  return current;
}
