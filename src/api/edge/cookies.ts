import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '#config';
import { isLoopbackHost } from './host-check.ts';

/** The name of the session cookie on the machine itself, where there may be no TLS. */
export const sessionCookie = 'coordinator_session';

/**
 * The name everywhere else. Browsers accept this prefix only over TLS and only from the host itself, so neither another host of the domain
 * nor somebody on the network can give their own session to a visitor.
 */
export const hostSessionCookie = `__Host-${sessionCookie}`;

/** A session for the browser; null removes the session. */
export type SessionCookie = { token: string; maxAgeSeconds: number } | null;

/**
 * Sets or clears the session cookie. Scripts cannot read it, browsers do not send it across sites, and outside loopback
 * they send it only over TLS.
 */
export function setSessionCookie(reply: FastifyReply, config: Pick<Config, 'baseUrl'>, session: SessionCookie): void {
  const name = nameOfSessionCookie(reply.request, config);
  const options = { path: '/', httpOnly: true, sameSite: 'lax', secure: name === hostSessionCookie } as const;
  if (session) reply.setCookie(name, session.token, { ...options, maxAge: session.maxAgeSeconds });
  else reply.clearCookie(name, options);
}

/** The session cookie of a request. A cookie with the other name is ignored, because somebody else may have set it. */
export function readSessionCookie(request: FastifyRequest, config: Pick<Config, 'baseUrl'>): string | undefined {
  return request.cookies[nameOfSessionCookie(request, config)];
}

function nameOfSessionCookie(request: FastifyRequest, config: Pick<Config, 'baseUrl'>): string {
  return isEncrypted(request, config) || !isLoopbackHost(request.host) ? hostSessionCookie : sessionCookie;
}

/** Whether a browser at this address would keep the session cookie: over TLS, or on the machine itself. */
export function canKeepSession(request: FastifyRequest, config: Pick<Config, 'baseUrl'>): boolean {
  return isEncrypted(request, config) || isLoopbackHost(request.host);
}

/** Whether a proxy terminates TLS in front of the service, according to the base URL or the forwarded headers. */
function isEncrypted(request: FastifyRequest, config: Pick<Config, 'baseUrl'>): boolean {
  return request.protocol === 'https' || (config.baseUrl?.startsWith('https:') ?? false);
}
