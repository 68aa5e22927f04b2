import { heartbeatTimeoutSeconds } from './model.ts';

/** The expressions of `run-store.ts`, for statements that are still written as text. */

/** `demandsSandbox` of a row `r` of runs. */
export const demandsSandboxSql = `(
  exists (select 1 from worker_pools demanding where demanding.name = r.pool
             and (demanding.isolation = 'sandbox' or demanding.egress->>'policy' in ('none', 'allow')))
  or exists (select 1 from environments demanding where demanding.id = r.environment_id and demanding.isolation = 'sandbox'))`;

/** `selectPoolAccess` of a row `r` of runs. */
export const poolAccessOfRunSql = `(
  select jsonb_build_object('teamIds', pool.team_ids, 'environmentIds', pool.environment_ids)
    from worker_pools pool where pool.name = r.pool)`;

/** `selectLiveness`, given the expression of a worker's id. */
export function workerLivenessSql(id: string): string {
  const isAlive = `worker.heartbeat_at > now() - make_interval(secs => ${heartbeatTimeoutSeconds})`;
  return `coalesce((select case when ${isAlive} then 'alive' else 'silent' end from workers worker where worker.id = ${id}), 'gone')`;
}
