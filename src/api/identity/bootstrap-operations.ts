import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { RequestMetadata } from '#api/pipeline/call.ts';
import { command } from '#api/pipeline/operation.ts';
import { AnswerId } from '#api/pipeline/schemas.ts';
import type { Services } from '#api/services.ts';
import { bootstrapAdministrator, bootstrapChange, bootstrapped } from '#domain/identity/bootstrap.ts';
import { hashPassword } from '#domain/identity/passwords/passwords.ts';
import { administratorsLock } from '#domain/identity/users/administrators.ts';
import { Forbidden, NotFound, Unauthenticated } from '#domain/shared/errors.ts';
import { PlatformRole } from '#domain/shared/vocabulary/roles.ts';
import { FirstAdministrator } from './bodies.ts';

const tokenHeader = 'x-service-bootstrap-token';
/**
 * The headers that clients themselves send. Each proxy reports its client in a different header, and a list of those would never be
 * complete. So any header that is not listed here counts as that of a proxy.
 */
const clientHeaders = new Set([
  'host',
  'connection',
  'keep-alive',
  'user-agent',
  'accept',
  'accept-encoding',
  'accept-language',
  'accept-charset',
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'expect',
  'te',
  'date',
  'cache-control',
  'pragma',
  'priority',
  'dnt',
  'upgrade-insecure-requests',
  'origin',
  'referer',
  'cookie',
  'authorization',
  'x-api-key',
  'x-client-request-id',
  'idempotency-key',
  'traceparent',
  'tracestate',
  'baggage',
  'sec-fetch-site',
  'sec-fetch-mode',
  'sec-fetch-dest',
  'sec-fetch-user',
  tokenHeader,
]);

/** (specification, *Bootstrap*) */
export const bootstrapAdmin = command({
  id: 'bootstrap.admin',
  route: 'POST /bootstrap/admin',
  summary: 'Make the first administrator of a new installation',
  description: 'Only where bootstrap is enabled, over loopback, with the configured token, and before the first user.',
  body: FirstAdministrator,
  responses: {
    201: z
      .object({ id: AnswerId, email: z.string(), name: z.string(), role: PlatformRole, enabled: z.boolean() })
      .meta({ id: 'Administrator' }),
  },
  access: {
    public: 'there is no user yet who could authenticate; the configured token and loopback take their place',
    verifyCredential: requireDirectToken,
    guessedAs: 'bootstrap',
  },
  idempotency: 'none',
  showsOnce: true,
  locks: [administratorsLock],
  audit: bootstrapped.action,
  resource: bootstrapped.resourceType,
  prepare: ({ body }) => hashPassword(body.password),
  handle: async ({ tx, body, prepared }) => {
    const { principal, user } = await bootstrapAdministrator(tx, { ...body, passwordHash: prepared });
    const answer = {
      id: user.id,
      email: user.email,
      name: principal.name,
      role: 'admin' as const,
      enabled: principal.enabled,
    };
    return { ...bootstrapChange(principal, user.email), answer };
  },
});

function requireDirectToken({ headers, socketAddress }: RequestMetadata, { config }: Services): void {
  const { enabled, token } = config.bootstrap;
  if (!enabled || token === null) throw new NotFound('bootstrap');
  const foreign = Object.keys(headers).find((name) => !clientHeaders.has(name));
  if (foreign !== undefined) {
    throw new Forbidden(
      `bootstrap must reach the service directly over loopback, not through a proxy: send it without the header ${foreign}`,
    );
  }
  if (!isLoopback(socketAddress)) throw new Forbidden('bootstrap must reach the service over its loopback interface');
  const sent = headers[tokenHeader];
  if (typeof sent !== 'string' || !sameText(sent, token)) {
    throw new Unauthenticated('the header X-Service-Bootstrap-Token is missing or is not the configured token');
  }
}

function isLoopback(address: string | null): boolean {
  return address !== null && (/^(::ffff:)?127\./.test(address) || address === '::1');
}

/** Compares texts in constant time if they have the same length. The length of the token is no secret. */
function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
