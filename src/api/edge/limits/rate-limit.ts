import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import fastifyRateLimit, { type FastifyRateLimitStore, normalizeIP } from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import ipaddr from 'ipaddr.js';
import type { LimitsConfig } from '#config';
import type { Orm } from '#database/database.ts';
import { anonymous, type Principal } from '#domain/shared/access/principal.ts';
import { deleteExpiredCounts } from '#domain/shared/rate-counts/store.ts';
import { keysOf, limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import { type GuessCaller, GuessLimit, reportedAddresses } from './guess-limit.ts';
import { RequestCounts } from './request-counts.ts';
import { tooManyRequests } from './too-many-requests.ts';

/** Whether an address is one of this machine's own, which all of its users and programs share. */
function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}

/** The kernel's code for an established connection. */
const established = '01';

/**
 * The id of the operating system's user whose program opened a connection from this machine, according to Linux. Undefined on other
 * systems, or if the program has closed its end: Linux then lists that end without its owner, as if it were root's.
 */
async function findLocalUser(socket: Socket): Promise<string | undefined> {
  const { remoteAddress, remotePort, localAddress, localPort } = socket;
  if (!remoteAddress || !remotePort || !localAddress || !localPort) return undefined;
  const tables = await Promise.all(['/proc/net/tcp', '/proc/net/tcp6'].map(readTable));
  for (const line of tables.join('\n').split('\n')) {
    // sl, local, remote, state, queues, timer, retransmits, uid, timeout, inode
    const [, local = '', remote = '', state, , , , user, , inode] = line.trim().split(/\s+/);
    if (state !== established || inode === '0') continue;
    if (isEnd(local, remoteAddress, remotePort) && isEnd(remote, localAddress, localPort)) return user;
  }
  return undefined;
}

/** Whether an end of a connection, as Linux lists it, has this address and port. */
function isEnd(listed: string, address: string, port: number): boolean {
  const [host = '', listedPort = ''] = listed.split(':');
  return Number.parseInt(listedPort, 16) === port && isSameHost(host, ipaddr.process(address));
}

async function readTable(path: string): Promise<string> {
  return readFile(path, 'latin1').catch(() => ''); // Only Linux has these tables.
}

/** Linux writes addresses in words of four bytes, the last byte first. IPv6 may hold an address of IPv4. */
function isSameHost(host: string, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const words = host.match(/.{8}/g) ?? [];
  const bytes = words.flatMap((word) => [...Buffer.from(word, 'hex')].reverse());
  if (bytes.length !== 4 && bytes.length !== 16) return false;
  const listed = ipaddr.fromByteArray(bytes);
  const plain = listed instanceof ipaddr.IPv6 && listed.isIPv4MappedAddress() ? listed.toIPv4Address() : listed;
  return plain.toString() === address.toString();
}

/**
 * The address under which a caller's requests are counted, as seen through `COORDINATOR_TRUSTED_PROXIES`. All addresses of one IPv6 network
 * count as one. Behind an untrusted proxy on this machine, it is the address that the proxy reports.
 */
function addressOf(request: FastifyRequest): string {
  if (!isLoopback(request.ip)) return normalizeIP(request.ip);
  const claimed = claimedAddress(request);
  return claimed === undefined ? 'loopback' : `loopback for ${normalizeIP(claimed)}`;
}

/**
 * Identifies the caller who guesses. All users of this machine, and all clients of a proxy on it, have the same address. They are told
 * apart by the user of the operating system and by the address that the proxy reports. A program may report any address, so the guesses of
 * its user are also limited for all reported addresses together.
 */
async function guessCallerOf(request: FastifyRequest): Promise<GuessCaller> {
  if (!isLoopback(request.ip)) return { address: normalizeIP(request.ip) };
  const user = await localUserOf(request);
  const claimed = claimedAddress(request);
  return claimed === undefined
    ? { address: user, isShared: true }
    : { address: `${user} for ${normalizeIP(claimed)}`, reportedBy: user };
}

/** The local user whose program forwards a client's address. Undefined for all other requests. */
async function reporterOf(request: FastifyRequest): Promise<string | undefined> {
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

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Counts a request for the person who answers for `request.principal` and for their organization, or for the address if the principal
     * is anonymous. Sets the rate-limit headers.
     * @throws HttpProblem (429) if the limit is used up
     */
    countRequest: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
    /** Runs an attempt that may be a guess at a secret of `account`. See `GuessLimit`. */
    limitGuesses: <Result>(request: FastifyRequest, account: string, attempt: () => Promise<Result>) => Promise<Result>;
  }
}

