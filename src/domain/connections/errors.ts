import { ServiceError } from '#domain/shared/errors.ts';

/** The credentials of a connection cannot be opened. Its metadata can still be read, and setting new credentials repairs it. */
export class CredentialsUnavailable extends ServiceError {
  constructor(cause: unknown) {
    const message =
      'the credentials of the connection cannot be opened with the keys of the service: set them anew, or ask an operator for the missing key';
    super('conflict', message, { code: 'credentials_unavailable', cause });
  }
}
