import type { DiagnosticSeverity } from '#domain/runs/diagnostics/model.ts';

/** One error or warning as the tool printed it, before paths and lengths are settled. */
export interface PrintedDiagnostic {
  readonly severity: DiagnosticSeverity;
  message: string;
  detail: string[];
  address?: string;
  file?: string;
  line?: number;
  snippet: string[];
}

type Part = 'outside' | 'message' | 'source' | 'snippet' | 'detail';

const heading = /^(Error|Warning): (.*)$/;
const location = /^ {2}on (.+?) line (\d{1,9})(?:, in .*)?:$/;
const resource = /^ {2}with (.+),$/;
const code = /^ *\d+: (.*)$/;
const values = /^ {4}[├│]/;

const maxLineLength = 4096;
const maxLines = 40;

/**
 * Reads the diagnostics that OpenTofu and Terraform print without colours. All versions of both tools print them in one form:
 *
 *     (an empty line)
 *     Error: the message
 *     (an empty line)
 *       with the resource,
 *       on the file line 3, in the block:
 *        3: the source
 *     (an empty line)
 *     the detail, wrapped
 *
 * Output of programs that the template starts is printed behind the resource's name, or inside the detail of an error. What a
 * program prints so that it looks like a diagnostic can only follow the tool's own.
 */
export class DiagnosticFrames {
  readonly #onEnd: (diagnostic: PrintedDiagnostic) => void;
  /** Whether a detail may have several paragraphs: nothing else is printed to its stream. */
  readonly #isExclusive: boolean;
  #current: PrintedDiagnostic | null = null;
  #part: Part = 'outside';
  #follows = true;

  constructor(onEnd: (diagnostic: PrintedDiagnostic) => void, options: { readonly isExclusive: boolean }) {
    this.#onEnd = onEnd;
    this.#isExclusive = options.isExclusive;
  }

  /** Reads one line, without its line feed. */
  take(whole: string): void {
    const line = whole.slice(0, maxLineLength);
    const begins = this.#follows ? heading.exec(line) : null;
    this.#follows = line === '';
    if (begins) {
      this.end();
      const severity = begins[1] === 'Error' ? 'error' : 'warning';
      this.#current = { severity, message: begins[2] ?? '', detail: [], snippet: [] };
      this.#part = 'message';
    } else if (this.#current) this.#part = this.#continue(this.#current, line);
  }

  /** Finishes the diagnostic that was begun, because the program has ended. */
  end(): void {
    if (this.#current) this.#onEnd(this.#current);
    this.#current = null;
    this.#part = 'outside';
    this.#follows = true;
  }

  #continue(current: PrintedDiagnostic, line: string): Part {
    switch (this.#part) {
      case 'message':
        if (line === '') return 'source';
        current.message = `${current.message} ${line}`.slice(0, maxLineLength);
        return 'message';
      case 'source':
        return this.#readSource(current, line);
      case 'snippet':
        return readSnippet(current, line);
      case 'detail':
        if (line === '' && !this.#isExclusive) return 'outside';
        if (current.detail.length < maxLines) current.detail.push(line);
        return 'detail';
      default:
        return 'outside';
    }
  }

  #readSource(current: PrintedDiagnostic, line: string): Part {
    const place = location.exec(line);
    if (place) {
      current.file = place[1] ?? '';
      current.line = Number(place[2]);
      return 'snippet';
    }
    const named = resource.exec(line);
    if (named) current.address = named[1] ?? '';
    if (named || line === '') return 'source';
    current.detail.push(line);
    return 'detail';
  }
}

function readSnippet(current: PrintedDiagnostic, line: string): Part {
  if (line === '') return 'detail';
  const source = code.exec(line);
  if (source && !values.test(line) && current.snippet.length < maxLines) current.snippet.push(source[1] ?? '');
  return 'snippet';
}
