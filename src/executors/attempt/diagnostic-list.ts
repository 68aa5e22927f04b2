import { type Diagnostic, maxDiagnosticLengths, maxDiagnostics } from '#domain/runs/diagnostics/model.ts';
import type { Redactor } from '#domain/shared/redaction/redactor.ts';
import { cutText } from '#domain/shared/values/text.ts';

/** The errors and warnings of an attempt, without duplicates and secrets, in limited number and length, so that they can be stored. */
export class DiagnosticList {
  readonly #redactor: Redactor;
  readonly #known = new Map<string, Diagnostic>();

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** Adds a diagnostic. If there are too many, errors replace warnings. */
  add(diagnostic: Diagnostic): void {
    const key = JSON.stringify(diagnostic);
    if (this.#known.has(key)) return;
    if (this.#known.size >= maxDiagnostics) {
      const warning = [...this.#known].find(([, { severity }]) => severity === 'warning');
      if (diagnostic.severity === 'warning' || !warning) return;
      this.#known.delete(warning[0]);
    }
    this.#known.set(key, diagnostic);
  }

  /** Removes the errors of a call that is about to be repeated. */
  clear(): void {
    this.#known.clear();
  }

  get firstError(): Diagnostic | null {
    return this.list().find(({ severity }) => severity === 'error') ?? null;
  }

  /** Returns what was added, in order. Secrets that became known since are redacted too. */
  list(): Diagnostic[] {
    return [...this.#known.values()].map((diagnostic) => this.#toStorable(diagnostic));
  }

  #toStorable({ severity, line, ...texts }: Diagnostic): Diagnostic {
    const storable: Partial<Record<keyof typeof maxDiagnosticLengths, string>> = {};
    for (const [name, longest] of lengths) {
      const text = texts[name];
      const cleaned = text === undefined ? '' : cutText(clean(this.#redactor.redactText(text), name), longest);
      if (cleaned !== '') storable[name] = cleaned;
    }
    const isLocated = line !== undefined && line >= 1 && storable.file !== undefined;
    const { message = '(no message)', ...rest } = storable;
    return { severity, message, ...rest, ...(isLocated && { line }) };
  }
}

const lengths = Object.entries(maxDiagnosticLengths) as [keyof typeof maxDiagnosticLengths, number][];

/** Removes control characters, which messages must not contain. A detail and a snippet keep their line breaks. */
function clean(text: string, name: keyof typeof maxDiagnosticLengths): string {
  const hasLines = name === 'detail' || name === 'snippet';
  const kept = text.toWellFormed().replace(/\p{Cc}/gu, (character) => {
    if (hasLines && (character === '\n' || character === '\t')) return character;
    return character === '\t' || character === '\n' ? ' ' : '';
  });
  return name === 'snippet' ? kept.trimEnd() : kept.trim();
}
