import { createHash, randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { LogChunk } from '#domain/runs/attempts/writes.ts';

/** The size of the chunks that the executor sends. */
export const chunkBytes = 64 * 1024;

/** Generates a log of this many bytes like a tool's: lines with times, addresses and ids, each one different. */
export function generateLogChunks(bytes: number): LogChunk[] {
  const chunks: LogChunk[] = [];
  let line = 0;
  for (let sequence = 1; (sequence - 1) * chunkBytes < bytes; sequence += 1) {
    const lines: string[] = [];
    for (let size = 0; size < chunkBytes; line += 1) {
      const text = `2026-01-01T00:00:00.${line}Z module.network["zone-${line % 7}"].terraform_data.subnet[${line}]: Creation complete after 0s [id=${randomUUID()}]\n`;
      lines.push(text);
      size += text.length;
    }
    const content = Buffer.from(lines.join('')).subarray(0, chunkBytes);
    const checksum = `sha256:${createHash('sha256').update(content).digest('hex')}`;
    const time = new Date().toISOString();
    const firstLine = line - lines.length;
    chunks.push({
      sequence,
      phase: 'apply',
      stream: 'stdout',
      time,
      content,
      firstLine,
      lines: lines.length,
      checksum,
    });
  }
  return chunks;
}

/** Opens an attempt of a run, as the run's next step would, so that it may write logs. @returns the attempt's id */
export async function openAttempt(database: pg.Pool, runId: string): Promise<string> {
  const attemptId = randomUUID();
  await database.query(
    `insert into run_attempts (id, run_id, phase, log_base, line_base, started_at) values ($1, $2, 'applying', 0, 0, now())`,
    [attemptId, runId],
  );
  await database.query(`update runs set status = 'running', phase = 'applying', attempt_id = $1 where id = $2`, [
    attemptId,
    runId,
  ]);
  return attemptId;
}
