import fastifyRateLimit, { type FastifyRateLimitStoreCtor, normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { ServiceError } from '#domain/shared/errors.ts';
import { HttpProblem } from './http-problem.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Runs an attempt to sign in and counts it if it fails, that is if it throws `Unauthenticated`. Refuses it with 429
     * beforehand where this address has failed too often at this account, or at all accounts together.
     */
    limitSignIn: <Result>(request: FastifyRequest, account: string, attempt: () => Promise<Result>) => Promise<Result>;
  }
}

export type RateLimitOptions = {
  /** Where counts are kept; this process's memory unless given. A shared one needs `incr`, `read` and `child`. */
  store?: FastifyRateLimitStoreCtor;
  /** Failures after which an address is refused at one account. */
  failuresPerAccount?: number;
  /** Failures after which an address is refused at every account (one password tried on many). */
  failuresPerAddress?: number;
  /** Milliseconds over which failures are counted. */
  window?: number;
};

/**
 * Limits guessing of passwords. Only failures count, so a client that knows its password may sign in as often as it
 * likes, and nobody can lock another out from elsewhere. Attempts under way count as failures until they end: many at
 * once win nothing. Routes may also set `config.rateLimit` of @fastify/rate-limit, answered in the same shape.
 */
export const rateLimit = fp<RateLimitOptions>(
  async (app, options) => {
    await app.register(fastifyRateLimit, {
      global: false,
      enableDraftSpec: true,
      cache: 50_000,
      ...(options.store ? { store: options.store } : {}),
      errorResponseBuilder: (_request, { ttl, max }) => tooMany(max, Math.ceil(ttl / 1000), 'too many requests'),
    });
    const timeWindow = options.window ?? 5 * 60_000;
    const perAccount = new FailureLimit(app, options.failuresPerAccount ?? 10, timeWindow, 'account');
    const perAddress = new FailureLimit(app, options.failuresPerAddress ?? 100, timeWindow, 'address');
    app.decorate('limitSignIn', (request, account, attempt) => {
      const address = normalizeIP(request.ip);
      const name = account.trim().toLowerCase().slice(0, 320);
      return perAddress.count(request, address, () => perAccount.count(request, `${address} ${name}`, attempt));
    });
  },
  { name: 'rate-limit', fastify: '5.x', dependencies: ['errors'] },
);

/** Failures by key within a window, over the library's counters. */
class FailureLimit {
  readonly #check: ReturnType<FastifyInstance['createRateLimit']>;
  readonly #keys = new WeakMap<FastifyRequest, string>();
  readonly #underWay = new Map<string, number>();
  readonly #max: number;

  constructor(app: FastifyInstance, max: number, timeWindow: number, kind: string) {
    this.#max = max;
    const keyGenerator = (request: FastifyRequest) => `sign-in ${kind} ${this.#keys.get(request)}`;
    this.#check = app.createRateLimit({ max, timeWindow, keyGenerator });
  }

  async count<Result>(request: FastifyRequest, key: string, attempt: () => Promise<Result>): Promise<Result> {
    this.#keys.set(request, key);
    const underWay = this.#underWay.get(key) ?? 0;
    this.#underWay.set(key, underWay + 1);
    try {
      await this.#refuseIfSpent(request, underWay);
      return await attempt();
    } catch (error) {
      const failed = error instanceof ServiceError && error.kind === 'unauthenticated';
      if (failed) await this.#check(request, { increment: true });
      throw error;
    } finally {
      this.#leave(key);
    }
  }

  async #refuseIfSpent(request: FastifyRequest, underWay: number): Promise<void> {
    const state = await this.#check(request, { increment: false });
    if (state.isAllowed || state.remaining > underWay) return;
    throw tooMany(this.#max, Math.max(1, state.ttlInSeconds), 'too many failed attempts to sign in');
  }

  #leave(key: string): void {
    const left = (this.#underWay.get(key) ?? 1) - 1;
    if (left > 0) this.#underWay.set(key, left);
    else this.#underWay.delete(key);
  }
}

function tooMany(limit: number, seconds: number, what: string): HttpProblem {
  return new HttpProblem(429, `${what}: try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`, {
    headers: {
      'retry-after': String(seconds),
      'ratelimit-limit': String(limit),
      'ratelimit-remaining': '0',
      'ratelimit-reset': String(seconds),
    },
  });
}
