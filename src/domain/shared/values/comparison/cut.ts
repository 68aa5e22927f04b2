/** The texts of both sides, cut to the part that differs. */
export interface CutTexts {
  readonly before: string;
  readonly after: string;
  readonly isCut: boolean;
}

/** How many characters of the equal beginning are kept before the difference. */
const lead = 40;

/** Cuts two long lines around the place where they begin to differ, so that a cut never hides the difference. */
export function cutAround(before: string, after: string, max: number): CutTexts {
  if (before.length <= max && after.length <= max) return { before, after, isCut: false };
  const same = Math.max(0, equalBeginning(before, after) - lead);
  return { before: cutFrom(before, same, max), after: cutFrom(after, same, max), isCut: true };
}

function cutFrom(text: string, start: number, max: number): string {
  const end = start + max;
  const left = start > 0 ? `… ${start.toLocaleString('en')} equal characters … ` : '';
  const right = text.length > end ? ` … ${(text.length - end).toLocaleString('en')} more characters` : '';
  return `${left}${text.slice(start, end).toWellFormed()}${right}`;
}

function equalBeginning(before: string, after: string): number {
  const max = Math.min(before.length, after.length);
  let index = 0;
  while (index < max && before[index] === after[index]) index += 1;
  return index;
}
