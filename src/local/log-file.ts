import { existsSync, readFileSync } from 'node:fs';

const maxTail = 64 * 1024;

/** The last line of a program's log. If the line is structured, its message. */
export function lastLine(logFile: string): string {
  if (!existsSync(logFile)) return 'the log is empty';
  const lines = readFileSync(logFile, 'utf8').slice(-maxTail).trim().split('\n');
  const line = lines.findLast((candidate) => candidate.trim() !== '') ?? 'the log is empty';
  return (readMessage(line) ?? line).replace(/\.$/, '');
}

function readMessage(line: string): string | null {
  try {
    const entry: unknown = JSON.parse(line);
    const hasMessage = typeof entry === 'object' && entry !== null && 'msg' in entry;
    return hasMessage ? String(entry.msg) : null;
  } catch {
    // The line is not structured.
    return null;
  }
}
