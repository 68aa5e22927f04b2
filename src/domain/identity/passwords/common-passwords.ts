import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

const listFile = new URL('./common-passwords.txt.gz', import.meta.url);
/** Passwords that an attacker of this service in particular would try first. */
const ownNames = ['coordinator', 'deliverycoordinator', 'delivery-coordinator'];
const maxUnitLength = 4;

let list: ReadonlySet<string> | undefined;

/**
 * Whether a password is one that an attacker tries first: one of the eighteen thousand most common ones in upper or lower case, a
 * repetition of a few characters, or a run of neighbouring characters such as `87654321`.
 */
export function isCommonPassword(password: string): boolean {
  const text = password.toLowerCase();
  list ??= readList();
  return list.has(text) || isRepetition(text) || isRun(text);
}

/** Reads the list. In the file, it follows the licence, after the first empty line. */
function readList(): ReadonlySet<string> {
  const text = gunzipSync(readFileSync(listFile)).toString('utf8');
  const lines = text.slice(text.indexOf('\n\n') + 2).split('\n');
  return new Set([...ownNames, ...lines.filter((line) => line !== '')]);
}

/** Whether the text repeats a unit of up to four characters; the last repetition may be cut short. */
function isRepetition(text: string): boolean {
  for (let unit = 1; unit <= maxUnitLength; unit += 1) {
    if (text.length >= 2 * unit && text.slice(unit) === text.slice(0, -unit)) return true;
  }
  return false;
}

/** Whether each character is the neighbour of the one before, always in the same direction; 0 and 9 count as neighbours. */
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
