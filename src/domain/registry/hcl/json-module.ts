import type { Argument } from './body.ts';
import type { FoundDeclarations } from './declarations.ts';
import type { ConfigurationFile } from './root-files.ts';
import { tokenizeHcl } from './tokens.ts';

/** Adds what a `.tf.json` or `.tofu.json` file declares. */
export function readJsonModule(found: FoundDeclarations, { path, text }: ConfigurationFile): void {
  let root: unknown;
  try {
    root = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    found.problems.push({ file: path, line: null, message: 'is not valid JSON' });
    return;
  }
  for (const [type, value] of membersOf(root)) {
    const known = type === 'variable' ? found.variables : type === 'output' ? found.outputs : null;
    for (const [name, body] of known === null && type !== 'module' ? [] : membersOf(value)) {
      const members = new Map(membersOf(body));
      const source = members.get('source');
      if (type === 'module' && typeof source === 'string' && /^\.\.?\//.test(source)) found.sources.push(source);
      known?.set(name, { file: path, line: null, arguments: toArguments(members), validations: [] });
    }
  }
}

function toArguments(members: ReadonlyMap<string, unknown>): Map<string, Argument> {
  return new Map([...members].map(([name, value]) => [name, { line: 1, value: tokensOf(name, value) }]));
}

/** JSON is an expression of the language, but for templates; a type is written as a text. */
function tokensOf(name: string, value: unknown): Argument['value'] {
  return [...tokenizeHcl(name === 'type' && typeof value === 'string' ? value : JSON.stringify(value))];
}

/** The members of an object, or of all objects of a list. */
function membersOf(value: unknown): [string, unknown][] {
  if (Array.isArray(value)) return value.flatMap((item) => (Array.isArray(item) ? [] : membersOf(item)));
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}
