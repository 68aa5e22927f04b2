import type { FastifyRequest } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Asking, Parts } from '#api/asking.ts';
import { type CatalogueEntry, catalogueOf } from '#api/catalogue.ts';
import { admit, openCall } from '#api/execution.ts';
import { type Erased, routeOf } from '#api/operation.ts';
import { operations } from '#api/operations/index.ts';
import { review } from '#api/review.ts';
import type { Services } from '#api/services.ts';
import { findByApiKey } from '#domain/identity/api-keys.ts';
import { nobody } from '#domain/shared/access/decide.ts';
import { anonymous, type Principal } from '#domain/shared/access/principal.ts';
import type { Em } from '#domain/shared/database.ts';
import { Forbidden, Invalid, NotFound } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { openRandom } from '#test/faults/random.ts';
import { startApi, type TestApi } from '#test/support/http-api.ts';
import { ask, bodies, type Ids, parametersOf } from '#test/support/operation-requests.ts';
import { type Asker, makeWorld, type World } from '#test/support/review-world.ts';
import { type Asked, reviewOf } from '#test/support/reviews.ts';

/** How many tuples of principal, resource, verb, name and team are compared: REVIEW_TUPLES=100000 for the long run. */
const tuples = Number(process.env['REVIEW_TUPLES'] ?? 5_000);
const overHttp = Math.round(Math.sqrt(tuples) * 1.5);
const random = openRandom(Number(process.env['REVIEW_SEED'] ?? 1), 'reviews');

const catalogue = catalogueOf(operations);
let api: TestApi;
let world: World;
let em: Em;
let principals: Map<Asker, Principal>;

beforeAll(async () => {
  api = await startApi();
  world = await makeWorld(api);
  em = remembering(api.orm.em.fork());
  principals = new Map(await Promise.all(world.askers.map(async (asker) => [asker, await read(asker)] as const)));
});
afterAll(() => api?.close());

/** Everybody as the service itself reads them; who is disabled has no credential, and is read as they were. */
async function read(asker: Asker): Promise<Principal> {
  const admin = api.orm.em.fork();
  if (asker.isDisabled) await admin.execute('update principals set enabled = true where id = ?', [asker.id]);
  const principal = await findByApiKey(admin, asker.key, () => undefined);
  if (asker.isDisabled) await admin.execute('update principals set enabled = false where id = ?', [asker.id]);
  if (!principal) throw new Error(`${asker.label} is nobody`);
  return { ...principal, enabled: !asker.isDisabled };
}

/** The database as it stands: each question is put to it once. */
function remembering(asked: Em): Em {
  const answers = new Map<string, unknown>();
  const remembered = new Set(['execute', 'find', 'findOne']);
  const proxy: Em = new Proxy(asked, {
    get: (target, name) => {
      if (name === 'fork') return () => proxy;
      const member = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (!remembered.has(String(name))) return member.bind(target);
      return (...args: unknown[]) => {
        const key = JSON.stringify([name, ...args], (_key, value) =>
          typeof value === 'function' ? value.name : value,
        );
        if (!answers.has(key)) answers.set(key, member.apply(target, args));
        return answers.get(key);
      };
    },
  });
  return proxy;
}

interface Tuple {
  readonly asker: Asker;
  readonly entry: CatalogueEntry;
  readonly question: Asked;
}

/** A review that can be made: mostly of what the team has that is named with it, often of something else. */
function draw(): Tuple {
  const entry = random.pick(catalogue.entries);
  const { resource, verb, unscoped } = entry.review;
  const names = world.names[resource];
  if (entry.isNamed && !names) throw new Error(`test/support/review-world.ts has no names of ${resource}`);
  const name = entry.isNamed ? random.pick(names ?? []) : undefined;
  // Some things only an administrator may do.
  const asker = random.chance(0.1) ? world.askers[0]! : random.pick(world.askers);
  return { asker, entry, question: { resource, verb, name, team_id: drawTeam() } };

  function drawTeam(): string | undefined {
    if (!entry.takesTeam) return undefined;
    const owner = name === undefined ? undefined : world.teamOf.get(name);
    if (owner && random.chance(0.7)) return owner;
    if (unscoped && (owner === null || random.chance(0.2))) return undefined;
    return random.pick(world.teams);
  }
}

