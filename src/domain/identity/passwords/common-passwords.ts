import { readFileSync } from 'node:fs';

const listFile = new URL('./common-passwords.txt', import.meta.url);
/** What somebody who attacks this service in particular would begin with. */
const ownNames = ['coordinator', 'deliverycoordinator', 'delivery-coordinator'];
const longestUnit = 4;

let list: ReadonlySet<string> | undefined;

/**
 * Whether a password is among the first that anybody would try: one of the eighteen thousand most common ones, whatever
 * its case, a repetition of a few characters, or a run of neighbours such as `87654321`.
 */
export function isCommonPassword(password: string): boolean {
  const text = password.toLowerCase();
  list ??= readList();
  return list.has(text) || isRepetition(text) || isRun(text);
}

/** The list begins below its licence, behind the first empty line. */
function readList(): ReadonlySet<string> {
  const text = readFileSync(listFile, 'utf8');
  const lines = text.slice(text.indexOf('\n\n') + 2).split('\n');
  return new Set([...ownNames, ...lines.filter((line) => line !== '')]);
}

/** Up to four characters again and again; the last time may be cut short. */
function isRepetition(text: string): boolean {
  for (let unit = 1; unit <= longestUnit; unit += 1) {
    if (text.length >= 2 * unit && text.slice(unit) === text.slice(0, -unit)) return true;
  }
  return false;
}

/** Each character the neighbour of the one before, all in one direction; 0 and 9 are neighbours, too. */
function isRun(text: string): boolean {
  const steps = new Set(
    Array.from(text)
      .slice(1)
      .map((character, index) => stepBetween(text[index]!, character)),
  );
  return steps.size === 1 && (steps.has(1) || steps.has(-1));
}

function stepBetween(from: string, to: string): number {
  if (from === '9' && to === '0') return 1;
  if (from === '0' && to === '9') return -1;
  return to.charCodeAt(0) - from.charCodeAt(0);
}
