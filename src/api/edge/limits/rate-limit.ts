import fastifyRateLimit, { type FastifyRateLimitStore } from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import type { LimitsConfig } from '#config';
import type { Orm } from '#database/database.ts';
import { anonymous, type Principal } from '#domain/shared/access/principal.ts';
import { deleteExpiredCounts } from '#domain/shared/rate-counts/store.ts';
import { keysOf, limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import { addressOf, guessCallerOf, reporterOf } from './caller.ts';
import { GuessLimit, reportedAddresses } from './guess-limit.ts';
import { isLoopback } from './local-user.ts';
import { RequestCounts } from './request-counts.ts';
import { tooManyRequests } from './too-many-requests.ts';

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

export type RateLimitOptions = { orm: Orm; limits: LimitsConfig };

const minute = 60_000;
/** The limit for all people of one organization together is this multiple of one person's limit. */
export const peopleOfOrganization = 10;
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
