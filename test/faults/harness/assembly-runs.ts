import { readUntil } from '#test/support/read-until.ts';
import type { Installation } from './installation.ts';

/** How long an assembly run may take after the last disruption. */
export const endsWithinMs = 20 * 60_000;

/** Temporal ends a workflow whose history passes 51,200 events or 50 MiB. */
const maxEvents = 51_200 / 2;
const maxBytes = (50 * 2 ** 20) / 2;

export interface HistorySize {
  readonly events: number;
  readonly bytes: number;
}

/** Waits until an assembly run has ended, and returns it as its path answers it. */
export async function awaitEnd({ requester, violations }: Installation, path: string) {
  const read = () => requester.call('GET', path);
  const run = await readUntil(read, ({ finished_at }) => finished_at !== null, endsWithinMs);
  if (run.finished_at === null)
    violations.push(`the assembly run ${run.id} is still ${run.status}: ${JSON.stringify(run.nodes)}`);
  return run;
}

/** Every node has succeeded, has one run more than it was retried, and ended once in the story. */
export async function checkNodes({ query, violations }: Installation, runId: string, count: number): Promise<void> {
  const nodes = await query<{ key: string; status: string; runs: number; ends: number }>(
    `select n.key, n.status,
            (select count(*)::int from runs r where r.assembly_node_id = n.id) as runs,
            (select count(*)::int from domain_events e where e.subject_kind = 'assembly_run' and e.subject_id = n.assembly_run_id
               and e.type = 'assembly_run.node_ended' and e.data ->> 'node' = n.key) as ends
       from assembly_nodes n where n.assembly_run_id = $1`,
    [runId],
  );
  if (nodes.length !== count) violations.push(`the assembly run has ${nodes.length} nodes instead of ${count}`);
  for (const { key, status, runs, ends } of nodes) {
    if (status !== 'succeeded') violations.push(`the node ${key} ended ${status}`);
    if (runs !== 1) violations.push(`the node ${key} had ${runs} runs`);
    if (ends !== 1) violations.push(`the story says ${ends} times that the node ${key} ended`);
  }
}

export async function countRuns({ query }: Installation, runId: string): Promise<number> {
  const [row] = await query<{ runs: number }>('select count(*)::int as runs from runs where assembly_run_id = $1', [
    runId,
  ]);
  return row?.runs ?? 0;
}

/** The longest histories of the workflows of an assembly run: its own, and those of 50 of its nodes. Each must be under half of Temporal's limits. */
export async function longestHistory(
  { query, askEngine, violations }: Installation,
  runId: string,
): Promise<HistorySize> {
  const rows = await query<{ id: string }>(
    `select workflow_id::text as id from assembly_runs where id = $1
     union all (select idempotency_key::text from runs where assembly_run_id = $1 limit 50)`,
    [runId],
  );
  const described = await askEngine(({ workflow }) =>
    Promise.all(rows.map(({ id }) => workflow.getHandle(id).describe())),
  );
  const events = Math.max(...described.map(({ historyLength }) => historyLength));
  const bytes = Math.max(...described.map(({ historySize }) => historySize ?? 0));
  if (events > maxEvents || bytes > maxBytes) violations.push(`a history has ${events} events and ${bytes} bytes`);
  return { events, bytes };
}
