import { firstIdAt } from '#domain/shared/ids.ts';
import type { TestApi } from '../api/in-process-api.ts';

/** How a copy of a run differs from it. */
export interface RunRow {
  readonly status: string;
  /** RFC 3339. */
  readonly createdAt: string;
  readonly operation?: string;
  readonly requestedBy?: string;
  /** How long it ran; a minute unless given. */
  readonly seconds?: number;
}

let made = 0;

/** Inserts copies of an existing run, with ids of their time. Answers the ids. */
export async function addRuns(api: TestApi, runId: string, rows: readonly RunRow[]): Promise<string[]> {
  const columns = await api.rows<{ name: string }>(
    `select column_name as name from information_schema.columns where table_name = 'runs' order by ordinal_position`,
  );
  const ids: string[] = [];
  for (const { status, createdAt, operation, requestedBy, seconds = 60 } of rows) {
    const id = firstIdAt(new Date(createdAt)).slice(0, -12) + String(++made).padStart(12, '0');
    ids.push(id);
    const finished = ['succeeded', 'failed', 'canceled', 'timed_out'].includes(status);
    const own: Record<string, unknown> = {
      id,
      idempotency_key: id,
      status,
      created_at: createdAt,
      started_at: createdAt,
      finished_at: finished ? new Date(Date.parse(createdAt) + Math.round(seconds * 1000)).toISOString() : null,
      instance_position: 1000 + made,
      ...(operation && { operation }),
      ...(requestedBy && { requested_by_id: requestedBy }),
    };
    const names = Object.keys(own);
    const types: Record<string, string> = { instance_position: 'int', status: 'text', operation: 'text' };
    const typeOf = (name: string) => types[name] ?? (name.endsWith('_at') ? 'timestamptz' : 'uuid');
    const values = columns.map(({ name }) => (names.includes(name) ? `?::${typeOf(name)}` : `r."${name}"`));
    const parameters = columns.filter(({ name }) => names.includes(name)).map(({ name }) => own[name]);
    await api.rows(
      `insert into runs (${columns.map(({ name }) => `"${name}"`).join(', ')}) select ${values.join(', ')} from runs r where r.id = ?`,
      [...parameters, runId],
    );
  }
  return ids;
}
