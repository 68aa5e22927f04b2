import { Unprocessable } from '#domain/shared/errors.ts';

/** Why a connection that a template asks for cannot be used. Stable: clients match it as an error code and as a `status_reason`. */
export const connectionRefusals = {
  connection_unbound: 'a connection that the template needs is not bound to the environment or its project',
  connection_unfit: 'the connection that is bound is of another kind than the template needs',
  connection_conflict: 'two connections of the run provide the same environment variable',
  connection_elsewhere: 'the connection that is bound belongs to others than the owners of the environment',
  connection_unauthorized: 'the person who bound the connection may no longer bind it',
} as const;
export type ConnectionRefusal = keyof typeof connectionRefusals;

/** A connection that a template asks for cannot be used. The message names it, and says what would be right. */
export class ConnectionRefused extends Unprocessable {
  readonly reason: ConnectionRefusal;

  constructor(reason: ConnectionRefusal, message: string) {
    super(message, { code: reason });
    this.reason = reason;
  }
}
