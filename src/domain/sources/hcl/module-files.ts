import { posix } from 'node:path';
import type { ToolName } from '#domain/tools/model.ts';
import type { TemplateFiles } from '../files.ts';
import { directoryAt } from '../links.ts';
import { readFile } from './blocks.ts';
import type { Body, ReadBody } from './body.ts';
import { readLiteral } from './literals.ts';
import { type ConfigurationFile, configurationFiles, filesReadBy, isJson, isOverride } from './root-files.ts';

/** Reads a module and the modules among the same files that it calls, as a tool does. Pure. */

export interface ReadConfigurationFile extends ConfigurationFile, ReadBody {}

export interface ModuleFiles {
  /** The directory of the module in the template's files (`''`: the root). */
  readonly directory: string;
  /** The files in the order in which the tool applies them: overrides last. */
  readonly files: readonly ReadConfigurationFile[];
  /** The relative sources of the modules that it calls. */
  readonly sources: readonly string[];
}

/** No further modules are read. */
const maxModules = 200;
/** No further text is read, in UTF-16 units. A template exceeds it only if many links lead to the same files. */
const maxLength = 32 * 1024 * 1024;

/**
 * Yields each module once, the one in the directory first. It does not report files that cannot be parsed, because the tool refuses them.
 */
export function* readModules(files: TemplateFiles, directory: string, tool: ToolName): Generator<ModuleFiles> {
  const sourcesOf = new Map<string, readonly string[]>();
  const paths = new Set([moduleDirectory('', directory) ?? '']);
  const room = { length: maxLength };
  for (const path of paths) {
    const real = directoryAt(files, path) ?? path;
    const known = sourcesOf.get(real);
    const module = known === undefined ? readModuleFiles(files, path, tool, room) : null;
    const sources = known ?? module?.sources ?? [];
    sourcesOf.set(real, sources);
    if (module) yield module;
    for (const source of sources) {
      const called = moduleDirectory(path, source);
      if (called !== null && paths.size < maxModules) paths.add(called);
    }
  }
}

/** Reads one module. Many links may lead to the same file, which is parsed once. */
export function readModuleFiles(
  files: TemplateFiles,
  directory: string,
  tool: ToolName,
  room = { length: maxLength },
): ModuleFiles {
  const used = filesReadBy(tool, configurationFiles(files, directory));
  const read = { json: new Map<string, ReadBody>(), native: new Map<string, ReadBody>() };
  const found: ReadConfigurationFile[] = [];
  for (const file of [
    ...used.filter(({ name }) => !isOverride(name)),
    ...used.filter(({ name }) => isOverride(name)),
  ]) {
    room.length -= file.text.length;
    if (room.length < 0) break;
    const known = read[isJson(file.name) ? 'json' : 'native'];
    const body = known.get(file.text) ?? readFile(file);
    known.set(file.text, body);
    found.push({ ...file, ...body });
  }
  const called = new Set(found.flatMap(({ body }) => sourcesIn(body)));
  return { directory, files: found, sources: [...called] };
}

/** The relative sources of the modules that a file calls. */
export function sourcesIn(body: Body): string[] {
  return body.blocks.flatMap((block) => {
    const source = block.type === 'module' ? readLiteral(block.body.arguments.get('source')?.value ?? []) : undefined;
    return typeof source === 'string' && /^\.\.?\//.test(source) ? [source] : [];
  });
}

/** The directory of the module that a source such as `../network` names; null if it is outside the files. */
export function moduleDirectory(directory: string, source: string): string | null {
  const path = posix.normalize(posix.join(directory, source)).replace(/\/$/, '');
  if (path === '.') return '';
  return path.startsWith('..') ? null : path;
}
