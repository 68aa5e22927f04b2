import type { Em } from '#database/database.ts';
import { afterId, type Page, type PageRequest, toPage, Where } from '#domain/shared/paging.ts';
import type { Isolation } from '#domain/workers/model.ts';
import { type FactsRow, runFacts, toRunFacts } from './action-facts.ts';
import type { RunFacts } from './actions.ts';
import {
  isTerminal,
  type JsonValue,
  type Masked,
  type MaskedOutputs,
  type PlanSummary,
  type RunOperation,
  type RunPhase,
  type RunStatus,
  type WaitingOn,
} from './model.ts';
import type { RunTarget } from './targets.ts';

/**
 * A run as every answer shows it (api.md of the design, *A run*), but for its actions, which depend on the caller. Times are
 * PostgreSQL's text of them.
 */
export interface RunView {
  id: string;
  idempotency_key: string;
  status: RunStatus;
  phase: RunPhase;
  status_reason: string | null;
  waiting_on: WaitingOn | null;
  operation: RunOperation;
  replace: string[];
  team_id: string | null;
  project_id: string | null;
  environment_id: string | null;
  instance_id: string;
  instance: string;
  template_id: string;
  template_version: string;
  pool: string;
  tool: { name: string; version: string } | null;
  variables: Record<string, JsonValue | Masked>;
  message: string;
  requested_by: { type: string; id: string; name: string };
  responsible_user_id: string | null;
  plan: { digest: string; summary: PlanSummary } | null;
  approval: { required: number; when: string; allow_self: boolean; expires_at: string | null; reviews: ReviewView[] };
  outputs: MaskedOutputs;
  isolation: Isolation | null;
  state_serial_before: number | null;
  state_serial_after: number | null;
  cancel_reason: string | null;
  requeued_from: string | null;
  assembly_run_id: string | null;
  drift_finding_id: string | null;
  undoes: string | null;
  undone_by: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  deleted_at: string | null;
  revision: number;
}

export interface ReviewView {
  by: { type: string; id: string; name: string };
  decision: 'approve' | 'reject';
  comment: string;
  plan_digest: string;
  at: string;
}

/** Who is in the way moves on while a run waits in line, and nobody tells the run: it is worked out when it is read. */
const waitingOn = `case when r.waiting_on->>'code' = 'instance_busy' then r.waiting_on || (
    select jsonb_build_object('position', count(*), 'blocker', coalesce(
        (select s.run_id from instance_slots s where s.instance_id = r.instance_id),
        (array_agg(ahead.id order by ahead.instance_position))[1]))
      from runs ahead where ahead.instance_id = r.instance_id and ahead.finished_at is null
       and ahead.operation <> 'plan' and ahead.instance_position < r.instance_position)
  else r.waiting_on end as waiting_on`;

/** The columns of `RunView`, of `runs as r`. */
export const runColumns = `r.id, r.idempotency_key, r.status, r.phase, r.status_reason, ${waitingOn}, r.operation, r.replace, r.team_id,
  r.project_id, r.environment_id, r.instance_id, r.instance, r.template_id, r.template_version, r.pool, r.tool, r.variables,
  r.message, jsonb_build_object('type', r.requested_by_type, 'id', r.requested_by_id, 'name', r.requested_by_name) as requested_by,
  r.responsible_user_id, case when r.plan_digest is not null
    then jsonb_build_object('digest', r.plan_digest, 'summary', r.plan_summary) end as plan,
  jsonb_build_object('required', r.approval_required, 'when', r.approval_when, 'allow_self', r.approval_allow_self,
    'expires_at', r.approval_expires_at, 'reviews', coalesce((
      select jsonb_agg(jsonb_build_object(
        'by', jsonb_build_object('type', v.reviewer_type, 'id', v.reviewer_id, 'name', v.reviewer_name),
        'decision', v.decision, 'comment', v.comment, 'plan_digest', v.plan_digest, 'at', v.created_at) order by v.id)
        from run_reviews v where v.run_id = r.id), '[]')) as approval,
  r.outputs, r.isolation, r.state_serial_before, r.state_serial_after, r.cancel_reason, r.requeued_from, r.assembly_run_id,
  r.drift_finding_id, r.undoes, r.undone_by, r.created_at, r.started_at, r.finished_at, r.deleted_at, r.revision`;

/** A run with its owner, and with the facts on which its actions depend. */
export interface RunToShow extends RunTarget {
  readonly view: RunView;
  readonly facts: RunFacts;
}

/** Reads one run in one statement: clients poll it. */
export async function readRun(em: Em, id: string): Promise<RunToShow | undefined> {
  const rows = await em.execute<(RunView & { organization_id: string | null; facts: FactsRow })[]>(
    `select ${runColumns}, t.organization_id, ${runFacts} as facts
       from runs r left join teams t on t.id = r.team_id where r.id = ?`,
    [id],
  );
  if (!rows[0]) return undefined;
  const { organization_id: organizationId, facts, ...view } = rows[0];
  const owner = { teamId: view.team_id, organizationId };
  return { id, ...owner, isDeleted: view.deleted_at !== null, view, facts: toRunFacts(view.status, facts) };
}

export interface RunFilter {
  /** Whose runs: one team's, or with null those of no team. The other filters narrow that, and never widen it. */
  readonly teamId: string | null;
  readonly environmentId?: string | undefined;
  readonly instanceId?: string | undefined;
  readonly templateId?: string | undefined;
  readonly status?: RunStatus | undefined;
}

/** A page of runs, newest first. The caller has decided that this team's may be read. */
export async function listRuns(em: Em, filter: RunFilter, page: PageRequest): Promise<Page<RunView>> {
  const where = new Where()
    .andIf(filter.teamId, 'r.team_id = ?')
    .andIf(filter.environmentId, 'r.environment_id = ?')
    .andIf(filter.instanceId, 'r.instance_id = ?')
    .andIf(filter.templateId, 'r.template_id = ?')
    .andIf(filter.status, 'r.status = ?')
    .andIf(afterId(page), 'r.id < ?')
    .and('r.deleted_at is null');
  if (filter.teamId === null) where.and('r.team_id is null');
  // Said besides, since the indexes by status are of one kind of runs or the other.
  if (filter.status) where.and(`r.finished_at is ${isTerminal(filter.status) ? 'not null' : 'null'}`);
  const rows = await em.execute<RunView[]>(
    `select ${runColumns} from runs r where ${where.sql} order by r.id desc limit ?`,
    [...where.params, page.limit + 1],
  );
  return toPage(rows, page);
}

export interface RunEventView {
  sequence: number;
  type: string;
  data: Record<string, JsonValue>;
  at: string;
}

/** A run's story from its beginning. */
export function listEvents(em: Em, runId: string, after: number, limit: number): Promise<RunEventView[]> {
  return em.execute<RunEventView[]>(
    `select sequence, type, data, created_at as at from domain_events
      where subject_kind = 'run' and subject_id = ? and sequence > ? order by sequence limit ?`,
    [runId, after, limit],
  );
}
