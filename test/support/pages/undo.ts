import { newId } from '#domain/shared/ids.ts';
import type { ShownCandidate } from '#domain/undo/entity.ts';
import type { AttemptState, Problem, ShownChange, Verdict } from '#domain/undo/model.ts';
import type { TestApi } from '../api/in-process-api.ts';
import type { SeededPerson } from './people.ts';

export interface AttemptLook {
  readonly state: AttemptState;
  readonly verdicts: readonly Verdict[];
  readonly changes: readonly ShownChange[];
  readonly problem?: Problem;
  readonly candidate?: ShownCandidate;
  readonly collateral?: readonly string[];
}

const candidate: ShownCandidate = {
  digest: `hmac-sha256:${'3f9c'.repeat(16)}`,
  version: '2.3.1',
  variables: {
    price_class: 'europe',
    origins: ['www', 'img'],
    cache: { ttl: 3600, stale: 60 },
    token: { sensitive: true },
  },
};
const changes: ShownChange[] = [
  { path: '/variables/cache/ttl', from: 60, to: 3600 },
  { path: '/variables/origins', from: ['www', 'img', 'beta'], to: ['www', 'img'] },
  { path: '/variables/token', from: { sensitive: true }, to: { sensitive: true } },
];
const clean = changes.map(({ path }): Verdict => ({ path, verdict: 'clean', cause: null }));

/** Attempts at undoing a run, by what they show. */
function looks(laterRun: string) {
  const later = `the run ${laterRun} changed it later: undo that run first, or apply the value that you want in a new run`;
  const drift =
    'the instance differs from its latest state (aws_cloudfront_distribution.main): revert or adopt the drift, and check again';
  const cause = { message: later, runId: laterRun };
  return {
    checking: { state: 'checking', verdicts: clean, changes, candidate },
    ready: { state: 'ready', verdicts: clean, changes, candidate },
    conflicted: {
      state: 'conflicted',
      changes,
      verdicts: [clean[0] as Verdict, { path: '/variables/origins', verdict: 'superseded', cause }],
    },
    blocked: {
      state: 'blocked',
      changes,
      verdicts: clean.map(({ path }) => ({ path, verdict: 'drifted', cause: { message: drift } })),
      problem: { code: 'drifted', message: drift, runId: laterRun },
    },
    promotable: {
      state: 'promotable',
      verdicts: clean,
      changes,
      candidate,
      collateral: ['aws_wafv2_web_acl.main', 'module.dns.aws_route53_record.alias["www"]'],
    },
  } satisfies Record<string, AttemptLook>;
}

/** The ids of the attempts, and of the run that they would undo. */
export type SeededUndo = Readonly<Record<keyof ReturnType<typeof looks> | 'run', string>>;

/** Adds attempts at undoing the run by which an instance is deployed. */
export async function addUndoAttempts(
  api: TestApi,
  { instance, laterRun, by }: { instance: string; laterRun: string; by: SeededPerson },
): Promise<SeededUndo> {
  const [{ run } = { run: '' }] = await api.rows<{ run: string }>(
    'select deployed_run_id as run from instances where id = ?',
    [instance],
  );
  const idleRun = await findIdle(api, instance);
  const added = Object.entries(looks(laterRun)).map(async ([key, look]) => [
    key,
    // A promotion is refused while another run may change the instance.
    await addAttempt(api, key === 'promotable' ? idleRun : run, by, look),
  ]);
  const ids = Object.fromEntries(await Promise.all(added)) as SeededUndo;
  await api.rows(
    `insert into selective_undo_candidate_checks (id, attempt_id, run_id, state, collateral, requested_by_id, requested_by_type,
        requested_by_name, created_at, finished_at)
      select ?, id, ?, 'passed', collateral, requested_by_id, 'user', requested_by_name, now(), now()
      from selective_undo_attempts where id = ?`,
    [newId(), laterRun, ids.promotable],
  );
  return { ...ids, run };
}

/** The run by which an instance of the same environment is deployed that no run may change now. */
async function findIdle(api: TestApi, instance: string): Promise<string> {
  const [{ run } = { run: '' }] = await api.rows<{ run: string }>(
    `select i.deployed_run_id as run from instances i join instances busy on busy.id = ? and busy.environment_id = i.environment_id
      where i.deployed_run_id is not null and not exists (select 1 from runs r where r.instance_id = i.id and r.finished_at is null)
      order by i.name limit 1`,
    [instance],
  );
  return run;
}

/** Adds an attempt at undoing a run, in the state that a page is to show. */
export async function addAttempt(
  api: TestApi,
  run: string,
  by: Pick<SeededPerson, 'id' | 'name'>,
  look: AttemptLook,
): Promise<string> {
  const id = newId();
  const values = [look.verdicts, look.changes, look.problem ?? null, look.candidate ?? null, look.collateral ?? null];
  await api.rows(
    `insert into selective_undo_attempts (id, run_id, instance_id, state, verdicts, changes, problem, candidate, collateral,
        state_serial, deployed_run_id, requested_by_id, requested_by_type, requested_by_name, created_at)
      select ?, r.id, i.id, ?, ?, ?, ?, ?, ?, i.state_serial, i.deployed_run_id, ?, 'user', ?, now()
      from runs r join instances i on i.id = r.instance_id where r.id = ?`,
    [id, look.state, ...values.map((value) => value && JSON.stringify(value)), by.id, by.name, run],
  );
  return id;
}
