/**
 * Splits text of OpenTofu's language into tokens as the tools do, without evaluating it. For any text, it takes time in proportion to the
 * length and does not recurse.
 */

export interface HclToken {
  /** A line feed is a sign. The text of a string includes its quotes, and that of a heredoc its markers. */
  readonly kind: 'word' | 'number' | 'string' | 'heredoc' | 'sign';
  readonly text: string;
  readonly line: number;
  /** The tokens in each `${…}` and `%{…}` of a string or a heredoc. */
  readonly templates: readonly (readonly HclToken[])[];
}

export interface SyntaxProblem {
  /** The line, starting at 1. */
  readonly line: number;
  readonly message: string;
}

export interface ScannedText {
  /** The tokens without comments and white space. If there is a problem, these are the tokens that end before it. */
  readonly tokens: readonly HclToken[];
  /** The first problem because of which no tool can read the text; null if there is none. */
  readonly problem: SyntaxProblem | null;
}

export function scanHcl(text: string): ScannedText {
  if (text.length > maxLength) return { tokens: [], problem: { line: 1, message: 'the file is too long' } };
  const scanner = new Scanner(text);
  const problem = scanner.scan();
  return { tokens: scanner.tokens, problem };
}

/** The limit in UTF-16 units. It is more than people write by hand, and small enough for all tokens to fit in memory. */
const maxLength = 4 * 1024 * 1024;

