import type { Em } from '#domain/shared/database.ts';
import { Conflict } from '#domain/shared/errors.ts';
import type { TenantLevel } from './lifecycle.ts';

/** Which rows of a table `x` belong to a level; where a level is left out, such things do not belong to it directly. */
type Belonging = Partial<Record<TenantLevel, string>>;

/** A kind of thing that stands in the way of something while there is any. */
interface Obstacle {
  readonly belonging: Belonging;
  /** Selects what each is called, as `name`, of a table `x`; conditions are added. */
  readonly select: string;
  /** How the message goes on, from "the team has …" to the names; and what would be right. */
  readonly has: string;
  readonly remedy: string;
}

/** Instances and runs have the columns that these conditions name. */
const owned: Belonging = {
  organization: 'x.team_id in (select t.id from teams t where t.organization_id = ?)',
  team: 'x.team_id = ?',
  project: 'x.environment_id in (select e.id from environments e where e.project_id = ?)',
  environment: 'x.environment_id = ?',
};

const unended: Obstacle = {
  belonging: owned,
  select: `select x.id::text as name, x.id from runs x where x.finished_at is null`,
  has: 'runs that have not ended',
  remedy: 'cancel them or let them end first',
};

/** What shows that something is in use, at whatever level below it. */
const uses: readonly Obstacle[] = [
  {
    belonging: owned,
    select: `select '"' || x.name || '"' as name, x.id from instances x where x.resource_count > 0`,
    has: 'instances that still hold resources',
    remedy: 'destroy them first',
  },
  unended,
];

/** What it contains, archived or not, that would be left without an owner. */
const contents: readonly Obstacle[] = [
  {
    belonging: { organization: 'x.organization_id = ?' },
    select: 'select x.slug as name, x.id from teams x where x.deleted_at is null',
    has: 'teams',
    remedy: 'delete or transfer them first',
  },
  {
    belonging: { team: 'x.team_id = ?' },
    select: 'select x.slug as name, x.id from projects x where x.deleted_at is null',
    has: 'projects',
    remedy: 'delete or transfer them first',
  },
  {
    belonging: { team: 'x.team_id = ?' },
    select: 'select x.slug as name, x.id from templates x where x.deleted_at is null and x.archived_at is null',
    has: 'templates that are not archived',
    remedy: 'archive them first',
  },
  {
    belonging: { team: 'x.owner_team_id = ?' },
    select: `select '"' || p.name || '"' as name, x.id from service_accounts x join principals p on p.id = x.id
              where p.deleted_at is null`,
    has: 'service accounts',
    remedy: 'delete or transfer them first',
  },
  {
    belonging: { project: 'x.project_id = ?' },
    select: 'select x.slug as name, x.id from environments x where x.deleted_at is null',
    has: 'environments',
    remedy: 'delete them first',
  },
];

/** What ties a project to the team that owns it. */
const ties: readonly Obstacle[] = [
  {
    belonging: owned,
    select: `select '"' || x.name || '" (template ' || s.slug || ')' as name, x.id from instances x
               join templates s on s.id = x.template_id and s.team_id = x.team_id where x.resource_count > 0`,
    has: 'instances that are deployed from templates of its team, which the other team cannot use',
    remedy: 'destroy them first',
  },
];

/** @throws Conflict naming the instances that still hold resources and the runs that have not ended */
export function refuseInUse(em: Em, level: TenantLevel, id: string): Promise<void> {
  return refuse(em, level, id, uses);
}

/** @throws Conflict naming what uses it, and what it still contains */
export function refuseNotEmpty(em: Em, level: TenantLevel, id: string): Promise<void> {
  return refuse(em, level, id, [...uses, ...contents]);
}

/** @throws Conflict naming the runs that have not ended, and the instances that need what its team alone has */
export function refuseTransferred(em: Em, projectId: string): Promise<void> {
  return refuse(em, 'project', projectId, [unended, ...ties]);
}

/** Everything that is in the way is said at once. */
async function refuse(em: Em, level: TenantLevel, id: string, obstacles: readonly Obstacle[]): Promise<void> {
  const found = await Promise.all(
    obstacles.map(async ({ belonging, select, has, remedy }) => {
      const condition = belonging[level];
      const names = condition === undefined ? [] : await findNames(em, `${select} and ${condition}`, [id]);
      return names.length > 0 ? [`${has}: ${enumerate(names)}; ${remedy}`] : [];
    }),
  );
  const reasons = found.flat();
  if (reasons.length > 0) throw new Conflict(`the ${level} has ${reasons.join('; it has ')}`);
}

const named = 5;

/** What the first few that a query selects are called, and one more where there are more. */
export async function findNames(em: Em, select: string, params: readonly unknown[]): Promise<string[]> {
  const rows = await em.execute<{ name: string }[]>(`${select} order by x.id limit ?`, [...params, named + 1]);
  return rows.map(({ name }) => name);
}

export function enumerate(names: readonly string[]): string {
  return names.length > named ? `${names.slice(0, named).join(', ')} and more` : names.join(', ');
}