/** What a client would send to the operation itself for what the review is about. */
function requestFor(tuple: Tuple): {
  params: Record<string, string>;
  query: object;
  body: object | undefined;
  ids: Ids;
} {
  const { entry, question } = tuple;
  const { operation, parameter, isNamed } = entry;
  const { name, team_id: teamId } = question;
  const owner = isNamed && entry.takesTeam ? (world.teamOf.get(name ?? '') ?? undefined) : teamId;
  const ids = world.idsOf(owner ?? (entry.review.unscoped ? undefined : otherwise(entry)));
  const params = { ...parametersOf(operation, ids), ...(parameter && { [parameter.name]: name ?? '' }) };
  const query = !isNamed && operation.query?.shape?.team_id && teamId ? { team_id: teamId } : {};
  return { params, query, body: operation.body && { ...bodies[operation.id]?.(ids), ...bodyFor(tuple, ids) }, ids };
}

/** Beside what is nobody's stand things of the first team; beside what there is not, nothing that there is. */
function otherwise({ takesTeam }: CatalogueEntry): string | undefined {
  return takesTeam ? world.teams.at(-1) : world.teams[0];
}

/** What a review takes for granted: of variables, that they are secret; without a team, that one's own is meant. */
function bodyFor({ asker, entry: { operation } }: Tuple, { team }: Partial<Ids>): object {
  if (operation.id === 'environment_variables.set') return { sensitive: true };
  const isAccount = ['service_accounts.create', 'service_accounts.transfer'].includes(operation.id);
  return isAccount && team === undefined ? { owner: { user_id: asker.id } } : {};
}

function parse({ entry: { operation } }: Tuple, request: ReturnType<typeof requestFor>): Parts | undefined {
  const parsed = (['params', 'query', 'body'] as const).map((part) => {
    const schema: Erased = operation[part];
    const result = schema?.safeParse(JSON.parse(JSON.stringify(request[part])));
    if (part === 'body' && result && !result.success) throw new Error(`${operation.id}: ${result.error.message}`);
    return { part, result };
  });
  if (parsed.some(({ result }) => result && !result.success)) return undefined;
  return Object.fromEntries(parsed.map(({ part, result }) => [part, result?.data])) as unknown as Parts;
}

/** What the pipeline comes to when the operation itself is asked, up to the moment when the decision has spoken. */
async function decideByPipeline(tuple: Tuple): Promise<string> {
  const { entry, question, asker } = tuple;
  const { operation } = entry;
  const principal = principals.get(asker) ?? anonymous;
  const services = { orm: { em }, refusals: { record: async () => undefined } } as unknown as Services;
  const request = { socket: {}, headers: {}, id: '', ip: '' } as FastifyRequest;
  const asking: Omit<Asking, 'parts'> = { operation, operations, services, request, principal };
  const none: Parts = { params: undefined, query: undefined, body: undefined };
  const admission = await outcomeOf(() => admit({ ...asking, parts: none }));
  if (admission !== 'allowed') return 'permission_denied';
  const parts = parse(tuple, requestFor(tuple));
  if (!parts) return 'resource_not_found_or_denied';
  const target = operation.target
    ? await operation.target({ em, ...parts, callerId: principal.id, lock: false })
    : nobody;
  // A request names no team beside the thing; a review does, and it must be the owner.
  const isElsewhere = target && entry.takesTeam && (target.teamId ?? undefined) !== question.team_id;
  if (isElsewhere || (entry.review.only && question.name !== entry.review.only)) return 'resource_not_found_or_denied';
  const outcome = await outcomeOf(() => openCall({ ...asking, parts }, em));
  if (outcome === 'forbidden' && operation.access.hidden === 404) return 'permission_denied';
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
  const verdict = await review({ catalogue, principal: principals.get(asker) ?? anonymous, em, onFailure }, question);
  if ('evaluation_error' in verdict) return verdict.evaluation_error.code;
  expect([verdict.allowed, verdict.denied]).toEqual(verdict.reason.code === 'allowed' ? [true, false] : [false, true]);
  return verdict.reason.code;
}

const described = ({ asker, entry, question }: Tuple) =>
  `${asker.label}: ${entry.operation.id} as ${JSON.stringify(question)}`;

