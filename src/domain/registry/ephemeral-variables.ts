import type { TemplateFiles } from '#domain/sources/files.ts';
import { readLiteral } from '#domain/sources/hcl/literals.ts';
import { readDeclarations } from '#domain/sources/hcl/module.ts';
import { moduleDirectory, readModuleFiles } from '#domain/sources/hcl/module-files.ts';
import { configurationSize } from '#domain/sources/hcl/root-files.ts';
import { maxCheckedSize } from './publication-check.ts';
import { readFilesTools } from './tools/files-tools.ts';

/**
 * The variables that the configuration in a directory declares as ephemeral: the tool writes them to no plan and no state. Empty if the
 * configuration cannot be read.
 */
export function readEphemeralVariables(files: TemplateFiles, directory = ''): ReadonlySet<string> {
  if (configurationSize(files) > maxCheckedSize) return new Set();
  const tool = readFilesTools(files, directory).needsOpenTofu ? 'opentofu' : 'terraform';
  const { variables, problems } = readDeclarations(readModuleFiles(files, moduleDirectory('', directory) ?? '', tool));
  if (problems.length > 0) return new Set();
  const declared = [...variables].filter(([, { arguments: given }]) => {
    const argument = given.get('ephemeral');
    return argument !== undefined && readLiteral(argument.value) === true;
  });
  return new Set(declared.map(([name]) => name));
}
