import { createHmac, timingSafeEqual } from 'node:crypto';
import { lockCaller, type Principal } from './access/principal.ts';
import { type AuditEntry, auditStatement, type RequestFacts } from './audit.ts';
import { canonicalJson } from './canonical.ts';
import { onlyOnceBegun } from './connection.ts';
import type { Em } from './database.ts';
import { Conflict, Unauthenticated } from './errors.ts';
import { newId } from './ids.ts';
import { sqlState } from './sql.ts';
import type { Transaction, Transactions } from './transaction.ts';

/** The SQLSTATE of every statement after one that failed. */
const failedTransaction = '25P02';

/** What a caller asks for, and under which key. */
export interface Command {
  /** Null: the operation takes no key, and leaves no receipt. */
  readonly key: string | null;
  readonly caller: Principal;
  readonly operation: string;
  /** The ids in the path. */
  readonly target: Readonly<Record<string, string>>;
  /** The accepted input, before defaults are filled in. */
  readonly input: unknown;
  /** Advisory locks that are taken before anything else. */
  readonly locks: readonly string[];
  readonly request: RequestFacts;
}

/** What is kept of a command, without any body: a repeat is rendered by today's read of `location`. */
export interface Receipt {
  readonly status: number;
  readonly location: string | null;
  readonly resourceId: string | null;
  readonly revision: number | null;
  readonly auditRecordId: string;
}

/** What the work inside a command did. `body` is for the first answer alone; it is never kept. */
export interface Outcome {
  readonly status: number;
  readonly location?: string | null;
  readonly revision?: number | null;
  readonly body?: unknown;
  readonly audit: AuditEntry;
  /** Who did it, where the work itself found that out (signing in). */
  readonly actor?: Principal;
}

/** What a command does inside its transaction. */
export interface CommandWork<Found> {
  /** Finds what it is about, locked. Sent right behind the locks of receipt and caller: it must not rely on either. */
  find(tx: Transaction): Promise<Found>;
  /** Decides, and does it; the caller is as the transaction has found and locked it. */
  act(tx: Transaction, caller: Principal, found: Found): Promise<Outcome>;
}

export type CommandResult = { receipt: Receipt; replayed: false; body: unknown } | { receipt: Receipt; replayed: true };

/**
 * The one command transaction: receipt, change, audit row and outbox rows, or none of them. The same key with the same
 * caller, operation, target and input answers what it answered first; any other binding conflicts. A refusal binds nothing.
 * (specification, *Original-key outcome and command keys*)
 */
export async function runCommand<Found>(
  transactions: Transactions,
  bindingKey: Buffer,
  command: Command,
  work: CommandWork<Found>,
): Promise<CommandResult> {
  const binding = bindCommand(bindingKey, command);
  return transactions.run(async (tx) => {
    for (const lock of [...command.locks].sort()) {
      await tx.em.execute(`select pg_advisory_xact_lock(hashtextextended(?, 0))`, [`delivery-coordinator/${lock}`]);
    }
    const auditRecordId = newId();
    // Sent together, carried out one after the other, in the order of locks; what comes first counts first.
    const [earlier, current, found] = await allDone([
      claimKey(tx, command, binding, auditRecordId),
      refreshCaller(tx, command.caller),
      work.find(tx),
    ]);
    const receipt = answerOf(earlier);
    if (receipt) return { receipt, replayed: true };
    const caller = answerOf(current);
    const outcome = await work.act(tx, caller, answerOf(found));
    return { receipt: conclude(tx, command, caller, outcome, auditRecordId), replayed: false, body: outcome.body };
  });
}

/** What each came to. @throws what PostgreSQL itself refused: everything after it failed by that alone */
async function allDone<T extends readonly Promise<unknown>[]>(
  promises: readonly [...T],
): Promise<{ [I in keyof T]: PromiseSettledResult<Awaited<T[I]>> }> {
  const settled = await Promise.allSettled(promises);
  for (const result of settled) {
    const state = result.status === 'rejected' ? sqlState(result.reason) : undefined;
    if (result.status === 'rejected' && state !== undefined && state !== failedTransaction) throw result.reason;
  }
  return settled;
}

