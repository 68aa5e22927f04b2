import { cutText } from '#domain/shared/values/text.ts';
import type { FailureReason, StatusReason } from '#domain/shared/vocabulary/run-reasons.ts';
import { type Diagnostic, maxDiagnosticLengths } from './model.ts';

/** What failed, as the tool, the steps or the service reported it. */
export interface StatusDetail {
  readonly message: string;
  /** Relative to the root of the template's files. */
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  /** The lines of the file that the tool showed. Messages that leave the service never contain them. */
  readonly snippet?: string | undefined;
  readonly source: 'tool' | 'service';
}

/** The reasons for which the tool or the steps themselves have failed, so that their own first error says why. */
const toolReasons: readonly (StatusReason | null)[] = [
  'init_failed',
  'plan_failed',
  'apply_failed',
  'step_failed',
  'plan_invalid',
  'outputs_invalid',
] satisfies FailureReason[];

interface Failure {
  readonly reason: StatusReason | null;
  readonly diagnostics?: readonly Diagnostic[] | undefined;
  /** The service's own words. */
  readonly message?: string | null | undefined;
}

/** The reason why an attempt failed; null if nobody reported one. `pool`: whose workers executed it. */
export function toStatusDetail(
  { reason, diagnostics = [], message = null }: Failure,
  pool: string,
): StatusDetail | null {
  const error = diagnostics.find(({ severity }) => severity === 'error');
  if (error && toolReasons.includes(reason)) return fromDiagnostic(error, pool);
  if (message === null || message === '') return null;
  const isMissing = reason === 'step_not_started' || reason === 'tool_unavailable';
  return { message: cut(isMissing ? `${message} (the pool is "${pool}")` : message), source: 'service' };
}

function fromDiagnostic({ message, detail, file, line, snippet, program }: Diagnostic, pool: string): StatusDetail {
  const missing = program === undefined ? '' : `"${program}" does not exist on the workers of the pool "${pool}". `;
  const first = detail?.split('\n')[0] ?? '';
  const isAdded = first !== '' && !message.endsWith(first) && program === undefined;
  return {
    message: cut(`${missing}${message}${isAdded ? `${/[.!?:]$/.test(message) ? '' : ':'} ${first}` : ''}`),
    ...(file !== undefined && { file }),
    ...(line !== undefined && { line }),
    ...(snippet !== undefined && { snippet }),
    source: 'tool',
  };
}

/** A detail for messages, events and webhooks, which leave the service: without the lines of the file. */
export function withoutSnippet({ snippet: _, ...detail }: StatusDetail): StatusDetail {
  return detail;
}

/** A detail in one line, such as `main.tf line 3: Unclosed quote`. */
export function describeDetail({ message, file, line }: StatusDetail): string {
  if (file === undefined) return message;
  return `${file}${line === undefined ? '' : ` line ${line}`}: ${message}`;
}

/** A text of several failures, such as those of nodes, as one detail. */
export function joinDetails(parts: readonly string[]): StatusDetail | null {
  return parts.length === 0 ? null : { message: cut(parts.join('; ')), source: 'service' };
}

function cut(text: string): string {
  return cutText(text, maxDiagnosticLengths.message);
}
