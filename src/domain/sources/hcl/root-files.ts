import { posix } from 'node:path';
import { type FileContent, isLink, type TemplateFiles, textOf } from '../files.ts';
import { readDirectory, readFiles } from '../links.ts';

/** Which files of a directory OpenTofu and Terraform read as configuration. Pure. */

/** A configuration file of one directory. */
export interface ConfigurationFile {
  /** Its path among the template's files. */
  readonly path: string;
  readonly name: string;
  readonly text: string;
}

type ReadingTool = 'opentofu' | 'terraform';

const extension = /\.(tf|tofu)(\.json)?$/;

/** Whether the tools leave a file out because an editor wrote it: hidden files and copies. */
function isEditorFile(name: string): boolean {
  return name.startsWith('.') || name.endsWith('~') || (name.startsWith('#') && name.endsWith('#'));
}

/** Whether the tools read a file with this name as configuration, of one tool or the other. */
export function isConfigurationName(name: string): boolean {
  return !name.includes('/') && extension.test(name) && !isEditorFile(name);
}

/** Whether a file changes what other files declare. It is no configuration by itself. */
export function isOverride(name: string): boolean {
  const stem = name.replace(extension, '');
  return stem === 'override' || stem.endsWith('_override');
}

/** The configuration files directly in a directory (`''`: the root), of both tools, in the order of their names' bytes. Links to the same file share its text. */
export function configurationFiles(files: TemplateFiles, directory = ''): ConfigurationFile[] {
  const root = posix.normalize(directory === '' ? '.' : directory).replace(/\/$/, '');
  const texts = new Map<FileContent, string>();
  const found = readDirectory(files, root === '.' ? '' : root).filter(({ name }) => isConfigurationName(name));
  return found
    .map(({ path, name, content }) => {
      const text = texts.get(content) ?? textOf(content);
      texts.set(content, text);
      return { path, name, text };
    })
    .sort((a, b) => compareNames(a.name, b.name));
}

/** The first of the files with each text, in each form of the language: many links may lead to one file. */
export function withDifferentTexts(files: readonly ConfigurationFile[]): ConfigurationFile[] {
  const seen = { json: new Set<string>(), native: new Set<string>() };
  return files.filter(({ name, text }) => {
    const known = seen[isJson(name) ? 'json' : 'native'];
    const isNew = !known.has(text);
    known.add(text);
    return isNew;
  });
}

/** Whether a configuration file is in the JSON form of the language. */
export function isJson(name: string): boolean {
  return name.endsWith('.json');
}

/** The size of all configuration files in UTF-16 units, as often as links to files show them. */
export function configurationSize(files: TemplateFiles): number {
  const sizes = new Map<FileContent, number>();
  let size = 0;
  for (const { content, name } of readFiles(files)) {
    if (!isConfigurationName(name)) continue;
    const known = sizes.get(content) ?? textOf(content).length;
    sizes.set(content, known);
    size += known;
  }
  return size;
}

/** The configuration files of all directories, one directory after the other. A file to which links lead is there once, at its own path. */
export function allConfigurationFiles(files: TemplateFiles): ConfigurationFile[] {
  const found = Object.entries(files).flatMap(([path, content]) => {
    const name = posix.basename(path);
    return isLink(content) || !isConfigurationName(name) ? [] : [{ path, name, text: textOf(content) }];
  });
  return found.sort(
    (a, b) => compareNames(posix.dirname(a.path), posix.dirname(b.path)) || compareNames(a.name, b.name),
  );
}

/** Whether a directory (`''`: the root) has a file that one of the tools reads. Overrides alone are no configuration. */
export function hasConfiguration(files: TemplateFiles, directory = ''): boolean {
  return configurationFiles(files, directory).some(({ name }) => !isOverride(name));
}

/** Those that a tool reads: Terraform no `.tofu` files, and OpenTofu no `x.tf` beside `x.tofu`. */
export function filesReadBy<File extends { readonly name: string }>(tool: ReadingTool, files: readonly File[]): File[] {
  if (tool === 'terraform') return files.filter(({ name }) => !/\.tofu(\.json)?$/.test(name));
  const names = new Set(files.map(({ name }) => name));
  return files.filter(
    ({ name }) => !/\.tf(\.json)?$/.test(name) || !names.has(name.replace(/\.tf(\.json)?$/, '.tofu$1')),
  );
}

/** Compares names as the tools sort them. */
export function compareNames(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
