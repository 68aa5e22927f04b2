import { Unprocessable } from '#domain/shared/errors.ts';
import type { ConnectionRefusal } from '#domain/shared/vocabulary/run-reasons.ts';

/** A connection that a template requires cannot be used. The message names it and says how to correct it. */
export class ConnectionRefused extends Unprocessable {
  readonly reason: ConnectionRefusal;

  constructor(reason: ConnectionRefusal, message: string) {
    super(message, { code: reason });
    this.reason = reason;
  }
}