function answerOf<T>(settled: PromiseSettledResult<T>): T {
  if (settled.status === 'rejected') throw settled.reason;
  return settled.value;
}

/** The audit row and the completed receipt go out with the commit. */
function conclude(
  tx: Transaction,
  { key, request }: Command,
  caller: Principal,
  outcome: Outcome,
  auditRecordId: string,
): Receipt {
  const receipt = toReceipt(outcome, auditRecordId);
  tx.write(...auditStatement(auditRecordId, outcome.actor ?? caller, outcome.audit, request));
  if (key !== null) completeReceipt(tx, key, receipt);
  return receipt;
}

/** The receipt of an earlier use of the command's key. @throws Conflict where that was another command */
export async function findReceipt(em: Em, bindingKey: Buffer, command: Command): Promise<Receipt | undefined> {
  return command.key === null ? undefined : readReceipt(em, command.key, bindCommand(bindingKey, command));
}

/** HMAC over who asks for what of what: two commands are the same where their bindings are. */
export function bindCommand(
  bindingKey: Buffer,
  command: Pick<Command, 'caller' | 'operation' | 'target' | 'input'>,
): Buffer {
  const { caller, operation, target, input } = command;
  return createHmac('sha256', bindingKey)
    .update(canonicalJson([caller.id, operation, target, input ?? null]))
    .digest();
}

interface ReceiptRow {
  binding: Buffer;
  status: number;
  location: string | null;
  resource_id: string | null;
  revision: number | null;
  audit_record_id: string;
}

/** Claims the key for this command, waiting for whoever claims it at this moment; answers the receipt of an earlier use. */
async function claimKey(
  tx: Transaction,
  { key, caller, operation }: Command,
  binding: Buffer,
  auditRecordId: string,
): Promise<Receipt | undefined> {
  if (key === null) return undefined;
  const claimed = await tx.em.execute<{ key: string }[]>(
    `insert into command_receipts (key, principal_id, operation, binding, status, audit_record_id, created_at)
     select ?::uuid, ?::uuid, ?::text, ?::bytea, 0, ?::uuid, clock_timestamp() where ${onlyOnceBegun}
     on conflict (key) do nothing returning key`,
    [key, caller.id, operation, binding, auditRecordId],
  );
  if (claimed.length > 0) return undefined;
  return readReceipt(tx.em, key, binding);
}

async function readReceipt(em: Em, key: string, binding: Buffer): Promise<Receipt | undefined> {
  const [row] = await em.execute<ReceiptRow[]>(
    `select binding, status, location, resource_id, revision, audit_record_id from command_receipts where key = ?`,
    [key],
  );
  if (!row) return undefined;
  if (!timingSafeEqual(row.binding, binding)) {
    throw new Conflict(
      'this Idempotency-Key was used for another request: send a fresh key, or repeat the original request unchanged',
    );
  }
  return {
    status: row.status,
    location: row.location,
    resourceId: row.resource_id,
    revision: row.revision,
    auditRecordId: row.audit_record_id,
  };
}

function completeReceipt(tx: Transaction, key: string, receipt: Receipt): void {
  void tx.send(`update command_receipts set status = ?, location = ?, resource_id = ?, revision = ? where key = ?`, [
    receipt.status,
    receipt.location,
    receipt.resourceId,
    receipt.revision,
    key,
  ]);
}

/** The caller as of now, locked: an authority that was revoked since the request came in does not count. */
async function refreshCaller(tx: Transaction, caller: Principal): Promise<Principal> {
  if (caller.kind === 'system') return caller;
  const current = await lockCaller(tx.em, caller);
  if (!current?.enabled) throw new Unauthenticated('the credential is no longer valid');
  return current;
}

function toReceipt(outcome: Outcome, auditRecordId: string): Receipt {
  return {
    status: outcome.status,
    location: outcome.location ?? null,
    resourceId: outcome.audit.resource.id,
    revision: outcome.revision ?? null,
    auditRecordId,
  };
}
