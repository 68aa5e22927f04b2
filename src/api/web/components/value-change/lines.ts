import { diffLines } from 'diff';

/** A part of a text: removed, added, or unchanged lines. `hidden` lines are unchanged too, and are only counted. */
export interface LinePart {
  readonly kind: 'removed' | 'added' | 'same' | 'hidden';
  readonly lines: readonly string[];
}

/** How many unchanged lines are shown before and after a change. */
const context = 3;
/** How long the comparison of two texts may take, in milliseconds. */
const timeout = 40;
/** Longer texts are not compared by line. */
const maxLength = 400_000;

/** Compares two texts line by line. Null if that takes too long. */
export function compareLines(before: string, after: string): LinePart[] | null {
  if (before.length + after.length > maxLength) return null;
  const changes = diffLines(before, after, { timeout });
  if (!changes) return null;
  const parts = changes.map(({ value, added, removed }) => ({
    kind: added ? ('added' as const) : removed ? ('removed' as const) : ('same' as const),
    lines: splitLines(value),
  }));
  return parts.flatMap((part, index) =>
    part.kind === 'same' ? fold(part.lines, index > 0, index < parts.length - 1) : [part],
  );
}

function splitLines(text: string): string[] {
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

/** Keeps the lines next to changes, and counts those between them. */
function fold(lines: readonly string[], hasBefore: boolean, hasAfter: boolean): LinePart[] {
  const head = hasBefore ? context : 0;
  const tail = hasAfter ? context : 0;
  if (lines.length <= head + tail + 1) return [{ kind: 'same', lines }];
  const parts: LinePart[] = [
    { kind: 'same', lines: lines.slice(0, head) },
    { kind: 'hidden', lines: lines.slice(head, lines.length - tail) },
    { kind: 'same', lines: lines.slice(lines.length - tail) },
  ];
  return parts.filter((part) => part.lines.length > 0);
}
