import { readFile } from '#domain/sources/hcl/blocks.ts';
import { isValueFile } from '#domain/sources/hcl/value-files.ts';
import { isObject, parseJson } from '../../shared/json.ts';

/**
 * Whether the files of the directory in which a tool starts, by their names, give a variable, which the tools read beside the variables of the run. If one of these files cannot be read, they may
 * give any.
 */
export function readOwnVariables(files: ReadonlyMap<string, Buffer>): (variable: string) => boolean {
  const names = new Set<string>();
  for (const [name, content] of files) {
    if (!isValueFile(name)) continue;
    const found = namesIn(name, content);
    if (found === null) return () => true;
    for (const each of found) names.add(each);
  }
  return (variable) => names.has(variable);
}

function namesIn(name: string, content: Buffer): Iterable<string> | null {
  if (!name.endsWith('.json')) {
    const { body, problem } = readFile({ name, text: content.toString() });
    return problem === null ? body.arguments.keys() : null;
  }
  try {
    const values = parseJson(content);
    return isObject(values) ? Object.keys(values) : null;
  } catch {
    return null;
  }
}
