import type { FastifyRequest } from 'fastify';
import { readSessionCookie } from '#api/edge/cookies.ts';
import { isReadFromElsewhere, isSameOrigin } from '#api/edge/same-origin.ts';
import type { Services } from '#api/services.ts';
import { beginsAsApiKey, looksLikeApiKey } from '#domain/identity/api-keys/api-keys.ts';
import {
  findPrincipalAndTarget,
  findPrincipalByCredential,
  type PresentedCredential,
  type PrincipalAndTarget,
  type TargetQuery,
} from '#domain/identity/authentication.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Forbidden, Invalid, Unauthenticated } from '#domain/shared/errors.ts';

/** The request has nothing that could be a valid credential. This error is not audited, and the database is not queried. */
export class CredentialMissing extends Unauthenticated {}

const invalidCredential = 'the credential is not valid, has expired or was revoked';

type RequestCredential = { source: 'api_key' | 'bearer' | 'cookie'; secret: string };

/**
 * Authenticates a request. The principal is read from the database every time, so a revocation takes effect on the next
 * request. (specification, *Authentication*)
 * @throws Unauthenticated, AuthorizationUnavailable; Invalid if the request has two credentials; Forbidden if a session
 * cookie comes from another origin
 */
export async function authenticate(services: Services, request: FastifyRequest): Promise<Principal> {
  return authenticateBy(services, request, (credential) => findPrincipal(services, credential));
}

/** `authenticate`, and the row of the request's target by the same statement. @throws also what the lookup of the target throws */
export async function authenticateWithTarget(
  services: Services,
  request: FastifyRequest,
  target: TargetQuery,
): Promise<PrincipalAndTarget> {
  return authenticateBy(services, request, (credential) =>
    findPrincipalAndTarget(services.orm.em.fork(), services, present(credential), target),
  );
}

async function authenticateBy<Found>(
  services: Services,
  request: FastifyRequest,
  find: (credential: RequestCredential) => Promise<Found | undefined>,
): Promise<Found> {
  const credential = readCredential(services, request);
  if (!credential) throw new CredentialMissing();
  const { source, secret } = credential;
  if (source === 'api_key' && !looksLikeApiKey(secret)) throw new CredentialMissing(explainInvalid(credential));
  if (source === 'cookie') refuseCrossSite(request, services.config.baseUrl);
  const found = await find(credential);
  if (!found) throw new Unauthenticated(explainInvalid(credential));
  return found;
}

/** Names the right header for a credential that seems to be in the wrong one. The text never repeats the credential. */
function explainInvalid({ source, secret }: RequestCredential): string {
  const isKey = beginsAsApiKey(secret);
  if (source === 'bearer' && isKey) {
    return `${invalidCredential}; this looks like an API key, which belongs in the header X-API-Key`;
  }
  if (source === 'api_key' && !isKey) {
    return `${invalidCredential}; an API key begins with dc_, and a session token belongs in the header Authorization: Bearer`;
  }
  return invalidCredential;
}

/** Finds the user who looks at a page, by the session cookie alone. Undefined without a valid session. */
export async function authenticateVisitor(services: Services, request: FastifyRequest): Promise<Principal | undefined> {
  const credential = readCredential(services, request);
  return credential?.source === 'cookie' ? findPrincipal(services, credential) : undefined;
}

function readCredential({ config }: Services, request: FastifyRequest): RequestCredential | undefined {
  const { authorization, 'x-api-key': apiKey } = request.headers;
  const cookie = readSessionCookie(request, config);
  const credentials: RequestCredential[] = [];
  if (typeof apiKey === 'string') credentials.push({ source: 'api_key', secret: apiKey });
  if (authorization !== undefined) credentials.push({ source: 'bearer', secret: readBearer(authorization) });
  if (cookie) credentials.push({ source: 'cookie', secret: cookie });
  if (credentials.length > 1)
    throw new Invalid(
      'the request carries more than one credential: send one of session cookie, bearer token and X-API-Key',
    );
  return credentials[0];
}

function readBearer(header: string): string {
  const match = /^Bearer ([^\s]+)$/i.exec(header);
  if (!match?.[1])
    throw new Unauthenticated('the Authorization header must be "Bearer <session token>"; API keys go into X-API-Key');
  return match[1];
}

function findPrincipal(services: Services, credential: RequestCredential): Promise<Principal | undefined> {
  return findPrincipalByCredential(services.orm.em.fork(), services, present(credential));
}

function present({ source, secret }: RequestCredential): PresentedCredential {
  return { kind: source === 'api_key' ? 'api_key' : 'session_token', secret };
}

const harmlessMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

function refuseCrossSite(request: FastifyRequest, baseUrl: string | null): void {
  if (harmlessMethods.has(request.method)) {
    refuseReadFromElsewhere(request);
    return;
  }
  if (isSameOrigin(request, baseUrl)) return;
  throw new Forbidden(
    'cross-site request refused: a change by session cookie must come from a page of this service, which `Sec-Fetch-Site` or ' +
      '`Origin` must say; programs send the session token as a bearer token',
  );
}

function refuseReadFromElsewhere(request: FastifyRequest): void {
  if (!isReadFromElsewhere(request)) return;
  throw new Forbidden(
    'cross-site request refused: a page of another origin may not read by session cookie; programs send the session token as a bearer token',
  );
}
