import { isIP } from 'node:net';
import { EgressRefusal } from './refusal.ts';

/** The target of a request. The same value is checked and dialled. */
export interface Destination {
  /** A lower-case ASCII name without a trailing dot, or an address without brackets. */
  readonly host: string;
  readonly isAddress: boolean;
  readonly port: number;
}

const authority = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+):([0-9]{1,5})$/i;
const hostName = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;

/** Reads the target of `CONNECT host:port`. It rejects user names, paths and encoded characters. */
export function readAuthority(text: string): Destination {
  const [, host, port] = authority.exec(text) ?? [];
  if (host === undefined || !URL.canParse(`http://${host}/`)) throw malformed('CONNECT needs a host and a port');
  return destination(new URL(`http://${host}/`), Number(port));
}

/** Reads the absolute URL of a proxied request. */
export function readAbsoluteUrl(text: string): { url: URL; destination: Destination } {
  const isAscii = /^[\x21-\x7e]+$/.test(text);
  const url = isAscii && URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:') throw malformed('a proxied request needs an http:// URL; use CONNECT for https://');
  if (url.username !== '' || url.password !== '') throw malformed('the URL has a user name or a password');
  return { url, destination: destination(url, Number(url.port || 80)) };
}

/** The host and port of a URL that the service itself is to reach; those of ssh are read as well. */
export function destinationOf(url: URL): Destination {
  const ports: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'ssh:': 22 };
  // Only for the schemes of the web does the URL parser write hosts in their usual form.
  const web = URL.canParse(`http://${url.host}/`) ? new URL(`http://${url.host}/`) : url;
  return destination(web, Number(url.port) || (ports[url.protocol] ?? 0));
}

/** The URL parser turns `127.1`, `0x7f.1` and `2130706433` into the address that some resolvers take them for. */
function destination(url: URL, port: number): Destination {
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const isAddress = isIP(host) !== 0;
  if (!isAddress && !hostName.test(host)) throw malformed('the host name is malformed');
  if (port < 1 || port > 65_535) throw malformed('the port is not between 1 and 65535');
  return { host, isAddress, port };
}

export function formatDestination({ host, port }: Destination): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function malformed(message: string): EgressRefusal {
  return new EgressRefusal(400, `refused: ${message}`);
}
