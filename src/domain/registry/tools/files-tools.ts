import type { TemplateFiles } from '#domain/sources/files.ts';
import type { Body } from '#domain/sources/hcl/body.ts';
import { readLiteral } from '#domain/sources/hcl/literals.ts';
import { type ModuleFiles, readModules } from '#domain/sources/hcl/module-files.ts';
import { configurationFiles, isOverride } from '#domain/sources/hcl/root-files.ts';
import type { FilesTools } from '#domain/tools/demand.ts';

/** Ranges with more constraints or characters are ignored here: the tool itself checks them at `init`. */
const maxConstraints = 50;
const maxRangeLength = 200;
/** The versions of OpenTofu that know `language` blocks; others refuse them. */
const languageSince = '>= 1.12.0';

/**
 * The requirements of the configuration in a directory (`''`: the root) for its tool: whether only OpenTofu can read all of it, and its
 * `required_version` and those of the called modules in the same files. Files that cannot be parsed are ignored, because the tool refuses
 * them. Pure.
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

/** Whether some file is only for OpenTofu and has no counterpart of the same name for Terraform. */
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
  /** The ranges that OpenTofu uses from 1.12 on. */
  readonly own: readonly string[];
  /** Whether a file has a `language` block, which Terraform does not know. */
  readonly hasLanguage: boolean;
}

/**
 * Reads the facts of a module. Each override file replaces the `required_version` of the files before it, except in OpenTofu from 1.12 on.
 */
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

/**
 * The values of an argument in the blocks of a type, up to a limit. Values that are not plain texts are left out, because no tool accepts
 * them here.
 */
function textsOf(body: Body, type: string, argument: string): string[] {
  const values = body.blocks
    .filter((block) => block.type === type)
    .map((block) => readLiteral(block.body.arguments.get(argument)?.value ?? []));
  return values.filter((value) => typeof value === 'string').slice(0, maxConstraints);
}
