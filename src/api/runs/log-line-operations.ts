import { Readable } from 'node:stream';
import { z } from 'zod';
import { RawAnswer } from '#api/pipeline/answers/raw-answer.ts';
import { read } from '#api/pipeline/operation.ts';
import { Flag, Time } from '#api/pipeline/schemas.ts';
import type { Em } from '#database/database.ts';
import { findRemovedOfRun } from '#domain/runs/deletion/retention.ts';
import { printLines, readLines } from '#domain/runs/log/lines.ts';
import { countLines } from '#domain/runs/log/lines-store.ts';
import { searchLines, type Wanted } from '#domain/runs/log/search.ts';
import { readSections } from '#domain/runs/log/sections.ts';
import { findRun, readProgress } from '#domain/runs/store.ts';
import { Invalid, NotFound } from '#domain/shared/errors.ts';
import { wholeNumber } from '#domain/shared/values/whole-number.ts';
import { attemptOutcomes, isTerminal, logPhases, logStreams } from '#domain/shared/vocabulary/runs.ts';
import { RemovedBefore } from './log-operations.ts';
import { RunParams, readAccess } from './operations.ts';

const nested = { ...readAccess, review: { inherits: 'runs.get' } } as const;

const LogLineView = z
  .object({
    number: z.int().describe('From 1, over the whole log: line 812 is what `sed -n 812p` prints of the log as text.'),
    time: Time.describe('When the worker read the piece of output in which the line begins.'),
    phase: z.enum(logPhases),
    stream: z.enum(logStreams),
    text: z.string(),
    cut: z
      .int()
      .describe(
        'How many characters are left out, because a line has at most 8,192 here. Of a line that overwrites itself with carriage returns, ' +
          'the end is kept; otherwise the beginning.',
      ),
  })
  .meta({ id: 'LogLine' });

const LogSectionView = z
  .object({
    phase: z.enum(logPhases),
    attempt: z.int().describe('Counts the attempts at this phase, from 1.'),
    outcome: z.enum(attemptOutcomes).nullable().describe('Null: it is not over.'),
    started_at: Time,
    finished_at: Time.nullable(),
    first_line: z.int(),
    lines: z.int(),
  })
  .meta({ id: 'LogSection' });

const LogLinesView = z
  .object({
    lines: z.array(LogLineView),
    to: z
      .int()
      .describe(
        'The last line that was read; read on after it. A line up to it that `lines` does not have is missing: its worker was lost.',
      ),
    total: z.int().describe('How many lines the log has now. The last one may not have ended yet.'),
    sections: z.array(LogSectionView).describe('What each attempt has written, in order.'),
    complete: z.boolean().describe('The run has ended: no line is added any more.'),
    removed_before: RemovedBefore,
  })
  .meta({ id: 'LogLines' });

const LinesQuery = z.strictObject({
  from: wholeNumber({ min: 1 }).default(1).describe('The first line.'),
  limit: wholeNumber({ min: 1, max: 1000 }).default(200),
  last: wholeNumber({ min: 1, max: 1000 })
    .optional()
    .describe('Answer this many of the last lines, instead of `limit`. With `from`: none before it.'),
});

export const getLogLines = read({
  id: 'runs.get_log_lines',
  route: 'GET /api/v1/runs/:id/logs/lines',
  summary: "Read lines of a run's log, from any line on",
  description:
    'The cost does not depend on the place in the log. An answer has fewer lines than asked where they are very long: read on after `to`.',
  params: RunParams,
  query: LinesQuery,
  responses: { 200: LogLinesView },
  produces: { 'text/plain': 'The lines from `from` on, whole, as the steps wrote them.' },
  access: nested,
  target: ({ em, params }) => findRun(em, params.id),
  targetName: 'run',
  handle: async ({ em, params, query, request }) => {
    const { log, upTo, total, complete } = await openLog(em, params.id);
    const { last } = query;
    const from = Math.max(query.from, last === undefined ? 1 : total - last + 1);
    const limit = last ?? query.limit;
    if (request.mediaType === 'text/plain') {
      const text = printLines(em, { ...log, upTo, from, limit });
      return RawAnswer.of('text/plain; charset=utf-8', Readable.from(text));
    }
    const [read, sections, removedBefore] = await Promise.all([
      readLines(em, { ...log, upTo, total, from, limit }),
      readSections(em, log, total),
      findRemovedOfRun(em, 'run_log_chunks', new Date(log.runCreatedAt)),
    ]);
    return { ...read, total, complete, sections: sections.map(toSection), removed_before: removedBefore };
  },
});

const FindQuery = z.strictObject({
  find: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'The text to find. It is compared as it is, and is no pattern. Without one, the lines are found that report an error, such as ' +
        '`Error: …` or `fatal: …`.',
    ),
  ignore_case: Flag.optional().describe('`true`: `find` does not tell upper from lower case.'),
  from: wholeNumber({ min: 1 }).default(1).describe('The first line to search.'),
  limit: wholeNumber({ min: 1, max: 100_000 }).default(1000),
});

const FoundLinesView = z
  .object({
    numbers: z.array(z.int()).describe('The numbers of the lines, in order.'),
    next: z.int().nullable().describe('Send it as `from` to search on. Null: the search has come to the end.'),
    complete: z.boolean().describe('The run has ended: no line is added any more.'),
  })
  .meta({ id: 'FoundLogLines' });

export const findLogLines = read({
  id: 'runs.find_log_lines',
  route: 'GET /api/v1/runs/:id/logs/matches',
  summary: "Find the lines of a run's log that contain a text, or that report an error",
  description:
    'Lines are searched as a terminal shows them: without escape sequences, and without what a carriage return overwrote. A request searches ' +
    'a few megabytes: ask again with `next` as `from` until it is null, even after an answer without numbers.',
  params: RunParams,
  query: FindQuery,
  responses: { 200: FoundLinesView },
  access: nested,
  target: ({ em, params }) => findRun(em, params.id),
  targetName: 'run',
  isCostly: () => true,
  handle: async ({ em, params, query: { from, limit, ...query } }) => {
    const wanted = toWanted(query);
    const { log, upTo, complete } = await openLog(em, params.id);
    const { numbers, next } = await searchLines(em, { ...log, upTo, from, limit, wanted });
    return { numbers: [...numbers], next, complete };
  },
});

/** @throws Invalid if `ignore_case` comes without a text to find */
function toWanted({ find, ignore_case }: Pick<z.output<typeof FindQuery>, 'find' | 'ignore_case'>): Wanted {
  if (find !== undefined) return { find, ignoreCase: ignore_case === 'true' };
  if (ignore_case === undefined) return 'errors';
  throw new Invalid('ignore_case: it needs a text to find, in `find`');
}

/** The log up to its present end. Lines that are added while it is read are left out. */
async function openLog(em: Em, runId: string) {
  const run = await readProgress(em, runId);
  if (!run) throw new NotFound('run');
  const log = { runId, runCreatedAt: run.createdAt };
  const upTo = run.lastSequence;
  return { log, upTo, total: await countLines(em, { ...log, upTo }), complete: isTerminal(run.status) };
}

function toSection({ startedAt, finishedAt, firstLine, ...section }: Awaited<ReturnType<typeof readSections>>[number]) {
  return { ...section, started_at: startedAt, finished_at: finishedAt, first_line: firstLine };
}
