import { parseExactJson } from '#domain/shared/values/exact-json.ts';
import { hasDecimal, isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { type TemplateFiles, textOf } from '../files.ts';
import { readDirectory } from '../links.ts';
import { readBody } from './body.ts';
import type { ModuleProblem } from './declarations.ts';
import { readLiteral } from './literals.ts';
import { compareNames, isJson } from './root-files.ts';

/** Reads the files in the directory of a root module from which both tools take values of its variables automatically. Pure. */

/** The value that a file gives a variable. */
export interface FileValue {
  readonly file: string;
  /** The line, starting at 1; null in JSON. */
  readonly line: number | null;
  /** Undefined if only the tool can compute it: for an expression, or a number that JavaScript cannot store exactly. */
  readonly value: JsonValue | undefined;
}

export interface FileValues {
  readonly values: ReadonlyMap<string, FileValue>;
  /** The files that no tool can read. */
  readonly problems: readonly ModuleProblem[];
}

/** Whether the tools take values from a file with this name in the directory in which they start. */
export function isValueFile(name: string): boolean {
  return isMainFile(name) || /\.auto\.tfvars(\.json)?$/.test(name);
}

function isMainFile(name: string): boolean {
  return /^terraform\.tfvars(\.json)?$/.test(name);
}

/** Reads the value files of a directory (`''`: the root). If several files set a variable, the file that the tools read last counts. */
export function readFileValues(files: TemplateFiles, directory: string): FileValues {
  const found = readDirectory(files, directory).filter(({ name }) => isValueFile(name));
  // Many links may lead to one file. The file needs to be read only at the last of its names.
  const byContent = new Map(found.sort((a, b) => compareOrder(a.name, b.name)).map((each) => [each.content, each]));
  const values = new Map<string, FileValue>();
  const problems: ModuleProblem[] = [];
  for (const { name, path, content } of found) {
    if (byContent.get(content)?.name !== name) continue;
    const read = isJson(name) ? readJsonValues(textOf(content)) : readNativeValues(textOf(content));
    if ('message' in read) problems.push({ file: path, ...read });
    else for (const [variable, value] of read) values.set(variable, { file: path, ...value });
  }
  return { values, problems };
}

/** The tools read `terraform.tfvars` first, then `terraform.tfvars.json`, and then the others in the order of their names. */
function compareOrder(a: string, b: string): number {
  return Number(isMainFile(b)) - Number(isMainFile(a)) || compareNames(a, b);
}

type Read = Iterable<[string, Omit<FileValue, 'file'>]> | Omit<ModuleProblem, 'file'>;

function readNativeValues(text: string): Read {
  const { body, problem } = readBody(text);
  return problem ?? [...body.arguments].map(([name, { line, value }]) => [name, { line, value: readLiteral(value) }]);
}

function readJsonValues(text: string): Read {
  const read = parse(text);
  if (!isJsonObject(read)) return { line: null, message: 'is not a JSON object with values of variables' };
  return Object.entries(read).map(([name, value]) => [
    name,
    { line: null, value: hasDecimal(value) ? undefined : value },
  ]);
}

function parse(text: string): JsonValue | undefined {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}
