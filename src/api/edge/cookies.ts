import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '#config';
import { isLoopbackHost } from './host-check.ts';

export const sessionCookie = 'coordinator_session';

/** A session to give to a browser; null takes the session away. */
export type SessionCookie = { token: string; maxAgeSeconds: number } | null;

/**
 * Sets or clears the session cookie. Scripts cannot read it, browsers do not send it across sites, and outside loopback
 * they send it only over TLS.
 */
export function setSessionCookie(reply: FastifyReply, config: Pick<Config, 'baseUrl'>, session: SessionCookie): void {
  const secure = isEncrypted(reply.request, config) || !isLoopbackHost(reply.request.host);
  const options = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const;
  if (session) reply.setCookie(sessionCookie, session.token, { ...options, maxAge: session.maxAgeSeconds });
  else reply.clearCookie(sessionCookie, options);
}

/** Whether a browser at this address would keep the session cookie: over TLS, or on the machine itself. */
export function canKeepSession(request: FastifyRequest, config: Pick<Config, 'baseUrl'>): boolean {
  return isEncrypted(request, config) || isLoopbackHost(request.host);
}

/** The base URL or the forwarded headers tell of a proxy that terminates TLS in front of the service. */
function isEncrypted(request: FastifyRequest, config: Pick<Config, 'baseUrl'>): boolean {
  return request.protocol === 'https' || (config.baseUrl?.startsWith('https:') ?? false);
}
