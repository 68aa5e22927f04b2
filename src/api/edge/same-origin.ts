import type { FastifyRequest } from 'fastify';

/**
 * Whether a request comes from a page of this service. Browsers send cookies and forms from pages of any origin, so a change
 * that relies on them requires `true`. `Sec-Fetch-Site` is set by the browser itself; old browsers, and all browsers without
 * TLS, omit it, and then `Origin` decides. A request with neither proves nothing.
 */
export function isSameOrigin(request: FastifyRequest, baseUrl: string | null): boolean {
  const { 'sec-fetch-site': site, origin } = request.headers;
  if (site !== undefined) return site === 'same-origin';
  return origin === baseUrl || origin === requestedOrigin(request);
}

/** The origin of links to this service: the base URL, or else the origin in the request. */
export function linkOrigin(request: FastifyRequest, baseUrl: string | null): string {
  return baseUrl ?? requestedOrigin(request);
}

/** The origin that a request names. `refuseOtherHost` has checked the host, and a trusted proxy may have set it. */
function requestedOrigin({ protocol, host }: FastifyRequest): string {
  return `${protocol}://${host}`;
}

/** Destinations of requests that open a tab. The page that opened the tab cannot read the answer. */
const documents: readonly unknown[] = ['document', undefined];

/**
 * Whether a page of another origin reads in the background, for example with `fetch`, an image or a frame, rather than by opening a tab. It
 * cannot read the answer, but can make the visitor's session do costly work, use up the visitor's streams, and measure response times.
 * Browsers send the session cookie from another port or subdomain, because these belong to the same site. Programs and old browsers do not
 * send the headers that this function uses.
 */
export function isReadFromElsewhere({ headers }: FastifyRequest): boolean {
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = headers;
  if (site === undefined || site === 'same-origin' || site === 'none' || mode === undefined) return false;
  return mode !== 'navigate' || !documents.includes(destination);
}
