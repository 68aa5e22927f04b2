import { posix } from 'node:path';
import type { ToolName } from '#domain/tools/model.ts';
import type { TemplateFiles } from '../files.ts';
import { readFile } from './blocks.ts';
import type { Body, NestedBlock } from './body.ts';
import type { Declaration, FoundDeclarations, ModuleProblem } from './declarations.ts';
import { readLiteral } from './literals.ts';
import { findVariableUses } from './references.ts';

import { type ConfigurationFile, configurationFiles, filesReadBy, isOverride } from './root-files.ts';
import { scanHcl } from './tokens.ts';

/** What the files of one directory declare, as a tool reads them. */
export interface Module {
  readonly variables: ReadonlyMap<string, Declaration>;
  readonly outputs: ReadonlyMap<string, Declaration>;
  /** The relative sources of the modules that it calls. */
  readonly sources: readonly string[];
  readonly problems: readonly ModuleProblem[];
}

/** Reads the configuration in a directory (`''`: the root). Problems are only those that stop the tool for certain. */
export function readModule(files: TemplateFiles, directory: string, tool: ToolName): Module {
  const read = filesReadBy(tool, configurationFiles(files, directory));
  const ordered = [...read.filter(({ name }) => !isOverride(name)), ...read.filter(({ name }) => isOverride(name))];
  const found: FoundDeclarations = { variables: new Map(), outputs: new Map(), sources: [], problems: [] };
  for (const file of ordered) readInto(found, file);
  // A file that cannot be read hides what it declares.
  if (found.problems.length === 0) for (const file of ordered) noteUndeclared(found, file);
  return found;
}

function readInto(found: FoundDeclarations, file: ConfigurationFile): void {
  const { body, problem } = readFile(file);
  if (problem !== null) found.problems.push({ file: file.path, ...problem });
  else for (const block of body.blocks) readBlock(found, file.path, block, isOverride(file.name));
}

function readBlock(found: FoundDeclarations, file: string, block: NestedBlock, overrides: boolean): void {
  const [label] = block.labels;
  if (block.type === 'module') found.sources.push(...sourceOf(block.body));
  if (label === undefined || (block.type !== 'variable' && block.type !== 'output')) return;
  const known = block.type === 'variable' ? found.variables : found.outputs;
  const earlier = overrides ? known.get(label) : undefined;
  known.set(label, {
    file: earlier?.file ?? file,
    line: earlier?.line ?? block.line,
    arguments: new Map([...(earlier?.arguments ?? []), ...block.body.arguments]),
    validations: [...(earlier?.validations ?? []), ...block.body.blocks.filter(({ type }) => type === 'validation')],
  });
}

function sourceOf(body: Body): string[] {
  const source = readLiteral(body.arguments.get('source')?.value ?? []);
  return typeof source === 'string' && /^\.\.?\//.test(source) ? [source] : [];
}

function noteUndeclared({ variables, problems }: FoundDeclarations, { path, name, text }: ConfigurationFile): void {
  if (name.endsWith('.json')) return;
  const seen = new Set<string>();
  for (const { name: variable, line } of findVariableUses(scanHcl(text).tokens) ?? []) {
    if (variables.has(variable) || seen.has(variable)) continue;
    seen.add(variable);
    problems.push({ file: path, line, message: `var.${variable} is used, but no variable "${variable}" is declared` });
  }
}

/** The directory of the module that a source such as `../network` names; null if it lies outside of the files. */
export function moduleDirectory(directory: string, source: string): string | null {
  const path = posix.normalize(posix.join(directory, source)).replace(/\/$/, '');
  if (path === '.') return '';
  return path.startsWith('..') ? null : path;
}
