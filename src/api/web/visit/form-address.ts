import type { FastifyRequest } from 'fastify';
import { toLocalPath } from '../local-path.ts';
import type { LocalPath } from '../paths.ts';

/**
 * The parameters of an address that name the result of an action. Scripts remove the same parameters once they were shown, and ignore them
 * when they identify a form.
 */
export const resultParameters = ['done', 'reviewed', 'added', 'next_team', 'next_role'];

/**
 * The page of a request: the requested one, or that of the submitted form, at its own address or else at that of the referring page. A
 * script fills in there what was typed. Null if there is no such page.
 */
export function findFormAddress({ method, url, headers, server, routeOptions }: FastifyRequest): LocalPath | null {
  if (method === 'GET') return toLocalPath(url);
  const hasPage = routeOptions.url !== undefined && server.hasRoute({ method: 'GET', url: routeOptions.url });
  const path = toLocalPath(hasPage ? url : withoutOrigin(headers.referer));
  if (!path || (path === url && !hasPage)) return null;
  const page = new URL(path, 'http://service.invalid');
  for (const name of resultParameters) page.searchParams.delete(name);
  return toLocalPath(page.pathname + page.search);
}

/** The path and the query of an address; undefined if it is not a valid URL. */
function withoutOrigin(address: string | undefined): string | undefined {
  if (address === undefined || !URL.canParse(address)) return undefined;
  const { pathname, search } = new URL(address);
  return pathname + search;
}
