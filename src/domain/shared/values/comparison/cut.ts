/** The texts of both sides, cut to the part that differs. */
export interface CutTexts {
  readonly before: string;
  readonly after: string;
  readonly isCut: boolean;
}

/** How much of the equal beginning is shown before the difference. */
const lead = 40;

/** Cuts two long lines around the place where they begin to differ, so that a cut never hides the difference. */
export function cutAround(before: string, after: string, most: number): CutTexts {
  if (before.length <= most && after.length <= most) return { before, after, isCut: false };
  const same = Math.max(0, equalBeginning(before, after) - lead);
  return { before: cutFrom(before, same, most), after: cutFrom(after, same, most), isCut: true };
}

function cutFrom(text: string, start: number, most: number): string {
  const end = start + most;
  const left = start > 0 ? `… ${start.toLocaleString('en')} equal characters … ` : '';
  const right = text.length > end ? ` … ${(text.length - end).toLocaleString('en')} more characters` : '';
  return `${left}${text.slice(start, end).toWellFormed()}${right}`;
}

function equalBeginning(before: string, after: string): number {
  const most = Math.min(before.length, after.length);
  let index = 0;
  while (index < most && before[index] === after[index]) index += 1;
  return index;
}
