import type { HclToken } from './tokens.ts';

/** A use of a variable, such as `var.size`. */
export interface VariableUse {
  readonly name: string;
  readonly line: number;
}

/**
 * Returns the variables that a file uses, also inside texts. Null if the file gives `var` another meaning somewhere, such as by `for var
 * in`, because a use may then not be one of a variable.
 */
export function findVariableUses(file: readonly HclToken[]): VariableUse[] | null {
  const found: VariableUse[] = [];
  for (const tokens of expressionsOf(file)) {
    for (const [index, token] of tokens.entries()) {
      if (token.text === '"var"' && tokens[index - 1]?.text === 'dynamic') return null;
      if (token.text !== 'var') continue;
      if (isOtherName(tokens, index)) return null;
      const name = nameAfter(tokens, index);
      if (name !== null) found.push({ name, line: token.line });
    }
  }
  return found.sort((a, b) => a.line - b.line);
}

/** The line of the first use of `terraform.workspace` or `tofu.workspace`; null if there is none. */
export function findWorkspaceUse(file: readonly HclToken[]): number | null {
  let first: number | null = null;
  for (const tokens of expressionsOf(file)) {
    for (const [index, { text, line }] of tokens.entries()) {
      const isUse = (text === 'terraform' || text === 'tofu') && nameAfter(tokens, index) === 'workspace';
      if (isUse && (first === null || line < first)) first = line;
    }
  }
  return first;
}

/** The tokens of a file, and of each template in its texts, without line feeds. Does not recurse. */
export function* expressionsOf(file: readonly HclToken[]): Generator<readonly HclToken[]> {
  const waiting = [file];
  for (let tokens = waiting.pop(); tokens !== undefined; tokens = waiting.pop()) {
    for (const { templates } of tokens) for (const template of templates) waiting.push(template);
    yield tokens.filter(({ text }) => text !== '\n');
  }
}

/** Whether `var` at this index is a name that the file itself defines. */
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
