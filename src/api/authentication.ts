import type { FastifyRequest } from 'fastify';
import { findByApiKey } from '#domain/identity/api-keys.ts';
import { findBySessionToken } from '#domain/identity/sessions.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { AuthorizationUnavailable } from '#domain/shared/access/principal.ts';
import { Forbidden, Invalid, Unauthenticated } from '#domain/shared/errors.ts';
import { isConnectionError } from '#domain/shared/sql.ts';
import type { Services } from './services.ts';

export const sessionCookie = 'coordinator_session';

type Presented = { kind: 'api_key' | 'bearer' | 'cookie'; secret: string };

/**
 * Who sends this request, read afresh from the database: a revocation holds on the next request.
 * (specification, *Authentication*)
 */
export async function authenticate(services: Services, request: FastifyRequest): Promise<Principal> {
  const presented = readCredential(request);
  if (presented.kind === 'cookie') refuseCrossSite(request);
  const principal = await findPrincipal(services, presented);
  if (!principal) throw new Unauthenticated('the credential is not valid, has expired or was revoked');
  return principal;
}

function readCredential(request: FastifyRequest): Presented {
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
  if (!presented[0]) throw new Unauthenticated();
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
      ? await findByApiKey(em, secret)
      : await findBySessionToken(em, services.installation, secret);
  } catch (error) {
    throw isConnectionError(error) ? new AuthorizationUnavailable(error) : error;
  }
}

const harmlessMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** A browser sends the cookie whoever made the page: what changes something must come from our own origin. */
function refuseCrossSite(request: FastifyRequest): void {
  if (harmlessMethods.has(request.method)) return;
  const site = request.headers['sec-fetch-site'];
  const { origin, host } = request.headers;
  const sameOrigin =
    site === 'same-origin' || (site === undefined && (origin === undefined || hostOf(origin) === host));
  if (!sameOrigin)
    throw new Forbidden('cross-site request refused: a request by session cookie must come from the same origin');
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
