import { readFile } from '#domain/sources/hcl/blocks.ts';
import {
  type ConfigurationFile,
  configurationFiles,
  filesReadBy,
  isOverride,
  withDifferentTexts,
} from '#domain/sources/hcl/root-files.ts';
import { describeNote, findStateNotes } from '#domain/sources/hcl/state-notes.ts';
import type { ToolName } from '#domain/tools/model.ts';
import type { OpenTofuExecutor } from '../../protocol/request.ts';
import { AttemptFailure } from '../../shared/errors.ts';

/**
 * Checks before the service adds a file to a configuration. The tools refuse a directory without files, because its plan would destroy
 * everything. The service's own file would defeat that check.
 */

/** Blocks that declare nothing to deploy. */
const declaresNothing = ['terraform', 'language', 'variable', 'locals', 'output', 'provider', 'check'];
const otherTool = { opentofu: 'Terraform', terraform: 'OpenTofu' } as const;

/** @throws AttemptFailure `no_configuration` if the tool would read nothing, or nothing of what the files declare */
export function requireConfiguration({ files, directory = '' }: OpenTofuExecutor, tool: ToolName): void {
  const present = configurationFiles(files, directory);
  const used = filesReadBy(tool, present);
  const unused = present.filter((file) => !used.includes(file));
  const place = directory === '' ? 'the configuration' : `"${directory}"`;
  const why = `${tool} reads no other file there, and would destroy everything that is deployed`;
  if (!used.some(({ name }) => !isOverride(name))) {
    const found = present.length === 0 ? 'no configuration file' : `only ${listNames(present, unused, tool)}`;
    throw new AttemptFailure('no_configuration', `${place} has ${found}: ${why}`);
  }
  const someDeclare = (some: readonly ConfigurationFile[]) => withDifferentTexts(some).some(declaresSomething);
  if (!someDeclare(used) && someDeclare(unused)) {
    const found = listNames(unused.filter(declaresSomething), unused, tool);
    const message = `all that ${place} declares is in ${found}: ${why}`;
    throw new AttemptFailure('no_configuration', message);
  }
}

/** Notes for the log of a run before the tool starts: parts of the configuration that have no effect, or that are not read. */
export function notesOn(
  { files, directory = '' }: OpenTofuExecutor,
  tool: ToolName,
  mapped: readonly string[] = [],
): string[] {
  const notes = findStateNotes(files, directory, mapped).map(describeNote);
  const present = configurationFiles(files, directory);
  const used = filesReadBy(tool, present);
  const unused = present.filter((file) => !used.includes(file));
  return unused.length === 0 ? notes : [...notes, `${tool} does not read ${listNames(unused, unused, tool)}`];
}

/** Lists files by name, and says which of them are for the other tool or are overrides. */
function listNames(files: readonly ConfigurationFile[], unused: readonly ConfigurationFile[], tool: ToolName): string {
  const shown = files.slice(0, 3).map((file) => {
    if (unused.includes(file)) return `${file.name} (for ${otherTool[tool]})`;
    return isOverride(file.name) ? `${file.name} (an override file)` : file.name;
  });
  return shown.join(', ') + (files.length > shown.length ? ` and ${files.length - shown.length} more` : '');
}

/** Whether a file declares something. One that cannot be parsed may declare anything. */
function declaresSomething(file: ConfigurationFile): boolean {
  const { body, problem } = readFile(file);
  return problem !== null || body.blocks.some(({ type }) => !declaresNothing.includes(type));
}
