import type { TestApi } from '../../api/in-process-api.ts';

const linesPerChunk = 1000;

/** Appends this many lines to the log of a run, as its apply would have printed them. A million take some seconds. */
export async function writeLongLog(api: TestApi, runId: string, lines: number): Promise<void> {
  await api.rows(
    `with last as (
       select sequence, first_line + lines as lines, attempt_id, time, phase
         from run_log_chunks where run_id = ? order by sequence desc limit 1
     ), made as (
       select chunk, string_agg('2026-11-21T04:' || lpad((line / 60 % 60)::text, 2, '0') || ':' || lpad((line % 60)::text, 2, '0')
                || 'Z partition-' || line % 48 || ' copied offset ' || line || ' (' || md5(line::text) || ')', E'\\n' order by line) || E'\\n' as text,
              count(*)::int as lines
         from (select n as line, n / ${linesPerChunk} as chunk from generate_series(0, ?::int - 1) n) numbered group by chunk
     )
     insert into run_log_chunks (run_id, sequence, time, attempt_id, phase, stream, first_line, lines, content, checksum)
     select ?::uuid, last.sequence + made.chunk + 1, last.time, last.attempt_id, last.phase, 'stdout',
            last.lines + made.chunk * ${linesPerChunk}, made.lines, convert_to(made.text, 'UTF8'),
            'sha256:' || encode(sha256(convert_to(made.text, 'UTF8')), 'hex')
       from made, last`,
    [runId, lines, runId],
  );
}
