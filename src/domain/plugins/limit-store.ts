import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { declaredTables } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { takeAdvisoryLock } from '#domain/shared/access/authority-lock.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { FullShares } from './full-shares.ts';
import type { Place } from './places/place-store.ts';

/** Things of which an installed plugin, or the owner of plugins, may have a limited number. */
interface Limited {
  readonly table: keyof Tables & string;
  /** The column with the id to which the things belong. */
  readonly column: string;
  /** The condition, in a statement with a thing as `x`, that the thing counts. */
  readonly counts: typeof always;
  /** In the plural, as the refusal names them. */
  readonly name: string;
  readonly max: number;
}

const always = sql<SqlBool>`true`;
const notDeleted = sql<SqlBool>`x.deleted_at is null`;
/**
 * The condition that a share counts the row with an alias. It repeats the condition of the index that finds these rows, `countedColumns`.
 */
export function isCounted(alias: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`${sql.ref(`${alias}.counted`)} and ${sql.ref(`${alias}.revokedAt`)} is null`;
}

const installed = { table: 'plugin_installations', counts: notDeleted, name: 'plugins', max: 100 } as const;

/** The limits. docs/plugins.md lists the numbers. */
export const pluginLimits = {
  pluginsOfTeam: { ...installed, column: 'teamId' },
  pluginsOfOrganization: { ...installed, column: 'organizationId' },
  releases: { table: 'plugin_releases', column: 'installationId', counts: always, name: 'releases', max: 1000 },
} as const satisfies Record<string, Limited>;

interface SharedLimit extends Limited {
  /** The action that frees a place. */
  readonly end: 'revoke' | 'delete';
}

/** The limits of one plugin for each team, and for the organization itself, so that no team can use up the places of another. */
export const pluginShares = {
  backgroundPrincipals: {
    table: 'plugin_background_principals',
    column: 'ownerId',
    counts: isCounted('x'),
    name: 'background principals',
    end: 'revoke',
    max: 200,
  },
  assignments: {
    table: 'plugin_action_grants',
    column: 'ownerId',
    counts: isCounted('x'),
    name: 'assignments',
    end: 'revoke',
    max: 10_000,
  },
  resources: {
    table: 'plugin_resources',
    column: 'teamId',
    counts: notDeleted,
    name: 'resources',
    end: 'delete',
    max: 10_000,
  },
} as const satisfies Record<string, SharedLimit>;

/** The share of a team, or of the organization itself, in an installation. */
export interface Share {
  readonly installationId: string;
  /** The team that owns the places; the organization if no team does. */
  readonly ownerId: string;
  readonly isOfTeam: boolean;
}

/** The share of an installation that a thing at a place uses. */
export function shareOf(installationId: string, { teamId, organizationId }: ShareOwners): Share {
  return { installationId, ownerId: teamId ?? organizationId, isOfTeam: teamId !== null };
}
type ShareOwners = Pick<Place, 'teamId' | 'organizationId'>;

/**
 * Refuses a further thing if the limit is reached. Until the commit, nobody else counts or adds such things there.
 * @throws Conflict with `limit_reached`
 */
export async function refuseBeyondPluginLimit(em: Em, id: string, limited: Limited): Promise<void> {
  await takeAdvisoryLock(em, `plugins/${limited.table}/${id}`);
  if (await isFull(em, limited, { [limited.column]: id }))
    throw new Conflict(`there may be at most ${limited.max} ${limited.name}`, 'limit_reached');
}

const fullShares = new FullShares();

/**
 * Refuses a further thing in a full share, and for a moment afterwards. Until the commit, nobody else counts or adds such things there. A
 * share may only seem full because ended things still count: `uncountEnded` removes them from the count permanently, so that later commands
 * need not check them again.
 * @throws Conflict with `limit_reached`
 */
export async function refuseBeyondShare(
  em: Em,
  share: Share,
  limited: SharedLimit,
  uncountEnded: (em: Em, share: Share) => Promise<unknown> = async () => {},
): Promise<void> {
  const { installationId, ownerId } = share;
  const name = `plugins/${limited.table}/${installationId}/${ownerId}`;
  const conditions = { installationId, [limited.column]: ownerId };
  const full = new Conflict(describeFull(share, limited), 'limit_reached');
  if (fullShares.has(name) && (await isFull(em, limited, conditions))) throw full;
  await takeAdvisoryLock(em, name);
  if (!(await isFull(em, limited, conditions))) return;
  await uncountEnded(em, share);
  if (!(await isFull(em, limited, conditions))) return;
  fullShares.add(name);
  throw full;
}

function describeFull({ isOfTeam }: Share, { max, name, end }: SharedLimit): string {
  const owner = isOfTeam ? 'the team' : 'the organization itself';
  return `${owner} has ${max} ${name} of this plugin, which is the limit: ${end} one first`;
}

/** @param conditions the ids that the rows must have in these columns */
async function isFull(
  em: Em,
  { table, counts, max }: Limited,
  conditions: Readonly<Record<string, string>>,
): Promise<boolean> {
  const found = declaredTables(em)
    .selectFrom(`${table} as x`)
    .where((eb) => eb.and(Object.entries(conditions).map(([column, id]) => eb(`x.${column}`, '=', id))))
    .where(counts)
    .select(sql<number>`1`.as('one'))
    .limit(max);
  const { count } = await declaredTables(em)
    .selectFrom(found.as('c'))
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count) >= max;
}
