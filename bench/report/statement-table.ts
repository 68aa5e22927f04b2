import { writeFileSync } from 'node:fs';
import type { Table } from '../benchmark.ts';
import { countByText, type LoggedStatement } from '../resources/statement-log.ts';
import { show } from './table.ts';

const maxRows = 30;
const maxTextLength = 110;

/** The statements that were sent most often, by the first words of their text. `divisor` is of how many runs, or seconds. */
export function toStatementTable(
  title: string,
  sent: readonly LoggedStatement[],
  { divisor, unit }: { readonly divisor: number; readonly unit: string },
): Table {
  return {
    title,
    columns: ['statement', `sent ${unit}`, 'bytes of its text'],
    rows: countByText(sent)
      .slice(0, maxRows)
      .map(({ text, count }) => [`\`${shorten(text)}\``, show(count / divisor), String(Buffer.byteLength(text))]),
  };
}

function shorten(text: string): string {
  const line = text.trim().replaceAll('`', "'").replace(/\s+/g, ' ');
  return line.length > maxTextLength ? `${line.slice(0, maxTextLength)}…` : line;
}

/** Writes statements in their order: when each was sent, in milliseconds since `from`, by which process, on which connection, and the text. */
export function writeStatements(
  path: string,
  sent: readonly LoggedStatement[],
  { from, processes }: { readonly from: number; readonly processes: ReadonlyMap<number, string> },
): void {
  const entries = sent.map(({ at, port, backend, text }, index) => {
    const sender = processes.get(port ?? 0) ?? 'unknown process';
    return `-- ${index + 1}: ${(at - from).toFixed(0)} ms, ${sender}, connection ${backend}\n${text};\n`;
  });
  writeFileSync(path, entries.join('\n'));
}
