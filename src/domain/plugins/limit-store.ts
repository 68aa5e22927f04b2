import { type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { Tables } from '#domain/entities.ts';
import { takeAdvisoryLock } from '#domain/shared/access/authority-lock.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { declaredTables } from '#domain/shared/ownership-graph/conditions.ts';

/** Things of which an installed plugin, or the owner of plugins, may have a limited number. */
interface Limited {
  readonly table: keyof Tables & string;
  /** The column that says what the things belong to. */
  readonly column: string;
  /** The condition of a statement with a thing as `x` that it counts. */
  readonly counts: typeof always;
  /** In the plural, as the refusal names them. */
  readonly name: string;
  readonly most: number;
}

const always = sql<SqlBool>`true`;
const notDeleted = sql<SqlBool>`x.deleted_at is null`;
/** The condition repeats that of the index which finds these rows. */
const counted = sql<SqlBool>`x.counted and x.revoked_at is null`;

const installed = { table: 'plugin_installations', counts: notDeleted, name: 'plugins', most: 100 } as const;

/** How much there may be. docs/plugins.md names the numbers. */
export const pluginLimits = {
  pluginsOfTeam: { ...installed, column: 'team_id' },
  pluginsOfOrganization: { ...installed, column: 'organization_id' },
  releases: { table: 'plugin_releases', column: 'installation_id', counts: always, name: 'releases', most: 1000 },
} as const satisfies Record<string, Limited>;

/** How much of one plugin each team may have, and the organization itself: no team takes up the places of another one. */
export const pluginShares = {
  backgroundPrincipals: {
    table: 'plugin_background_principals',
    column: 'owner_id',
    counts: counted,
    name: 'background principals',
    most: 200,
  },
  assignments: {
    table: 'plugin_action_grants',
    column: 'owner_id',
    counts: counted,
    name: 'assignments',
    most: 10_000,
  },
  resources: {
    table: 'plugin_resources',
    column: 'team_id',
    counts: notDeleted,
    name: 'resources',
    most: 10_000,
  },
} as const satisfies Record<string, Limited>;

/** What a team has of an installation, or the organization itself. */
export interface Share {
  readonly installationId: string;
  /** The team that owns the places; the organization if no team does. */
  readonly ownerId: string;
}

/**
 * Refuses one more thing where there are as many as there may be. Until the commit, nobody else counts or adds such things there.
 * @throws Conflict with `limit_reached`
 */
export async function refuseBeyondPluginLimit(em: Em, id: string, limited: Limited): Promise<void> {
  await takeAdvisoryLock(em, `plugins/${limited.table}/${id}`);
  if (await isFull(em, id, limited))
    throw new Conflict(`there may be at most ${limited.most} ${limited.name}`, 'limit_reached');
}

/**
 * Refuses one more thing in a share that is full. Until the commit, nobody else counts or adds such things there. A share only seems full while things
 * that have ended still count: `uncountEnded` takes them out for good, so that no later command has to look at them again.
 * @throws Conflict with `limit_reached`
 */
export async function refuseBeyondShare(
  em: Em,
  share: Share,
  limited: Limited,
  uncountEnded: (em: Em, share: Share) => Promise<unknown> = async () => {},
): Promise<void> {
  const { installationId, ownerId } = share;
  await takeAdvisoryLock(em, `plugins/${limited.table}/${installationId}/${ownerId}`);
  if (!(await isFull(em, ownerId, limited, installationId))) return;
  await uncountEnded(em, share);
  if (!(await isFull(em, ownerId, limited, installationId))) return;
  const { most, name } = limited;
  throw new Conflict(
    `there may be at most ${most} ${name} of one plugin in a team, and as many in the organization itself`,
    'limit_reached',
  );
}

async function isFull(
  em: Em,
  id: string,
  { table, column, counts, most }: Limited,
  installationId?: string,
): Promise<boolean> {
  const found = declaredTables(em)
    .selectFrom(`${table} as x`)
    .where(`x.${column}`, '=', id)
    .$if(installationId !== undefined, (all) => all.where('x.installation_id', '=', installationId))
    .where(counts)
    .select(sql<number>`1`.as('one'))
    .limit(most);
  const { count } = await declaredTables(em)
    .selectFrom(found.as('c'))
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count) >= most;
}
