import type { Em } from '#database/database.ts';
import { readLog } from '../attempts/log-store.ts';
import { LineAssembler, type LogLine } from './line-assembler.ts';
import { findChunkWhereLineEnds, type LogOfRun } from './lines-store.ts';

export interface LineWalk extends LogOfRun {
  /** The first line, from 1. */
  readonly from: number;
  /** The last chunk that is read. */
  readonly upTo: number;
  /** How many characters of a line are kept. */
  readonly longest: number;
}

interface WalkedLines {
  readonly lines: readonly LogLine[];
  readonly bytes: number;
}

/**
 * Walks through a log line by line, a page of chunks at a time. It begins at any line with one seek, and reads past the middle of very long
 * lines.
 */
export async function* walkLines(em: Em, { from, upTo, longest, ...log }: LineWalk): AsyncGenerator<WalkedLines> {
  const assembler = new LineAssembler(from - 1, longest);
  let after = from === 1 ? 0 : await beforeEndOf(em, log, from - 2);
  while (after < upTo) {
    const rows = await readLog(em, { ...log, after, limit: 100, maximumBytes: 1024 * 1024 });
    const wanted = rows.filter(({ sequence }) => sequence <= upTo);
    const bytes = wanted.reduce((sum, { content }) => sum + content.length, 0);
    yield { lines: wanted.flatMap((row) => assembler.take(row)), bytes };
    after = wanted.at(-1)?.sequence ?? upTo;
    if (assembler.deepLine !== null) after = Math.max(after, await beforeEndOf(em, log, assembler.deepLine));
  }
  yield { lines: assembler.end(), bytes: 0 };
}

/** The sequence before the chunk in which a line (from 0) ends. */
async function beforeEndOf(em: Em, log: LogOfRun, line: number): Promise<number> {
  const [chunk] = await findChunkWhereLineEnds(em, { ...log, line });
  return (chunk?.sequence ?? 1) - 1;
}

const maxShown = 8192;
/** One request reads about this many bytes of the log. */
const maxReadBytes = 4 * 1024 * 1024;

export interface LinesRead {
  readonly lines: readonly LogLine[];
  /** The last line that was read. Lines up to it that are not in `lines` are missing in the log. */
  readonly to: number;
}

/** Reads up to `limit` lines. It reads fewer where they are very long. */
export async function readLines(
  em: Em,
  { limit, total, ...walk }: Omit<LineWalk, 'longest'> & { limit: number; total: number },
): Promise<LinesRead> {
  const last = Math.min(total, walk.from + limit - 1);
  const found: LogLine[] = [];
  if (walk.from > last) return { lines: found, to: last };
  let read = 0;
  for await (const { lines, bytes } of walkLines(em, { ...walk, longest: maxShown })) {
    for (const line of lines) {
      if (line.number > last) return { lines: found, to: last };
      found.push(line);
    }
    const reached = found.at(-1)?.number ?? 0;
    if (reached >= last) break;
    read += bytes;
    if (read >= maxReadBytes && found.length > 0) return { lines: found, to: reached };
  }
  return { lines: found, to: last };
}

/** Longer lines are cut after this many characters. */
const maxPrinted = 16_000_000;

/** Lines as text, whole. */
export async function* printLines(
  em: Em,
  { limit, ...walk }: Omit<LineWalk, 'longest'> & { limit: number },
): AsyncGenerator<string> {
  const last = walk.from + limit - 1;
  for await (const { lines } of walkLines(em, { ...walk, longest: maxPrinted })) {
    const wanted = lines.filter(({ number }) => number <= last);
    if (wanted.length > 0) yield wanted.map(({ text }) => `${text}\n`).join('');
    if (lines.some(({ number }) => number >= last)) return;
  }
}
