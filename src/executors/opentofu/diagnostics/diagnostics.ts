import { posix } from 'node:path';
import type { Diagnostic } from '#domain/runs/diagnostics/model.ts';
import type { TemplateFiles } from '#domain/sources/files.ts';
import type { DiagnosticList } from '../../attempt/diagnostic-list.ts';
import { findMissingProgram } from '../../shared/missing-program.ts';
import { DiagnosticFrames, type PrintedDiagnostic } from './diagnostic-frames.ts';
import { TemplateComments } from './template-comments.ts';

const maxPendingBytes = 64 * 1024;
/** A line above the errors of a configuration that cannot be read. It contains no information of its own. */
const preamble = /^(?:Terraform|OpenTofu) encountered problems during initiali[sz]ation/;
const notFound = /exit status 12[67]|executable file not found/;

/** Reads the diagnostics from the redacted output of the tool, while it is printed. */
export class ToolDiagnostics {
  readonly #list: DiagnosticList;
  readonly #directory: string;
  readonly #comments: TemplateComments;
  readonly #streams: Record<'stdout' | 'stderr', LineReader>;

  /** `directory` is where the tool starts, relative to the root of the template's `files`. */
  constructor(list: DiagnosticList, directory: string, files: TemplateFiles = {}) {
    this.#list = list;
    this.#directory = directory;
    this.#comments = new TemplateComments(files);
    const reader = (isExclusive: boolean) =>
      new LineReader(new DiagnosticFrames((printed) => this.#add(printed), { isExclusive }));
    this.#streams = { stdout: reader(false), stderr: reader(true) };
  }

  take(stream: 'stdout' | 'stderr', content: Buffer): void {
    this.#streams[stream].take(content);
  }

  /** Finishes the last diagnostic, because the program has ended. */
  end(): void {
    this.#streams.stdout.end();
    this.#streams.stderr.end();
  }

  #add(printed: PrintedDiagnostic): void {
    if (preamble.test(printed.message)) return;
    const { severity, message, address } = printed;
    const detail = joinWrapped(printed.detail);
    const program = severity === 'error' && notFound.test(detail) ? findMissingProgram(detail) : null;
    const diagnostic = {
      severity,
      message,
      ...(detail !== '' && { detail }),
      ...this.#placeOf(printed),
      ...(address !== undefined && { address }),
      ...(program !== null && { program }),
    };
    this.#list.add(this.#comments.explain(diagnostic));
  }

  /** The place of a diagnostic. A file that is not the template's is one of the service: the values of the variables. */
  #placeOf({ file, line, snippet }: PrintedDiagnostic): Pick<Diagnostic, 'file' | 'line' | 'snippet'> {
    if (file === undefined || line === undefined || posix.isAbsolute(file)) return {};
    const path = posix.normalize(posix.join(this.#directory, file));
    if (path.startsWith('../')) return {};
    return { file: path, line, ...(snippet.length > 0 && { snippet: withoutIndent(snippet) }) };
  }
}

/** Splits output into lines. A line that is too long to be part of a diagnostic is cut. */
class LineReader {
  readonly #frames: DiagnosticFrames;
  #pending = Buffer.alloc(0);

  constructor(frames: DiagnosticFrames) {
    this.#frames = frames;
  }

  take(content: Buffer): void {
    let start = 0;
    for (let end = content.indexOf(0x0a); end !== -1; end = content.indexOf(0x0a, start)) {
      this.#append(content.subarray(start, end));
      this.#flush();
      start = end + 1;
    }
    this.#append(content.subarray(start));
  }

  end(): void {
    if (this.#pending.length > 0) this.#flush();
    this.#frames.end();
  }

  #append(piece: Buffer): void {
    const room = maxPendingBytes - this.#pending.length;
    if (piece.length > 0 && room > 0) this.#pending = Buffer.concat([this.#pending, piece.subarray(0, room)]);
  }

  #flush(): void {
    this.#frames.take(this.#pending.toString().replace(/\r$/, ''));
    this.#pending = Buffer.alloc(0);
  }
}

/** Joins the lines of each paragraph, which the tool wraps at the width of a terminal. Indented lines stay as they are. */
function joinWrapped(lines: readonly string[]): string {
  let text = '';
  for (const line of lines) {
    const continues = text !== '' && !text.endsWith('\n') && line !== '' && !/^[\s*-]/.test(line);
    text += continues ? ` ${line}` : `${text === '' ? '' : '\n'}${line}`;
  }
  return text.trim();
}

function withoutIndent(lines: readonly string[]): string {
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length);
  const indent = Math.min(...(indents.length > 0 ? indents : [0]));
  return lines.map((line) => line.slice(indent)).join('\n');
}
