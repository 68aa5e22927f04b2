import type { Logger } from 'pino';

/** Why an installation without a mail server cannot send a mail. */
export const noMailServer = 'this installation sends no e-mail: an operator can set COORDINATOR_SMTP_URL';

/** Why a message was not accepted, in words without accounts and addresses. */
export class SendingFailure extends Error {
  /** Whether another try would fail as well, because the server refuses the recipient or the message itself. */
  readonly isFinal: boolean;

  constructor(message: string, { isFinal = false, cause }: { isFinal?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.name = 'SendingFailure';
    this.isFinal = isFinal;
  }
}

/**
 * Runs a try to send something. Returns its result, or why it failed. The log alone has the cause of an unexpected failure.
 * @param about what is sent, with ids for the log
 */
export async function trySending<Result>(
  log: Logger,
  { what, ...ids }: { readonly what: string; readonly [id: string]: string },
  send: () => Promise<Result>,
): Promise<Result | SendingFailure> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof SendingFailure) return error;
    log.error({ err: error, ...ids }, `could not make or send the ${what}`);
    return new SendingFailure(`the service could not make or send the ${what}; its log says why`, { cause: error });
  }
}
