import { findUnstorableText } from '#domain/shared/values/storable.ts';

/** The errors and warnings that a tool printed. Pure. */

export const diagnosticSeverities = ['error', 'warning'] as const;
export type DiagnosticSeverity = (typeof diagnosticSeverities)[number];

/** One error or warning of a tool. Secrets are redacted, and every text can be stored. */
export interface Diagnostic {
  readonly severity: DiagnosticSeverity;
  /** The tool's own summary, in one line. */
  readonly message: string;
  /** What the tool adds to its summary. Lines that it wrapped are joined. */
  readonly detail?: string | undefined;
  /** A file of the template, relative to the root of its files. */
  readonly file?: string | undefined;
  /** The line in the file, from 1. */
  readonly line?: number | undefined;
  /** The lines of the file that the tool showed. */
  readonly snippet?: string | undefined;
  /** The resource, as the tool names it. */
  readonly address?: string | undefined;
  /** The program that the step or the resource tried to start and that does not exist. */
  readonly program?: string | undefined;
}

export const maxDiagnostics = 50;
/** Maximum lengths in UTF-16 units. */
export const maxDiagnosticLengths = {
  message: 500,
  detail: 2000,
  file: 500,
  snippet: 1000,
  address: 500,
  program: 200,
} as const;
const maxLine = 2 ** 31 - 1;

/** Returns why a list of diagnostics cannot be stored; null if it can. The reason never repeats a value. */
export function findDiagnosticsProblem(diagnostics: readonly Diagnostic[]): string | null {
  if (!Array.isArray(diagnostics) || diagnostics.length > maxDiagnostics)
    return `has more than ${maxDiagnostics} items`;
  for (const diagnostic of diagnostics) {
    const problem = findProblem(diagnostic);
    if (problem) return problem;
  }
  return null;
}

function findProblem(diagnostic: Diagnostic): string | null {
  const { severity, line, message } = diagnostic;
  if (!diagnosticSeverities.includes(severity)) return 'has an item with an unknown severity';
  if (message === '') return 'has an item without a message';
  if (line !== undefined && !(Number.isInteger(line) && line >= 1 && line <= maxLine))
    return 'has an item whose line is not an integer from 1';
  for (const [name, longest] of Object.entries(maxDiagnosticLengths)) {
    const text = diagnostic[name as keyof typeof maxDiagnosticLengths];
    const problem = text === undefined && name !== 'message' ? null : findUnstorableText(text, longest);
    if (problem) return `has an item whose ${name} ${problem}`;
  }
  return null;
}
