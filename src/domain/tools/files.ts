import { posix } from 'node:path';
import type { TemplateFiles } from '#domain/registry/files.ts';
import { configurationFiles, filesReadBy, isOverride } from '#domain/registry/hcl/root-files.ts';
import { tokenize } from '#domain/registry/hcl/tokens.ts';
import type { FilesTools } from './demand.ts';
import type { ToolName } from './model.ts';

/** Modules beyond this many are not looked at. */
const maxModules = 200;
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
  const root = toDirectory(directory);
  const [opentofu, terraform] = [readModules(files, root, 'opentofu'), readModules(files, root, 'terraform')];
  return {
    needsOpenTofu: readsBeyondTerraform(files, root) || terraform.some(({ hasLanguage }) => hasLanguage),
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

/** The module in a directory, and those in the same files that it calls. */
function readModules(files: TemplateFiles, root: string, tool: ToolName): ModuleFacts[] {
  const found: ModuleFacts[] = [];
  const seen = new Set([root]);
  for (const directory of seen) {
    const module = readModule(files, directory, tool);
    found.push(module);
    for (const source of module.sources) {
      const called = toDirectory(posix.join(directory, source));
      if (seen.size < maxModules && !called.startsWith('..')) seen.add(called);
    }
  }
  return found;
}

interface ModuleFacts {
  /** The ranges of `required_version`. */
  readonly required: string[];
  /** The ranges that OpenTofu reads from 1.12 on. */
  readonly own: string[];
  /** Whether a file has a `language` block, which Terraform does not know. */
  hasLanguage: boolean;
  /** The relative sources of the modules that it calls. */
  readonly sources: string[];
}

/** Without arguments, of which there may be too many. */
function addAll(list: string[], more: readonly string[]): void {
  for (const each of more) list.push(each);
}

const noFacts = (): ModuleFacts => ({ required: [], own: [], hasLanguage: false, sources: [] });

/** Of override files, each replaces the versions that the files before it require, but not for OpenTofu from 1.12 on. */
function readModule(files: TemplateFiles, directory: string, tool: ToolName): ModuleFacts {
  const read = filesReadBy(tool, configurationFiles(files, directory));
  const ordered = [...read.filter(({ name }) => !isOverride(name)), ...read.filter(({ name }) => isOverride(name))];
  const module = noFacts();
  for (const { name, text } of ordered) {
    const facts = name.endsWith('.json') ? readJson(text) : readBlocks(text);
    if (isOverride(name) && facts.required.length > 0) module.required.length = 0;
    addAll(module.required, facts.required);
    addAll(module.own, isOwnFile(name) ? [...facts.own, ...facts.required] : facts.own);
    addAll(module.sources, facts.sources);
    module.hasLanguage ||= facts.hasLanguage;
  }
  if (module.hasLanguage) for (const ranges of [module.required, module.own]) ranges.push(languageSince);
  return module;
}

function readBlocks(text: string): ModuleFacts {
  const facts = noFacts();
  const open: string[] = [];
  let line: string[] = [];
  for (const token of tokenize(text)) {
    if (token === '{') open.push(line[0] ?? '');
    else if (token !== '}' && token !== '\n') {
      line.push(token);
      continue;
    }
    if (token !== '{') noteAttribute(facts, open.length > 2 ? '' : open.join('.'), line);
    else if (open[0] === 'language') facts.hasLanguage = true;
    if (token === '}') open.pop();
    line = [];
  }
  return facts;
}

/** An attribute is a name, `=` and its value. A value that is no plain text does not count: no tool takes one here. */
function noteAttribute(facts: ModuleFacts, block: string, [name, sign, value = '', ...rest]: string[]): void {
  const text = /^"([^"\\$%]*)"$/.exec(value)?.[1];
  if (sign !== '=' || text === undefined || rest.length > 0) return;
  if (block === 'terraform' && name === 'required_version') facts.required.push(text);
  if (block === 'language.compatible_with' && name === 'opentofu') facts.own.push(text);
  if (block === 'module' && name === 'source' && isRelative(text)) facts.sources.push(text);
}

function readJson(text: string): ModuleFacts {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return noFacts();
  }
  const required = membersOf(root, 'terraform').flatMap((block) => membersOf(block, 'required_version'));
  const modules = membersOf(root, 'module').flatMap((block) => (isObject(block) ? Object.values(block).flat() : []));
  const sources = modules.flatMap((module) => membersOf(module, 'source'));
  const languages = membersOf(root, 'language');
  const compatible = languages.flatMap((block) => membersOf(block, 'compatible_with'));
  const own = compatible.flatMap((block) => membersOf(block, 'opentofu'));
  return {
    required: required.filter((each) => typeof each === 'string'),
    own: own.filter((each) => typeof each === 'string'),
    hasLanguage: languages.length > 0,
    sources: sources.filter((each) => typeof each === 'string').filter(isRelative),
  };
}

/** The member of an object, or of each object in a list, as JSON writes blocks. */
function membersOf(value: unknown, name: string): unknown[] {
  return [value]
    .flat()
    .filter(isObject)
    .flatMap((each) => (Object.hasOwn(each, name) ? [each[name]] : []))
    .flat();
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isRelative(source: string): boolean {
  return source.startsWith('./') || source.startsWith('../');
}

function toDirectory(path: string): string {
  const normal = posix.normalize(path === '' ? '.' : path).replace(/\/$/, '');
  return normal === '.' ? '' : normal;
}
