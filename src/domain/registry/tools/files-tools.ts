import type { TemplateFiles } from '#domain/sources/files.ts';
import type { Body } from '#domain/sources/hcl/body.ts';
import { readLiteral } from '#domain/sources/hcl/literals.ts';
import { type ModuleFiles, readModules } from '#domain/sources/hcl/module-files.ts';
import { configurationFiles, isOverride } from '#domain/sources/hcl/root-files.ts';
import type { FilesTools } from '#domain/tools/demand.ts';

/** Ranges beyond this many constraints, or longer than this, do not count here: the tool itself checks them at `init`. */
const maxConstraints = 50;
const maxRangeLength = 200;
/** The versions that know `language` blocks; others refuse them. */
const languageSince = '>= 1.12.0';

/**
 * What the configuration in a directory (`''`: the root) asks of its tool: whether only OpenTofu reads all of it, and the `required_version` of it
 * and of the modules in the same files that it calls. What cannot be parsed is left for the tool to refuse. Pure.
 */
export function readFilesTools(files: TemplateFiles, directory = ''): FilesTools {
  const [opentofu = [], terraform = []] = (['opentofu', 'terraform'] as const).map((tool) =>
    Array.from(readModules(files, directory, tool), readFacts),
  );
  return {
    needsOpenTofu: readsBeyondTerraform(files, directory) || terraform.some(({ hasLanguage }) => hasLanguage),
    required: { opentofu: limitRanges(opentofu, 'required'), terraform: limitRanges(terraform, 'required') },
    requiredSince12: limitRanges(opentofu, 'own'),
  };
}

/** A file of OpenTofu alone may stand beside one of the same name for Terraform. */
function readsBeyondTerraform(files: TemplateFiles, directory: string): boolean {
  const names = configurationFiles(files, directory).map(({ name }) => name);
  const openTofu = names.filter((name) => isOwnFile(name) && !isOverride(name));
  return openTofu.some((name) => !names.includes(name.replace(/\.tofu(\.json)?$/, '.tf$1')));
}

/** Whether only OpenTofu reads files of this name. */
function isOwnFile(name: string): boolean {
  return /\.tofu(\.json)?$/.test(name);
}

/** The different ranges of some modules, within the limits. */
function limitRanges(modules: readonly ModuleFacts[], rule: 'required' | 'own'): string[] {
  const found = new Set<string>();
  let constraints = 0;
  for (const range of modules.flatMap((module) => module[rule])) {
    if (found.has(range) || range.length > maxRangeLength) continue;
    constraints += range.split(',').length;
    if (constraints > maxConstraints) break;
    found.add(range);
  }
  return [...found];
}

interface ModuleFacts {
  /** The ranges of `required_version`. */
  readonly required: readonly string[];
  /** The ranges that OpenTofu reads from 1.12 on. */
  readonly own: readonly string[];
  /** Whether a file has a `language` block, which Terraform does not know. */
  readonly hasLanguage: boolean;
}

/** Of override files, each replaces the versions that the files before it require, but not for OpenTofu from 1.12 on. */
function readFacts({ files }: ModuleFiles): ModuleFacts {
  let required: string[] = [];
  const own: string[] = [];
  let hasLanguage = false;
  for (const { name, body } of files) {
    const ranges = textsOf(body, 'terraform', 'required_version');
    required = isOverride(name) && ranges.length > 0 ? ranges : [...required, ...ranges];
    const languages = body.blocks.filter(({ type }) => type === 'language');
    const compatible = languages.flatMap((block) => textsOf(block.body, 'compatible_with', 'opentofu'));
    for (const range of isOwnFile(name) ? [...compatible, ...ranges] : compatible) own.push(range);
    hasLanguage ||= languages.length > 0;
  }
  const since = hasLanguage ? [languageSince] : [];
  return { required: [...required, ...since], own: [...own, ...since], hasLanguage };
}

/** The values of an argument in the blocks of a type, up to a number of them. One that is no plain text does not count: no tool takes it here. */
function textsOf(body: Body, type: string, argument: string): string[] {
  const values = body.blocks
    .filter((block) => block.type === type)
    .map((block) => readLiteral(block.body.arguments.get(argument)?.value ?? []));
  return values.filter((value) => typeof value === 'string').slice(0, maxConstraints);
}
