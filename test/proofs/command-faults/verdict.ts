import type { RowChanges } from '#test/support/database/row-changes.ts';
import type { Sent } from '#test/support/database/statement-faults.ts';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/**
 * Judges the response to a command with a fault, and its changes. A command makes all of its changes or none. After a failure
 * it has made none. Only if a commit was attempted may the response say that the outcome is unknown.
 * @returns what is wrong
 */
export function judge(answer: Answer, changes: RowChanges, success: RowChanges, sent: Omit<Sent, 'result'>): string[] {
  const { status, text } = answer;
  const wrong: string[] = [];
  const isNothing = isEmpty(changes);
  const isDone = isSame(changes, success);
  const isUnknown = text.includes('"outcome":"unknown"');
  if (!isNothing && !isDone) wrong.push(`it made only some of its changes: ${describeDifference(changes, success)}`);
  if (status < 300 && isNothing) wrong.push(`it answered ${status} but made no changes`);
  if (status >= 300 && status < 500) wrong.push(`it answered ${status}: ${text}`);
  if (status >= 500 && isDone && !isUnknown)
    wrong.push(`it made its changes but answered ${status} without outcome unknown: ${text}`);
  if (isUnknown && (status !== 503 || !sent.hasCommitted))
    wrong.push(`it answered ${status} with outcome unknown although no commit was attempted: ${text}`);
  // The response to a success may contain random tokens, in which any three letters can occur.
  if (status >= 300 && /fault of the test|terminated|ECONN|sql/i.test(text))
    wrong.push(`the response reveals internals: ${text}`);
  return wrong;
}

export function isEmpty(changes: RowChanges): boolean {
  return Object.keys(changes).length === 0;
}

export function isSame(changes: RowChanges, others: RowChanges): boolean {
  return JSON.stringify(changes) === JSON.stringify(others);
}

/** Describes the tables in which two sets of changes differ. */
export function describeDifference(changes: RowChanges, others: RowChanges): string {
  const tables = [...new Set([...Object.keys(changes), ...Object.keys(others)])];
  const parts = tables.map((table) => [table, JSON.stringify(changes[table]), JSON.stringify(others[table])]);
  const different = parts.filter(([, one, other]) => one !== other);
  return different.map(([table, one, other]) => `${table}: ${one} instead of ${other}`).join('; ');
}
