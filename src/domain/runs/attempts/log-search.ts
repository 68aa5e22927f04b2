import type { Em } from '#database/database.ts';
import type { LogStream } from '#domain/shared/vocabulary/runs.ts';
import { type LogPosition, type LogRow, readLog, readLogBefore } from './log-store.ts';

export interface LogSearch extends LogPosition {
  readonly find: string;
  readonly ignoreCase: boolean;
  /** The maximum number of entries of a page. */
  readonly limit: number;
}

export interface FoundLog {
  readonly rows: readonly LogRow[];
  /** The last sequence that was searched. The search continues after it. */
  readonly lastSequence: number;
}

/** A page of a search reads at most about this much of the log, however rare the text is. */
const maxSearchedBytes = 8 * 1024 * 1024;
const maxFoundBytes = 2 * 1024 * 1024;

/**
 * Searches a log for a text, from a position on. A text may begin in one entry and end in a later one of the same stream, because entries
 * are cut by size and by time. A match belongs to the entry in which it ends.
 */
export async function searchLog(em: Em, search: LogSearch): Promise<FoundLog> {
  const { limit, after } = search;
  const matcher = new Matcher(search);
  await matcher.recall(em, search);
  const rows: LogRow[] = [];
  let [lastSequence, searched, found] = [after, 0, 0];
  while (searched < maxSearchedBytes) {
    const page = await readLog(em, { ...search, after: lastSequence, limit: 100, maximumBytes: 1024 * 1024 });
    for (const row of page) {
      if (rows.length === limit || found >= maxFoundBytes) return { rows, lastSequence };
      lastSequence = row.sequence;
      searched += row.content.length;
      if (!matcher.ends(row)) continue;
      rows.push(row);
      found += row.content.length;
    }
    if (page.length === 0) break;
  }
  return { rows, lastSequence };
}

/** Searches for a text in the entries of a log, which it must get in their order. */
class Matcher {
  readonly #find: string;
  readonly #ignoreCase: boolean;
  /** The end of what each stream has written, one character shorter than the search text. */
  readonly #tails = new Map<LogStream, string>();

  constructor({ find, ignoreCase }: Pick<LogSearch, 'find' | 'ignoreCase'>) {
    this.#ignoreCase = ignoreCase;
    this.#find = this.#normalize(find);
  }

  /**
   * Reads the entries just before the start of the search, in which the text may begin. Each entry has at least one byte, so the number of
   * entries is limited by the bytes of the text.
   */
  async recall(em: Em, { runId, runCreatedAt, after }: LogPosition): Promise<void> {
    if (after === 0) return;
    const rows = await readLogBefore(em, { runId, runCreatedAt, after, limit: Buffer.byteLength(this.#find) });
    for (const row of rows.reverse()) this.ends(row);
  }

  /** Whether the text ends in this entry. */
  ends({ stream, content }: Pick<LogRow, 'stream' | 'content'>): boolean {
    const text = (this.#tails.get(stream) ?? '') + this.#normalize(new TextDecoder().decode(content));
    const kept = this.#find.length - 1;
    this.#tails.set(stream, kept === 0 ? '' : text.slice(-kept));
    return text.includes(this.#find);
  }

  #normalize(text: string): string {
    return this.#ignoreCase ? text.toLowerCase() : text;
  }
}
