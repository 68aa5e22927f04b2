import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { HttpProblem } from './errors/http-problem.ts';

/**
 * The `Host` headers that a listener accepts. `known`: the base URL's host, loopback, and the local address of the
 * connection. `loopback`: a connection over loopback must name loopback; other connections may use any name. That is for a
 * listener on a trusted network, which scrapers reach by names that the service does not know.
 */
export type HostRule = 'known' | 'loopback';

/**
 * Rejects a request for another host, which prevents DNS rebinding: a browser that follows an attacker's name to this
 * server's address sends that name as `Host`, and cannot send the server's own name.
 * @throws HttpProblem (400) if the header is missing or malformed, (421) if it names another host
 */
export function refuseOtherHost(request: FastifyRequest, baseUrl: string | null, rule: HostRule): void {
  const arrivedAt = request.raw.socket.localAddress;
  if (rule === 'loopback' && arrivedAt !== undefined && !isLoopback(arrivedAt)) return;
  const given = readHost(request.host);
  if (given === null) throw new HttpProblem(400, 'the Host header is missing or is not a valid host');
  if (isLoopback(given.name)) return;
  if (rule === 'known' && (isSameAddress(given.name, arrivedAt) || isHostOf(given, baseUrl))) return;
  const hint =
    baseUrl === null ? 'set COORDINATOR_BASE_URL to the address that clients use' : `it answers at ${baseUrl}`;
  throw new HttpProblem(421, `this server is not the host that the Host header names: ${hint}`);
}

/** Whether a `Host` header names loopback. */
export function isLoopbackHost(header: string | undefined): boolean {
  const given = readHost(header);
  return given !== null && isLoopback(given.name);
}

type Host = { name: string; port: string };

/** Parses a `Host` header: the name in lowercase, an IPv6 address without brackets. Null if it is not a host. */
function readHost(header: string | undefined): Host | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::([0-9]{1,5}))?$/i.exec(header ?? '');
  if (!match) return null;
  const name = (match[1] ?? match[2] ?? '').toLowerCase().replace(/\.$/, '');
  return { name, port: match[3] ?? '' };
}

function isHostOf(given: Host, baseUrl: string | null): boolean {
  if (baseUrl === null) return false;
  const url = new URL(baseUrl);
  const standard = url.protocol === 'https:' ? '443' : '80';
  return readHost(url.host)?.name === given.name && (url.port || standard) === (given.port || standard);
}

function isLoopback(name: string): boolean {
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  return ipaddr.isValid(name) && ipaddr.process(name).range() === 'loopback';
}

function isSameAddress(name: string, address: string | undefined): boolean {
  if (address === undefined || !ipaddr.isValid(name) || !ipaddr.isValid(address)) return false;
  return ipaddr.process(name).toNormalizedString() === ipaddr.process(address).toNormalizedString();
}
