import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Asking } from '#api/pipeline/asking.ts';
import { sessionCookie } from '#api/pipeline/authentication.ts';
import type { CommandOperation } from '#api/pipeline/operation.ts';
import type { Config } from '#config';
import { isLoopbackHost } from './host-check.ts';

/** Gives the browser its session, or takes it: unreadable for scripts, not sent across sites, secure off loopback. */
export function setSessionCookie(
  reply: FastifyReply,
  config: Pick<Config, 'baseUrl'>,
  session: { token: string; maxAgeSeconds: number } | null,
): void {
  const secure = isEncrypted(reply.request, config) || !isLoopbackHost(reply.request.host);
  const options = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const;
  if (session) reply.setCookie(sessionCookie, session.token, { ...options, maxAge: session.maxAgeSeconds });
  else reply.clearCookie(sessionCookie, options);
}

/** What a command that was just carried out for the first time does to the browser's session. */
export function answerSession(
  reply: FastifyReply,
  { operation, principal, parts, services }: Asking<CommandOperation>,
  body: unknown,
): void {
  const session = operation.sessionCookie?.(body, { params: parts.params, principal });
  if (session !== undefined) setSessionCookie(reply, services.config, session);
}

/** Whether a browser at this address would keep the session cookie: over TLS, or on the machine itself. */
export function canKeepSession(request: FastifyRequest, config: Pick<Config, 'baseUrl'>): boolean {
  return isEncrypted(request, config) || isLoopbackHost(request.host);
}

/** A proxy that ends TLS in front of the service is known by the base URL, or by its forwarded headers. */
function isEncrypted(request: FastifyRequest, config: Pick<Config, 'baseUrl'>): boolean {
  return request.protocol === 'https' || (config.baseUrl?.startsWith('https:') ?? false);
}