const asciiWord = /[\w-]+/y;
const startOfWord = /[\p{ID_Start}_]/uy;
const partOfWord = /\p{ID_Continue}/uy;
const number = /\d+/y;
const signs = new Set('[](){}.,*/%+-=<>!?:&|~^\n');
const comment = /(?:#|\/\/)[^\n]*|\/\*[\s\S]*?\*\//y;
const quotedText = /[^"\\$%\r\n]+|\\[^\r\n]/y;
const heredocText = /[^$%\r\n]+/y;
/** The white space that the tools ignore around the marker that ends a heredoc. */
const space = /[\t-\r \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]/;
const noTemplates: HclToken['templates'] = [];

/** A string or a heredoc whose text is being read. It may contain expressions of templates. The file itself is an expression too. */
interface Text {
  readonly kind: 'string' | 'heredoc';
  readonly start: number;
  readonly line: number;
  readonly templates: HclToken[][];
  /** The mark that ends it; `"` for a string. */
  readonly mark: string;
  /** The start of the current line of a heredoc, if the line contains only plain text so far. */
  lineStart: number | null;
}
interface Expression {
  readonly kind: 'expression';
  readonly tokens: HclToken[];
  braces: number;
}

class Scanner {
  readonly tokens: HclToken[] = [];
  readonly #text: string;
  readonly #open: (Text | Expression)[];
  #at: number;
  #line = 1;
  /** The index of the next line feed, so that each is searched for only once. */
  #lineFeed: number;

  constructor(text: string) {
    this.#text = text;
    this.#lineFeed = text.indexOf('\n');
    this.#at = text.startsWith('\uFEFF') ? 1 : 0;
    this.#open = [{ kind: 'expression', tokens: this.tokens, braces: 0 }];
  }

  scan(): SyntaxProblem | null {
    while (this.#at < this.#text.length) {
      const innermost = this.#open.at(-1);
      if (innermost === undefined) break;
      const message =
        innermost.kind === 'expression'
          ? this.#scanExpression(innermost)
          : innermost.kind === 'string'
            ? this.#scanString(innermost)
            : this.#scanHeredoc(innermost);
      if (message !== null) return { line: this.#line, message };
    }
    const open = this.#open.findLast((each) => each.kind !== 'expression');
    if (open === undefined) return null;
    const { line, mark, kind } = open;
    if (kind === 'string') return { line, message: 'the quotes that begin here are never closed' };
    return { line, message: `the text that begins here never ends with "${mark}"` };
  }

  /** @returns what is wrong; null if nothing is */
  #scanExpression(expression: Expression): string | null {
    const next = this.#text[this.#at] ?? '';
    if (next === ' ' || next === '\t' || this.#startsWith('\r\n')) return this.#take(1);
    if (next === '"') return this.#openText('string', '"', 1);
    if (next === '<' && this.#openHeredoc()) return null;
    const skipped = next === '#' || next === '/' ? this.#match(comment) : '';
    if (skipped !== '') return this.#take(skipped.length);
    if (this.#startsWith('/*')) return 'the comment that begins here is never closed';
    if (next === '}' && expression.braces === 0 && this.#open.length > 1) return this.#closeTemplate();
    if (next === '{') expression.braces++;
    if (next === '}') expression.braces--;
    if (signs.has(next)) return this.#add(expression, 'sign', next);
    const digits = this.#match(number);
    if (digits !== '') return this.#add(expression, 'number', digits);
    const word = this.#wordAt(this.#at);
    if (word !== '') return this.#add(expression, 'word', word);
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    return `the character ${JSON.stringify(character)} is not part of the language`;
  }

  #add(expression: Expression, kind: HclToken['kind'], text: string): null {
    expression.tokens.push({ kind, text, line: this.#line, templates: noTemplates });
    return this.#take(text.length);
  }

  /** The word that begins at an index; empty if there is none. A single pattern would exhaust the stack for long words. */
  #wordAt(start: number): string {
    let end = start + this.#match(startOfWord, start).length;
    for (let length = end - start; length > 0; end += length) {
      length = this.#match(asciiWord, end).length || this.#match(partOfWord, end).length;
    }
    return this.#text.slice(start, end);
  }

  #openHeredoc(): boolean {
    const start = this.#at + (this.#startsWith('<<-') ? 3 : 2);
    const mark = this.#startsWith('<<') ? this.#wordAt(start) : '';
    const end = start + mark.length;
    const ending = this.#text.startsWith('\r\n', end) ? 2 : this.#text[end] === '\n' ? 1 : 0;
    if (mark === '' || ending === 0) return false;
    this.#openText('heredoc', mark, end + ending - this.#at);
    return true;
  }

  #scanString(text: Text): string | null {
    const plain = this.#match(quotedText);
    if (plain !== '') return this.#take(plain.length);
    if (this.#startsWith('"')) return this.#closeText(text, 1);
    if (this.#startsWith('$') || this.#startsWith('%')) return this.#scanTemplateSign(text);
    return 'a text in quotes does not end on its line: close the quotes and every "${"';
  }

  #scanHeredoc(text: Text): string | null {
    const plain = this.#match(heredocText);
    if (plain !== '') return this.#take(plain.length);
    if (this.#startsWith('$') || this.#startsWith('%')) {
      text.lineStart = null;
      return this.#scanTemplateSign(text);
    }
    const ending = this.#startsWith('\r\n') ? 2 : 1;
    if (ending === 1 && !this.#startsWith('\n'))
      return 'a carriage return without a line feed is not part of the language';
    if (text.lineStart !== null && trim(this.#text.slice(text.lineStart, this.#at)) === text.mark)
      return this.#closeText(text, 0);
    text.lineStart = this.#at + ending;
    return this.#take(ending);
  }

  /** `${` and `%{` begin a template. After another `$` or `%`, they are text. */
  #scanTemplateSign(text: Text): null {
    const escaped = this.#text.slice(this.#at, this.#at + 3);
    if (escaped === '$${' || escaped === '%%{') return this.#take(3);
    if (this.#text[this.#at + 1] !== '{') return this.#take(1);
    const tokens: HclToken[] = [];
    text.templates.push(tokens);
    this.#open.push({ kind: 'expression', tokens, braces: 0 });
    return this.#take(2);
  }

  #closeTemplate(): null {
    this.#open.pop();
    return this.#take(1);
  }

  #openText(kind: Text['kind'], mark: string, length: number): null {
    const start = this.#at;
    const lineStart = kind === 'heredoc' ? start + length : null;
    this.#open.push({ kind, start, line: this.#line, templates: [], mark, lineStart });
    return this.#take(length);
  }

  #closeText({ kind, start, line, templates }: Text, length: number): null {
    this.#open.pop();
    this.#take(length);
    const around = this.#open.at(-1);
    if (around?.kind === 'expression')
      around.tokens.push({ kind, text: this.#text.slice(start, this.#at), line, templates });
    return null;
  }

  /** The text that a pattern matches at an index; empty if it does not match. */
  #match(pattern: RegExp, at = this.#at): string {
    pattern.lastIndex = at;
    return pattern.exec(this.#text)?.[0] ?? '';
  }

  #startsWith(text: string): boolean {
    return this.#text.startsWith(text, this.#at);
  }

  #take(length: number): null {
    this.#at += length;
    for (
      ;
      this.#lineFeed !== -1 && this.#lineFeed < this.#at;
      this.#lineFeed = this.#text.indexOf('\n', this.#lineFeed + 1)
    ) {
      this.#line++;
    }
    return null;
  }
}

function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && space.test(text[start] ?? '')) start++;
  while (start < end && space.test(text[end - 1] ?? '')) end--;
  return text.slice(start, end);
}