type RateLimitOptions = { orm: Orm; limits: LimitsConfig };

const minute = 60_000;
/** The limit for all people of one organization together is this multiple of one person's limit. */
const peopleOfOrganization = 10;
const sweepEveryMs = 5 * minute;

/** The two limits of the edge: how many requests a caller may send, and how often a secret may be guessed. */
export const rateLimit = fp<RateLimitOptions>(
  async (app, { orm, limits }) => {
    const guesses = new GuessLimit(orm, limits.guesses, app.log);
    app.decorate('limitGuesses', async (request, account, attempt) =>
      guesses.count(await guessCallerOf(request), account, attempt),
    );

    const counts = new RequestCounts(orm, app.log);
    await app.register(fastifyRateLimit, { global: false, enableDraftSpec: true, store: storeOf(counts) });
    const { perPrincipal, perAddress } = limits.requests;
    const countRequest = app.rateLimit({
      timeWindow: minute,
      max: (request) => (isAnonymous(request) ? perAddress : perPrincipal),
      keyGenerator: (request) =>
        isAnonymous(request) ? anonymousKey(request) : keysOf(limitSubjectOfCaller(request.principal))[0],
      errorResponseBuilder: (_request, { ttl, max }) => tooManyRequests('too many requests', max, ttl / 1000),
    });
    app.decorate('countRequest', async (request, reply) => {
      const isLimited = (isAnonymous(request) ? perAddress : perPrincipal) > 0;
      if (!isLimited) return;
      if (isAnonymous(request)) refuseReporter(counts, await reporterOf(request), perAddress * reportedAddresses);
      await countRequest.call(app, request, reply);
      // A request that exceeds the person's own limit does not count towards the organization's limit.
      if (!isAnonymous(request)) refuseOrganization(counts, request.principal, perPrincipal * peopleOfOrganization);
    });

    const sweep = setInterval(() => {
      deleteExpiredCounts(orm.em.fork()).catch((err: unknown) =>
        app.log.warn({ err }, 'could not remove expired rate counts; the next sweep tries again'),
      );
    }, sweepEveryMs).unref();
    app.addHook('onClose', async () => {
      clearInterval(sweep);
      await counts.close();
    });
  },
  { name: 'rate-limit', fastify: '5.x', dependencies: ['errors'] },
);

/**
 * Counts a request whose address a program reports without proof. The requests from all addresses that it reports are limited together,
 * because a program can invent addresses. @throws HttpProblem (429) if that limit is used up
 */
function refuseReporter(counts: RequestCounts, reporter: string | undefined, max: number): void {
  if (reporter === undefined) return;
  const { current, ttl } = counts.count(`reporter:${reporter}`, minute, max);
  if (current > max) throw tooManyRequests('too many requests', max, ttl / 1000);
}

/** Counts a request for the organization of its caller. @throws HttpProblem (429) if its people together have used up their limit */
function refuseOrganization(counts: RequestCounts, principal: Principal, max: number): void {
  const [, owner] = keysOf(limitSubjectOfCaller(principal));
  const { current, ttl } = counts.count(owner, minute, max);
  if (current > max) throw tooManyRequests('too many requests of your organization', max, ttl / 1000);
}

/**
 * The key under which an anonymous request is counted. From this machine, requests with a wrong credential are counted apart from those
 * without one, so that guesses at keys do not use up the limit with which other users sign in.
 */
function anonymousKey(request: FastifyRequest): string {
  const { authorization, 'x-api-key': key } = request.headers;
  const isGuess = isLoopback(request.ip) && (authorization !== undefined || key !== undefined);
  return `${isGuess ? 'guesses' : 'address'}:${addressOf(request)}`;
}

function isAnonymous({ principal }: FastifyRequest): boolean {
  return principal === anonymous;
}

/** Adapts the counts to the store that the library expects. */
function storeOf(counts: RequestCounts) {
  return class implements FastifyRateLimitStore {
    incr(...[key, done, timeWindow, max]: Parameters<FastifyRateLimitStore['incr']>): void {
      done(null, counts.count(key, timeWindow, max));
    }

    child(): FastifyRateLimitStore {
      return this;
    }
  };
}