describe('can-i', () => {
  it(`decides ${tuples} times as the operation itself does`, { timeout: 600_000 }, async () => {
    const seen = new Set<string>();
    for (let count = 0; count < tuples; count += 1) {
      const tuple = draw();
      const [told, done] = [await decideByReview(tuple), await decideByPipeline(tuple)];
      if (told !== done) expect.fail(`${described(tuple)} is told ${told}, and met with ${done}`);
      seen.add(`${tuple.entry.operation.id} ${told}`);
    }
    const isMissing = (wanted: string[]) => (id: string) => !wanted.some((code) => seen.has(`${id} ${code}`));
    const ids = catalogue.entries.map(({ operation }) => operation.id);
    expect(ids.filter(isMissing(['allowed'])), 'never allowed').toEqual([]);
    expect(ids.filter(isMissing(['permission_denied', 'resource_not_found_or_denied'])), 'never denied').toEqual([]);
  });

  it('refuses the same questions whoever asks them, for whatever', async () => {
    for (let count = 0; count < 500; count += 1) {
      const { asker, entry, question } = draw();
      const { name, team_id, ...rest } = question;
      const wrong: Asked[] = [{ ...rest, resource: `${rest.resource}s`, name, team_id }];
      wrong.push(entry.isNamed ? { ...rest, team_id } : { ...rest, team_id, name: newId() });
      if (!entry.takesTeam) wrong.push({ ...rest, name, team_id: newId() });
      else if (!entry.review.unscoped) wrong.push({ ...rest, name });
      for (const each of wrong) await expect(decideByReview({ asker, entry, question: each })).rejects.toThrow(Invalid);
    }
  });

  it(`answers over HTTP as the operation does, ${overHttp} times`, { timeout: 600_000 }, async () => {
    for (let count = 0; count < overHttp; ) {
      const tuple = draw();
      if (isElsewhere(tuple) || moves(tuple)) continue;
      count += 1;
      const [told, done] = [await askReview(tuple), await askOperation(tuple)];
      if (told !== done) expect.fail(`${described(tuple)} is told ${told}, and met with ${done}`);
    }
  });
});

/** What was moved is no longer where it was made, and where the questions after this one say that it is. */
function moves({ entry }: Tuple): boolean {
  return entry.review.verb === 'transfer';
}

/** Of another team than the review says: the operation's own request would not say. */
function isElsewhere({ entry, question: { name = '', team_id: teamId } }: Tuple): boolean {
  const owner = world.teamOf.get(name);
  return entry.isNamed && entry.takesTeam && owner !== undefined && owner !== (teamId ?? null);
}

async function askReview({ asker, entry, question }: Tuple): Promise<string> {
  const { status, body } = await asker.caller.post('/auth/can-i', reviewOf(question));
  return status === 200 ? coarsely(entry, body.status.reason.code) : String(status);
}

/** What the operation answers once it has been asked; whatever comes after the decision has been allowed by it. */
async function askOperation(tuple: Tuple): Promise<string> {
  const { asker, entry } = tuple;
  const { operation } = entry;
  const { params, query, body, ids } = requestFor(tuple);
  const path = routeOf(operation).path.replace(/:(\w+)/g, (_all, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  const search = new URLSearchParams({ ...query }).toString();
  const asked = { key: asker.key, ids, path: search ? `${path}?${search}` : path };
  const { status, text } = await ask(api, operation, { ...asked, body: body && JSON.stringify(body) });
  if (status === 401) return '401';
  const { error } = status >= 400 ? JSON.parse(text) : { error: '' };
  if (status === 403 && /^permission denied(: this needs|$)/.test(error)) return coarsely(entry, 'permission_denied');
  const isHidden = status === 404 && error === `${operation.targetName} was not found`;
  const isNoName = status === 400 && error.startsWith('path parameter');
  if (isHidden || isNoName) return coarsely(entry, 'resource_not_found_or_denied');
  expect(status, `${described(tuple)}: ${text}`).toBeLessThan(500);
  return 'allowed';
}

/** Where what is missing answers 403 as well, the operation tells no difference. */
function coarsely({ operation }: CatalogueEntry, code: string): string {
  return operation.access.hidden === 403 && code !== 'allowed' ? 'denied' : code;
}
