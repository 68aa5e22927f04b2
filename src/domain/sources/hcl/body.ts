import { readString } from './literals.ts';
import { type HclToken, type SyntaxProblem, scanHcl } from './tokens.ts';

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
  /** The tokens of the expression, including line feeds inside brackets. */
  readonly value: readonly HclToken[];
}

export interface NestedBlock {
  readonly type: string;
  /** Without quotes. */
  readonly labels: readonly string[];
  readonly line: number;
  readonly body: Body;
}

/** The structure of a file. If there is a problem, the structure of the text before it. */
export interface ReadBody {
  readonly body: Body;
  /** The first problem because of which no tool can read the file; null if there is none. */
  readonly problem: SyntaxProblem | null;
}

const closers: Readonly<Record<string, string>> = { '{': '}', '[': ']', '(': ')' };

export function readBody(text: string): ReadBody {
  const { tokens, problem } = scanHcl(text);
  const reader = new BodyReader();
  for (const token of tokens) {
    const found = reader.take(token);
    if (found !== null) return { body: reader.root, problem: found };
  }
  return { body: reader.root, problem: problem ?? reader.finish() };
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
      labels: labels.map((label) => (label.kind === 'string' ? (readString(label) ?? label.text) : label.text)),
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
