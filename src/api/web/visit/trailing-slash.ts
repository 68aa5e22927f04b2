import type { FastifyReply, FastifyRequest } from 'fastify';
import { isApiPath } from '#api/edge/errors/errors.ts';
import { seeOther } from '../layout.ts';
import { toLocalPath } from '../local-path.ts';

/** Redirects an address with a slash at its end to the page without it. People add one by hand, and so do some programs. */
export async function leadToPage(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  const { method, url } = request;
  if ((method !== 'GET' && method !== 'HEAD') || isApiPath(url) || isAssetPath(url)) return undefined;
  const [, path = '', query = ''] = /^([^?]*[^/?])\/+(\?.*)?$/.exec(url) ?? [];
  const page = path === '' ? null : toLocalPath(path + query);
  return page === null ? undefined : seeOther(reply, page);
}

/** Assets are excluded: people do not type their addresses, and no page is an asset. */
function isAssetPath(url: string): boolean {
  return url.startsWith('/assets/');
}
