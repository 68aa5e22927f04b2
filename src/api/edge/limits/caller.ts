import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import type { GuessCaller } from './guess-limit.ts';
import { findLocalUser, isLoopback } from './local-user.ts';

/**
 * The address under which a caller's requests are counted, as seen through `COORDINATOR_TRUSTED_PROXIES`. All addresses of one IPv6 network
 * count as one. Behind an untrusted proxy on this machine, it is the address that the proxy reports.
 */
export function addressOf(request: FastifyRequest): string {
  if (!isLoopback(request.ip)) return normalizeIP(request.ip);
  const claimed = claimedAddress(request);
  return claimed === undefined ? 'loopback' : `loopback for ${normalizeIP(claimed)}`;
}

/**
 * Identifies the caller who guesses. All users of this machine, and all clients of a proxy on it, have the same address. They are told
 * apart by the user of the operating system and by the address that the proxy reports. A program may report any address, so the guesses of
 * its user are also limited for all reported addresses together.
 */
export async function guessCallerOf(request: FastifyRequest): Promise<GuessCaller> {
  if (!isLoopback(request.ip)) return { address: normalizeIP(request.ip) };
  const user = await localUserOf(request);
  const claimed = claimedAddress(request);
  return claimed === undefined
    ? { address: user, isShared: true }
    : { address: `${user} for ${normalizeIP(claimed)}`, reportedBy: user };
}

/** The local user whose program forwards a client's address. Undefined for all other requests. */
export async function reporterOf(request: FastifyRequest): Promise<string | undefined> {
  if (!isLoopback(request.ip) || claimedAddress(request) === undefined) return undefined;
  return localUserOf(request);
}

async function localUserOf({ socket }: FastifyRequest): Promise<string> {
  return `user ${(await findLocalUser(socket)) ?? 'unknown'} of this machine`;
}

/** The last address of `X-Forwarded-For`: the one that the nearest proxy has added. */
function claimedAddress({ headers }: FastifyRequest): string | undefined {
  const last = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',').at(-1)?.trim() ?? '';
  return ipaddr.isValid(last) ? last : undefined;
}
