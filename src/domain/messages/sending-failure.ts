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
