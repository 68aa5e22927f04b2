import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import {
  allowsAddress,
  allowsHost,
  isPublicAddress,
  type OutboundPolicy,
  parseOutboundPolicy,
} from '#domain/shared/outbound/outbound-policy.ts';

/** What the attempts of a pool can reach. */
export interface EgressPolicy {
  readonly policy: 'none' | 'allow' | 'internet';
  /** Host names, `*.suffix` names, addresses and CIDR ranges. */
  readonly allow: readonly string[];
  /**
   * Names, addresses and CIDR ranges of the service's own parts: PostgreSQL, Temporal, the API and its admin listener.
   * Attempts never reach them, unless `allow` contains the same name or single address.
   */
  readonly denied: readonly string[];
}

export interface EgressRules {
  readonly policy: EgressPolicy['policy'];
  readonly allow: OutboundPolicy;
  readonly denied: OutboundPolicy;
}

/**
 * Blocks that a broad range never opens: the worker's own machine and link, metadata services, multicast, and the IPv6
 * forms that carry an IPv4 address. `0.0.0.0/0` means "every network", not "the worker's loopback", so a range opens
 * one of these blocks only if it lies inside that block. 168.63.129.16 is the Azure platform, on a public address.
 */
const guardedBlocks = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '169.254.169.254/32',
  '192.0.0.192/32',
  '::/96',
  '::1/128',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2001::/32',
  '2002::/16',
  'fd00:ec2::254/128',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
].map((block) => ipaddr.parseCIDR(block));

/** Mail servers trust addresses with a good reputation, so this port of public hosts is closed. */
const mailPort = 25;

/** @throws RangeError that names the first entry that is not a host name, address or CIDR range */
export function readEgressRules(policy: EgressPolicy): EgressRules {
  return { policy: policy.policy, allow: parseEntries(policy.allow), denied: parseEntries(policy.denied) };
}

/**
 * Returns why a host name must not even be looked up, or null. Under `allow`, unlisted names are refused here, because the
 * lookup itself could carry data out in the labels of the name.
 */
export function refusalOfName(rules: EgressRules, name: string): string | null {
  if (rules.policy === 'none') return nothingAllowed;
  if (allowsHost(rules.denied, name) && !rules.allow.hosts.includes(name)) return ownPart;
  if (rules.policy === 'allow' && !allowsHost(rules.allow, name)) return notListed(rules.allow, name);
  return null;
}

/**
 * Returns why an address must not be dialled, or null. `name` is the host name that resolved to it; null if the request named
 * the address itself.
 *
 * A listed name may lead to a private address: an operator who lists `git.internal` or `*.corp.example` means hosts of the
 * private network, and would otherwise have to repeat the list as changing ranges. The price is DNS rebinding by the owner of
 * the zone, who can choose the private host that attempts reach. So list only zones that you trust. The guarded blocks and the
 * service's own parts stay refused.
 */
export function refusalOfAddress(rules: EgressRules, name: string | null, text: string, port: number): string | null {
  if (rules.policy === 'none') return nothingAllowed;
  const address = canonical(text);
  if (address === null) return 'its address cannot be read';
  if (allowsAddress(rules.denied, address) && !namesSingleAddress(rules.allow, address)) return ownPart;
  const isInRange = rangesThatOpen(rules.allow, address);
  if (isInRange) return null;
  if (isGuarded(address)) return 'its address is loopback, link-local, multicast, a metadata service or reserved';
  if (name !== null && allowsHost(rules.allow, name)) return null;
  if (rules.policy === 'allow') return "the pool's list does not have its address";
  if (!isPublicAddress(address)) return `its address is not public, and the pool's list does not have ${address}`;
  if (port === mailPort) return `port ${mailPort} (mail) is closed to the Internet`;
  return null;
}

const nothingAllowed = 'the pool\'s egress policy is "none"';
const ownPart = 'it belongs to the service or to this machine, or COORDINATOR_EXECUTOR_DENIED names it';

function notListed({ ranges }: OutboundPolicy, name: string): string {
  const hint = ranges.length > 0 ? '; ranges open addresses, not names' : '';
  return `the pool's list does not name ${name}${hint}`;
}

/**
 * Returns the form of an address that every parser reads alike, or null. The library for ranges takes `1.2.3` for an address,
 * and `::10.0.0.1` for the IPv4 address 10.0.0.1, unlike the kernel.
 */
function canonical(text: string): string | null {
  const host = isIP(text) === 6 ? `[${text}]` : text;
  if (isIP(text) === 0 || !URL.canParse(`http://${host}/`)) return null;
  return new URL(`http://${host}/`).hostname.replace(/^\[|\]$/g, '');
}

/** Whether a range contains the address and lies inside each guarded block that contains it too. */
function rangesThatOpen(allow: OutboundPolicy, address: string): boolean {
  const blocks = guardedBlocks.filter((block) => holds(block, address));
  return allow.ranges.some(
    ([base, bits]) =>
      holds([base, bits], address) &&
      blocks.every(([start, length]) => bits >= length && holds([start, length], base.toString())),
  );
}

function isGuarded(address: string): boolean {
  return guardedBlocks.some((block) => holds(block, address));
}

function namesSingleAddress(allow: OutboundPolicy, address: string): boolean {
  const parsed = ipaddr.process(address);
  const bits = parsed.kind() === 'ipv4' ? 32 : 128;
  return allow.ranges.some(([base, length]) => length === bits && holds([base, length], address));
}

function holds([base, bits]: readonly [ipaddr.IPv4 | ipaddr.IPv6, number], address: string): boolean {
  const parsed = ipaddr.process(address);
  return parsed.kind() === base.kind() && parsed.match(base, bits);
}

function parseEntries(entries: readonly string[]): OutboundPolicy {
  const parsed = parseOutboundPolicy(entries.map(asciiEntry));
  if (parsed.directories.length > 0) throw new RangeError('egress entries are hosts: a file:// URL names none');
  return parsed;
}

/** Returns the ASCII form of an international name. Other entries are left for the parser as they are. */
function asciiEntry(entry: string): string {
  const [, wildcard = '', name = ''] = /^(\*\.)?(.*?)\.?$/s.exec(entry) ?? [];
  if (isIP(name) !== 0 || name.includes('/') || name.includes(':')) return entry;
  const ascii = domainToASCII(name);
  if (ascii === '' || isIP(ascii) !== 0) throw new RangeError(`"${entry}" is not an address, CIDR range or host name`);
  return wildcard + ascii;
}
