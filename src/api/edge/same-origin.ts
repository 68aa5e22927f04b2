import type { FastifyRequest } from 'fastify';

/**
 * Whether a request comes from a page of this service. A browser sends cookies and forms whoever made the page, so what
 * changes something by them must be `true` here. `Sec-Fetch-Site` is the browser's own word; browsers leave it out where
 * they are old or the address is not encrypted, and then `Origin` decides. Undefined: the client sent neither, which no
 * browser does that submits something.
 */
export function isSameOrigin(request: FastifyRequest, baseUrl: string | null): boolean | undefined {
  const { 'sec-fetch-site': site, origin } = request.headers;
  if (site !== undefined) return site === 'same-origin';
  if (origin === undefined) return undefined;
  return origin === baseUrl || origin === `${request.protocol}://${request.host}`;
}
