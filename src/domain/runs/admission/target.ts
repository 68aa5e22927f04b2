import type { Em } from '#database/database.ts';
import { findRow } from '#database/row-lock.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { ApprovalRule } from '../model.ts';

/** What a run is admitted for: a template, and an environment where one is named, with all that owns them. */
export interface AdmissionTarget extends Ownership {
  readonly templateId: string;
  readonly templateSlug: string;
  readonly projectId: string | null;
  readonly environmentId: string | null;
  readonly approval: { required: number; when: ApprovalRule; allow_self: boolean } | null;
  /** The first thing in the way that is archived, outermost first; null where all are active. */
  readonly archived: string | null;
}

export interface TargetRow {
  template_id: string;
  template_slug: string;
  template_team_id: string | null;
  template_archived: boolean;
  organization_id?: string;
  organization_archived?: boolean;
  team_id?: string;
  team_archived?: boolean;
  project_id?: string;
  project_archived?: boolean;
  environment_id?: string;
  environment_archived?: boolean;
  approval_required?: number;
  approval_when?: ApprovalRule;
  approval_allow_self?: boolean;
}

/**
 * Finds template and environment, sharing their rows and their owners' against archiving where `lock` is set. Undefined
 * where either is missing, or where they belong to different teams: to the caller those are the same.
 */
export async function findAdmissionTarget(
  em: Em,
  { templateId, environmentId }: { templateId: string; environmentId?: string | undefined },
  lock: boolean,
): Promise<AdmissionTarget | undefined> {
  const source = environmentId === undefined ? await templateAlone(em, templateId) : inEnvironment;
  const ids = environmentId === undefined ? [templateId] : [templateId, environmentId];
  const named = environmentId === undefined ? 't.id = ?' : 't.id = ? and e.id = ?';
  const locking = lock ? ` for share of ${source.locks}` : '';
  const row = await findRow<TargetRow>(em, lock, `${selectFrom(source, named)}${locking}`, ids);
  return row && toTarget(row);
}

function selectFrom({ columns, from, where }: Source, named: string): string {
  return `select ${columns} from ${from} where ${named} and ${where}`;
}

/** Where a target is found; `locks` in the order of locks, the template last. */
interface Source {
  readonly columns: string;
  readonly from: string;
  readonly where: string;
  readonly locks: string;
}

const teamColumns = `o.id as organization_id, o.archived_at is not null as organization_archived,
  m.id as team_id, m.archived_at is not null as team_archived`;
const templateColumns = `t.id as template_id, t.slug as template_slug, t.team_id as template_team_id,
  t.archived_at is not null as template_archived`;

const inEnvironment: Source = {
  columns: `${templateColumns}, ${teamColumns}, p.id as project_id, p.archived_at is not null as project_archived,
    e.id as environment_id, e.archived_at is not null as environment_archived,
    e.approval_required, e.approval_when, e.approval_allow_self`,
  from: `organizations o join teams m on m.organization_id = o.id join projects p on p.team_id = m.id
    join environments e on e.project_id = p.id cross join templates t`,
  where: `t.deleted_at is null and e.deleted_at is null and p.deleted_at is null and m.deleted_at is null
    and o.deleted_at is null`,
  locks: 'o, m, p, e, t',
};

const ofTeam: Source = {
  columns: `${templateColumns}, ${teamColumns}`,
  from: `organizations o join teams m on m.organization_id = o.id join templates t on t.team_id = m.id`,
  where: `t.deleted_at is null and m.deleted_at is null and o.deleted_at is null`,
  locks: 'o, m, t',
};

const ofInstallation: Source = {
  columns: templateColumns,
  from: 'templates t',
  where: 't.team_id is null and t.deleted_at is null',
  locks: 't',
};

/** Whose template it is never changes, so it may be looked up before anything is locked. */
async function templateAlone(em: Em, templateId: string): Promise<Source> {
  const rows = await em.execute<{ team_id: string | null }[]>(`select team_id from templates where id = ?`, [
    templateId,
  ]);
  return rows[0]?.team_id ? ofTeam : ofInstallation;
}

/**
 * What a run like a row `r` of runs would be admitted for today, as an SQL expression for `toTarget`: the same rows that
 * `findAdmissionTarget` finds by the run's template and environment, or null.
 */
export const admissionTargetOfRun = `case when r.environment_id is not null
  then ${asJson(inEnvironment, 't.id = r.template_id and e.id = r.environment_id')}
  else coalesce(${asJson(ofTeam, 't.id = r.template_id')}, ${asJson(ofInstallation, 't.id = r.template_id')}) end`;

function asJson(source: Source, named: string): string {
  return `(select to_jsonb(found) from (${selectFrom(source, named)}) found)`;
}

/** Undefined where template and environment belong to different teams. */
export function toTarget(row: TargetRow): AdmissionTarget | undefined {
  if (row.template_team_id !== null && row.template_team_id !== row.team_id) return undefined;
  const { approval_required: required, approval_when: when, approval_allow_self: allowSelf } = row;
  return {
    organizationId: row.organization_id ?? null,
    teamId: row.team_id ?? null,
    templateId: row.template_id,
    templateSlug: row.template_slug,
    projectId: row.project_id ?? null,
    environmentId: row.environment_id ?? null,
    approval: required === undefined ? null : { required, when: when ?? 'always', allow_self: allowSelf ?? false },
    archived: firstArchived(row),
  };
}

function firstArchived(row: TargetRow): string | null {
  const order = ['organization', 'team', 'project', 'environment', 'template'] as const;
  return order.find((name) => row[`${name}_archived`]) ?? null;
}
