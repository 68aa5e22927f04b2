import { ServiceError } from '#domain/shared/errors.ts';

/** No key can sign a token now. */
export class SigningKeyUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'SigningKeyUnavailable';
  }
}

/** A run without an environment has no identity that a trust policy could name. */
export class EnvironmentRequired extends Error {
  constructor(runId: string) {
    super(`the run ${runId} belongs to no environment, so it has no workload identity`);
    this.name = 'EnvironmentRequired';
  }
}

/** The service does not know the URL under which verifiers reach it, so it cannot issue tokens. */
export class IssuerUnknown extends ServiceError {
  constructor() {
    const message =
      'workload identity needs the public URL of the service: an operator sets COORDINATOR_BASE_URL or COORDINATOR_ISSUER in every process';
    super('unprocessable', message, { code: 'issuer_unknown' });
  }
}
