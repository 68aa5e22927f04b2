import type { FastifyRequest } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reviewAccess } from '#api/access-reviews/access-review.ts';
import { operations } from '#api/operations.ts';
import { decideTarget } from '#api/pipeline/access/authorization.ts';
import { type CatalogueEntry, catalogueOf } from '#api/pipeline/catalogue.ts';
import type { Invocation, OperationInput } from '#api/pipeline/invocation/invocation.ts';
import { authorizeCall, authorizeOperation } from '#api/pipeline/invocation/invoke.ts';
import { routeOf } from '#api/pipeline/operation.ts';
import type { Services } from '#api/services.ts';
import type { Em } from '#database/database.ts';
import { findByApiKey } from '#domain/identity/api-keys/api-keys.ts';
import { installationOwnership } from '#domain/shared/access/decide.ts';
import { anonymous, type Principal } from '#domain/shared/access/principal.ts';
import { Forbidden, Invalid, NotFound } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { openRandom } from '#test/faults/harness/random.ts';
import { type Asker, makeWorld, type World } from '#test/support/access/review-world.ts';
import { type ResourceAttributes, reviewOf } from '#test/support/access/reviews.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { ask } from '#test/support/api/operation-requests.ts';
import { cacheQueries } from '#test/support/query-cache.ts';
import { readSeed } from '#test/support/seed.ts';
import {
  describeTuple,
  drawTuple,
  drawTupleOf,
  isElsewhere,
  parseRequest,
  requestFor,
  type Tuple,
} from './questions.ts';

/** How many tuples of principal, resource, verb, name and team are drawn: 100,000 by `npm run test:proofs`, fewer by `npm test`. */
const isAll = process.env['PROOFS'] === 'all';
const tuples = isAll ? 100_000 : 4_000;
const overHttp = isAll ? 500 : 50;
const random = openRandom(readSeed('PROOFS_SEED', 5), 'reviews');

const catalogue = catalogueOf(operations);
let api: TestApi;
let world: World;
let em: Em;
let principals: Map<Asker, Principal>;

beforeAll(async () => {
  api = await startApi();
  world = await makeWorld(api);
  em = cacheQueries(api.orm.em.fork());
  principals = new Map(await Promise.all(world.askers.map(async (asker) => [asker, await read(asker)] as const)));
});
afterAll(() => api?.close());

/** Reads a principal as the service does. A disabled one is enabled while it is read, since its key does not count otherwise. */
async function read(asker: Asker): Promise<Principal> {
  const admin = api.orm.em.fork();
  if (asker.isDisabled) await admin.execute('update principals set enabled = true where id = ?', [asker.id]);
  const principal = await findByApiKey(
    async (query, parameters) => (await query(admin, parameters))[0],
    asker.key,
    () => undefined,
  );
  if (asker.isDisabled) await admin.execute('update principals set enabled = false where id = ?', [asker.id]);
  if (!principal) throw new Error(`${asker.label} has no principal`);
  return { ...principal, enabled: !asker.isDisabled };
}

/** The decision of the pipeline for the operation itself. The operation is not executed. */
async function decideByPipeline(tuple: Tuple): Promise<string> {
  const { entry, question, asker } = tuple;
  const { operation } = entry;
  const principal = principals.get(asker) ?? anonymous;
  const config = { baseUrl: 'https://coordinator.example' };
  const services = { orm: { em }, refusals: { record: async () => undefined }, config } as unknown as Services;
  const request = { socket: {}, headers: {}, id: '', ip: '', routeOptions: { config: {} } } as FastifyRequest;
  const invocation: Omit<Invocation, 'input'> = { operation, operations, services, request, principal };
  const none: OperationInput = { params: undefined, query: undefined, body: undefined };
  const permission = await outcomeOf(() => authorizeOperation({ ...invocation, input: none }));
  if (permission !== 'allowed') return permission === 'hidden' ? 'resource_not_found_or_denied' : 'permission_denied';
  const input = parseRequest(tuple, requestFor(tuple, world));
  if (!input) return 'resource_not_found_or_denied';
  const target = operation.target
    ? await operation.target({ em, ...input, callerId: principal.id, lock: false })
    : installationOwnership;
  // A review names a team, which must own the target. A request to the operation names none.
  const isElsewhere = target && entry.team !== 'refused' && (target.teamId ?? undefined) !== question.team_id;
  if (isElsewhere || (entry.review.only && question.name !== entry.review.only)) return 'resource_not_found_or_denied';
  const outcome = await outcomeOf(() => authorizeCall({ ...invocation, input }, em));
  const { access } = decideTarget(operation, principal, target);
  if (outcome === 'forbidden' && access.hidden === 'not_found') return 'permission_denied';
  return outcome === 'allowed' ? 'allowed' : 'resource_not_found_or_denied';
}

async function outcomeOf(work: () => Promise<unknown>): Promise<'allowed' | 'forbidden' | 'hidden'> {
  try {
    await work();
    return 'allowed';
  } catch (error) {
    if (error instanceof Forbidden) return 'forbidden';
    if (error instanceof NotFound) return 'hidden';
    throw error;
  }
}

