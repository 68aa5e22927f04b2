import { type HclToken, tokenizeHcl } from './tokens.ts';

/**
 * Reads the structure of a file in OpenTofu's language: its arguments and blocks, without evaluating expressions. It takes time in
 * proportion to the text, and does not recurse.
 */

export interface Body {
  readonly arguments: Map<string, Argument>;
  readonly blocks: NestedBlock[];
}

export interface Argument {
  readonly line: number;
  /** The tokens of the expression. Line feeds inside brackets are among them. */
  readonly value: readonly HclToken[];
}

export interface NestedBlock {
  readonly type: string;
  /** Without quotes. */
  readonly labels: readonly string[];
  readonly line: number;
  readonly body: Body;
}

export interface SyntaxProblem {
  /** 1 for the first. */
  readonly line: number;
  readonly message: string;
}

const closers: Readonly<Record<string, string>> = { '{': '}', '[': ']', '(': ')' };

/** The body of a file; or the first thing that no tool can read. */
export function readBody(text: string): { readonly body: Body } | { readonly problem: SyntaxProblem } {
  const reader = new BodyReader();
  for (const token of tokenizeHcl(text)) {
    const problem = textProblem(token) ?? reader.take(token);
    if (problem !== null) return { problem };
  }
  const problem = reader.finish();
  return problem === null ? { body: reader.root } : { problem };
}

function emptyBody(): Body {
  return { arguments: new Map(), blocks: [] };
}

class BodyReader {
  readonly root = emptyBody();
  readonly #blocks: { readonly body: Body; readonly line: number }[] = [];
  /** The brackets of the expression that is being read. */
  readonly #brackets: HclToken[] = [];
  #item: HclToken[] = [];

  take(token: HclToken): SyntaxProblem | null {
    const isExpression = this.#item[1]?.text === '=';
    if (isExpression && this.#brackets.length > 0) return this.#takeNested(token);
    if (token.text === '\n') return this.#endItem(token.line);
    if (token.text === '}') return this.#endItem(token.line) ?? this.#closeBlock(token);
    if (token.text === '{' && !isExpression) return this.#openBlock(token);
    if (isExpression && token.kind === 'sign' && Object.hasOwn(closers, token.text)) this.#brackets.push(token);
    this.#item.push(token);
    return null;
  }

  finish(): SyntaxProblem | null {
    const [unclosed] = this.#brackets;
    if (unclosed) return { line: unclosed.line, message: `this "${unclosed.text}" is never closed` };
    const problem = this.#endItem(this.#item[0]?.line ?? 1);
    if (problem !== null) return problem;
    const block = this.#blocks.at(-1);
    return block === undefined ? null : { line: block.line, message: 'this block is never closed' };
  }

  #takeNested(token: HclToken): SyntaxProblem | null {
    const open = this.#brackets.at(-1);
    if (token.kind === 'sign' && Object.hasOwn(closers, token.text)) this.#brackets.push(token);
    if (token.kind === 'sign' && Object.values(closers).includes(token.text)) {
      if (open === undefined || closers[open.text] !== token.text) {
        const message = `"${token.text}" does not close the "${open?.text}" of line ${open?.line}`;
        return { line: token.line, message };
      }
      this.#brackets.pop();
    }
    this.#item.push(token);
    return null;
  }

  #body(): Body {
    return this.#blocks.at(-1)?.body ?? this.root;
  }

  #endItem(line: number): SyntaxProblem | null {
    const [name, sign, ...value] = this.#item;
    this.#item = [];
    if (name === undefined) return null;
    if (name.kind !== 'word' || sign?.text !== '=') {
      return { line, message: 'expected an argument, such as name = "value", or a block in braces' };
    }
    if (value.length === 0) return { line: name.line, message: `the argument "${name.text}" has no value` };
    this.#body().arguments.set(name.text, { line: name.line, value });
    return null;
  }

  #openBlock({ line }: HclToken): SyntaxProblem | null {
    const [type, ...labels] = this.#item;
    this.#item = [];
    if (type?.kind !== 'word' || labels.some(({ kind }) => kind !== 'word' && kind !== 'string')) {
      return { line, message: 'expected the type of a block and its labels before "{"' };
    }
    const block = {
      type: type.text,
      labels: labels.map(({ kind, text }) => (kind === 'string' ? text.slice(1, -1) : text)),
      line: type.line,
      body: emptyBody(),
    };
    this.#body().blocks.push(block);
    this.#blocks.push(block);
    return null;
  }

  #closeBlock({ line }: HclToken): SyntaxProblem | null {
    return this.#blocks.pop() === undefined ? { line, message: 'this "}" closes nothing' } : null;
  }
}

/** What is wrong with a string or a heredoc: it must end, and a string must end on its line. */
function textProblem({ kind, text, line }: HclToken): SyntaxProblem | null {
  if (kind === 'heredoc') return heredocProblem(text, line);
  if (kind !== 'string') return null;
  const open = ['"'];
  let at = 1;
  for (; at < text.length && open.length > 0; at++) {
    const sign = text[at];
    const isText = open.at(-1) === '"';
    if (isText && sign === '\n')
      return {
        line: lineAt(text, at, line),
        message: 'a text in quotes does not end on its line: close the quotes and every "${"',
      };
    if (isText && sign === '\\') at++;
    else if (sign === '"' && isText) open.pop();
    else if (sign === '"') open.push(sign);
    else if (isText && opensTemplate(text, at)) {
      open.push('{');
      at++;
    } else if (!isText && sign === '{') open.push(sign);
    else if (!isText && sign === '}') open.pop();
  }
  return open.length === 0 ? null : { line, message: 'the quotes that begin here are never closed' };
}

function opensTemplate(text: string, at: number): boolean {
  return (text[at] === '$' || text[at] === '%') && text[at + 1] === '{' && text[at - 1] !== text[at];
}

function heredocProblem(text: string, line: number): SyntaxProblem | null {
  const marker = /^<<-?([^\s]+)/.exec(text)?.[1];
  const last = text.slice(text.lastIndexOf('\n') + 1).trim();
  return last === marker ? null : { line, message: `the text that begins here never ends with "${marker}"` };
}

function lineAt(text: string, at: number, start: number): number {
  return start + text.slice(0, at).split('\n').length - 1;
}
