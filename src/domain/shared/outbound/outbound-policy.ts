import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** What an operator allows beyond public addresses (setting `COORDINATOR_OUTBOUND_ALLOW`). */
export type OutboundPolicy = {
  readonly ranges: readonly Range[];
  /** Host names in lower case. One that starts with a dot allows every name below it. */
  readonly hosts: readonly string[];
  /** Absolute directories that git may read by `file://` URLs, for development and tests. */
  readonly directories: readonly string[];
};

const hostName = /^(?:\*\.)?(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i;

/**
 * Metadata addresses of clouds that lie in public ranges; they serve facts and credentials of the machine that asks. Those of other clouds
 * lie in ranges that are not public: 169.254.0.0/16, 100.100.100.200 (in 100.64.0.0/10), 192.0.0.192 (in 192.0.0.0/24), fd00:ec2::254 and
 * fd20:ce::254 (in fc00::/7).
 */
const platformAddresses: ReadonlySet<string> = new Set(['168.63.129.16']);

const globalIPv6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether `parseOutboundPolicy` can read an entry. */
export function isOutboundEntry(entry: string): boolean {
  return isNumeric(entry) || isDirectory(entry) || hostName.test(entry);
}

/**
 * Reads entries such as `10.1.0.0/16`, `127.0.0.1`, `git.internal`, `*.corp.example` and `file:///srv/templates`.
 * @throws RangeError naming the first entry that is none of these
 */
export function parseOutboundPolicy(entries: readonly string[]): OutboundPolicy {
  const unknown = entries.find((entry) => !isOutboundEntry(entry));
  if (unknown !== undefined)
    throw new RangeError(`"${unknown}" is not an address, a CIDR range, a host name or a file:// URL`);
  return {
    ranges: entries.filter(isNumeric).map(parseRange),
    hosts: entries.filter((entry) => !isNumeric(entry) && !isDirectory(entry)).map(normalizeHost),
    directories: entries.filter(isDirectory).map((entry) => new URL(entry).pathname.replace(/\/+$/, '')),
  };
}

/** Whether the operator allows this host by its name, at any address. */
export function allowsHost(policy: OutboundPolicy, host: string): boolean {
  const name = normalizeHost(host);
  return policy.hosts.some((allowed) => (allowed.startsWith('.') ? name.endsWith(allowed) : name === allowed));
}

/** Whether the operator allows a range that contains this address. */
export function allowsAddress(policy: OutboundPolicy, address: string): boolean {
  const parsed = ipaddr.process(address);
  return policy.ranges.some(([base, bits]) => parsed.kind() === base.kind() && parsed.match(base, bits));
}

/**
 * Whether an address is on the public Internet. Loopback, private, link-local, shared (CGNAT), multicast and reserved addresses are not,
 * nor are IPv6 addresses that embed such an IPv4 address, and the metadata addresses of clouds.
 */
export function isPublicAddress(address: string): boolean {
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast' || platformAddresses.has(parsed.toString())) return false;
  return parsed.kind() === 'ipv4' || parsed.match(globalIPv6);
}

/** Accepts addresses only in their usual form: some parsers read `10` and `0x7f.1` as addresses, others as host names. */
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
