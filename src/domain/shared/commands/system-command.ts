import { auditedAction, type SystemAction, systemActions } from '#domain/system-actions.ts';
import type { Ownership } from '../access/decide.ts';
import { type Principal, systemPrincipal } from '../access/principal.ts';
import { type CommandChange, entriesOf } from '../audit.ts';
import { newId } from '../ids.ts';
import { type CommandWork, runCommand } from './command.ts';
import { serviceKeyOf } from './service-key.ts';
import type { Transaction, Transactions } from './transaction.ts';

/** An action that the service performs by itself. */
export interface SystemCommand {
  readonly action: SystemAction;
  /** The ids of the target. */
  readonly target: Readonly<Record<string, string>>;
  /**
   * The id of the cause, such as an event. The action is performed once for each cause, however often it is tried. Null if the work itself
   * checks, under its locks, whether there is still something to do.
   */
  readonly cause: string | null;
}

export interface SystemCommandDeps {
  readonly transactions: Transactions;
  readonly bindingKey: Buffer;
}

/** Thrown by the work of a system command that finds nothing to do. Nothing is committed then, and nothing recorded. */
export class NothingToDo extends Error {
  constructor() {
    super('there is nothing to do');
    this.name = 'NothingToDo';
  }
}

/** The idempotency key of an action for one cause. */
export function systemCommandKey(bindingKey: Buffer, action: SystemAction, cause: string): string {
  return serviceKeyOf(bindingKey, ['system command', action, cause]);
}

const unrequested = { requestId: null, address: null };

/**
 * Runs an action that no request caused, in the same transaction as a requested command: with a receipt, an audit record with
 * the owners of the target, and events. Returns undefined if it was done before, or if there is nothing to do.
 */
export async function runSystemCommand<Found extends Ownership | null | undefined, Done extends CommandChange>(
  { transactions, bindingKey }: SystemCommandDeps,
  { action, target, cause }: SystemCommand,
  work: Pick<CommandWork<Found, Done, never>, 'find' | 'act'>,
): Promise<Done | undefined> {
  const command = {
    key: cause === null ? null : systemCommandKey(bindingKey, action, cause),
    caller: systemActor(action),
    operation: action,
    audit: auditedAction(action),
    target,
    input: {},
    locks: [],
    request: unrequested,
  };
  try {
    const result = await runCommand(transactions, bindingKey, command, work);
    return result.replayed ? undefined : result.change;
  } catch (error) {
    if (error instanceof NothingToDo) return undefined;
    throw error;
  }
}

/** Records a system action that is part of a larger transaction, such as a step of a run, as `runSystemCommand` would. */
export function recordSystemAction(
  tx: Transaction,
  action: SystemAction,
  change: CommandChange,
  target: Ownership,
): void {
  for (const entry of entriesOf(auditedAction(action), change, target))
    tx.record(entry.repeatedAs ?? newId(), systemActor(action), entry, unrequested);
}

/** Who carries out a system action. */
export function systemActor(action: SystemAction): Principal {
  return systemPrincipal(systemActions[action].actor);
}
