import type { Diagnostic } from '#domain/runs/diagnostics/model.ts';
import { isLink, type TemplateFiles, textOf } from '#domain/sources/files.ts';

/**
 * Comments that begin inside of `${`, as in `"${#NAME}"`, which is meant for a shell. The tool treats the rest of the line as a comment,
 * misses the end of the expression, and reports the following lines, often all of them to the end of the file.
 */
export class TemplateComments {
  readonly #files: TemplateFiles;
  /** The lines of such comments that caused an error, by file. */
  readonly #found = new Map<string, number>();
  /** The lines of each file, cached because a hostile template may make its tool print any number of errors. */
  readonly #lines = new Map<string, string[]>();

  constructor(files: TemplateFiles) {
    this.#files = files;
  }

  /** Replaces a syntax error that such a comment causes by a diagnostic about the comment. All others stay as they are. */
  explain(diagnostic: Diagnostic): Diagnostic {
    const { severity, message, file, line } = diagnostic;
    if (severity !== 'error' || file === undefined || line === undefined || !syntaxErrors.test(message))
      return diagnostic;
    const known = this.#found.get(file);
    const at = known !== undefined && known <= line ? known : this.#findBefore(file, line);
    if (at === null) return diagnostic;
    this.#found.set(file, at);
    return { ...explanation, file, line: at, snippet: this.#linesOf(file)[at - 1]?.trim() };
  }

  /** The line of a comment at the line of an error, or at the last line before it that is not empty. */
  #findBefore(file: string, line: number): number | null {
    const lines = this.#linesOf(file);
    let before = line - 1;
    while (before > 0 && lines[before - 1]?.trim() === '') before -= 1;
    return [line, before].find((each) => comment.test(lines[each - 1] ?? '')) ?? null;
  }

  #linesOf(file: string): string[] {
    const known = this.#lines.get(file);
    if (known) return known;
    const content = Object.hasOwn(this.#files, file) ? this.#files[file] : undefined;
    if (content === undefined || isLink(content)) return [];
    const lines = textOf(content).split('\n');
    this.#lines.set(file, lines);
    return lines;
  }
}

/** The beginning of an expression in a string, followed directly by a comment. `$${` does not begin an expression. */
const comment = /(?<!\$)\$\{\s*(?:#|\/\/)|(?<!%)%\{\s*(?:#|\/\/)/;

/** Messages of the tools about unexpected tokens. */
const syntaxErrors =
  /^(?:Invalid (?:expression|multi-line string|character)|Extra characters after interpolation expression|Un(?:closed|terminated) template|Missing |Invalid template )/;

const explanation = {
  severity: 'error',
  message: 'A comment begins inside of "${"',
  detail:
    'The rest of the line after "#" or "//" is a comment, so the expression does not end on this line. If the text is meant for a shell, write $${ instead of ${.',
} as const;
