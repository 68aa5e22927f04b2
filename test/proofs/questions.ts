import type { Catalogue, CatalogueEntry } from '#api/pipeline/catalogue.ts';
import type { OperationInput } from '#api/pipeline/invocation/invocation.ts';
import type { Erased } from '#api/pipeline/operation.ts';
import type { Random } from '#test/faults/harness/random.ts';
import type { Asker, World } from '#test/support/access/review-world.ts';
import type { ResourceAttributes } from '#test/support/access/reviews.ts';
import { bodies } from '#test/support/api/example-bodies.ts';
import { parametersOf, queries } from '#test/support/api/operation-paths.ts';
import type { Ids } from '#test/support/api/tenant-ids.ts';

/** A question to can-i, its caller, and the operation that it is about. */
export interface Tuple {
  readonly asker: Asker;
  readonly entry: CatalogueEntry;
  readonly question: ResourceAttributes;
}

export function describeTuple({ asker, entry, question }: Tuple): string {
  return `${asker.label}: ${entry.operation.id} as ${JSON.stringify(question)}`;
}

/** Draws a valid question. It mostly names the team that owns the target, and sometimes another one. */
export function drawTuple({ entries }: Catalogue, world: World, random: Random): Tuple {
  return drawTupleOf(random.pick(entries), world, random);
}

/** Draws a valid question about one operation. */
export function drawTupleOf(entry: CatalogueEntry, world: World, random: Random): Tuple {
  const { resource, verb } = entry.review;
  const names = world.names[resource];
  if (entry.isNamed && !names) throw new Error(`test/support/access/review-world.ts has no names of ${resource}`);
  const name = entry.isNamed ? random.pick(names ?? []) : undefined;
  // Administrators are drawn more often, since some operations are theirs only.
  const asker = random.chance(0.2) ? world.askers[0]! : random.pick(world.askers);
  return { asker, entry, question: { resource, verb, name, team_id: drawTeam(entry, name, world, random) } };
}

function drawTeam(
  { team }: CatalogueEntry,
  name: string | undefined,
  world: World,
  random: Random,
): string | undefined {
  if (team === 'refused') return undefined;
  const owner = name === undefined ? undefined : world.teamOf.get(name);
  if (owner && random.chance(0.7)) return owner;
  if (team === 'optional' && (owner === null || random.chance(0.2))) return undefined;
  return random.pick(world.teams);
}

/** The request to the operation itself that a question is about. */
export interface OwnRequest {
  readonly params: Record<string, string>;
  readonly query: object;
  readonly body: object | undefined;
  readonly ids: Ids;
}

export function requestFor(tuple: Tuple, world: World): OwnRequest {
  const { entry, question } = tuple;
  const { operation, parameter, isNamed, team } = entry;
  const { name, team_id: teamId } = question;
  const owner = isNamed && team !== 'refused' ? (world.teamOf.get(name ?? '') ?? undefined) : teamId;
  const ids = world.idsOf(owner ?? (team === 'optional' ? undefined : fallbackTeam(entry, world)));
  const params = { ...parametersOf(operation, ids), ...(parameter && { [parameter.name]: name ?? '' }) };
  const demanded = Object.fromEntries(new URLSearchParams(queries[operation.id]));
  const ofTeam = !isNamed && operation.query?.shape?.team_id && teamId ? { team_id: teamId } : {};
  const query = { ...demanded, ...ofTeam };
  return { params, query, body: operation.body && { ...bodies[operation.id]?.(ids), ...bodyFor(tuple, ids) }, ids };
}

/** The team whose resources complete the request if no team owns the target: the missing team if the target needs an owner. */
function fallbackTeam({ team }: CatalogueEntry, { teams }: World): string | undefined {
  return team === 'required' ? teams.at(-1) : teams[0];
}

/** Body fields that a review assumes: that a variable is secret, and that a request without a team means the caller. */
function bodyFor({ asker, entry: { operation } }: Tuple, { team }: Partial<Ids>): object {
  if (operation.id === 'environment_variables.set') return { sensitive: true };
  if (operation.id === 'environment_variables.replace')
    return { variables: [{ name: 'TOKEN', value: 'x', category: 'env', sensitive: true }] };
  const isAccount = ['service_accounts.create', 'service_accounts.transfer'].includes(operation.id);
  return isAccount && team === undefined ? { owner: { user_id: asker.id } } : {};
}

/** Parses the request by the operation's schemas. @returns undefined if its path or query is invalid */
export function parseRequest({ entry: { operation } }: Tuple, request: OwnRequest): OperationInput | undefined {
  const parsed = (['params', 'query', 'body'] as const).map((part) => {
    const schema: Erased = operation[part];
    const isExact = part === 'body' && operation.exactBodyLimit !== undefined;
    const toInput = (text: string) => (isExact ? Buffer.from(text) : JSON.parse(text));
    const result = schema?.safeParse(toInput(JSON.stringify(request[part])));
    if (part === 'body' && result && !result.success) throw new Error(`${operation.id}: ${result.error.message}`);
    return { part, result };
  });
  if (parsed.some(({ result }) => result && !result.success)) return undefined;
  return Object.fromEntries(parsed.map(({ part, result }) => [part, result?.data])) as unknown as OperationInput;
}

/** Whether the question names another team than the target's, or another name than the only one. A request to the operation cannot express that. */
export function isElsewhere({ entry, question: { name = '', team_id: teamId } }: Tuple, world: World): boolean {
  if (entry.review.only !== undefined && entry.review.only !== name) return true;
  const owner = world.teamOf.get(name);
  return entry.isNamed && entry.team !== 'refused' && owner !== undefined && owner !== (teamId ?? null);
}
