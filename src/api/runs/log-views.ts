import { z } from 'zod';
import { Time } from '#api/pipeline/schemas.ts';
import type { LogRow } from '#domain/runs/attempts/log-store.ts';
import { logPhases, logStreams } from '#domain/shared/vocabulary/runs.ts';

/** The time before which retention has removed entries. A list may have lost its beginning, or everything. */
export const RemovedBefore = Time.nullable().describe(
  'What was older has been removed, because it was out of retention. Null: nothing was removed.',
);

export const LogEntryView = z
  .object({
    sequence: z.int(),
    time: Time,
    phase: z.enum(logPhases),
    stream: z.enum(logStreams),
    first_line: z.int(),
    lines: z.int(),
    text: z.string(),
  })
  .meta({ id: 'LogEntry' });

export const RunLogView = z
  .object({
    entries: z.array(LogEntryView),
    last_sequence: z.int(),
    complete: z.boolean(),
    removed_before: RemovedBefore,
  })
  .meta({ id: 'RunLog' });

/** Bytes that are not UTF-8 become U+FFFD here; the text/plain log has them unchanged. */
export function toLogEntry({ content, firstLine, ...row }: LogRow): z.input<typeof LogEntryView> {
  return { ...row, first_line: firstLine, text: new TextDecoder().decode(content) };
}
