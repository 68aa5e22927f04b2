import type { NestedBlock } from './body.ts';
import type { Declaration, FoundDeclarations, ModuleProblem } from './declarations.ts';
import type { ModuleFiles, ReadConfigurationFile } from './module-files.ts';
import { findVariableUses } from './references.ts';
import { isOverride } from './root-files.ts';
import { scanHcl } from './tokens.ts';

/** The declarations that a tool finds in the files of one directory. */
export interface Module {
  readonly variables: ReadonlyMap<string, Declaration>;
  readonly outputs: ReadonlyMap<string, Declaration>;
  readonly problems: readonly ModuleProblem[];
}

/** Returns the declarations of a module. It reports only problems that certainly stop the tool. */
export function readDeclarations({ files }: ModuleFiles): Module {
  const found: FoundDeclarations = { variables: new Map(), outputs: new Map(), problems: [] };
  for (const { path, name, body, problem } of files) {
    if (problem !== null) found.problems.push({ file: path, ...problem });
    else for (const block of body.blocks) readBlock(found, path, block, isOverride(name));
  }
  // The declarations of a file that cannot be read are unknown.
  if (found.problems.length === 0) for (const file of files) noteUndeclared(found, file);
  return found;
}

function readBlock(found: FoundDeclarations, file: string, block: NestedBlock, overrides: boolean): void {
  const [label] = block.labels;
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

function noteUndeclared({ variables, problems }: FoundDeclarations, { path, name, text }: ReadConfigurationFile): void {
  if (name.endsWith('.json')) return;
  const seen = new Set<string>();
  for (const { name: variable, line } of findVariableUses(scanHcl(text).tokens) ?? []) {
    if (variables.has(variable) || seen.has(variable)) continue;
    seen.add(variable);
    problems.push({ file: path, line, message: `var.${variable} is used, but no variable "${variable}" is declared` });
  }
}
