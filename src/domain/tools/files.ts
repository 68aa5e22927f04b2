import { posix } from 'node:path';
import type { TemplateFiles } from '#domain/registry/files.ts';
import { configurationFiles, filesReadBy, isOverride } from '#domain/registry/hcl/root-files.ts';
import { tokenize } from '#domain/registry/hcl/tokens.ts';
import type { FilesTools } from './demand.ts';
import type { ToolName } from './model.ts';

/** Modules beyond this many are not looked at. */
const maxModules = 200;

/**
 * What the configuration in a directory (`''`: the root) asks of its tool: whether only OpenTofu reads all of it, and the `required_version` of it
 * and of the modules in the same files that it calls. What cannot be parsed is left for the tool to refuse. Pure.
 */
export function readFilesTools(files: TemplateFiles, directory = ''): FilesTools {
  const root = toDirectory(directory);
  return {
    needsOpenTofu: readsBeyondTerraform(files, root),
    required: {
      opentofu: requiredVersions(files, root, 'opentofu'),
      terraform: requiredVersions(files, root, 'terraform'),
    },
  };
}

/** A file of OpenTofu alone may stand beside one of the same name for Terraform. */
function readsBeyondTerraform(files: TemplateFiles, directory: string): boolean {
  const names = configurationFiles(files, directory).map(({ name }) => name);
  const openTofu = names.filter((name) => /\.tofu(\.json)?$/.test(name) && !isOverride(name));
  return openTofu.some((name) => !names.includes(name.replace(/\.tofu(\.json)?$/, '.tf$1')));
}

function requiredVersions(files: TemplateFiles, root: string, tool: ToolName): string[] {
  const found = new Set<string>();
  const seen = new Set([root]);
  for (const directory of seen) {
    const module = readModule(files, directory, tool);
    for (const version of module.required) found.add(version);
    for (const source of module.sources) {
      const called = toDirectory(posix.join(directory, source));
      if (seen.size < maxModules && !called.startsWith('..')) seen.add(called);
    }
  }
  return [...found];
}

interface ModuleFacts {
  readonly required: string[];
  /** The relative sources of the modules that it calls. */
  readonly sources: string[];
}

/** Of override files, each replaces the versions that the files before it require. */
function readModule(files: TemplateFiles, directory: string, tool: ToolName): ModuleFacts {
  const read = filesReadBy(tool, configurationFiles(files, directory));
  const ordered = [...read.filter(({ name }) => !isOverride(name)), ...read.filter(({ name }) => isOverride(name))];
  const module: ModuleFacts = { required: [], sources: [] };
  for (const { name, text } of ordered) {
    const { required, sources } = readFile(name, text);
    if (isOverride(name) && required.length > 0) module.required.length = 0;
    module.required.push(...required);
    module.sources.push(...sources);
  }
  return module;
}

const noFacts: ModuleFacts = { required: [], sources: [] };

function readFile(name: string, text: string): ModuleFacts {
  return name.endsWith('.json') ? readJson(text) : readBlocks(text);
}

function readBlocks(text: string): ModuleFacts {
  const facts: ModuleFacts = { required: [], sources: [] };
  const open: string[] = [];
  let line: string[] = [];
  for (const token of tokenize(text)) {
    if (token === '{') open.push(line[0] ?? '');
    else if (token !== '}' && token !== '\n') {
      line.push(token);
      continue;
    }
    if (open.length === 1 && token !== '{') noteAttribute(facts, open[0], line);
    if (token === '}') open.pop();
    line = [];
  }
  return facts;
}

/** An attribute is a name, `=` and its value. A value that is no plain text does not count: no tool takes one here. */
function noteAttribute(
  facts: ModuleFacts,
  block: string | undefined,
  [name, sign, value = '', ...rest]: string[],
): void {
  const text = /^"([^"\\$%]*)"$/.exec(value)?.[1];
  if (sign !== '=' || text === undefined || rest.length > 0) return;
  if (block === 'terraform' && name === 'required_version') facts.required.push(text);
  if (block === 'module' && name === 'source' && isRelative(text)) facts.sources.push(text);
}

function readJson(text: string): ModuleFacts {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return noFacts;
  }
  const required = membersOf(root, 'terraform').flatMap((block) => membersOf(block, 'required_version'));
  const modules = membersOf(root, 'module').flatMap((block) => (isObject(block) ? Object.values(block).flat() : []));
  const sources = modules.flatMap((module) => membersOf(module, 'source'));
  return {
    required: required.filter((each) => typeof each === 'string'),
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
