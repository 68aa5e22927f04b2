import { writeFileSync } from 'node:fs';
import type { Table } from '../benchmark.ts';
import { show } from '../report/table.ts';
import { countByText, type LoggedStatement, numberTransactions } from '../resources/statement-log.ts';

const maxRows = 60;
const maxTextLength = 110;

/** The statements that runs cause most often, by the first words of their text, with those that the service sends without work. */
export function toStatementTable(
  { sent, runs }: { readonly sent: readonly LoggedStatement[]; readonly runs: number },
  idle: { readonly sent: readonly LoggedStatement[]; readonly seconds: number },
  secondsOfRun: number,
): Table {
  const inRun = countByText(sent);
  const withoutWork = countByText(idle.sent);
  const rows = [...new Set([...inRun.keys(), ...withoutWork.keys()])].map((text) => {
    const perSecond = (withoutWork.get(text) ?? 0) / idle.seconds;
    const perRun = (inRun.get(text) ?? 0) / runs;
    return { text, perRun, caused: Math.max(0, perRun - perSecond * secondsOfRun), perSecond };
  });
  rows.sort((one, other) => other.caused - one.caused || other.perRun - one.perRun);
  return {
    title:
      'The statements that runs cause most often: sent in a run, without those that an idle service sends in the same time, and sent by an ' +
      'idle service.',
    columns: ['statement', 'in a run', 'of the run', 'idle, a second', 'bytes of its text'],
    rows: rows
      .slice(0, maxRows)
      .map(({ text, perRun, caused, perSecond }) => [
        `\`${shorten(text)}\``,
        ...[perRun, caused, perSecond].map(show),
        String(Buffer.byteLength(text)),
      ]),
  };
}

function shorten(text: string): string {
  const line = text.trim().replaceAll('`', "'").replace(/\s+/g, ' ');
  return line.length > maxTextLength ? `${line.slice(0, maxTextLength)}…` : line;
}

/**
 * Writes statements in their order: when each was sent, in milliseconds since `from`, by which process, in which transaction, and the text.
 */
export function writeStatements(
  path: string,
  sent: readonly LoggedStatement[],
  { from, processes }: { readonly from: number; readonly processes: ReadonlyMap<number, string> },
): void {
  const transactions = numberTransactions(sent);
  const entries = sent.map(({ at, port, text }, index) => {
    const sender = processes.get(port ?? 0) ?? 'unknown process';
    const transaction = transactions[index] ?? null;
    const place = transaction === null ? 'no transaction' : `transaction ${transaction}`;
    return `-- ${index + 1}: ${(at - from).toFixed(0)} ms, ${sender}, ${place}\n${text.trim()};\n`;
  });
  writeFileSync(path, entries.join('\n'));
}
