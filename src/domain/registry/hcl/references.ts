import { type HclToken, tokenizeHcl } from './tokens.ts';

/** A use of a variable, such as `var.size`. */
export interface VariableUse {
  readonly name: string;
  readonly line: number;
}

/** Templates inside templates beyond this depth are not looked at. */
const maxDepth = 20;

/**
 * Returns the variables that a file in OpenTofu's language uses, also inside texts. Null if the file gives `var` another
 * meaning somewhere, such as by `for var in`: then a use need not be one of a variable.
 */
export function findVariableUses(text: string): VariableUse[] | null {
  const found: VariableUse[] = [];
  const waiting: { text: string; line: number; depth: number }[] = [{ text, line: 1, depth: 0 }];
  for (const { text: part, line, depth } of waiting) {
    const tokens = [...tokenizeHcl(part)].filter((token) => token.text !== '\n');
    for (const [index, token] of tokens.entries()) {
      const at = line + token.line - 1;
      if (token.kind === 'string' || token.kind === 'heredoc') {
        if (token.text === '"var"' && tokens[index - 1]?.text === 'dynamic') return null;
        if (depth < maxDepth)
          for (const inner of templatesIn(token.text, at)) waiting.push({ ...inner, depth: depth + 1 });
      } else if (token.text === 'var') {
        if (isOtherName(tokens, index)) return null;
        const name = nameAfter(tokens, index);
        if (name !== null) found.push({ name, line: at });
      }
    }
  }
  return found;
}

/** Whether `var` is a name of the file's own here. */
function isOtherName(tokens: readonly HclToken[], index: number): boolean {
  const [before, last] = [tokens[index - 2]?.text, tokens[index - 1]?.text];
  const isBound = last === 'for' || (last === ',' && tokens[index - 3]?.text === 'for');
  return isBound || (before === 'iterator' && last === '=');
}

function nameAfter(tokens: readonly HclToken[], index: number): string | null {
  if (tokens[index - 1]?.text === '.' || tokens[index + 1]?.text !== '.') return null;
  const name = tokens[index + 2];
  return name?.kind === 'word' ? name.text : null;
}

/** The contents of `${…}` and `%{…}` in a text. */
function* templatesIn(text: string, line: number): Generator<{ text: string; line: number }> {
  let at = 0;
  let counted = 0;
  let lines = 0;
  for (;;) {
    const next = /[$%]\{/g;
    next.lastIndex = at;
    const opening = next.exec(text);
    if (opening === null) return;
    const start = opening.index + 2;
    const isEscaped = text[opening.index - 1] === text[opening.index];
    const end = isEscaped ? start : endOfTemplate(text, start);
    for (; counted < start; counted++) if (text[counted] === '\n') lines++;
    if (!isEscaped) yield { text: text.slice(start, end), line: line + lines };
    at = end;
  }
}

function endOfTemplate(text: string, start: number): number {
  const open = ['{'];
  let at = start;
  for (; at < text.length && open.length > 0; at++) {
    const sign = text[at];
    const isText = open.at(-1) === '"';
    if (isText && sign === '\\') at++;
    else if (sign === '"' && isText) open.pop();
    else if (sign === '"') open.push(sign);
    else if (sign === '{' && (!isText || opensTemplate(text, at))) open.push(sign);
    else if (sign === '}' && !isText) open.pop();
  }
  return open.length === 0 ? at - 1 : at;
}

function opensTemplate(text: string, brace: number): boolean {
  const sign = text[brace - 1];
  return (sign === '$' || sign === '%') && text[brace - 2] !== sign;
}
