import type { RuleCode } from '#domain/error-codes.ts';
import { Conflict } from './errors.ts';

/**
 * An action that a caller may or may not do with one resource now, by the resource's state and the caller's authority
 * together. (docs/access.md, *Asking beforehand*)
 */
export interface Action<Name extends string = string> {
  readonly name: Name;
  readonly allowed: boolean;
  /** The message with which the operation would refuse; null if the action is allowed. */
  readonly reason: string | null;
}

/** @param reason the message with which the operation would refuse; null if it would not */
export function toAction<Name extends string>(name: Name, reason: string | null): Action<Name> {
  return { name, allowed: reason === null, reason };
}

/**
 * The refusal of an action by a rule. Rules return it as a value, so that describing the actions of a resource creates no errors.
 * An operation throws it as `ActionRefused`.
 */
export interface Refusal {
  /** The code with which the operation would refuse. */
  readonly code: RuleCode;
  /** Public. It says what is wrong and what would be right. */
  readonly message: string;
}

/** An operation was refused by a rule of its area. */
export class ActionRefused extends Conflict {
  constructor({ code, message }: Refusal) {
    super(message, code);
  }
}

/** @throws ActionRefused if there is a refusal */
export function throwIfRefused(refusal: Refusal | null): void {
  if (refusal) throw new ActionRefused(refusal);
}
