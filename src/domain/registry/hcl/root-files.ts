import { posix } from 'node:path';
import { isLink, type TemplateFiles, textOf } from '../files.ts';
import { followLinks } from '../links.ts';

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

/** The configuration files directly in a directory (`''`: the root), of both tools, in the order of their names' bytes. */
export function configurationFiles(files: TemplateFiles, directory = ''): ConfigurationFile[] {
  const root = posix.normalize(directory === '' ? '.' : directory).replace(/\/$/, '');
  const prefix = root === '.' ? '' : `${root}/`;
  const found: ConfigurationFile[] = [];
  for (const [path, content] of Object.entries(followLinks(files))) {
    const name = path.startsWith(prefix) ? path.slice(prefix.length) : '/';
    if (isConfigurationName(name)) found.push({ path, name, text: textOf(content) });
  }
  return found.sort((a, b) => compareNames(a.name, b.name));
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
