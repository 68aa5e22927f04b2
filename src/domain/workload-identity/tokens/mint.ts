import { type CryptoKey, type KeyObject, SignJWT } from 'jose';
import type { Em } from '#database/database.ts';
import { AttemptSuperseded } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { EnvironmentRequired, IssuerUnknown, SigningKeyUnavailable } from '../errors.ts';
import { openPrivateKey, signingAlgorithm } from '../signing-keys/key-pair.ts';
import { scheduleOf } from '../signing-keys/schedule.ts';
import { readSigningKeys } from '../signing-keys/store.ts';
import { type AttemptFacts, claimsOf, lifetimeOf, subjectOf } from './claims.ts';
import { type ClaimedAttempt, readAttemptFacts } from './store.ts';

/** A token is valid from this number of seconds before it is issued, so that verifiers with slow clocks accept it. */
const backdatedSeconds = 30;

/** The attempt that needs a token, and the receiver of the token. */
export interface TokenRequest extends ClaimedAttempt {
  /** The origin of the service; null if it is not known. */
  readonly issuer: string | null;
  /** The party that will accept the token. It comes from the settings of a connection, and never from a template. */
  readonly audience: string;
}

/**
 * Signs a token that identifies an attempt and its phase to external verifiers. The service does not store the token. The token's lifetime
 * is the timeout of the phase, but at most an hour. Call it in a transaction.
 * @throws AttemptSuperseded unless the worker executes the attempt now; IssuerUnknown; SigningKeyUnavailable; EnvironmentRequired
 */
export async function mintToken(em: Em, keyRing: KeyRing, request: TokenRequest): Promise<string> {
  if (request.issuer === null) throw new IssuerUnknown();
  const { facts, now } = await readFacts(em, request);
  const { keyId, privateKey } = await findSigner(em, keyRing);
  const issuedAt = Math.floor(now.getTime() / 1000);
  return new SignJWT(claimsOf(facts))
    .setProtectedHeader({ alg: signingAlgorithm, typ: 'JWT', kid: keyId })
    .setIssuer(request.issuer)
    .setSubject(subjectOf(facts))
    .setAudience(request.audience)
    .setIssuedAt(issuedAt)
    .setNotBefore(issuedAt - backdatedSeconds)
    .setExpirationTime(issuedAt + lifetimeOf(facts))
    .setJti(newId())
    .sign(privateKey);
}

async function readFacts(em: Em, attempt: ClaimedAttempt): Promise<{ facts: AttemptFacts; now: Date }> {
  const row = await readAttemptFacts(em, attempt);
  if (!row) throw new AttemptSuperseded(attempt.attemptId);
  const { phase, runId, operation, timeouts, environmentKind } = row;
  const named = (id: string | null, slug: string | null) => {
    if (id === null || slug === null) throw new EnvironmentRequired(runId);
    return { id, slug };
  };
  const facts = {
    ...{ attemptId: attempt.attemptId, phase, runId, operation, timeouts },
    organization: named(row.organizationId, row.organization),
    team: named(row.teamId, row.team),
    project: named(row.projectId, row.project),
    environment: { ...named(row.environmentId, row.environment), kind: environmentKind ?? '' },
    template: { id: row.templateId, slug: row.template, version: row.version },
    instance: { id: row.instanceId, name: row.instance },
  };
  return { facts, now: new Date(row.now) };
}

async function findSigner(em: Em, keyRing: KeyRing): Promise<{ keyId: string; privateKey: KeyObject | CryptoKey }> {
  const { keys, now } = await readSigningKeys(em);
  const key = scheduleOf(keys, now).find(({ status }) => status === 'signing');
  if (!key?.sealedPrivateKey)
    throw new SigningKeyUnavailable(
      'there is no key yet that signs the tokens of runs: a worker makes it when it starts',
    );
  return { keyId: key.keyId, privateKey: openPrivateKey(keyRing, key.id, key.sealedPrivateKey) };
}
