import { posix } from 'node:path';
import { type FileContent, isLink, type TemplateFiles, textOf } from '../files.ts';
import { readDirectory, readFiles } from '../links.ts';

/** Finds the files of a directory that OpenTofu and Terraform read as configuration. Pure. */

/** A configuration file of one directory. */
export interface ConfigurationFile {
  /** Its path among the template's files. */
  readonly path: string;
  readonly name: string;
  readonly text: string;
}

type ReadingTool = 'opentofu' | 'terraform';

const extension = /\.(tf|tofu)(\.json)?$/;

/** Whether the tools ignore a file because an editor wrote it: a hidden file or a copy. */
function isEditorFile(name: string): boolean {
  return name.startsWith('.') || name.endsWith('~') || (name.startsWith('#') && name.endsWith('#'));
}

/** Whether at least one of the tools reads a file with this name as configuration. */
export function isConfigurationName(name: string): boolean {
  return !name.includes('/') && extension.test(name) && !isEditorFile(name);
}

/** Whether a file changes what other files declare. It is not a configuration by itself. */
export function isOverride(name: string): boolean {
  const stem = name.replace(extension, '');
  return stem === 'override' || stem.endsWith('_override');
}

/**
 * The configuration files directly in a directory (`''`: the root), of both tools, in the order of their names' bytes. Links to the same
 * file share its text.
 */
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

/** Leaves out files that have the same text and form of the language as an earlier one, because many links may lead to one file. */
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

/** The size of all configuration files in UTF-16 units. A file counts again for each link to it. */
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

/**
 * The configuration files of all directories, one directory after the other. It returns a file that has links to it only once, at its own
 * path.
 */
export function allConfigurationFiles(files: TemplateFiles): ConfigurationFile[] {
  const found = Object.entries(files).flatMap(([path, content]) => {
    const name = posix.basename(path);
    return isLink(content) || !isConfigurationName(name) ? [] : [{ path, name, text: textOf(content) }];
  });
  return found.sort(
    (a, b) => compareNames(posix.dirname(a.path), posix.dirname(b.path)) || compareNames(a.name, b.name),
  );
}

/** Whether a directory (`''`: the root) has a file that one of the tools reads. Overrides alone are not a configuration. */
export function hasConfiguration(files: TemplateFiles, directory = ''): boolean {
  return configurationFiles(files, directory).some(({ name }) => !isOverride(name));
}

/** The files that a tool reads. Terraform ignores `.tofu` files, and OpenTofu ignores `x.tf` if there is an `x.tofu`. */
export function filesReadBy<File extends { readonly name: string }>(tool: ReadingTool, files: readonly File[]): File[] {
  if (tool === 'terraform') return files.filter(({ name }) => !/\.tofu(\.json)?$/.test(name));
  const names = new Set(files.map(({ name }) => name));
  return files.filter(
    ({ name }) => !/\.tf(\.json)?$/.test(name) || !names.has(name.replace(/\.tf(\.json)?$/, '.tofu$1')),
  );
}

/** Compares names in the order of the tools, which is that of their bytes. */
export function compareNames(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
