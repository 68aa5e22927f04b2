import type { FastifyRequest } from 'fastify';

/**
 * Whether a request comes from a page of this service. Browsers send cookies and forms from pages of any origin, so a change
 * that relies on them requires `true`. `Sec-Fetch-Site` is set by the browser itself; old browsers, and all browsers without
 * TLS, omit it, and then `Origin` decides. A request with neither proves nothing.
 */
export function isSameOrigin(request: FastifyRequest, baseUrl: string | null): boolean {
  const { 'sec-fetch-site': site, origin } = request.headers;
  if (site !== undefined) return site === 'same-origin';
  return origin === baseUrl || origin === `${request.protocol}://${request.host}`;
}