async function decideByReview({ asker, question }: Tuple): Promise<string> {
  const onFailure = (error: unknown) => {
    throw error;
  };
  const principal = principals.get(asker) ?? anonymous;
  const verdict = await reviewAccess(
    { catalogue, principal, em, found: undefined, onFailure, readCaller: async () => principal },
    question,
  );
  if ('evaluation_error' in verdict) return verdict.evaluation_error.code;
  expect([verdict.allowed, verdict.denied]).toEqual(verdict.reason.code === 'allowed' ? [true, false] : [false, true]);
  return verdict.reason.code;
}

describe('can-i', () => {
  it(`decides ${tuples} questions as the operations themselves do`, { timeout: 600_000 }, async () => {
    const seen = new Set<string>();
    const ask = async (tuple: Tuple) => {
      const [told, done] = [await decideByReview(tuple), await decideByPipeline(tuple)];
      if (told !== done) expect.fail(`${describeTuple(tuple)} is answered ${told}, but the operation decides ${done}`);
      seen.add(`${tuple.entry.operation.id} ${told}`);
    };
    for (let count = 0; count < tuples; count += 1) await ask(drawTuple(catalogue, world, random));
    const isMissing =
      (wanted: string[]) =>
      ({ operation: { id } }: CatalogueEntry) =>
        !wanted.some((code) => seen.has(`${id} ${code}`));
    for (const wanted of [['allowed'], ['permission_denied', 'resource_not_found_or_denied']]) {
      // Chance may have drawn no such question about an operation. It gets more of them.
      for (const entry of catalogue.entries.filter(isMissing(wanted))) {
        for (let more = 0; more < 1_000 && isMissing(wanted)(entry); more += 1)
          await ask(drawTupleOf(entry, world, random));
      }
      const missing = catalogue.entries.filter(isMissing(wanted)).map(({ operation }) => operation.id);
      expect(missing, `never ${wanted.join(' or ')}`).toEqual([]);
    }
  });

  it('rejects invalid questions from every caller', async () => {
    for (let count = 0; count < 500; count += 1) {
      const { asker, entry, question } = drawTuple(catalogue, world, random);
      const { name, team_id, ...rest } = question;
      const wrong: ResourceAttributes[] = [{ ...rest, resource: `${rest.resource}s`, name, team_id }];
      wrong.push(entry.isNamed ? { ...rest, team_id } : { ...rest, team_id, name: newId() });
      if (entry.team === 'refused') wrong.push({ ...rest, name, team_id: newId() });
      if (entry.team === 'required') wrong.push({ ...rest, name });
      for (const each of wrong) await expect(decideByReview({ asker, entry, question: each })).rejects.toThrow(Invalid);
    }
  });

  it(`answers ${overHttp} questions over HTTP as the operations do`, { timeout: 600_000 }, async () => {
    for (let count = 0; count < overHttp; ) {
      const tuple = drawTuple(catalogue, world, random);
      if (isElsewhere(tuple, world) || moves(tuple)) continue;
      count += 1;
      const [told, done] = [await askReview(tuple), await askOperation(tuple)];
      if (told !== done) expect.fail(`${describeTuple(tuple)} is answered ${told}, but the operation decides ${done}`);
    }
  });
});

/** A transfer moves its target away from the team that later questions expect. */
function moves({ entry }: Tuple): boolean {
  return entry.review.verb === 'transfer';
}

async function askReview({ asker, entry, question }: Tuple): Promise<string> {
  const { status, body } = await asker.caller.post('/auth/can-i', reviewOf(question));
  return status === 200 ? coarsely(entry, body.status.reason.code) : String(status);
}

/** Calls the operation. Any failure after the decision means that the decision allowed it. */
async function askOperation(tuple: Tuple): Promise<string> {
  const { asker, entry } = tuple;
  const { operation } = entry;
  const { params, query, body, ids } = requestFor(tuple, world);
  const path = routeOf(operation).path.replace(/:(\w+)/g, (_all, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  const search = new URLSearchParams({ ...query }).toString();
  const asked = { key: asker.key, ids, path: search ? `${path}?${search}` : path };
  const { status, text } = await ask(api, operation, { ...asked, body: body && JSON.stringify(body) });
  if (status === 401) return '401';
  const { error } = status >= 400 ? JSON.parse(text) : { error: '' };
  if (
    status === 403 &&
    /^permission denied(: this needs|: only people may|: what belongs to the whole installation|$)/.test(error)
  )
    return coarsely(entry, 'permission_denied');
  const names = [operation.targetName, 'what the body names as the owner'];
  const isHidden = status === 404 && names.some((name) => error === `${name} was not found`);
  const isNoName = status === 400 && error.startsWith('path parameter');
  if (isHidden || isNoName) return coarsely(entry, 'resource_not_found_or_denied');
  expect(status, `${describeTuple(tuple)}: ${text}`).toBeLessThan(500);
  return 'allowed';
}

/** An operation that answers 403 for a missing target, or for some targets, does not tell it from a denial. */
function coarsely({ operation }: CatalogueEntry, code: string): string {
  const hidesByDenial = operation.access.hidden === 'forbidden' || operation.accessTo !== undefined;
  return hidesByDenial && code !== 'allowed' ? 'denied' : code;
}
