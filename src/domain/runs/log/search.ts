import type { Em } from '#database/database.ts';
import { type LineWalk, walkLines } from './lines.ts';
import { toShownText } from './shown-text.ts';

/** A text to find in a line, or lines that report an error. */
export type Wanted = { readonly find: string; readonly ignoreCase: boolean } | 'errors';

export interface LineSearch extends Omit<LineWalk, 'longest'> {
  readonly wanted: Wanted;
  readonly limit: number;
}

export interface FoundLines {
  readonly numbers: readonly number[];
  /** The line from which the search continues; null: the search has reached the end. */
  readonly next: number | null;
}

/** One request searches about this many bytes of the log. */
const maxSearchedBytes = 8 * 1024 * 1024;
/** A longer line is searched up to this many characters. */
const maxSearched = 1_000_000;

/** The mark of an error must be within this many characters of the beginning of a line. */
const maxErrorLength = 2000;

/**
 * What tools write where something failed: "Error: …", "fatal: …", "panic: …", "[ERROR]", "level=error", "npm ERR!", "FAILED!", "*** …
 * Error 2", a traceback. A count of errors, such as "0 errors", does not match.
 */
const errorLine =
  /(?:^|[^\p{L}\d_])(?:\p{L}*error|fatal|panic|failed|failure|exception)\s*(?:\[[^\]]{0,80}\]\s*)?[:!\]]|\berr!|\blevel=(?:error|fatal)|\berror \d+$|^traceback \(most recent/iu;

/** Finds the lines that contain a text, as a reader sees them, or that report an error. */
export async function searchLines(em: Em, { wanted, limit, ...walk }: LineSearch): Promise<FoundLines> {
  const isWanted = testOf(wanted);
  const numbers: number[] = [];
  let searched = 0;
  let next = walk.from;
  for await (const { lines, bytes } of walkLines(em, { ...walk, longest: maxSearched })) {
    for (const { number, text } of lines) {
      if (numbers.length === limit) return { numbers, next };
      next = number + 1;
      if (isWanted(toShownText(text))) numbers.push(number);
    }
    searched += bytes;
    if (searched >= maxSearchedBytes && next > walk.from) return { numbers, next };
  }
  return { numbers, next: null };
}

function testOf(wanted: Wanted): (text: string) => boolean {
  if (wanted === 'errors') return (text) => errorLine.test(text.slice(0, maxErrorLength));
  const { find, ignoreCase } = wanted;
  if (!ignoreCase) return (text) => text.includes(find);
  const lower = find.toLowerCase();
  return (text) => text.toLowerCase().includes(lower);
}
