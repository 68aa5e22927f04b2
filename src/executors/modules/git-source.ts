import type { IncomingMessage, ServerResponse } from 'node:http';
import { isBelow } from '#domain/connections/kinds/git.ts';
import type { GitCredential } from '#domain/sources/git/access.ts';
import type { Egress } from '../egress/egress.ts';
import { answerText, passOn } from './answers.ts';
import { askUpstream } from './upstream.ts';

/** The only two requests with which git reads a repository. */
const requests = [
  { method: 'GET', end: '/info/refs', search: '?service=git-upload-pack' },
  { method: 'POST', end: '/git-upload-pack', search: '' },
] as const;
const safePath = /^(?:\/[A-Za-z0-9._~!$&'()*+,;=:@%-]*)*$/;
const sentHeaders = ['accept', 'accept-encoding', 'content-encoding', 'content-length', 'content-type', 'git-protocol'];

export interface GitRequest {
  readonly method: 'GET' | 'POST';
  readonly repository: URL;
  /** The part after the URL of the repository. */
  readonly end: string;
}

/**
 * Reads a request of git for a repository below the URL of a connection. Null for any other request, such as a push, or one for a
 * repository elsewhere.
 * @param target the part of the path and the query after the address of the connection at the gate
 */
export function readGitRequest(method: string | undefined, target: string, prefix: string): GitRequest | null {
  const [path = '', ...query] = target.split(/(?=\?)/);
  const known = requests.find(
    (each) => each.method === method && path.endsWith(each.end) && query.join('') === each.search,
  );
  if (known === undefined || !safePath.test(path)) return null;
  const text = prefix.replace(/\/$/, '') + path.slice(0, path.length - known.end.length);
  if (!URL.canParse(text) || !isBelow(text, prefix)) return null;
  return { method: known.method, repository: new URL(text), end: known.end + known.search };
}

export interface PasswordSource {
  readonly url: string;
  readonly credential: Extract<GitCredential, { kind: 'password' }>;
}

/**
 * Forwards git's request for a repository over HTTP. `place` is the address at the gate under which git sees the repositories of the
 * connection.
 */
export async function forwardGit(
  egress: Egress,
  { url, credential }: PasswordSource,
  place: string,
  { asked, request, response }: { asked: GitRequest; request: IncomingMessage; response: ServerResponse },
): Promise<void> {
  const { method, repository, end } = asked;
  const sent = sentHeaders.flatMap((name) => {
    const value = request.headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  const login = Buffer.from(`${credential.username}:${credential.password}`).toString('base64');
  const answer = await askUpstream(
    egress,
    {
      url: new URL(repository.href.replace(/\/$/, '') + end),
      method,
      headers: { ...Object.fromEntries(sent), 'user-agent': 'git/2', authorization: `Basic ${login}` },
      ...(method === 'POST' && { body: request }),
    },
    response,
  );
  const status = answer.statusCode ?? 502;
  if (status < 300) return passOn(answer, response);
  answer.resume();
  const moved = status < 400 ? moveBelow(answer.headers.location, { repository, url, place, end }) : null;
  if (moved !== null) return void response.writeHead(status, { location: moved, connection: 'close' }).end();
  answerText(response, status === 401 ? 403 : status, explain(status, repository));
}

/** The address for git of a redirect's target, if that is a repository below the same URL; null otherwise. */
function moveBelow(
  location: string | undefined,
  { repository, url, place, end }: { repository: URL; url: string; place: string; end: string },
): string | null {
  if (location === undefined || !URL.canParse(location, repository.href)) return null;
  const { href } = new URL(location, repository.href);
  if (!href.endsWith(end)) return null;
  const moved = href.slice(0, -end.length);
  const prefix = new URL(url).href.replace(/\/$/, '');
  return URL.canParse(moved) && isBelow(moved, url) ? place + moved.slice(prefix.length) + end : null;
}

function explain(status: number, { href }: URL): string {
  if (status === 401 || status === 403)
    return `${href}: the server refused the credentials of the connection that is bound (${status})`;
  if (status === 404) return `${href}: there is no such repository, or the connection that is bound does not open it`;
  if (status < 400) return `${href}: the server redirects elsewhere: use the address that it redirects to`;
  return `${href}: the server answered ${status}`;
}
