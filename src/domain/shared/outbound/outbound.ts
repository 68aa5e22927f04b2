import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { RuleCode } from '#domain/error-codes.ts';
import { Unavailable, Unprocessable } from '../errors.ts';
import { allowsAddress, allowsHost, isPublicAddress, type OutboundPolicy } from './outbound-policy.ts';

export type OutboundScheme = 'https' | 'ssh' | 'smtp' | 'smtps' | 'file';

export type Destination = {
  /** Normalized. Connect to this URL, because this is the one that was checked. */
  readonly url: URL;
  /** The checked addresses of the host. Connect to them and do not resolve the host again. Empty for `file://`. */
  readonly addresses: readonly string[];
  /** An operator has allowed the host or all of its addresses, so that a connection without TLS is allowed as well. */
  readonly mayBePlain: boolean;
};

/** Makes a socket connect to checked addresses instead of resolving the host again. For the option `lookup` of `net.connect`. */
export function pinTo(addresses: readonly string[]): LookupFunction {
  const checked = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, { all }, done) =>
    all ? done(null, checked) : done(null, checked[0]?.address ?? '', checked[0]?.family ?? 0);
}

export type Resolve = (host: string) => Promise<readonly string[]>;

const resolveTimeoutMs = 5_000;
const allowHint = 'an operator can allow it with COORDINATOR_OUTBOUND_ALLOW';

/**
 * Decides whether the service may connect to a URL from a client, and to which addresses. A host is refused if even one of its
 * addresses is forbidden. The caller must connect to `addresses`: the name could resolve to another address a moment later.
 * `http://` is refused unless an operator allowed the host or its addresses.
 * @throws Unprocessable naming what is wrong with the URL; Unavailable if its host cannot be resolved now
 */
export async function checkOutbound(
  text: string,
  policy: OutboundPolicy,
  options: { schemes?: readonly OutboundScheme[]; resolve?: Resolve } = {},
): Promise<Destination> {
  const schemes = options.schemes ?? ['https'];
  const url = parseUrl(text, schemes);
  if (url.protocol === 'file:') return { url: checkDirectory(url, policy), addresses: [], mayBePlain: true };
  checkCredentials(url);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(host) ? [host] : await (options.resolve ?? resolveHost)(host);
  if (addresses.length === 0) throw new Unprocessable(`the host ${host} has no address`, { code: 'host_unknown' });
  const isNamed = allowsHost(policy, host);
  if (!isNamed && addresses.some((address) => !isPublicAddress(address) && !allowsAddress(policy, address))) {
    throw new Unprocessable(`the host ${host} is not on the public network; ${allowHint}`, { code: 'address_refused' });
  }
  const mayBePlain = isNamed || addresses.every((address) => allowsAddress(policy, address));
  if (url.protocol === 'http:' && !mayBePlain) {
    throw new Unprocessable(`http:// is not encrypted: use https://, or ${allowHint}`, { code: 'url_unsupported' });
  }
  return { url, addresses, mayBePlain };
}

/** `checkOutbound` for a URL in a field of the body. Its errors name the field. */
export async function checkOutboundField(field: string, ...check: Parameters<typeof checkOutbound>): Promise<void> {
  try {
    await checkOutbound(...check);
  } catch (error) {
    if (!(error instanceof Unprocessable)) throw error;
    const message = `${field}: ${error.message}`;
    const code = error.code as RuleCode;
    throw new Unprocessable(message, { code, details: { errors: [{ in: 'body', path: field, message }] } });
  }
}

/** Why a text is not a URL with one of these schemes; null if it is. The host is not checked. */
export function explainUrl(text: string, schemes: readonly OutboundScheme[] = ['https']): string | null {
  const shown = schemes.filter((scheme) => scheme !== 'file').map((scheme) => `${scheme}://`);
  const url = /^[a-z]+:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  const scheme = url?.protocol.slice(0, -1);
  const isKnown = schemes.some((known) => known === scheme || (known === 'https' && scheme === 'http'));
  if (url !== undefined && isKnown && (url.hostname !== '' || scheme === 'file')) return null;
  return `expected a URL that starts with ${shown.join(' or ')} and a host`;
}

function parseUrl(text: string, schemes: readonly OutboundScheme[]): URL {
  const problem = explainUrl(text, schemes);
  if (problem !== null) throw new Unprocessable(problem, { code: 'url_unsupported' });
  return new URL(text);
}

function checkCredentials(url: URL): void {
  if (url.password !== '' || (url.username !== '' && url.protocol !== 'ssh:')) {
    throw new Unprocessable('a URL must not carry a user name or password: credentials belong in a connection', {
      code: 'url_unsupported',
    });
  }
}

function checkDirectory(url: URL, policy: OutboundPolicy): URL {
  const path = url.hostname === '' && !/%2f|%00/i.test(url.pathname) ? fileURLToPath(url) : undefined;
  if (path === undefined || !policy.directories.some((allowed) => path === allowed || path.startsWith(`${allowed}/`))) {
    throw new Unprocessable(`file:// is for development: ${allowHint}`, { code: 'address_refused' });
  }
  return url;
}

async function resolveHost(host: string): Promise<readonly string[]> {
  const timer = new AbortController();
  const expire = wait(resolveTimeoutMs, undefined, { signal: timer.signal }).then(() => {
    throw new Unavailable(`the name of the host ${host} could not be resolved in time`);
  });
  try {
    const found = await Promise.race([lookup(host, { all: true, order: 'verbatim' }), expire]);
    return found.map(({ address }) => address);
  } catch (error) {
    if (error instanceof Unavailable) throw error;
    const isUnknown = error instanceof Error && 'code' in error && error.code === 'ENOTFOUND';
    if (isUnknown)
      throw new Unprocessable(
        `the name of the host ${host} could not be resolved: check its spelling, or ask an operator whether the service can resolve names`,
        { code: 'host_unknown' },
      );
    throw new Unavailable(`the name of the host ${host} could not be resolved`, { cause: error });
  } finally {
    timer.abort();
  }
}
