import { sql } from 'kysely';
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
  /** The column that is set for things that no longer count; null: all of them count. */
  readonly ended: string | null;
  /** In the plural, as the refusal names them. */
  readonly name: string;
  readonly most: number;
}

const installed = { table: 'plugin_installations', ended: 'deleted_at', name: 'plugins', most: 100 } as const;
const ofInstallation = { column: 'installation_id' } as const;

/** How much there may be. docs/plugins.md names the numbers. */
export const pluginLimits = {
  pluginsOfTeam: { ...installed, column: 'team_id' },
  pluginsOfOrganization: { ...installed, column: 'organization_id' },
  backgroundPrincipals: {
    ...ofInstallation,
    table: 'plugin_background_principals',
    ended: 'revoked_at',
    name: 'background principals',
    most: 200,
  },
  assignments: {
    ...ofInstallation,
    table: 'plugin_action_grants',
    ended: 'revoked_at',
    name: 'assignments',
    most: 10_000,
  },
  releases: { ...ofInstallation, table: 'plugin_releases', ended: null, name: 'releases', most: 1000 },
  resources: { ...ofInstallation, table: 'plugin_resources', ended: 'deleted_at', name: 'resources', most: 10_000 },
} as const satisfies Record<string, Limited>;

/**
 * Refuses one more thing where there are as many as there may be. Until the commit, nobody else counts or adds such things there.
 * @throws Conflict with `limit_reached`
 */
export async function refuseBeyondPluginLimit(
  em: Em,
  id: string,
  { table, column, ended, name, most }: Limited,
): Promise<void> {
  await takeAdvisoryLock(em, `plugins/${table}/${id}`);
  const counted = declaredTables(em)
    .selectFrom(`${table} as x`)
    .where(`x.${column}`, '=', id)
    .$if(ended !== null, (all) => all.where(`x.${ended}`, 'is', null))
    .select(sql<number>`1`.as('one'))
    .limit(most);
  const { count } = await declaredTables(em)
    .selectFrom(counted.as('c'))
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  if (Number(count) >= most) throw new Conflict(`there may be at most ${most} ${name}`, 'limit_reached');
}
