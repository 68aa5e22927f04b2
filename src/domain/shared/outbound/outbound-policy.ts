import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** What an operator allows beyond public addresses (setting `COORDINATOR_OUTBOUND_ALLOW`). */
export type OutboundPolicy = {
  readonly ranges: readonly Range[];
  /** Lowercase host names; one that starts with a dot stands for every name below it. */
  readonly hosts: readonly string[];
  /** Absolute directories whose `file://` URLs git may read; for development and tests. */
  readonly directories: readonly string[];
};

/** Nothing but public addresses. */
export const publicOnly: OutboundPolicy = { ranges: [], hosts: [], directories: [] };

const hostName = /^(?:\*\.)?(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i;

const globalIPv6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an entry is one that `parseOutboundPolicy` understands. */
export function isOutboundEntry(entry: string): boolean {
  return isNumeric(entry) || isDirectory(entry) || hostName.test(entry);
}

/**
 * Reads entries such as `10.1.0.0/16`, `127.0.0.1`, `git.internal`, `*.corp.example` and `file:///srv/templates`.
 * @throws RangeError naming the first entry that is none of these
 */
export function parseOutboundPolicy(entries: readonly string[]): OutboundPolicy {
  const unknown = entries.find((entry) => !isOutboundEntry(entry));
  if (unknown !== undefined) throw new RangeError(`"${unknown}" is no address, CIDR range, host name or file:// URL`);
  return {
    ranges: entries.filter(isNumeric).map(parseRange),
    hosts: entries.filter((entry) => !isNumeric(entry) && !isDirectory(entry)).map(normalizeHost),
    directories: entries.filter(isDirectory).map((entry) => new URL(entry).pathname.replace(/\/+$/, '')),
  };
}

/** Whether the operator named this host itself, whatever it resolves to. */
export function allowsHost(policy: OutboundPolicy, host: string): boolean {
  const name = normalizeHost(host);
  return policy.hosts.some((allowed) => (allowed.startsWith('.') ? name.endsWith(allowed) : name === allowed));
}

/** Whether the operator named a range that holds this address. */
export function allowsAddress(policy: OutboundPolicy, address: string): boolean {
  const parsed = ipaddr.process(address);
  return policy.ranges.some(([base, bits]) => parsed.kind() === base.kind() && parsed.match(base, bits));
}

/**
 * Whether an address is on the public Internet: no loopback, private, link-local, shared (CGNAT), multicast or
 * reserved one, and none that carries such an IPv4 address inside an IPv6 one.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(globalIPv6);
}

/** Addresses in their usual form only: `10` and `0x7f.1` are addresses to some parsers and host names to others. */
function isNumeric(entry: string): boolean {
  return isIP(entry) !== 0 || (isIP(entry.split('/')[0] ?? '') !== 0 && ipaddr.isValidCIDR(entry));
}

function parseRange(entry: string): Range {
  if (entry.includes('/')) return ipaddr.parseCIDR(entry);
  const address = ipaddr.process(entry);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function normalizeHost(host: string): string {
  return host.toLowerCase().replace(/^\*/, '').replace(/\.$/, '');
}

function isDirectory(entry: string): boolean {
  return /^file:\/\/\/[^?#]*$/.test(entry) && URL.canParse(entry);
}
