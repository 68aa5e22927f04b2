import { connect as connectSocket, isIPv6, type Socket } from 'node:net';
import type { Destination } from './destination.ts';
import { EgressRefusal, refused } from './refusal.ts';
import type { ResolveName } from './resolve.ts';
import { type EgressRules, refusalOfAddress, refusalOfName } from './rules.ts';

/** Connects to one of these addresses and to nothing else. `signal` aborts until the connection is made. */
export type Connect = (addresses: readonly string[], port: number, signal: AbortSignal) => Promise<Socket>;

/**
 * Connects to a destination that the rules allow.
 *
 * A name is resolved once, and the socket connects only to the addresses that were checked, so DNS rebinding does not help. A
 * name with one forbidden address among allowed ones is refused as a whole, since no honest zone mixes them.
 */
export async function dial(
  destination: Destination,
  rules: EgressRules,
  options: { resolve: ResolveName; connect: Connect; timeoutMs: number; signal: AbortSignal },
): Promise<Socket> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const signal = AbortSignal.any([timeout, options.signal]);
  try {
    const addresses = await untilAborted(checkedAddresses(destination, rules, options.resolve), signal);
    return await options.connect(addresses, destination.port, signal);
  } catch (error) {
    if (timeout.aborted) throw new EgressRefusal(504, 'failed: it did not answer in time');
    throw error;
  }
}

/** The addresses of a destination, if the rules allow all of them. @throws EgressRefusal */
export async function checkedAddresses(
  destination: Destination,
  rules: EgressRules,
  resolve: ResolveName,
): Promise<readonly string[]> {
  const { host, isAddress, port } = destination;
  const byName = isAddress ? null : refusalOfName(rules, host);
  if (byName !== null) throw refused(byName);
  const addresses = isAddress ? [host] : await lookUp(host, resolve);
  for (const address of addresses) {
    const byAddress = refusalOfAddress(rules, isAddress ? null : host, address, port);
    if (byAddress !== null) throw refused(byAddress);
  }
  return addresses;
}

async function lookUp(host: string, resolve: ResolveName): Promise<readonly string[]> {
  const addresses = await resolve(host).catch((error: unknown) => {
    throw new EgressRefusal(502, `failed: the name could not be resolved (${codeOf(error)})`);
  });
  if (addresses.length === 0) throw new EgressRefusal(502, 'failed: the name does not exist');
  return addresses;
}

/** Tries the addresses of both families at short intervals. Its lookup returns the checked addresses without asking DNS. */
export const connectPinned: Connect = (addresses, port, signal) =>
  new Promise((resolve, reject) => {
    const pinned = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
    const socket = connectSocket({
      host: 'checked.invalid',
      port,
      lookup: (_name, _options, callback) => callback(null, pinned),
      autoSelectFamily: true,
      allowHalfOpen: true,
    });
    const giveUp = () => socket.destroy(new Error('aborted'));
    signal.addEventListener('abort', giveUp, { once: true });
    const settle = () => signal.removeEventListener('abort', giveUp);
    socket.once('connect', () => {
      settle();
      socket.removeListener('error', reject);
      resolve(socket);
    });
    socket.once('error', settle).once('error', reject);
    if (signal.aborted) giveUp();
  });

function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error('aborted'));
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
}
