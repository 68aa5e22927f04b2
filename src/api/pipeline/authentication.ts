import type { FastifyRequest } from 'fastify';
import { isSameOrigin } from '#api/edge/same-origin.ts';
import type { Services } from '#api/services.ts';
import { isConnectionError } from '#database/errors.ts';
import { findByApiKey, looksLikeApiKey } from '#domain/identity/api-keys/api-keys.ts';
import { findBySessionToken } from '#domain/identity/sessions/sessions.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { AuthorizationUnavailable } from '#domain/shared/access/principal.ts';
import { Forbidden, Invalid, Unauthenticated } from '#domain/shared/errors.ts';

export const sessionCookie = 'coordinator_session';

/** Nothing came that could be anybody's: nobody is refused, no row says so, and no database is asked. */
export class CredentialMissing extends Unauthenticated {}

const invalid = 'the credential is not valid, has expired or was revoked';

type Presented = { kind: 'api_key' | 'bearer' | 'cookie'; secret: string };

/**
 * Who sends this request, read afresh from the database: a revocation holds on the next request.
 * (specification, *Authentication*)
 */
export async function authenticate(services: Services, request: FastifyRequest): Promise<Principal> {
  const presented = readCredential(request);
  if (!presented) throw new CredentialMissing();
  if (presented.kind === 'api_key' && !looksLikeApiKey(presented.secret)) throw new CredentialMissing(invalid);
  if (presented.kind === 'cookie') refuseCrossSite(request, services.config.baseUrl);
  const principal = await findPrincipal(services, presented);
  if (!principal) throw new Unauthenticated(invalid);
  return principal;
}

/** Who looks at a page: by the session cookie alone. Undefined where there is none, or none that still counts. */
export async function authenticateVisitor(services: Services, request: FastifyRequest): Promise<Principal | undefined> {
  const presented = readCredential(request);
  return presented?.kind === 'cookie' ? findPrincipal(services, presented) : undefined;
}

function readCredential(request: FastifyRequest): Presented | undefined {
  const { authorization, 'x-api-key': apiKey } = request.headers;
  const cookie = request.cookies[sessionCookie];
  const presented: Presented[] = [];
  if (typeof apiKey === 'string') presented.push({ kind: 'api_key', secret: apiKey });
  if (authorization !== undefined) presented.push({ kind: 'bearer', secret: readBearer(authorization) });
  if (cookie) presented.push({ kind: 'cookie', secret: cookie });
  if (presented.length > 1)
    throw new Invalid(
      'the request carries more than one credential: send one of session cookie, bearer token and X-API-Key',
    );
  return presented[0];
}

function readBearer(header: string): string {
  const match = /^Bearer ([^\s]+)$/i.exec(header);
  if (!match?.[1])
    throw new Unauthenticated('the Authorization header must be "Bearer <session token>"; API keys go into X-API-Key');
  return match[1];
}

async function findPrincipal(services: Services, { kind, secret }: Presented): Promise<Principal | undefined> {
  const em = services.orm.em.fork();
  try {
    return kind === 'api_key'
      ? await findByApiKey(em, secret, (keyId) => services.keyUses.note(keyId))
      : await findBySessionToken(em, services.installation, secret);
  } catch (error) {
    throw isConnectionError(error) ? new AuthorizationUnavailable(error) : error;
  }
}

const harmlessMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

function refuseCrossSite(request: FastifyRequest, baseUrl: string | null): void {
  if (harmlessMethods.has(request.method) || isSameOrigin(request, baseUrl) !== false) return;
  throw new Forbidden('cross-site request refused: a request by session cookie must come from the same origin');
}
