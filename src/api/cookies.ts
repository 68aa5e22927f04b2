import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '#config';
import { sessionCookie } from './authentication.ts';
import { isLoopbackHost } from './plugins/host-check.ts';

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

/** Whether a browser at this address would keep the session cookie: over TLS, or on the machine itself. */
export function canKeepSession(request: FastifyRequest, config: Pick<Config, 'baseUrl'>): boolean {
  return isEncrypted(request, config) || isLoopbackHost(request.host);
}

/** A proxy that ends TLS in front of the service is known by the base URL, or by its forwarded headers. */
function isEncrypted(request: FastifyRequest, config: Pick<Config, 'baseUrl'>): boolean {
  return request.protocol === 'https' || (config.baseUrl?.startsWith('https:') ?? false);
}
