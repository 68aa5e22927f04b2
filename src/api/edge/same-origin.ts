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

/** The origin with which links to this service begin: the base URL, or else the origin that the request names. */
export function linkOrigin(request: FastifyRequest, baseUrl: string | null): string {
  return baseUrl ?? requestedOrigin(request);
}

/** `refuseOtherHost` has checked the host, and a trusted proxy may have set it. */
function requestedOrigin({ protocol, host }: FastifyRequest): string {
  return `${protocol}://${host}`;
}

/** A request that opens a tab: the page that opened the tab cannot read the answer. */
const documents: readonly unknown[] = ['document', undefined];

/**
 * Whether a page of another origin reads by itself, such as with `fetch`, an image or a frame, rather than opens a tab. It cannot read the
 * answer, but may make the visitor's session do costly work, hold all of the visitor's streams, and measure how long an answer takes. Browsers send the
 * session cookie with it from another port or subdomain, which are the same site to them. Programs and old browsers do not say how they read.
 */
export function isReadFromElsewhere({ headers }: FastifyRequest): boolean {
  const { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = headers;
  if (site === undefined || site === 'same-origin' || site === 'none' || mode === undefined) return false;
  return mode !== 'navigate' || !documents.includes(destination);
}
