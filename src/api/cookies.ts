import type { FastifyReply } from 'fastify';
import type { Config } from '#config';
import { sessionCookie } from './authentication.ts';

/** Gives the browser its session, or takes it: unreadable for scripts, not sent across sites, secure off loopback. */
export function setSessionCookie(
  reply: FastifyReply,
  config: Pick<Config, 'baseUrl'>,
  session: { token: string; maxAgeSeconds: number } | null,
): void {
  const secure = config.baseUrl?.startsWith('https:') ?? false;
  const options = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const;
  if (session) reply.setCookie(sessionCookie, session.token, { ...options, maxAge: session.maxAgeSeconds });
  else reply.clearCookie(sessionCookie, options);
}
