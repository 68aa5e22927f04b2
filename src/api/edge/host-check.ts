import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { HttpProblem } from './errors/http-problem.ts';

/**
 * Which `Host` a listener answers to. `known`: the base URL's, loopback, and the address that the connection came in on.
 * `loopback`: connections over loopback must say so, others may use any name (for a listener on a trusted network,
 * which scrapers reach by names that the service does not know).
 */
export type HostRule = 'known' | 'loopback';

/**
 * Refuses a request meant for another server. A browser that was lured to a name which resolves to this server's address
 * (DNS rebinding) sends that name as `Host`; it can never send the server's own.
 */
export function refuseForeignHost(request: FastifyRequest, baseUrl: string | null, rule: HostRule): void {
  const arrivedAt = request.raw.socket.localAddress;
  if (rule === 'loopback' && arrivedAt !== undefined && !isLoopback(arrivedAt)) return;
  const given = readHost(request.host);
  if (given === null) throw new HttpProblem(400, 'the Host header is missing or is not a host');
  if (isLoopback(given.name)) return;
  if (rule === 'known' && (isSameAddress(given.name, arrivedAt) || isHostOf(given, baseUrl))) return;
  const hint =
    baseUrl === null ? 'set COORDINATOR_BASE_URL to the address that clients use' : `it answers at ${baseUrl}`;
  throw new HttpProblem(421, `this server is not the one that the Host header names: ${hint}`);
}

/** Whether a `Host` header names the machine itself. */
export function isLoopbackHost(header: string | undefined): boolean {
  const given = readHost(header);
  return given !== null && isLoopback(given.name);
}

type Host = { name: string; port: string };

/** A `Host` header as name and port, lowercase, an IPv6 address without brackets; null if it is neither. */
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
