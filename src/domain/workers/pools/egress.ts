import ipaddr from 'ipaddr.js';
import { z } from 'zod';

/** `none`: no network; `allow`: only what the list names; `internet`: public addresses, and private ones that the list names. */
export const egressPolicies = ['none', 'allow', 'internet'] as const;

/** What template code of a pool may reach over the network. */
export interface Egress {
  readonly policy: (typeof egressPolicies)[number];
  /** Host names in lower case, optionally starting with `*.`, and CIDR ranges. */
  readonly allow: readonly string[];
}

/** The egress of a pool whose rules set none. */
export const defaultEgress: Egress = { policy: 'internet', allow: [] };

const maxEntries = 200;
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const hostName = new RegExp(`^(?:\\*\\.)?(?=.{1,253}$)${label}(?:\\.${label})*$`);
/** A text that begins like an IPv4 or IPv6 address and a slash. */
const rangeLike = /^(?:[\d.]+|[\da-f.]*:[^/]*:[^/]*)\//;
/** Some parsers read a name whose last label is a number as an address. */
const numericEnd = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;

const EgressEntry = z
  .string()
  .max(256)
  .transform((entry) => entry.toLowerCase())
  .superRefine((entry, context) => {
    const problem = findEntryProblem(entry);
    if (problem) context.addIssue({ code: 'custom', message: problem });
  });

export const EgressList = z.array(EgressEntry).max(maxEntries);

/** Why a list does not fit its policy, as the end of a sentence; null if it does. */
export function findListProblem({ policy, allow }: Egress): string | null {
  if (policy === 'none' && allow.length > 0)
    return 'must be empty where policy is "none": send "allow": [] with it, or choose the policy "allow"';
  if (policy === 'allow' && allow.length === 0)
    return 'must name a host or a range where policy is "allow": fill the list, or choose the policy "none"';
  return null;
}

/** Why an entry of a list is invalid; null if it is a name or a range that can be reached. */
function findEntryProblem(entry: string): string | null {
  if (rangeLike.test(entry)) return findRangeProblem(entry);
  if (ipaddr.isValid(entry) || numericEnd.test(entry))
    return `"${entry}" is an address or looks like one: write a CIDR range, such as "10.1.2.3/32"`;
  if (!hostName.test(entry))
    return `"${entry}": write a host name without scheme, port or path, or a CIDR range; "*." may stand at the front only`;
  return loopbackName.test(entry) ? explainLoopback(entry) : null;
}

function findRangeProblem(entry: string): string | null {
  const [address = ''] = entry.split('/');
  const isUsual = ipaddr.IPv4.isValidFourPartDecimal(address) || /^[0-9a-f:.]*:[0-9a-f:.]*$/.test(address);
  if (!isUsual || !ipaddr.isValidCIDR(entry))
    return `"${entry}" is not a CIDR range: write one such as "10.1.0.0/16" or "2001:db8::/32"`;
  const [base, bits] = ipaddr.parseCIDR(entry);
  if (base.kind() === 'ipv6' && (base as ipaddr.IPv6).isIPv4MappedAddress())
    return `"${entry}" carries an IPv4 address: write the IPv4 range itself`;
  const network = firstAddress(entry, base.kind());
  if (network.toString() !== base.toString())
    return `"${entry}" does not begin at the start of its range: write "${network}/${bits}"`;
  return isLoopback(base, bits) ? explainLoopback(entry) : null;
}

function firstAddress(range: string, kind: 'ipv4' | 'ipv6'): ipaddr.IPv4 | ipaddr.IPv6 {
  return kind === 'ipv4' ? ipaddr.IPv4.networkAddressFromCIDR(range) : ipaddr.IPv6.networkAddressFromCIDR(range);
}

const loopbackName = /(?:^|\.)localhost$/;
/** Ranges that lead to the machine itself; the second block of each kind contains the address that means "this host". */
const loopbackBlocks = ['127.0.0.0/8', '0.0.0.0/8', '::1/128', '::/128'].map((block) => ipaddr.parseCIDR(block));

/** Whether every address of a range is the machine itself. A wider range, such as `0.0.0.0/0`, contains other addresses too. */
function isLoopback(base: ipaddr.IPv4 | ipaddr.IPv6, bits: number): boolean {
  return loopbackBlocks.some(
    ([start, length]) => start.kind() === base.kind() && bits >= length && base.match(start, length),
  );
}

function explainLoopback(entry: string): string {
  return `"${entry}" is loopback, the worker's own machine, which a pool never opens: name the host as other machines reach it`;
}
