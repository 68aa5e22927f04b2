import type { RowChanges } from '#test/support/database/row-changes.ts';
import type { Sent } from '#test/support/database/statement-faults.ts';

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/**
 * What is wrong with the answer to a command that met a fault and with what it left. Nothing or everything is done; who is
 * told that it failed finds nothing done; and only where somebody had tried to commit may the answer be that nobody knows.
 */
export function judge(answer: Answer, changes: RowChanges, success: RowChanges, sent: Omit<Sent, 'result'>): string[] {
  const { status, text } = answer;
  const wrong: string[] = [];
  const isNothing = isEmpty(changes);
  const isDone = isSame(changes, success);
  const isUnknown = text.includes('"outcome":"unknown"');
  if (!isNothing && !isDone) wrong.push(`it was done by half: ${tell(changes, success)}`);
  if (status < 300 && isNothing) wrong.push(`it answered ${status} and did nothing`);
  if (status >= 300 && status < 500) wrong.push(`it answered ${status}: ${text}`);
  if (status >= 500 && isDone && !isUnknown)
    wrong.push(`it was done, and answered ${status} without saying so: ${text}`);
  if (isUnknown && (status !== 503 || !sent.hasCommitted))
    wrong.push(`it answered ${status} that nobody knows: ${text}`);
  // A success shows random tokens, in which any three letters come up now and then.
  if (status >= 300 && /fault of the test|terminated|ECONN|sql/i.test(text))
    wrong.push(`the answer tells of the inside: ${text}`);
  return wrong;
}

export function isEmpty(changes: RowChanges): boolean {
  return Object.keys(changes).length === 0;
}

export function isSame(changes: RowChanges, others: RowChanges): boolean {
  return JSON.stringify(changes) === JSON.stringify(others);
}

/** The tables in which two sets of changes differ, with both. */
export function tell(changes: RowChanges, others: RowChanges): string {
  const tables = [...new Set([...Object.keys(changes), ...Object.keys(others)])];
  const parts = tables.map((table) => [table, JSON.stringify(changes[table]), JSON.stringify(others[table])]);
  const different = parts.filter(([, one, other]) => one !== other);
  return different.map(([table, one, other]) => `${table}: ${one} instead of ${other}`).join('; ');
}
