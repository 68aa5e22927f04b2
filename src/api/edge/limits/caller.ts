import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import type { GuessCaller } from './guess-limit.ts';
import { findLocalUser, isLoopback } from './local-user.ts';

/**
 * The address by which the requests of a caller are counted, as seen through `COORDINATOR_TRUSTED_PROXIES`. All addresses of one
 * IPv6 network count as one. Behind a proxy on this machine that is not trusted, it is the one that the proxy has seen.
 */
export function addressOf(request: FastifyRequest): string {
  if (!isLoopback(request.ip)) return normalizeIP(request.ip);
  const claimed = claimedAddress(request);
  return claimed === undefined ? 'loopback' : `loopback for ${normalizeIP(claimed)}`;
}

/**
 * Who guesses. All users of this machine and all clients of a proxy on it share one address, so there they are told apart by
 * the user of the operating system and by the address that the proxy reports. A program may report any address, so the guesses
 * of its user are limited for all reported addresses together as well.
 */
export async function guessCallerOf(request: FastifyRequest): Promise<GuessCaller> {
  if (!isLoopback(request.ip)) return { address: normalizeIP(request.ip) };
  const user = await localUserOf(request);
  const claimed = claimedAddress(request);
  return claimed === undefined
    ? { address: user, isShared: true }
    : { address: `${user} for ${normalizeIP(claimed)}`, reportedBy: user };
}

/** The local user of a program that forwards the address of its client. Undefined for all other requests. */
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
